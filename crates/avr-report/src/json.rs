//! Results as one JSON object, for programs. `docs/schema/report-1.json` describes it.
//!
//! Fields may be added, not renamed: checks outside of this repository read them.

use std::collections::BTreeMap;

use serde::Serialize;

use avr_verify::{ContractUse, Exploration, PropertyResult, StackBound, Statistics, TaskStackBound, Vacuity, Verdict};

use crate::alarms::JsonAlarm;
use crate::baseline::Changes;
use crate::culprit::JsonUnknown;
use crate::escape::json_text;
use crate::evidence::JsonEvidence;
use crate::explanation::ExplanationData;
use crate::fields::{
    Firmware, JsonReached, SCHEMA, basis_name, certified, firmware, reached, recheck_name, rests_on, verdict_name,
};
use crate::json_finding::JsonFinding;
use crate::predicates::predicates;
use crate::report::{InputFile, Report, StoppedBy, Summary};
use crate::specification::SpecificationData;

#[derive(Serialize)]
struct JsonReport<'a> {
    schema: &'static str,
    firmware: Firmware<'a>,
    results: Vec<JsonResult<'a>>,
    /// The findings beside the properties.
    findings: Vec<JsonFinding<'a>>,
    stack: JsonStack,
    /// The stacks of tasks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<JsonTaskStack<'a>>,
    /// The contracts that stood in place of bodies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contracts: Vec<JsonContract<'a>>,
    reached: Option<JsonReached>,
    /// The changes since the older report that was given.
    changes: Option<Changes>,
    assumptions: &'a [String],
    /// The question and its conditions.
    specification: Option<SpecificationData>,
    /// At how many instructions paths end that no property speaks of, by the hazard.
    /// The limit that stopped the work.
    stopped_by: Option<&'static str>,
    ended_paths: BTreeMap<&'static str, usize>,
    summary: JsonSummary,
    warnings: Vec<String>,
    tool: &'a str,
    /// All files that were read.
    inputs: &'a [InputFile],
    exploration: Option<JsonExploration>,
    /// The outcome of looking for invariants of the whole program.
    invariants: Option<JsonInvariants<'a>>,
    peak_memory_bytes: u64,
}

#[derive(Serialize)]
struct JsonContract<'a> {
    function: &'a str,
    text: &'a str,
    proved: bool,
}

impl<'a> From<&'a ContractUse> for JsonContract<'a> {
    fn from(contract: &'a ContractUse) -> Self {
        Self { function: &contract.function, text: &contract.text, proved: contract.proved }
    }
}

#[derive(Serialize)]
struct JsonResult<'a> {
    name: &'a str,
    kind: &'a str,
    formula: &'a str,
    verdict: &'static str,
    basis: &'static str,
    /// The reductions and domains that took part.
    rests_on: Vec<&'static str>,
    /// The predicates that the verdict needs, as texts.
    predicates: Vec<String>,
    /// True if it rests on nothing but what certificates have, or a run shows it.
    certified: Option<bool>,
    reason: Option<&'a str>,
    /// The outcome of deciding it again.
    recheck: Option<&'static str>,
    stats: JsonStatistics,
    evidence: Option<JsonEvidence>,
    /// The reason why a verdict that a run could show comes without one.
    evidence_missing: Option<&'a str>,
    vacuous: Option<JsonVacuity<'a>>,
    unknown: Option<JsonUnknown>,
    explanation: Option<ExplanationData>,
    /// Remarks on the reading of names.
    notes: &'a [String],
    /// The events that the data sheet promises and the verdict rests on.
    promises: &'a [String],
}

/// A part of the formula that a property which holds says nothing about.
#[derive(Serialize)]
struct JsonVacuity<'a> {
    subformula: &'a str,
    replaced_by: &'static str,
}

#[derive(Serialize)]
struct JsonStatistics {
    refinements: usize,
    states: usize,
    transitions: usize,
    seconds: f64,
}

/// The cost of the exploration. `cpu_seconds` and `steps_per_second` differ from run to run, like all times.
#[derive(Serialize)]
struct JsonExploration {
    steps: u64,
    repeated_steps: u64,
    reused_steps: u64,
    cpu_seconds: f64,
    steps_per_second: Option<f64>,
    states: Option<usize>,
    state_bytes: Option<usize>,
    bytes_per_state: Option<f64>,
}

/// The outcome of looking for invariants of the whole program.
#[derive(Serialize)]
struct JsonInvariants<'a> {
    states: Option<usize>,
    steps: usize,
    /// The reasons why nothing follows from them.
    open: &'a [String],
    /// The alarms, with what they depend on.
    alarms: Vec<JsonAlarm>,
}

#[derive(Serialize)]
struct JsonStack {
    lower: Option<u32>,
    upper: Option<u32>,
    exact: Option<u32>,
}

#[derive(Serialize)]
struct JsonSummary {
    holds: usize,
    violated: usize,
    unknown: usize,
}

