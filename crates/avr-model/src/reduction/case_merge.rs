//! Case merging. A value that is cut into cases before a step is often of no more use a few steps later. An example is
//! the index of a ring buffer after the store. All cases are followed until then, side by side, and their outcomes are
//! joined into one state. See `docs/soundness.md`, section "Case merging".

use super::passes::Model;
use super::path_compression::Passage;
use super::reduced_step::{next_step, step};
use crate::faults::path_compression::{Fault, is_on};
use crate::state::deferral::Deferral;
use crate::state::{PrecisionLookup, Running};
use crate::transfer::choices::Scripted;
use crate::transfer::step_accesses::StepAccesses;
use crate::transfer::{Open, Stepped};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Control, PAGE_CELLS};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::{ByteDomain, Truth, TvByte};
use tvar::LocationPrecision;

/// The most steps until cases are merged.
const MAX_STEPS: usize = 16;

/// The joined outcomes of cases.
struct Joined {
    control: Control,
    deferral: Deferral,
    /// The pages that some case changed.
    pages: BTreeMap<usize, [TvByte; PAGE_CELLS]>,
    /// The steps that were taken, from one flash word address to the next.
    moves: BTreeSet<(FlashWordAddress, FlashWordAddress)>,
}

/// The followed part of a case: its place after each step.
struct Followed {
    after: Vec<(Control, Deferral)>,
    /// The live registers and flags after each step.
    live: Vec<Vec<TvByte>>,
}

/// A state whose step is cut into cases, the precision there, and the precision of what comes after it.
#[derive(Clone, Copy)]
pub(crate) struct Cut<'a> {
    pub(crate) running: &'a Running,
    pub(crate) here: &'a LocationPrecision,
    pub(crate) precision: &'a PrecisionLookup<'a>,
    /// The labels of the state.
    pub(crate) labels: &'a [Truth],
}

/// Follows all cases into which a step is cut, from the present script on, until they can be merged. The working state
/// is then the merged state. The result is the deferral there, and whether there are more scripts. None if the cases
/// cannot be merged soon; then the script is as it was, and the working state is anywhere.
pub(crate) fn merge_cases(
    model: &mut Model<'_>,
    cut: Cut<'_>,
    environment: &mut Scripted<'_, Open<'_>>,
    passage: &mut Passage<'_>,
) -> Option<(Deferral, bool)> {
    let first = environment.script.clone();
    let steps = steps_to_merge(model, cut, environment);
    environment.replay(first.clone());
    let Some((joined, more)) = steps.and_then(|steps| joined(model, cut, environment, steps)) else {
        environment.replay(first);
        return None;
    };
    model.context.working.load(&model.context.store, cut.running);
    let data = &mut model.context.working.state.data;
    for (page, cells) in &joined.pages {
        for (address, cell) in (page * PAGE_CELLS..).map(DataAddress::of_index).zip(cells) {
            if data.get(address) != cell {
                data.set(address, *cell);
            }
        }
    }
    model.context.working.state.control = joined.control;
    let (compression, context) = model.compression();
    compression.note_merged(context, passage, &joined.moves, steps.map_or(0, |steps| steps as u32));
    Some((joined.deferral, more))
}

/// The number of steps after which the first case and the last one differ in nothing any more that is live.
fn steps_to_merge(model: &mut Model<'_>, cut: Cut<'_>, environment: &mut Scripted<'_, Open<'_>>) -> Option<usize> {
    let one = followed(model, cut, environment, MAX_STEPS)?;
    environment.replay(environment.last_case());
    let other = followed(model, cut, environment, MAX_STEPS)?;
    let both = one.after.iter().zip(&other.after).zip(one.live.iter().zip(&other.live));
    both.map(|((one, other), (live, other_live))| one == other && live == other_live)
        .position(|is_same| is_same)
        .map(|index| index + 1)
}

