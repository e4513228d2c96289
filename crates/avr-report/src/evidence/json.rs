//! Evidence as data. `docs/schema/report-1.json` describes it.

use std::collections::BTreeMap;

use avr_image::Image;
use avr_isa::DataAddress;
use avr_machine::device::Device;
use avr_verify::{Chosen, Continuation, Evidence, EvidenceKind, Line, Moment};
use serde::Serialize;

use super::calls::{CallData, allow_line};
use super::step;
use crate::names::Names;

/// So many steps with inputs are listed; `stimulus.ron` has all of them.
const MAX_INPUTS: usize = 1_000;

/// A run.
#[derive(Serialize)]
pub(crate) struct JsonEvidence {
    kind: &'static str,
    steps: u64,
    cycles: u64,
    loop_start: Option<u64>,
    claim: String,
    proved: Vec<String>,
    replayed: bool,
    abstracted_step: Option<u64>,
    confirmed_cycle: Option<u64>,
    initial: BTreeMap<String, u8>,
    inputs: Vec<JsonChosen>,
    inputs_omitted: usize,
    end: End,
    trace: Vec<JsonStep>,
    specification: Vec<JsonMoment>,
    branches: Vec<Self>,
    continuation: Option<Box<JsonContinuation>>,
}

/// The states of a specification after a step.
#[derive(Serialize)]
struct JsonMoment {
    step: u64,
    events: Vec<String>,
    states: Vec<String>,
}

impl JsonMoment {
    fn new(moment: &Moment) -> Self {
        let Moment { step, events, states } = moment.clone();
        Self { step, events, states }
    }
}

/// The run behind a loop.
#[derive(Serialize)]
struct JsonContinuation {
    cells: BTreeMap<String, u8>,
    run: JsonEvidence,
}

/// The inputs of a step.
#[derive(Serialize)]
struct JsonChosen {
    step: u64,
    inputs: Vec<JsonInput>,
    initial: BTreeMap<String, u8>,
    happening: Option<String>,
}

#[derive(Serialize)]
struct JsonInput {
    register: String,
    mask: u8,
    value: u8,
}

#[derive(Serialize)]
struct End {
    pc: u32,
    sp: u16,
    sreg: u8,
    hazard: Option<Hazard>,
    calls: Vec<CallData>,
    atoms: BTreeMap<String, bool>,
}

#[derive(Serialize)]
struct Hazard {
    name: &'static str,
    meaning: &'static str,
    address: Option<u32>,
    allow: String,
}

/// A step.
#[derive(Serialize)]
pub(super) struct JsonStep {
    step: u64,
    pc: u32,
    function: Option<String>,
    line: Option<String>,
    action: String,
    /// Content before and after.
    changes: BTreeMap<String, [u8; 2]>,
    inputs: Vec<String>,
}

impl JsonEvidence {
    /// The evidence with the names of an image and a device.
    pub(crate) fn new(evidence: &Evidence, image: &Image, device: &str) -> Option<Self> {
        let device = Device::named(device).ok()?;
        Some(Self::named(evidence, &Names { image, device }))
    }

    pub(super) fn named(evidence: &Evidence, names: &Names<'_>) -> Self {
        let shown = &evidence.chosen[..evidence.chosen.len().min(MAX_INPUTS)];
        Self {
            kind: kind_name(evidence.kind),
            steps: evidence.steps,
            cycles: evidence.cycles,
            loop_start: evidence.loop_start,
            claim: evidence.claim.clone(),
            proved: evidence.proved.clone(),
            replayed: evidence.replayed,
            abstracted_step: evidence.abstracted,
            confirmed_cycle: evidence.confirmed,
            initial: cells(names, evidence.stimulus.initial.iter()),
            inputs: shown.iter().map(|chosen| JsonChosen::new(names, chosen)).collect(),
            inputs_omitted: evidence.chosen.len() - shown.len(),
            end: End::new(evidence, names),
            trace: evidence.narrative.last.iter().map(|line| JsonStep::new(names, line)).collect(),
            specification: evidence.specification.iter().map(JsonMoment::new).collect(),
            branches: evidence.branches.iter().map(|branch| Self::named(branch, names)).collect(),
            continuation: evidence.continuation.as_ref().map(|continuation| {
                let Continuation { cells: differing, run } = &**continuation;
                let run = Self::named(run, names);
                Box::new(JsonContinuation { cells: cells(names, differing.iter()), run })
            }),
        }
    }
}

/// The name of a kind of evidence in reports.
fn kind_name(kind: EvidenceKind) -> &'static str {
    match kind {
        EvidenceKind::Path => "path",
        EvidenceKind::Hazard => "hazard",
        EvidenceKind::Lasso => "lasso",
        EvidenceKind::Unending => "unending",
    }
}

fn cells<'a>(names: &Names<'_>, cells: impl Iterator<Item = (&'a DataAddress, &'a u8)>) -> BTreeMap<String, u8> {
    cells.map(|(cell, value)| (names.cell(*cell), *value)).collect()
}

impl JsonChosen {
    fn new(names: &Names<'_>, chosen: &Chosen) -> Self {
        let inputs = chosen.inputs.iter();
        Self {
            step: chosen.step,
            inputs: inputs
                .map(|input| JsonInput { register: names.cell(input.register), mask: input.mask, value: input.value })
                .collect(),
            initial: cells(names, chosen.initial.iter().map(|(cell, value)| (cell, value))),
            happening: chosen.happening.map(|what| step::happening(names, what)),
        }
    }
}

impl End {
    fn new(evidence: &Evidence, names: &Names<'_>) -> Self {
        let end = evidence.end;
        let hazard = end.hazard.map(|hazard| Hazard {
            name: hazard.kind.name(),
            meaning: hazard.kind.meaning(),
            address: hazard.address,
            allow: allow_line(hazard.kind, &end, names),
        });
        let atoms = evidence.atoms.iter().cloned().collect();
        let calls = CallData::all(evidence, names);
        Self { pc: end.pc, sp: end.stack_pointer.0, sreg: end.status, hazard, calls, atoms }
    }
}

impl JsonStep {
    /// A step with the names of what it touches.
    pub(super) fn new(names: &Names<'_>, line: &Line) -> Self {
        let changes = line.changes.iter().map(|change| (names.cell(change.address), [change.before, change.after]));
        Self {
            step: line.step,
            pc: line.pc,
            function: names.function(line.pc),
            line: names.source_line(line.pc),
            action: step::action(names, line),
            changes: changes.collect(),
            inputs: line.chosen.as_ref().map_or(Vec::new(), |chosen| step::chosen(names, chosen)),
        }
    }
}
