//! Handler summaries: a handler is taken in one step. See `docs/soundness.md`, section "Handler summaries".
//!
//! The effect of a transparent handler depends on the cells that it reads. It changes nothing but the cells that it writes
//! and those below the stack pointer. So its states are looked at once. The outcome is used wherever it interrupts code
//! with the same content of all cells that it touched.

use super::followed_path::follow;
use super::partial_order::PartialOrder;
use super::passes::Model;
use super::path_compression::Passage;
use super::path_expansion::way;
use super::precision_reads::Recorder;
use super::skipped_paths::Spot;
use super::successors::{all_leaves, leaves};
use super::summary_access::SummaryAccess;
use super::summary_table::{Entry, Made, Outcome, Summary};
use crate::abstraction::difference::content;
use crate::context::Context;
use crate::faults::count_used_summary;
use crate::faults::handler_summaries::{Fault, is_on};
use crate::state::deferral::Deferral;
use crate::state::events::Occurrences;
use crate::state::{AbstractState, PrecisionLookup, Running};
use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Control, FrameKind, PAGE_CELLS};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;
use three_valued::fault;
use three_valued::{ByteDomain, Truth, TvByte};

/// The most states of one handler that are looked at.
const MAX_STATES: usize = 256;
/// The most states of a handler that are looked at step by step.
const MAX_STEPS: usize = 16_384;
/// The number of times that a handler that could not be summarised is tried again.
const MAX_FAILURES: u32 = 64;

/// The handler that was just entered: the number of its interrupt, and the stack pointer before.
#[derive(Clone, Copy)]
struct Entered {
    number: u8,
    position: DataAddress,
}

/// The states in which the code that a handler interrupted has gone on, if the working state has just entered the handler
/// from a state; none if it is to be followed step by step. Then the working state is where it was.
pub(crate) fn behind_handler(
    model: &mut Model<'_>,
    from: &Running,
    deferral: Deferral,
    passage: &Passage<'_>,
    precision: &PrecisionLookup<'_>,
) -> Option<Vec<AbstractState>> {
    let (first, passed) = handled(model, from, deferral, passage, precision)?;
    Some(returned(model, (from, &first), &passed.summary, passage, precision))
}

/// The first state of the handler that the working state has just entered from a state, and the outcomes of the
/// handler.
fn handled(
    model: &mut Model<'_>,
    from: &Running,
    deferral: Deferral,
    passage: &Passage<'_>,
    precision: &PrecisionLookup<'_>,
) -> Option<(Running, Arc<Made>)> {
    let entered = passable(model, from)?;
    let entry = entry(model, from, entered, deferral, passage.labels());
    let content = &model.context.working.state.data;
    let known = model.passes.handler_summaries.as_ref()?.known.get(&entry).and_then(|all| {
        all.iter().find_map(|touching| {
            let values: Vec<TvByte> = touching.cells.iter().map(|cell| *content.get(*cell)).collect();
            let any = touching.passed.values().next().filter(|_| is_on(Fault::NothingCompared));
            any.or_else(|| touching.passed.get(&values)).map(Arc::clone)
        })
    });
    if let Some(made) = &known {
        model.passes.handler_summaries.as_mut()?.used.push(Arc::clone(made));
        let (compression, context) = model.compression();
        compression.note_passed(context, from);
    }
    let AbstractState::Running(first) = model.context.arrived(Occurrences::default(), deferral) else { return None };
    if let Some(passed) = known {
        count_used_summary();
        return Some((first, passed));
    }
    let outer = model.passes.take_notes();
    let recorder = Recorder::new(precision);
    let followed = followed_through(model, from, first, (entered, passage.labels()), &recorder);
    let (notes, _) = model.passes.take_notes();
    model.passes.put_notes(outer);
    let Some((cells, summary)) = followed else {
        model.passes.put_notes_in_vain(notes);
        let handlers = model.passes.handler_summaries.as_mut()?;
        *handlers.failures.entry(entered.number).or_default() += 1;
        model.context.working.load(&model.context.store, &first);
        return None;
    };
    let values = cells.iter().map(|cell| model.context.store.cell(first.memory, *cell)).collect();
    let changes = recorder.changes().unwrap_or_default();
    let (reads, notes) = (recorder.reads(), notes.packed());
    let made = Arc::new(Made { entry, cells, values, summary, changes, reads, notes });
    model.passes.enter(&made.notes);
    let handlers = model.passes.handler_summaries.as_mut()?;
    handlers.add(&made);
    handlers.used.push(Arc::clone(&made));
    Some((first, made))
}

