//! Paths that are followed until something is decided.

use super::passes::Model;
use super::path_compression::{Passage, forget_popped};
use super::reduced_step::next_step;
use crate::faults::path_compression::{Fault, is_on};
use crate::state::deferral::Deferral;
use crate::state::events::Occurrences;
use crate::state::{AbstractState, PrecisionLookup};
use crate::transfer::Stepped;
use crate::transfer::step_accesses::StepAccesses;

/// Goes on with the working state while nothing is decided, and stores it where something is.
pub(crate) fn follow(
    model: &mut Model<'_>,
    mut deferral: Deferral,
    mut passage: Passage<'_>,
    precision: &PrecisionLookup<'_>,
) -> Option<AbstractState> {
    let mut steps = model.passes.partial_order.is_some().then(StepAccesses::default);
    let mut before =
        (deferral, passage.clone(), model.context.working.state.control, model.context.working.defers_certain);
    while !is_kept(model, &mut passage) {
        let (control, deferred) = (model.context.working.state.control, model.context.working.defers_certain);
        before = (deferral, passage.clone(), control, deferred);
        passage.begin_step(&mut model.context.working.state);
        let (stepped, has_answered) = next_step(model, deferral, precision, &mut steps);
        if has_answered && !is_on(Fault::FirstOutcomeOnly) {
            model.context.working.defers_certain = deferred;
            passage.take_back(&mut model.context.working.state, control);
            model.context.working.entered = None;
            break;
        }
        let (compression, context) = model.compression();
        compression.note_left_out(context, &passage);
        match stepped {
            Stepped::On(next) => {
                deferral = next;
                compression.note_move(context, &mut passage);
            }
            Stepped::Ended(state) => {
                passage.end(&mut model.context.working.state);
                return Some(state);
            }
            Stepped::Infeasible => {
                passage.end(&mut model.context.working.state);
                return None;
            }
        }
    }
    if model.passes.branches && passage.ends_with_what_is_seen() && !is_on(Fault::LastLeftOut) {
        // SOUND: what can be reached from the state before may be less than from where the run began.
        passage.take_back(&mut model.context.working.state, before.2);
        (deferral, passage, _, model.context.working.defers_certain) = before;
        model.context.working.entered = None;
    }
    passage.end(&mut model.context.working.state);
    let (compression, context) = model.compression();
    compression.note_length(&passage);
    forget_popped(context, &passage, precision);
    Some(model.context.arrived(Occurrences::default(), deferral))
}

/// True if the working state is to be stored as it is.
fn is_kept(model: &mut Model<'_>, passage: &mut Passage<'_>) -> bool {
    let (compression, context) = model.compression();
    compression.is_kept(context, passage)
}