impl Report<'_> {
    /// One JSON object over several lines, with a line end.
    ///
    /// # Panics
    /// Never: the object consists of strings, numbers and lists.
    #[must_use]
    pub fn json(&self) -> String {
        let report = JsonReport {
            schema: SCHEMA,
            firmware: firmware(self.image, self.device),
            results: self.results.properties.iter().map(|result| JsonResult::new(result, self)).collect(),
            findings: self.json_findings(),
            stack: self.results.stack.into(),
            stacks: self.results.stacks.iter().map(JsonTaskStack::from).collect(),
            contracts: self.results.contracts.iter().map(JsonContract::from).collect(),
            reached: self.names().and_then(|names| reached(&names, self.results.survey.as_ref())),
            changes: self.changes(),
            assumptions: &self.results.assumptions,
            specification: self.specification.map(SpecificationData::of),
            stopped_by: self.stopped_by.map(StoppedBy::name),
            ended_paths: self.results.ended_paths.iter().map(|(kind, places)| (kind.name(), places.len())).collect(),
            summary: Summary::of(self.results).into(),
            warnings: self.image.warnings.iter().map(ToString::to_string).collect(),
            tool: self.origin.tool,
            inputs: self.origin.inputs,
            exploration: self.results.exploration.map(JsonExploration::from),
            invariants: self.results.invariants.as_ref().map(|outcome| JsonInvariants {
                states: outcome.states,
                steps: outcome.steps,
                open: &outcome.open,
                alarms: self.json_alarms(),
            }),
            peak_memory_bytes: self.peak_memory_bytes,
        };
        json_text(&report)
    }

    fn json_findings(&self) -> Vec<JsonFinding<'_>> {
        let Some(names) = self.names() else { return Vec::new() };
        (0..self.results.findings.len())
            .map(|number| JsonFinding::new(&self.results.findings, number, &names))
            .collect()
    }
}

impl<'a> JsonResult<'a> {
    fn new(result: &'a PropertyResult, report: &Report<'a>) -> Self {
        let evidence = result.evidence.as_ref();
        let (verdict, reason) = verdict_name(&result.verdict);
        Self {
            name: &result.name,
            kind: &result.kind,
            formula: &result.formula,
            verdict,
            basis: basis_name(result.basis),
            rests_on: rests_on(result),
            predicates: report.names().map_or_else(Vec::new, |names| predicates(result, &names)),
            certified: certified(result),
            reason: reason.or(result.detail.as_deref()),
            recheck: result.recheck.map(recheck_name),
            stats: result.statistics.into(),
            evidence: evidence.and_then(|evidence| JsonEvidence::new(evidence, report.image, report.device)),
            evidence_missing: result.evidence_missing.as_deref(),
            vacuous: result.vacuous.as_ref().map(JsonVacuity::from),
            unknown: match &result.verdict {
                Verdict::Unknown(unknown) => JsonUnknown::new(unknown, report.image, report.device),
                Verdict::Holds | Verdict::Violated => None,
            },
            explanation: result
                .explanation
                .as_ref()
                .and_then(|explanation| ExplanationData::new(explanation, report.image, report.device)),
            notes: &result.notes,
            promises: &result.promises,
        }
    }
}

impl<'a> From<&'a Vacuity> for JsonVacuity<'a> {
    fn from(vacuity: &'a Vacuity) -> Self {
        let Vacuity { subformula, replaced_by, .. } = vacuity;
        Self { subformula, replaced_by: if *replaced_by { "true" } else { "false" } }
    }
}

impl From<Statistics> for JsonStatistics {
    fn from(statistics: Statistics) -> Self {
        let Statistics { refinements, states, transitions, time } = statistics;
        Self { refinements, states, transitions, seconds: time.as_secs_f64() }
    }
}

impl From<Exploration> for JsonExploration {
    fn from(exploration: Exploration) -> Self {
        let stored = exploration.stored;
        Self {
            steps: exploration.steps,
            repeated_steps: exploration.repeated,
            reused_steps: exploration.reused,
            cpu_seconds: exploration.time.as_secs_f64(),
            steps_per_second: exploration.steps_per_second(),
            states: stored.map(|stored| stored.states),
            state_bytes: stored.map(|stored| stored.bytes),
            bytes_per_state: stored.and_then(|stored| stored.bytes_per_state()),
        }
    }
}

impl From<StackBound> for JsonStack {
    fn from(stack: StackBound) -> Self {
        Self { lower: stack.lower, upper: stack.upper, exact: stack.exact() }
    }
}

/// The bound of the stack of a task.
#[derive(Serialize)]
pub(crate) struct JsonTaskStack<'a> {
    symbol: &'a str,
    #[serde(flatten)]
    bound: JsonStack,
    /// The bytes that the stack has.
    room: u32,
}

impl<'a> From<&'a TaskStackBound> for JsonTaskStack<'a> {
    fn from(stack: &'a TaskStackBound) -> Self {
        Self { symbol: &stack.symbol, bound: stack.bound.into(), room: stack.room }
    }
}

/// The stack bound as data.
///
/// # Panics
/// Never: the object consists of numbers.
pub(crate) fn stack_value(stack: StackBound) -> serde_json::Value {
    serde_json::to_value(JsonStack::from(stack)).expect("numbers can be written")
}

impl From<Summary> for JsonSummary {
    fn from(summary: Summary) -> Self {
        let Summary { holds, violated, unknown } = summary;
        Self { holds, violated, unknown }
    }
}