/// The handler that was just entered from a state, if it is one that may be summarised.
fn passable(model: &Model<'_>, from: &Running) -> Option<Entered> {
    let (handlers, reduction) = (model.passes.handler_summaries.as_ref()?, model.passes.partial_order.as_ref()?);
    let frame = model.context.working.state.calls.frames().last()?;
    let FrameKind::Interrupt(number) = frame.kind else { return None };
    let vector = model.context.machine.device.interrupts.iter().find(|interrupt| interrupt.number == number)?.vector;
    let is_enabled =
        model.context.store.cell(from.memory, model.context.machine.status_address()).bit(7) == Truth::True;
    let is_usual = model.context.working.state.control.pc == FlashWordAddress(vector.into())
        && frame.return_address == from.control.pc
        && is_enabled
        && !from.control.sleeping
        && !from.control.torn;
    let is_tried =
        handlers.access.is_none() && handlers.failures.get(&number).is_none_or(|failures| *failures < MAX_FAILURES);
    let is_transparent = reduction.is_transparent(number) || is_on(Fault::AllTransparent);
    // SOUND: the labels that goals see are compared where a summary is used again.
    let is_comparable = reduction.seen_cells().is_some();
    let is_passable = is_usual && is_tried && is_transparent && is_comparable;
    is_passable.then_some(Entered { number, position: frame.position })
}

fn entry(model: &Model<'_>, from: &Running, entered: Entered, deferral: Deferral, labels: &[Truth]) -> Entry {
    let state = &model.context.working.state;
    let sram = model.context.machine.sram();
    let is_outside = |page: usize| {
        let first = page * PAGE_CELLS;
        first >= 32 && !(sram.start.index()..sram.end.index()).contains(&first)
    };
    let page_of = |cell: DataAddress| cell.index() / PAGE_CELLS;
    let mut single: BTreeSet<usize> = state.data.changed_pages().filter(|page| is_outside(*page)).collect();
    single.extend(processor(&model.context).into_iter().flatten().map(page_of));
    let mut others = model.context.store.pages(from.memory, |page| is_outside(page) && !single.contains(&page));
    for cell in single.iter().flat_map(|page| page * PAGE_CELLS..(page + 1) * PAGE_CELLS).map(DataAddress::of_index) {
        if !is_given_back(&model.context, cell) {
            let value = state.data.get(cell);
            others.extend([cell.0.into(), u32::from_le_bytes(content(*value))]);
        }
    }
    let seen =
        model.passes.partial_order.as_ref().and_then(PartialOrder::seen_cells).filter(|_| !is_on(Fault::NothingSeen));
    for cell in seen.into_iter().flatten() {
        others.extend([cell.0.into(), u32::from_le_bytes(content(*state.data.get(cell)))]);
    }
    let (number, pointer) = (entered.number, entered.position);
    Entry { number, control: state.control, pointer, deferral, labels: labels.to_vec(), others }
}

/// Follows a handler from its first state through all its states to its end; none if that is not to be done in one step.
fn followed_through(
    model: &mut Model<'_>,
    from: &Running,
    first: Running,
    (entered, labels): (Entered, &[Truth]),
    precision: &PrecisionLookup<'_>,
) -> Option<(Vec<DataAddress>, Summary)> {
    let deepest = model.passes.path_compression.as_ref()?.deepest();
    model.passes.handler_summaries.as_mut()?.access = Some(SummaryAccess::new(entered.position));
    let ends = ends(model, (from, labels), first, precision);
    let footing = model.passes.handler_summaries.as_mut()?.access.take()?;
    model.passes.path_compression.as_mut()?.set_deepest(deepest);
    let ends = ends?;
    let handlers = model.passes.handler_summaries.as_mut()?;
    let is_deeper = footing.lowest < deepest && handlers.promised.is_none_or(|promised| footing.lowest < promised);
    if is_deeper && !is_on(Fault::DeepestPassed) {
        // A state is kept where the stack is deeper than ever before.
        handlers.promised = Some(footing.lowest);
        return None;
    }
    let cells: Vec<DataAddress> =
        footing.cells.iter().copied().filter(|cell| !is_given_back(&model.context, *cell)).collect();
    let own = footing.lowest.wrapping_add(1)..=entered.position;
    // I/O registers, and what hardware keeps beside them, change with what is read and written.
    // Predicates change with the cells that they speak of.
    let is_predicate = |cell: &DataAddress| cell.index() >= model.context.machine.cells();
    let is_register = |cell: &DataAddress| {
        model.context.machine.is_of_hardware(*cell) && !is_given_back(&model.context, *cell) || is_predicate(cell)
    };
    let changed = |end: &Running| model.context.store.differing_cells(first.memory, end.memory).map(|(cell, ..)| cell);
    let registers: BTreeSet<DataAddress> = ends.iter().flat_map(changed).filter(is_register).collect();
    let mut outcomes = Vec::new();
    for end in ends {
        let changed = model.context.store.differing_cells(first.memory, end.memory);
        let mut elsewhere =
            changed.filter(|(cell, ..)| !cells.contains(cell) && !own.contains(cell) && !registers.contains(cell));
        if !elsewhere.all(|(cell, before, after)| after.covers(before) || is_given_back(&model.context, cell)) {
            return None;
        }
        let left = cells.iter().filter(|cell| !own.contains(cell));
        let left = left.copied().chain(registers.iter().copied());
        let cells = left.map(|cell| (cell, model.context.store.cell(end.memory, cell))).collect();
        outcomes.push(Outcome { control: end.control, deferral: end.deferral, cells });
    }
    Some((cells, Summary { outcomes, lowest: footing.lowest }))
}

