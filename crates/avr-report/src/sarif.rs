//! Results as SARIF 2.1.0 (OASIS, 2020), which code scanning reads.
//!
//! A property that holds is no finding and is only counted. A violated property is an error; an unknown one is a
//! warning, because viewers hide what SARIF calls `open`. Findings point to the source line where the run ends if debug
//! information has it and the file is there, else to the address in the firmware: no place is in a file that does not exist.

pub(crate) mod rules;

use avr_image::Image;
use avr_machine::device::Device;
use avr_verify::{Evidence, Finding, Line, Moment, PropertyResult, Verdict};
use serde_json::{Value, json};

use crate::baseline::Changes;
use crate::escape::{Escaped, json_text, uri};
use crate::evidence::{action, specification_line};
use crate::fields::{basis_name, verdict_name};
use crate::findings::certainty_name;
use crate::json::stack_value;
use crate::names::Names;
use crate::place::{self, Source};
use crate::report::{Report, Summary, remarks, statement};
use rules::Named;
pub use rules::meaning_of_kind;

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
        let writer = Writer { report: self, device, changes: self.changes() };
        json_text(&writer.log())
    }
}

struct Writer<'a> {
    report: &'a Report<'a>,
    device: Option<&'static Device>,
    changes: Option<Changes>,
}

impl Writer<'_> {
    fn log(&self) -> Value {
        let kinds = self.kinds();
        let results = self.report.results.properties.iter().filter(|result| result.verdict != Verdict::Holds);
        let results = results.map(|result| self.result(result, &kinds));
        let findings = self.report.results.findings.iter().filter(|finding| finding.allowed.is_none());
        let results: Vec<Value> = results.chain(findings.map(|finding| self.finding(finding))).collect();
        let mut log =
            log((self.rules(&kinds), self.artifacts(), results), Summary::of(self.report.results), &self.assumptions());
        log["runs"][0]["properties"]["stack"] = stack_value(self.report.results.stack);
        log
    }

    fn assumptions(&self) -> Vec<&str> {
        self.report.results.assumptions.iter().map(String::as_str).collect()
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
        vec![artifact(&image.name, &image.sha256)]
    }

    /// The kinds of the findings that there are.
    fn finding_kinds(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = Vec::new();
        for finding in self.report.results.findings.iter().filter(|finding| finding.allowed.is_none()) {
            if !names.contains(&finding.kind.name()) {
                names.push(finding.kind.name());
            }
        }
        names
    }

    /// The rules of all kinds of properties and findings, and then one for each property, which is a case of its kind.
    fn rules(&self, kinds: &[&str]) -> Vec<Value> {
        let all = kinds.iter().copied().chain(self.finding_kinds());
        let properties = self.report.results.properties.iter();
        all.map(rules::of_kind).chain(properties.map(|result| rules::of_property(named(result), kinds))).collect()
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
                "relatedRule": rules::property_id(named(result)),
            },
        });
        if !matches!(result.verdict, Verdict::Unknown(_)) {
            finding["properties"]["basis"] = basis_name(result.basis).into();
        }
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

    fn location(&self, pc: Option<u32>) -> Value {
        location((self.report.image, 0), self.names(), pc)
    }

    fn names(&self) -> Option<Names<'_>> {
        self.device.map(|device| Names { image: self.report.image, device })
    }

    /// The last steps of a run.
    fn code_flow(&self, evidence: &Evidence) -> Option<Value> {
        let names = self.names()?;
        let last = &evidence.narrative.last;
        let steps = &last[last.len().saturating_sub(MAX_STEPS)..];
        let locations: Vec<Value> = steps.iter().map(|line| self.step(&names, line, &evidence.specification)).collect();
        (!locations.is_empty()).then(|| json!({ "threadFlows": [{ "locations": locations }] }))
    }

    fn step(&self, names: &Names<'_>, line: &Line, moments: &[Moment]) -> Value {
        let mut location = self.location(Some(line.pc));
        let moment = moments.iter().find(|moment| moment.step == line.step + 1);
        let beside = moment.map_or_else(String::new, |moment| format!("; {}", specification_line(moment)));
        let text = format!("step {}: {:#06x} {}{beside}", line.step, line.pc, action(names, line));
        location["message"] = json!({ "text": message(&text) });
        json!({ "location": location })
    }
}

/// A log of one run, with its rules, artifacts and results.
pub(crate) fn log(
    (rules, artifacts, results): (Vec<Value>, Vec<Value>, Vec<Value>),
    Summary { holds, violated, unknown }: Summary,
    assumptions: &[&str],
) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "avr-tvar",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "artifacts": artifacts,
            "results": results,
            "properties": {
                "summary": { "holds": holds, "violated": violated, "unknown": unknown },
                "assumptions": assumptions,
            },
        }],
    })
}

/// A file that was looked at.
pub(crate) fn artifact(path: &str, sha256: &str) -> Value {
    json!({ "location": { "uri": uri(path) }, "roles": ["analysisTarget"], "hashes": { "sha-256": sha256 } })
}

/// A place in the source of an image if it is known and there, else in the firmware, which is the artifact of this number.
pub(crate) fn location((image, artifact): (&Image, usize), names: Option<Names<'_>>, pc: Option<u32>) -> Value {
    let source = pc.and_then(|pc| Source::at(image, pc));
    let existing = source.as_ref().and_then(|source| Some((source.existing(&image.name)?, source.line)));
    let physical = match existing {
        Some((file, line)) => {
            json!({ "artifactLocation": { "uri": uri(&file) }, "region": { "startLine": line } })
        }
        None => {
            let firmware = json!({ "uri": uri(&image.name), "index": artifact });
            let mut physical = json!({ "artifactLocation": firmware, "region": { "startLine": 1 } });
            if let Some(pc) = pc {
                physical["address"] = json!({ "absoluteAddress": pc, "kind": "instruction" });
            }
            physical
        }
    };
    let mut location = json!({ "physicalLocation": physical });
    if let Some(source) = source {
        location["message"] = json!({ "text": message(&format!("{}:{}", source.file, source.line)) });
    }
    if let Some(function) = pc.and_then(|pc| names?.function(pc)) {
        location["logicalLocations"] = json!([{ "name": visible(&function), "kind": "function" }]);
    }
    location
}

fn named(result: &PropertyResult) -> Named<'_> {
    Named { kind: &result.kind, name: &result.name, formula: &result.formula }
}

/// A text as a message: what looks like an embedded link (SARIF 2.1.0, section 3.11.6) is none.
pub(crate) fn message(text: &str) -> String {
    let text = visible(text);
    if text.contains("](") { text.replace('\\', r"\\").replace('[', r"\[").replace(']', r"\]") } else { text }
}

pub(crate) fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
