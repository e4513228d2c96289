//! Results for a system as one JSON object, for programs. `docs/schema/system-1.json` describes it.
//!
//! Fields may be added, not renamed: checks outside of this repository read them.

use avr_system::{Moment, Repeats, Run, SpecificationMoment, Verdict};
use serde::Serialize;

use super::{SystemReport, basis_name, verdict_name};
use crate::escape::json_text;
use crate::report::InputFile;

/// The name and version of the JSON format.
const SCHEMA: &str = "avr-tvar/system/1";

#[derive(Serialize)]
struct JsonSystem<'a> {
    schema: &'static str,
    system: &'a str,
    inputs: &'a [InputFile],
    nodes: Vec<JsonNode<'a>>,
    properties: Vec<JsonProperty<'a>>,
    assuming: &'a [String],
    steps: u64,
}

#[derive(Serialize)]
struct JsonNode<'a> {
    name: &'a str,
    firmware: &'a str,
    device: &'a str,
    states: usize,
}

#[derive(Serialize)]
struct JsonProperty<'a> {
    name: &'a str,
    kind: &'a str,
    verdict: &'static str,
    basis: Option<&'static str>,
    reason: Option<&'a str>,
    states: usize,
    run: Option<JsonRun<'a>>,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    moments: Vec<JsonMoment<'a>>,
    steps: &'a [u64],
    schedule: &'a [(usize, u64)],
    last: Vec<&'a str>,
    repeats: Option<JsonRepeats>,
    specification: Vec<JsonSpecification<'a>>,
}

#[derive(Serialize)]
struct JsonSpecification<'a> {
    moments: usize,
    events: &'a [String],
    states: &'a [String],
}

#[derive(Serialize)]
struct JsonRepeats {
    moments: usize,
    schedule: usize,
    steps: u64,
}

#[derive(Serialize)]
struct JsonMoment<'a> {
    kind: &'static str,
    node: Option<&'a str>,
    step: u64,
    pc: Option<u32>,
    text: &'a str,
}

impl SystemReport<'_> {
    /// One JSON object over several lines, with a line end.
    #[must_use]
    pub fn json(&self) -> String {
        let nodes = self.file.nodes.iter().zip(self.nodes).zip(&self.results.node_states);
        let nodes = nodes.map(|((entry, node), states)| JsonNode {
            name: &entry.name.text,
            firmware: &entry.firmware.text,
            device: node.device.name,
            states: *states,
        });
        let properties = self.results.properties.iter().map(|result| JsonProperty {
            name: &result.name,
            kind: result.kind,
            verdict: verdict_name(&result.verdict),
            basis: result.basis.map(basis_name),
            reason: if let Verdict::Unknown(reason) = &result.verdict { Some(reason) } else { None },
            states: result.states,
            run: if let Verdict::Violated(run) = &result.verdict { Some(self.json_run(run)) } else { None },
        });
        json_text(&JsonSystem {
            schema: SCHEMA,
            system: self.path,
            inputs: self.origin.inputs,
            nodes: nodes.collect(),
            properties: properties.collect(),
            assuming: self.assumptions,
            steps: self.results.steps,
        })
    }

    fn json_run<'b>(&'b self, run: &'b Run) -> JsonRun<'b> {
        let moment = |moment: &'b Moment| JsonMoment {
            kind: moment.kind.name(),
            node: moment.node.map(|node| self.node(node)),
            step: moment.step,
            pc: moment.pc,
            text: &moment.text,
        };
        let specification = |SpecificationMoment { moments, events, states }: &'b SpecificationMoment| {
            JsonSpecification { moments: *moments, events, states }
        };
        JsonRun {
            moments: run.moments.iter().map(moment).collect(),
            steps: &run.steps,
            schedule: &run.schedule,
            last: run.last.iter().map(|place| place.text.as_str()).collect(),
            repeats: run.repeats.map(|Repeats { moments, schedule, steps }| JsonRepeats { moments, schedule, steps }),
            specification: run.specification.iter().map(specification).collect(),
        }
    }
}