/// The states in which a handler ends; none if it does not always end, or has states that are to be looked at.
fn ends(
    model: &mut Model<'_>,
    (from, labels): (&Running, &[Truth]),
    first: Running,
    precision: &PrecisionLookup<'_>,
) -> Option<Vec<Running>> {
    let start = AbstractState::Running(first);
    let floor = model.context.store.depth(first.calls);
    let (mut states, mut numbers) = (vec![start], FxHashMap::from_iter([(start, 0usize)]));
    let (mut ends, mut edges) = (Vec::new(), Vec::new());
    while let Some(AbstractState::Running(running)) = states.get(edges.len()).copied() {
        let state = AbstractState::Running(running);
        let status = model.context.store.cell(running.memory, model.context.machine.status_address());
        if status.bit(7) != Truth::False || states.len() > MAX_STATES || model.context.labels(&state) != labels {
            return None;
        }
        let spot = Spot { pc: running.control.pc, calls: running.calls };
        let (compression, context) = model.compression();
        compression.note_kept(context, spot, &state);
        let passage = Passage::new(labels, spot).until_return(floor);
        let here = precision.leaving(&state, &model.context.location(&state));
        let mut targets = Vec::new();
        for leaf in all_leaves(model, &state, here, Some((&passage, precision))) {
            let AbstractState::Running(next) = leaf.state else { return None };
            if model.context.store.depth(next.calls) < floor {
                if next.calls != from.calls || next.control.pc != from.control.pc {
                    return None;
                }
                if !ends.contains(&next) {
                    ends.push(next);
                }
                continue;
            }
            let arriving = precision.arriving(&state, &model.context.location(&leaf.state));
            let next = model.context.decay(leaf.state, arriving);
            let number = *numbers.entry(next).or_insert_with(|| {
                states.push(next);
                states.len() - 1
            });
            targets.push(number);
        }
        edges.push(targets);
    }
    // SOUND: from inside a handler with several ends not all of them need be reached.
    let is_told_apart = model.passes.branches && ends.len() > 1 && !is_on(Fault::ManyEnds);
    (!ends.is_empty() && ends_always(&edges) && !is_told_apart).then_some(ends)
}

/// The states in which interrupted code has gone on, by the outcomes of its handler. The handler was entered from one
/// state by way of another one.
fn returned(
    model: &mut Model<'_>,
    (from, first): (&Running, &Running),
    passed: &Summary,
    passage: &Passage<'_>,
    precision: &PrecisionLookup<'_>,
) -> Vec<AbstractState> {
    let outcomes = if is_on(Fault::FirstOutcomeOnly) { &passed.outcomes[..1] } else { &passed.outcomes[..] };
    let mut states = Vec::new();
    for outcome in outcomes {
        // SOUND: what the entry itself did stays: flags that it acknowledged or set, and enable bits that it cleared.
        let entered = if is_on(Fault::EntryForgotten) || fault::is_on(fault::Fault::EntryForgotten) {
            *from
        } else {
            Running { calls: from.calls, ..*first }
        };
        model.context.working.load(&model.context.store, &entered);
        for cell in processor(&model.context).into_iter().flatten() {
            model.context.working.state.data.set(cell, model.context.store.cell(from.memory, cell));
        }
        let pointer = model.context.decay_rules.whole_pointer(&model.context.working.state).unwrap_or(passed.lowest);
        let data = &mut model.context.working.state.data;
        let garbage = passed.lowest.wrapping_add(1).through(pointer);
        let garbage = garbage.filter(|cell| model.context.machine.sram().contains(cell));
        let changes = outcome.cells.iter().copied().chain(garbage.map(|cell| (cell, TvByte::UNKNOWN)));
        for (cell, value) in changes {
            if *data.get(cell) != value {
                data.set(cell, value);
            }
        }
        model.context.working.state.control = Control { pc: from.control.pc, ..outcome.control };
        let state = follow(model, outcome.deferral, passage.clone(), precision);
        states.extend(state.filter(|state| !states.contains(state)));
    }
    states
}

