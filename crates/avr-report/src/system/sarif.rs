//! Results for a system as SARIF 2.1.0: places are in the system file, and the nodes of a run are threads of a code flow.

use std::ops::Range;

use avr_system::{Moment, MomentKind, PropertyResult, Run, Verdict, WireEntry};
use serde_json::{Value, json};

use super::{SystemReport, basis_name, beside, said, statement, verdict_name};
use crate::escape::{json_text, uri};
use crate::sarif::rules::{Named, of_kind, of_property, property_id};
use crate::sarif::{artifact, location, log, message};

/// So many of the last moments of a run are in the file.
const MAX_MOMENTS: usize = 100;

impl SystemReport<'_> {
    /// One SARIF log with one run.
    ///
    /// # Panics
    /// Never: the object consists of strings, numbers and lists.
    #[must_use]
    pub fn sarif(&self) -> String {
        let mut kinds: Vec<&str> = Vec::new();
        for result in &self.results.properties {
            if !kinds.contains(&result.kind) {
                kinds.push(result.kind);
            }
        }
        let properties = self.results.properties.iter();
        let rules = properties.clone().map(|result| of_property(named(result), &kinds));
        let rules = kinds.iter().copied().map(of_kind).chain(rules).collect();
        let open = properties.enumerate().filter(|(_, result)| result.verdict != Verdict::Holds);
        let results = open.map(|(number, result)| self.sarif_result((number, result), &kinds)).collect();
        let assumptions: Vec<&str> = self.assumptions.iter().map(String::as_str).collect();
        json_text(&log((rules, self.artifacts(), results), self.summary(), &assumptions))
    }

    /// The system file, and the firmware of nodes, each once.
    fn artifacts(&self) -> Vec<Value> {
        let digest = self.origin.inputs.iter().find(|input| input.path == self.path);
        let mut system = artifact(self.path, digest.map_or("", |input| &input.sha256));
        if digest.is_none() {
            system.as_object_mut().and_then(|system| system.remove("hashes"));
        }
        let mut all = vec![system];
        for (number, node) in self.nodes.iter().enumerate() {
            if self.artifact_of(number) == all.len() {
                all.push(artifact(&node.image.name, &node.image.sha256));
            }
        }
        all
    }

    /// The number of the artifact that is the firmware of a node.
    fn artifact_of(&self, node: usize) -> usize {
        let mut names: Vec<&str> = Vec::new();
        for other in &self.nodes[..=node] {
            if !names.contains(&other.image.name.as_str()) {
                names.push(&other.image.name);
            }
        }
        names.iter().position(|name| *name == self.nodes[node].image.name).map_or(0, |place| place + 1)
    }

    fn sarif_result(&self, (number, result): (usize, &PropertyResult), kinds: &[&str]) -> Value {
        let text = [vec![statement(result)], self.remarks(result)].concat().join(". ");
        let verdict = verdict_name(&result.verdict);
        let span = self.file.properties.get(number).map_or(0..0, |entry| entry.span.clone());
        let mut value = json!({
            "ruleId": result.kind,
            "ruleIndex": kinds.iter().position(|kind| *kind == result.kind),
            "level": if verdict == "violated" { "error" } else { "warning" },
            "message": { "text": message(&text) },
            "locations": [self.place(&span)],
            "partialFingerprints": { "property/v1": result.name },
            "properties": { "name": result.name, "verdict": verdict, "relatedRule": property_id(named(result)) },
        });
        if let Some(basis) = result.basis {
            value["properties"]["basis"] = basis_name(basis).into();
        }
        if let Verdict::Violated(run) = &result.verdict {
            value["codeFlows"] = json!([{ "threadFlows": self.threads(run, &span) }]);
        }
        value
    }

    /// A place in the system file.
    fn place(&self, span: &Range<usize>) -> Value {
        let [(line, column), (end_line, end_column)] = [span.start, span.end].map(|byte| self.position(byte));
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(self.path), "index": 0 },
            "region": { "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column },
        } })
    }

    /// A thread for each node, which ends where the node is in the end, one for lines if something is on them, and one for the states of the
    /// specification of a property, at the property. The order of moments goes across threads.
    fn threads(&self, run: &Run, property: &Range<usize>) -> Vec<Value> {
        let first = run.moments.len().saturating_sub(MAX_MOMENTS);
        let moments = || run.moments.iter().zip(1u64..).skip(first);
        let mut threads: Vec<Value> = Vec::new();
        for node in 0..self.nodes.len() {
            let own = moments().filter(|(moment, _)| moment.node == Some(node));
            let mut all: Vec<Value> = own.map(|(moment, order)| self.moment(node, moment, order)).collect();
            if let Some(place) = run.last.get(node) {
                let text = format!("{} is {} in the end", self.node(node), place.text);
                all.push(self.at(node, place.pc, &text, run.moments.len() as u64 + 1));
            }
            threads.push(json!({ "id": self.node(node), "locations": all }));
        }
        let of_lines = moments().filter_map(|(moment, order)| self.arrival(moment, order));
        let of_lines: Vec<Value> = of_lines.collect();
        if !of_lines.is_empty() {
            threads.push(json!({ "id": "lines", "locations": of_lines }));
        }
        let states = beside(run).filter(|(moments, _)| *moments >= first);
        let states: Vec<Value> = states.map(|(moments, text)| self.noted(property, &text, moments as u64)).collect();
        if !states.is_empty() {
            threads.push(json!({ "id": "specification", "locations": states }));
        }
        threads
    }

    fn moment(&self, node: usize, moment: &Moment, order: u64) -> Value {
        let text = format!("{}, step {}:{}", self.node(node), moment.step, said(moment));
        self.at(node, moment.pc.unwrap_or_default(), &text, order)
    }

    /// A place in the firmware of a node.
    fn at(&self, node: usize, pc: u32, text: &str, order: u64) -> Value {
        let image = self.nodes[node].image;
        let mut place = location((image, self.artifact_of(node)), self.names(node), Some(pc));
        place["message"] = json!({ "text": message(text) });
        json!({ "location": place, "executionOrder": order })
    }

    /// A character that came to the end of a line, at the wire in the system file.
    fn arrival(&self, moment: &Moment, order: u64) -> Option<Value> {
        let MomentKind::Line { from: sender, to: receiver } = moment.kind else { return None };
        let span = self.file.wires.iter().find_map(|wire| match wire {
            WireEntry::Uart { from, to, .. } if from.text == self.node(sender) && to.text == self.node(receiver) => {
                Some(from.span.start.min(to.span.start)..from.span.end.max(to.span.end))
            }
            WireEntry::Uart { .. } | WireEntry::Pin { .. } => None,
        })?;
        Some(self.noted(&span, &moment.text, order))
    }

    /// A place in the system file.
    fn noted(&self, span: &Range<usize>, text: &str, order: u64) -> Value {
        let mut place = self.place(span);
        place["message"] = json!({ "text": message(text) });
        json!({ "location": place, "executionOrder": order })
    }
}

fn named(result: &PropertyResult) -> Named<'_> {
    Named { kind: result.kind, name: &result.name, formula: &result.name }
}
