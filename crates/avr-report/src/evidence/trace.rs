//! The file `trace.json`: the whole run. `docs/schema/trace-1.json` describes it.

use std::collections::VecDeque;

use avr_machine::Machine;
use avr_verify::PropertyResult;
use serde::Serialize;

use super::json::{JsonEvidence, JsonStep};
use super::lines::Lines;
use crate::escape::json_text;
use crate::fields::{Firmware, firmware, verdict_name};
use crate::names::Names;
use crate::report::Report;

/// The name and version of the format.
const SCHEMA: &str = "avr-tvar/trace/1";

/// Of longer runs so many steps at the beginning and as many at the end are in the file.
const MAX_STEPS: usize = 10_000;

#[derive(Serialize)]
struct Trace<'a> {
    schema: &'static str,
    firmware: Firmware<'a>,
    property: TracedProperty<'a>,
    evidence: JsonEvidence,
    steps: Vec<JsonStep>,
    /// The number of steps that are left out in the middle.
    steps_omitted: u64,
}

#[derive(Serialize)]
struct TracedProperty<'a> {
    name: &'a str,
    kind: &'a str,
    formula: &'a str,
    verdict: &'static str,
}

impl Report<'_> {
    /// The run of a result as `trace.json`; none without evidence.
    ///
    /// # Panics
    /// Never: the object consists of strings, numbers and lists.
    #[must_use]
    pub fn trace_json(&self, result: &PropertyResult, machine: &Machine) -> Option<String> {
        let evidence = result.evidence.as_ref()?;
        let names = Names { image: self.image, device: machine.device };
        let mut lines = Lines::new(machine, evidence);
        let (mut first, mut last) = (Vec::new(), VecDeque::new());
        while let Some((line, _)) = lines.next() {
            if first.len() < MAX_STEPS {
                first.push(line);
            } else {
                last.push_back(line);
                if last.len() > MAX_STEPS {
                    last.pop_front();
                }
            }
        }
        let steps: Vec<JsonStep> = first.iter().chain(&last).map(|line| JsonStep::new(&names, line)).collect();
        let trace = Trace {
            schema: SCHEMA,
            firmware: firmware(self.image, self.device),
            property: TracedProperty {
                name: &result.name,
                kind: &result.kind,
                formula: &result.formula,
                verdict: verdict_name(&result.verdict).0,
            },
            evidence: JsonEvidence::named(evidence, &names),
            steps_omitted: evidence.steps.saturating_sub(steps.len() as u64),
            steps,
        };
        Some(json_text(&trace))
    }
}