/// True if a transparent handler gives a cell back as it was: a register, SREG, or SP.
fn is_given_back(context: &Context<'_>, cell: DataAddress) -> bool {
    cell < DataAddress::IO || processor(context).contains(&Some(cell))
}

/// The data addresses of SP and SREG.
fn processor(context: &Context<'_>) -> [Option<DataAddress>; 3] {
    let stack_pointer = context.machine.stack_pointer();
    [Some(stack_pointer.low), stack_pointer.high, Some(context.machine.status_address())]
}

/// True if a step from one state entered the handler in which another is.
pub(crate) fn has_entered(model: &Model<'_>, from: &AbstractState, to: &AbstractState) -> bool {
    let (AbstractState::Running(from), AbstractState::Running(to)) = (from, to) else { return false };
    let youngest = model.context.store.pop_call(to.calls);
    youngest.is_some_and(|(below, frame)| below == from.calls && matches!(frame.kind, FrameKind::Interrupt(_)))
}

/// The ways through a handler, step by step, from its first state to states that another one covers.
pub(crate) fn ways_through(
    model: &mut Model<'_>,
    first: AbstractState,
    to: &AbstractState,
    precision: &PrecisionLookup<'_>,
) -> Vec<(Vec<AbstractState>, AbstractState)> {
    let ways = ways_decaying(model, first, to, precision, true);
    // Its locations may have dropped more since the handler was summarised.
    if ways.is_empty() { ways_decaying(model, first, to, precision, false) } else { ways }
}

/// The same where states forget on the way what their locations drop, or nothing.
fn ways_decaying(
    model: &mut Model<'_>,
    first: AbstractState,
    to: &AbstractState,
    precision: &PrecisionLookup<'_>,
    forgets: bool,
) -> Vec<(Vec<AbstractState>, AbstractState)> {
    let AbstractState::Running(running) = first else { return Vec::new() };
    let floor = model.context.store.depth(running.calls);
    let (mut before, mut waiting) = (FxHashMap::default(), vec![first]);
    let (mut ways, mut seen) = (Vec::new(), FxHashSet::from_iter([first]));
    while let Some(state) = waiting.pop() {
        for leaf in leaves(model, &state, precision.leaving(&state, &model.context.location(&state))) {
            let AbstractState::Running(next) = leaf.state else { continue };
            let arriving = precision.arriving(&state, &model.context.location(&leaf.state));
            let is_end = model.context.store.depth(next.calls) < floor;
            let next = if is_end || !forgets { leaf.state } else { model.context.decay(leaf.state, arriving) };
            if seen.len() > MAX_STEPS || !seen.insert(next) {
                continue;
            }
            before.insert(next, state);
            if !is_end {
                waiting.push(next);
            } else if let Some((rest, last)) = way(model, next, to, precision) {
                let back = std::iter::successors(Some(state), |state| before.get(state).copied());
                let mut way: Vec<_> = back.collect();
                way.reverse();
                way.extend(rest);
                ways.push((way, last));
            }
        }
    }
    ways
}

/// True if every path ends.
fn ends_always(edges: &[Vec<usize>]) -> bool {
    let mut leading = vec![0usize; edges.len()];
    edges.iter().flatten().for_each(|target| leading[*target] += 1);
    let mut free: Vec<usize> = (0..edges.len()).filter(|state| leading[*state] == 0).collect();
    let mut ended = 0;
    while let Some(state) = free.pop() {
        ended += 1;
        for target in &edges[state] {
            leading[*target] -= 1;
            if leading[*target] == 0 {
                free.push(*target);
            }
        }
    }
    ended == edges.len()
}
