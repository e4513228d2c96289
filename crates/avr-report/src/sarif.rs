//! Results as SARIF 2.1.0 (OASIS, 2020), which code scanning reads.
//!
//! A property that holds is no finding and is only counted. A violated property is an error; an unknown one is a
//! warning, because viewers hide what SARIF calls `open`. Findings point to the source line where the run ends if debug
//! information has it, else to the listing, which is part of the file.

use avr_machine::device::Device;
use avr_verify::{Evidence, Finding, Line, PropertyResult, Verdict};
use serde_json::{Value, json};

use crate::baseline::Changes;
use crate::escape::{Escaped, json_text, uri};
use crate::evidence::action;
use crate::fields::{basis_name, verdict_name};
use crate::findings::certainty_name;
use crate::json::stack_value;
use crate::listing::Listing;
use crate::names::Names;
use crate::place::{self, Source};
use crate::report::{Report, Summary, remarks, statement};

/// So many of the last steps of a run are in the file: viewers cut longer traces.
const MAX_STEPS: usize = 20;

impl Report<'_> {
    /// One SARIF log with one run.
    ///
    /// # Panics
    /// Never: the object consists of strings, numbers and lists.
    #[must_use]
    pub fn sarif(&self) -> String {
        let device = Device::named(self.device).ok();
        let listing = device.map(|device| Listing::new(self.image, device));
        let writer = Writer { report: self, listing, device, changes: self.changes() };
        json_text(&writer.log())
    }
}

struct Writer<'a> {
    report: &'a Report<'a>,
    listing: Option<Listing>,
    device: Option<&'static Device>,
    changes: Option<Changes>,
}