/// The joined outcomes of all cases after some steps, and whether there are more scripts.
fn joined(
    model: &mut Model<'_>,
    cut: Cut<'_>,
    environment: &mut Scripted<'_, Open<'_>>,
    steps: usize,
) -> Option<(Joined, bool)> {
    let (uncut, mut joined) = (environment.uncut(), None);
    loop {
        if !(joined.is_some() && is_on(Fault::FirstCaseOnly)) {
            joined = Some(join(model, cut, environment, steps, joined)?);
        }
        if !environment.advance() {
            return Some((joined?, false));
        }
        if environment.script.len() <= uncut {
            return Some((joined?, true));
        }
    }
}

/// Follows a case, and joins its outcome with the others.
fn join(
    model: &mut Model<'_>,
    cut: Cut<'_>,
    environment: &mut Scripted<'_, Open<'_>>,
    steps: usize,
    others: Option<Joined>,
) -> Option<Joined> {
    let followed = followed(model, cut, environment, steps)?;
    let (control, deferral) = followed.after.get(steps - 1).copied()?;
    let data = &model.context.working.state.data;
    let mut joined = others.unwrap_or_else(|| {
        let page = |page: usize| (page, data.page(page).try_into().expect("a page has its size"));
        let pages = data.changed_pages().map(page).collect();
        Joined { control, deferral, pages, moves: BTreeSet::new() }
    });
    if (joined.control, joined.deferral) != (control, deferral) {
        return None;
    }
    for page in data.changed_pages() {
        // Pages that the cases before did not change are as they were.
        joined.pages.entry(page).or_insert(*model.context.store.page(cut.running.memory, page));
    }
    for (page, cells) in &mut joined.pages {
        for (cell, other) in cells.iter_mut().zip(data.page(*page)) {
            *cell = cell.join(other);
        }
    }
    let mut at = cut.running.control.pc;
    for (control, _) in &followed.after {
        joined.moves.insert((at, control.pc));
        at = control.pc;
    }
    Some(joined)
}

/// Takes the step that is cut, with the present script, and at most `most` steps in all. It goes on while each step has
/// one outcome, the stack keeps its depth, and no state is to be kept. None if not even the first step is like that.
fn followed(
    model: &mut Model<'_>,
    cut: Cut<'_>,
    environment: &mut Scripted<'_, Open<'_>>,
    most: usize,
) -> Option<Followed> {
    model.context.working.load(&model.context.store, cut.running);
    let pointer = model.context.decay_rules.whole_pointer(&model.context.working.state)?;
    environment.clear_notes();
    let stepped = step(model, cut.running.deferral, cut.here, environment);
    let Stepped::On(mut deferral) = stepped else { return None };
    if !environment.is_only_cut() {
        return None;
    }
    let mut steps = model.passes.partial_order.is_some().then(StepAccesses::default);
    let mut followed = Followed { after: Vec::new(), live: Vec::new() };
    loop {
        let control = model.context.working.state.control;
        let is_level = model.context.decay_rules.whole_pointer(&model.context.working.state) == Some(pointer)
            && model.context.working.save_calls(&mut model.context.store) == cut.running.calls;
        if !is_level || control.sleeping {
            break;
        }
        let (compression, context) = model.compression();
        let is_loop_head = compression.is_loop_head(control.pc);
        if compression.can_tell(context, cut.labels) {
            break;
        }
        followed.after.push((control, deferral));
        followed.live.push(model.context.decay_rules.live_values(
            &model.context.store,
            &model.context.working.state,
            cut.running.calls,
        ));
        if followed.after.len() >= most || is_loop_head {
            break;
        }
        let deferred = model.context.working.defers_certain;
        match next_step(model, deferral, cut.precision, &mut steps) {
            (Stepped::On(next), false) => deferral = next,
            _ => {
                model.context.working.defers_certain = deferred;
                break;
            }
        }
    }
    (!followed.after.is_empty()).then_some(followed)
}
