//! One step with the interrupts that partial-order reduction leaves to it.

use super::partial_order::Before;
use super::passes::Model;
use super::path_compression::precision_here;
use crate::predicates::SharedPredicates;
use crate::state::deferral::Deferral;
use crate::state::events::Recorder;
use crate::state::{AbstractState, PrecisionLookup};
use crate::transfer::choices::{Scripted, cells_cut, is_cut};
use crate::transfer::interrupt_timing::InterruptTiming;
use crate::transfer::step_accesses::StepAccesses;
use crate::transfer::{Open, Stepped};
use avr_analysis::refinable_values::RefinableValues;
use avr_machine::Stop;
use std::sync::Arc;
use three_valued::TvByte;
use tvar::LocationPrecision;

/// Runs one step of the working state with the answers of the environment.
pub(crate) fn step(
    model: &mut Model<'_>,
    deferral: Deferral,
    precision: &LocationPrecision,
    environment: &mut Scripted<'_, Open<'_>>,
) -> Stepped {
    let pc = model.context.working.state.control.pc;
    let reduction = model.passes.partial_order.as_ref();
    let is_cut = is_cut(&model.context.working.state, precision);
    let before = reduction
        .map(|reduction| reduction.before(model.context.machine, &model.context.working.state, deferral, is_cut));
    environment.timing = before.map_or(InterruptTiming::Now, |before| before.timing);
    let depth = model.context.working.state.calls.all().len();
    let stepped = model.context.machine.step(&mut model.context.working.state, environment);
    model.context.working.defers_certain |= environment.defers_certain;
    let state = &model.context.working.state;
    model.context.working.entered = (state.calls.all().len() > depth).then_some(state.control.pc);
    let deferral = before.map(|before| reduced(model, &before, precision, environment, stepped.is_ok()));
    match stepped {
        Ok(_) => Stepped::On(deferral.unwrap_or_default()),
        Err(Stop::Hazard(hazard)) => Stepped::Ended(AbstractState::Hazard { hazard, pc }),
        Err(Stop::Limit(limit)) => Stepped::Ended(AbstractState::Limit { limit, pc }),
        Err(Stop::Infeasible) => Stepped::Infeasible,
    }
}

/// Takes one step of the working state with first answers; and whether there are others.
pub(crate) fn next_step(
    model: &mut Model<'_>,
    deferral: Deferral,
    precision: &PrecisionLookup<'_>,
    steps: &mut Option<StepAccesses>,
) -> (Stepped, bool) {
    let watched = Arc::clone(&model.context.watched);
    let here = precision_here(&mut model.context, precision);
    let events = Recorder::new(&watched, model.context.working.state.control.pc.byte());
    let mut environment = Scripted::new(here, Open { events, steps: steps.take() })
        .learning(learning(model, here))
        .relating(relating(model, here))
        .telling_branches(model.passes.branches);
    let stepped = step(model, deferral, here, &mut environment);
    *steps = environment.unknowns.steps.take();
    steps.as_mut().map(StepAccesses::clear);
    (stepped, environment.has_answered())
}

/// Records the accesses of a reduced step, forgets what is garbage then, and gives the deferral after it.
fn reduced(
    model: &mut Model<'_>,
    before: &Before,
    precision: &LocationPrecision,
    environment: &mut Scripted<'_, Open<'_>>,
    went_on: bool,
) -> Deferral {
    let (Some(reduction), Some(steps)) = (&mut model.passes.partial_order, &mut environment.unknowns.steps) else {
        return Deferral::default();
    };
    steps.skipped = environment.skipped;
    if let Some(access) = model.passes.handler_summaries.as_mut().and_then(|handlers| handlers.access.as_mut()) {
        let after = model.context.decay_rules.whole_pointer(&model.context.working.state);
        access.note(steps, (before, after), precision);
    }
    reduction.note_accesses(model.context.machine, steps, before, &model.context.working.state);
    if !went_on {
        return Deferral::default();
    }
    reduction.note_depth(model.context.machine, &model.context.working.state);
    let changed = steps.all_written().chain(cells_cut(precision, steps.all_read()));
    reduction.forget_below(
        model.context.machine,
        changed,
        before.pointer(),
        &mut model.context.working.state,
        &TvByte::UNKNOWN,
    );
    if let Some(predicates) = &model.passes.predicates {
        let is_garbage = reduction.garbage(model.context.machine, &model.context.working.state);
        predicates.get().all().forget(is_garbage, &mut model.context.working.state.data);
    }
    reduction.after(model.context.machine, steps, before, &model.context.working.state)
}

/// The values that comparisons refine under a precision.
pub(crate) fn learning(model: &Model<'_>, precision: &LocationPrecision) -> Option<RefinableValues> {
    let learns = model.passes.facts && !precision.stops_at_cases && !precision.splits_all;
    learns.then(|| model.context.decay_rules.refinable())
}

/// The predicates that states keep under a precision: where few values are kept.
pub(crate) fn relating(model: &Model<'_>, precision: &LocationPrecision) -> Option<SharedPredicates> {
    let predicates = model.passes.predicates.as_ref().filter(|_| precision.coarse && !precision.stops_at_cases);
    // SOUND: states of one space all come with predicates or all without, because this changes only where one is begun.
    predicates.filter(|predicates| predicates.get().are_kept()).cloned()
}

/// Takes the first step: the machine gets its initial content.
pub(crate) fn power_on(model: &mut Model<'_>, environment: &mut Scripted<'_, Open<'_>>) {
    let Model { context, passes, .. } = model;
    context.power_on(environment);
    if let Some(reduction) = &passes.partial_order {
        let state = &mut context.working.state;
        reduction.forget_below(context.machine, std::iter::empty(), None, state, &TvByte::UNKNOWN);
    }
}
