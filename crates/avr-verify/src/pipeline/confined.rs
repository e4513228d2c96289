//! Properties that are violated because a run comes to a closed set of states, from which nothing leads to where it must be possible to get.

use super::goals::{undecided, with_evidence};
use crate::diagnosis::unknown_reason::place_at;
use crate::invariants::{OnMachine, wanted};
use crate::request::{InvariantUse, Request};
use crate::results::{Basis, PropertyResult, Statistics, Unknown, Verdict};
use avr_invariant::Map;
use avr_machine::Machine;
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::reduction::passes::Passes;
use avr_progress::replayed;
use avr_properties::{AtomTable, Property, PropertyKind, bind};
use avr_witness::{Lost, Sampler};
use std::cell::Cell;
use std::time::Instant;
use tvar::{Goal, Progress, Strategy};

/// The most steps of random runs.
const STEPS: u64 = 1_000_000;

/// The same to find out whether a wait hangs, where nobody asked.
const STEPS_UNASKED: u64 = 20_000;

/// True if closed sets are looked for: they are maps of invariants.
pub(crate) fn seeks_closed_sets(request: &Request<'_>) -> bool {
    // Machines that drive inputs have states that closed sets do not know.
    request.strategy == Strategy::Default
        && !matches!(request.invariants, InvariantUse::Off)
        && request.file.machines.is_empty()
}

/// True if a property may be violated in this way.
pub(crate) fn may_be_confined(request: &Request<'_>, property: &Property) -> bool {
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table);
    bound.is_ok_and(|bound| !wanted(&bound).is_empty())
}

/// A wait that can hang, as a note, where nothing but hazards and the stack was asked for and one is found soon.
pub(crate) fn hanging(request: &Request<'_>, machine: &Machine) -> Option<String> {
    let is_plain = |property: &Property| matches!(property.kind(), PropertyKind::Inherent | PropertyKind::Stack(_));
    if !seeks_closed_sets(request) || !request.file.properties.iter().all(is_plain) || request.watch.cancelled() {
        return None;
    }
    let property = Property::new("NoHang()", PropertyKind::NoHang { except: Vec::new() });
    let found = confined_within(request, machine, &property, STEPS_UNASKED)?;
    let evidence = found.evidence.filter(|_| found.verdict == Verdict::Violated)?;
    let place = place_at(request.image, evidence.end.pc);
    Some(format!("the wait {place} can hang: --property 'NoHang()' shows a run"))
}

/// The result of a property that a run into a closed set violates, if one is found.
pub(crate) fn confined(request: &Request<'_>, machine: &Machine, property: &Property) -> Option<PropertyResult> {
    confined_within(request, machine, property, STEPS)
}

/// The same with a limit on the steps of random runs.
pub(crate) fn confined_within(
    request: &Request<'_>,
    machine: &Machine,
    property: &Property,
    steps: u64,
) -> Option<PropertyResult> {
    let started = Instant::now();
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table).ok()?;
    let formula = bound.from_start(&bound.formula).ok()?;
    let goal = Goal { formula, observes_hazards: bound.observes_hazards };
    let wanted = wanted(&bound);
    let is_over = || request.watch.cancelled() || request.watch.check(&Progress::default()).is_some();
    let atoms = table.atoms();
    let on_machine = |wanted| OnMachine { wanted, machine, atoms, is_over: &is_over, states: Cell::new(0) };
    let parts: Vec<OnMachine<'_>> = wanted.iter().map(on_machine).collect();
    let targets: Vec<&dyn Lost> = parts.iter().map(|target| target as &dyn Lost).collect();
    let firmware = Firmware::with_passes(machine, atoms, Passes::default());
    let context = &firmware.model.context;
    let search = Sampler::default().confined((context, request.watch), &goal, &targets, steps)?;
    let states = parts.iter().map(|part| part.states.get()).max().unwrap_or(0);
    let closed =
        format!("nothing leads on from the end of the run: {states} abstract states behind it are a closed set");
    let statistics = Statistics { time: started.elapsed(), ..Statistics::default() };
    let result = PropertyResult {
        verdict: Verdict::Violated,
        basis: Basis::Model,
        methods: vec![Pass::RandomSearch, Pass::Invariants],
        notes: bound.notes.iter().cloned().chain([closed]).collect(),
        ..undecided(property, bound.formula_text.clone(), Unknown::because(""), statistics)
    };
    Some(with_evidence(result, search))
}

/// A run into a closed set, as a certificate has it.
#[derive(Debug)]
pub(crate) struct ClosedSet {
    /// The inputs of the run, as an exact stimulus.
    pub(crate) stimulus: String,
    /// The number of its steps.
    pub(crate) steps: u64,
    /// The map that begins in its last state.
    pub(crate) map: Map,
}

/// The closed set behind the run that shows that a property is violated, if the run alone leads to one.
pub(crate) fn closed_set_of(
    request: &Request<'_>,
    machine: &Machine,
    (property, result): (&Property, &PropertyResult),
) -> Option<ClosedSet> {
    let evidence = result.evidence.as_ref().filter(|one| one.stimulus.exact.is_some())?;
    if result.verdict != Verdict::Violated {
        return None;
    }
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table).ok()?;
    let stimulus = evidence.stimulus.exact_to_ron(machine.device);
    let run = replayed(machine, &stimulus, evidence.steps).ok()?;
    let is_over = || request.watch.cancelled();
    let map = wanted(&bound).iter().find_map(|wanted| {
        let atoms = table.atoms();
        let part = OnMachine { wanted, machine, atoms, is_over: &is_over, states: Cell::new(0) };
        part.is_claimed(&run).then(|| part.closed_set(&run.last)).flatten()
    })?;
    Some(ClosedSet { stimulus, steps: evidence.steps, map })
}
