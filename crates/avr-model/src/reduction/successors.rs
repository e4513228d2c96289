//! The successors of a state: all answers to all open questions, and with path compression as far as a run goes without a choice.

use super::case_merge::{Cut, merge_cases};
use super::followed_path::follow;
use super::handler_summaries::behind_handler;
use super::passes::Model;
use super::path_compression::Passage;
use super::reduced_step::{learning, power_on, relating, step};
use super::skipped_paths::Spot;
use crate::state::deferral::Deferral;
use crate::state::events::Recorder;
use crate::state::{AbstractState, PrecisionLookup};
use crate::transfer::choices::Scripted;
use crate::transfer::step_accesses::StepAccesses;
use crate::transfer::{Leaf, Open, Stepped, as_cases};
use avr_isa::FlashWordAddress;
use avr_machine::Limit;
use std::sync::Arc;
use tvar::LocationPrecision;

/// The most outcomes of one step that are distinguished.
const MAX_LEAVES: usize = 4096;

/// The passage on which outcomes are followed, and the precision of what comes then.
pub(crate) type Far<'a> = (&'a Passage<'a>, &'a PrecisionLookup<'a>);

/// Everything that one step from a state can come to under a precision, in the order of enumeration.
pub(crate) fn leaves(model: &mut Model<'_>, state: &AbstractState, precision: &LocationPrecision) -> Vec<Leaf> {
    all_leaves(model, state, precision, None)
}

/// The same, each followed until something is decided.
pub(crate) fn leaves_far(model: &mut Model<'_>, state: &AbstractState, precision: &PrecisionLookup<'_>) -> Vec<Leaf> {
    let here = precision.leaving(state, &model.context.location(state));
    let AbstractState::Running(running) = state else { return leaves(model, state, here) };
    let labels = model.context.labels(state);
    let passage = Passage::new(&labels, Spot { pc: running.control.pc, calls: running.calls });
    all_leaves(model, state, here, Some((&passage, precision)))
}

/// With `far`, each outcome is followed on such a passage.
pub(crate) fn all_leaves(
    model: &mut Model<'_>,
    state: &AbstractState,
    here: &LocationPrecision,
    far: Option<Far<'_>>,
) -> Vec<Leaf> {
    // Handlers are followed while what they interrupt is.
    let outer = model.context.working.defers_certain;
    let leaves = collected_leaves(model, state, here, far);
    model.context.working.defers_certain = outer;
    leaves
}

fn collected_leaves(
    model: &mut Model<'_>,
    state: &AbstractState,
    here: &LocationPrecision,
    far: Option<Far<'_>>,
) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let watched = Arc::clone(&model.context.watched);
    let pc = match state {
        AbstractState::Running(running) => running.control.pc,
        _ => FlashWordAddress(0),
    };
    let steps = model.passes.partial_order.is_some().then(StepAccesses::default);
    let mut environment = Scripted::new(here, Open { events: Recorder::new(&watched, pc.byte()), steps })
        .learning(learning(model, here))
        .relating(relating(model, here))
        .telling_branches(model.passes.branches);
    loop {
        environment.clear_notes();
        model.context.working.defers_certain = false;
        let mut stepped = run(model, state, here, &mut environment);
        if let (AbstractState::Running(running), Some((passage, precision))) = (state, far)
            && environment.is_only_cut()
            && environment.is_at_first_case()
        {
            let cut = Cut { running, here, precision, labels: passage.labels() };
            if let Some((leaf, more)) = merged_leaf(model, cut, &mut environment, passage.clone()) {
                leaves.extend(leaf);
                if more {
                    continue;
                }
                return leaves;
            }
            environment.clear_notes();
            model.context.working.defers_certain = false;
            stepped = run(model, state, here, &mut environment);
        }
        if let Some(states) = behind_its_handler(model, state, here, &stepped, &environment, far) {
            leaves.extend(as_cases(&environment.script, states, model.context.working.defers_certain));
        } else {
            let mut target = target(model, stepped, &mut environment, far);
            if here.stops_at_cases && environment.retract_cases() {
                // SOUND: a sink says nothing of what comes after it, whatever the case.
                target = Some(AbstractState::Limit { limit: Limit::TooManyCases, pc });
            }
            let defers_certain = model.context.working.defers_certain;
            leaves.extend(target.map(|state| Leaf { script: environment.script.clone(), state, defers_certain }));
        }
        if leaves.len() > MAX_LEAVES {
            // SOUND: a sink says nothing of what comes after it.
            let state = AbstractState::Limit { limit: Limit::TooManyCases, pc };
            return vec![Leaf { script: Vec::new(), state, defers_certain: false }];
        }
        if !environment.advance() {
            return leaves;
        }
    }
}

/// The merged outcome of all cases into which a step is cut, and whether there are more scripts; none if they cannot be
/// merged.
fn merged_leaf(
    model: &mut Model<'_>,
    cut: Cut<'_>,
    environment: &mut Scripted<'_, Open<'_>>,
    mut passage: Passage<'_>,
) -> Option<(Option<Leaf>, bool)> {
    let script = environment.script_before_cut();
    let (deferral, more) = merge_cases(model, cut, environment, &mut passage)?;
    let target = follow(model, deferral, passage, cut.precision);
    let defers_certain = model.context.working.defers_certain;
    Some((target.map(|state| Leaf { script, state, defers_certain }), more))
}

/// The states in which interrupted code goes on after a step; none if the handler is followed step by step.
fn behind_its_handler(
    model: &mut Model<'_>,
    state: &AbstractState,
    here: &LocationPrecision,
    stepped: &Stepped,
    environment: &Scripted<'_, Open<'_>>,
    far: Option<Far<'_>>,
) -> Option<Vec<AbstractState>> {
    let (AbstractState::Running(running), Stepped::On(deferral), Some((passage, precision))) = (state, stepped, far)
    else {
        return None;
    };
    let is_entered = environment.unknowns.steps.as_ref().is_some_and(|steps| steps.interrupted);
    (here.coarse && is_entered).then(|| behind_handler(model, running, *deferral, passage, precision))?
}

/// The state to which a step leads that the working state has just taken, or what it leads to after that.
fn target(
    model: &mut Model<'_>,
    stepped: Stepped,
    environment: &mut Scripted<'_, Open<'_>>,
    far: Option<Far<'_>>,
) -> Option<AbstractState> {
    match (stepped, far) {
        (Stepped::On(deferral), Some((passage, precision))) => {
            let mut passage = passage.clone();
            let (compression, context) = model.compression();
            compression.note_move(context, &mut passage);
            follow(model, deferral, passage, precision)
        }
        (Stepped::On(deferral), None) => {
            Some(model.context.arrived(environment.unknowns.events.occurrences(), deferral))
        }
        (Stepped::Ended(state), _) => Some(state),
        (Stepped::Infeasible, _) => None,
    }
}

/// Runs one step from a state with the answers of the environment.
fn run(
    model: &mut Model<'_>,
    state: &AbstractState,
    precision: &LocationPrecision,
    environment: &mut Scripted<'_, Open<'_>>,
) -> Stepped {
    match state {
        AbstractState::Running(running) => {
            model.context.working.load(&model.context.store, running);
            step(model, running.deferral, precision, environment)
        }
        AbstractState::Dummy => {
            power_on(model, environment);
            Stepped::On(Deferral::default())
        }
        AbstractState::Hazard { .. } | AbstractState::Limit { .. } => Stepped::Infeasible,
    }
}