impl Writer<'_> {
    fn log(&self) -> Value {
        let Summary { holds, violated, unknown } = Summary::of(self.report.results);
        let kinds = self.kinds();
        let results = self.report.results.properties.iter().filter(|result| result.verdict != Verdict::Holds);
        let results = results.map(|result| self.result(result, &kinds));
        let findings = self.report.results.findings.iter().filter(|finding| finding.allowed.is_none());
        let results: Vec<Value> = results.chain(findings.map(|finding| self.finding(finding))).collect();
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "avr-tvar",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": self.rules(&kinds),
                } },
                "columnKind": "unicodeCodePoints",
                "artifacts": self.artifacts(),
                "results": results,
                "properties": {
                    "summary": { "holds": holds, "violated": violated, "unknown": unknown },
                    "stack": stack_value(self.report.results.stack),
                    "assumptions": self.report.results.assumptions,
                },
            }],
        })
    }

    /// The kinds of the properties, each once, in the order of their first properties.
    fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for result in &self.report.results.properties {
            if !kinds.contains(&result.kind.as_str()) {
                kinds.push(&result.kind);
            }
        }
        kinds
    }

    fn artifacts(&self) -> Vec<Value> {
        let image = self.report.image;
        let firmware = json!({
            "location": { "uri": uri(&image.name) },
            "roles": ["analysisTarget"],
            "hashes": { "sha-256": image.sha256 },
        });
        let listing = self
            .listing
            .as_ref()
            .map(|listing| json!({ "location": { "uri": self.listing_uri() }, "contents": { "text": listing.text } }));
        std::iter::once(firmware).chain(listing).collect()
    }

    fn listing_uri(&self) -> String {
        format!("{}.lst", uri(&self.report.image.name))
    }

    /// The rules of all properties, and of the findings that there are.
    fn rules(&self, kinds: &[&str]) -> Vec<Value> {
        let mut names: Vec<&'static str> = Vec::new();
        for finding in self.report.results.findings.iter().filter(|finding| finding.allowed.is_none()) {
            if !names.contains(&finding.kind.name()) {
                names.push(finding.kind.name());
            }
        }
        kinds.iter().copied().chain(names).map(rule).collect()
    }

    /// A finding: a warning, or a note if it is no fault by itself.
    fn finding(&self, finding: &Finding) -> Value {
        let mut value = json!({
            "ruleId": finding.kind.name(),
            "level": if finding.is_fault() { "warning" } else { "note" },
            "message": { "text": message(&format!("{}: {}", certainty_name(finding.certainty), finding.text)) },
            "locations": [self.location(Some(finding.pc))],
            "properties": { "certainty": certainty_name(finding.certainty) },
        });
        if let Some(flow) = finding.evidence.as_ref().and_then(|evidence| self.code_flow(evidence)) {
            value["codeFlows"] = json!([flow]);
        }
        value
    }

    fn result(&self, result: &PropertyResult, kinds: &[&str]) -> Value {
        let verdict = verdict_name(&result.verdict).0;
        let text = [vec![statement(result)], remarks(result)].concat().join(". ");
        let mut finding = json!({
            "ruleId": result.kind,
            "ruleIndex": kinds.iter().position(|kind| *kind == result.kind),
            "level": if result.verdict == Verdict::Violated { "error" } else { "warning" },
            "message": { "text": message(&text) },
            "locations": [self.location(place::address(result))],
            "partialFingerprints": { "property/v1": format!("{}: {}", result.name, result.formula) },
            "properties": {
                "name": result.name,
                "formula": result.formula,
                "verdict": verdict,
                "basis": basis_name(result.basis),
            },
        });
        if let Some(state) = self.baseline_state(result) {
            finding["baselineState"] = state.into();
        }
        if let Some(flow) = result.evidence.as_ref().and_then(|evidence| self.code_flow(evidence)) {
            finding["codeFlows"] = json!([flow]);
        }
        finding
    }

    /// The change of a finding since the older report, in the terms of SARIF.
    fn baseline_state(&self, result: &PropertyResult) -> Option<&'static str> {
        let change = self.changes.as_ref()?.verdicts.iter().find(|change| change.name == result.name);
        Some(match change {
            None => "unchanged",
            Some(change) if change.before.is_none() => "new",
            Some(_) => "updated",
        })
    }

    /// A place in the source if it is known, else in the listing.
    fn location(&self, pc: Option<u32>) -> Value {
        let source = pc.and_then(|pc| Source::at(self.report.image, pc));
        let (uri, line) = match (source, &self.listing) {
            (Some(source), _) => (uri(&source.file), source.line as usize),
            (None, Some(listing)) => (self.listing_uri(), pc.map_or(1, |pc| listing.line(pc))),
            (None, None) => (uri(&self.report.image.name), 1),
        };
        let mut location = json!({
            "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": line } },
        });
        if let Some(function) = pc.and_then(|pc| self.names()?.function(pc)) {
            location["logicalLocations"] = json!([{ "name": visible(&function), "kind": "function" }]);
        }
        location
    }

    fn names(&self) -> Option<Names<'_>> {
        self.device.map(|device| Names { image: self.report.image, device })
    }

    /// The last steps of a run.
    fn code_flow(&self, evidence: &Evidence) -> Option<Value> {
        let names = self.names()?;
        let last = &evidence.narrative.last;
        let steps = &last[last.len().saturating_sub(MAX_STEPS)..];
        let locations: Vec<Value> = steps.iter().map(|line| self.step(&names, line)).collect();
        (!locations.is_empty()).then(|| json!({ "threadFlows": [{ "locations": locations }] }))
    }

    fn step(&self, names: &Names<'_>, line: &Line) -> Value {
        let mut location = self.location(Some(line.pc));
        let text = format!("step {}: {:#06x} {}", line.step, line.pc, action(names, line));
        location["message"] = json!({ "text": message(&text) });
        json!({ "location": location })
    }
}

fn rule(kind: &str) -> Value {
    let text = match kind {
        "Inherent" => "No hazard of the machine happens".to_owned(),
        "Stack" => "The stack stays within its limit".to_owned(),
        "out-of-object" => "A store through a pointer stays in its object".to_owned(),
        "torn-access" => "No handler writes a variable between two accesses to its bytes".to_owned(),
        kind => format!("A property of the kind {kind} holds"),
    };
    json!({ "id": kind, "name": kind, "shortDescription": { "text": text } })
}

/// A text as a message: what looks like an embedded link (SARIF 2.1.0, section 3.11.6) is none.
fn message(text: &str) -> String {
    let text = visible(text);
    if text.contains("](") { text.replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]") } else { text }
}

fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
