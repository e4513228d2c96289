//! Call strings: what routines take of the stack, who calls whom, and what comes more than once.

use std::collections::{BTreeMap, BTreeSet};

use avr_machine::Frame;
use rustc_hash::FxHashMap;

use super::routines::Places;
use super::{Cycle, Routine, Segment, Usage};
use avr_model::context::Context;
use avr_model::reduction::skipped_paths::Spot;
use avr_model::state::interner::CallsId;

/// The longest cycle that is reported.
const MAX_CYCLE: usize = 64;

/// The summary of the states with one call string in one routine.
#[derive(Clone, Copy)]
struct Group {
    /// The greatest depth of the stack below RAMEND, where one is known, with the flash byte address of the instruction.
    deepest: Option<(u32, u32)>,
    states: usize,
}

/// The call strings of a state space.
pub(super) struct Calls<'a> {
    context: &'a Context<'a>,
    places: &'a Places<'a>,
    groups: FxHashMap<(CallsId, Routine), Group>,
    /// The groups in the order of their first states.
    order: Vec<(CallsId, Routine)>,
}

/// All routines with what they take, all cycles, and the deepest call string.
type Found = (BTreeMap<Routine, Usage>, BTreeMap<Cycle, usize>, Vec<Segment>);

impl<'a> Calls<'a> {
    pub(super) fn new(context: &'a Context<'a>, places: &'a Places<'a>) -> Self {
        Self { context, places, groups: FxHashMap::default(), order: Vec::new() }
    }

    /// Takes note of states at a spot, and of the greatest depth of the stack there, if one is known.
    pub(super) fn visit(&mut self, spot: Spot, depth: Option<u32>, states: usize) {
        let key = (spot.calls, self.places.routine(self.context, spot));
        let deep = depth.map(|depth| (depth, spot.pc.byte().0));
        let order = &mut self.order;
        let group = self.groups.entry(key).or_insert_with(|| {
            order.push(key);
            Group { deepest: None, states: 0 }
        });
        group.states += states;
        if deep.map(|(depth, _)| depth) > group.deepest.map(|(depth, _)| depth) {
            group.deepest = deep;
        }
    }

    /// The findings from all that was noted; none if there is no time.
    pub(super) fn finish(self, in_time: &dyn Fn(usize) -> bool) -> Option<Found> {
        let (mut routines, mut cycles, mut deepest) = (BTreeMap::new(), BTreeMap::new(), None::<(u32, Vec<Segment>)>);
        for (key, number) in self.order.iter().zip(0..) {
            if !in_time(number) {
                return None;
            }
            let group = self.groups[key];
            routine(&mut routines, key.1).states += group.states;
            let Some((depth, pc)) = group.deepest else { continue };
            let own = self.context.store.frames(key.0).filter(|frame| frame.stack == 0);
            let mut frames: Vec<Frame> = own.collect();
            frames.reverse();
            let segments = chain(self.places, &frames, pc, depth);
            add_usage(&mut routines, &segments);
            add_cycles(&mut cycles, &segments);
            if deepest.as_ref().is_none_or(|(most, _)| depth > *most) {
                deepest = Some((depth, segments));
            }
        }
        Some((routines, cycles, deepest.map(|(_, segments)| segments).unwrap_or_default()))
    }
}

fn routine(routines: &mut BTreeMap<Routine, Usage>, routine: Routine) -> &mut Usage {
    let fresh = || Usage { own: 0, total: 0, callers: BTreeSet::new(), states: 0 };
    routines.entry(routine).or_insert_with(fresh)
}

/// The routines on the stack of a state, oldest first. Their bytes add up to its depth, where each lies below the one
/// that called it. Frames are given oldest first, the depth in bytes below RAMEND.
pub(crate) fn chain(places: &Places<'_>, frames: &[Frame], pc: u32, depth: u32) -> Vec<Segment> {
    let calls: Vec<&Frame> = frames.iter().filter(|frame| places.is_call(frame)).collect();
    let end = places.data_end();
    let depth_at = |frame: &Frame| u32::from(end.offset_from(frame.position).unwrap_or_default());
    let mut segments = Vec::with_capacity(calls.len() + 1);
    let mut begin = 0;
    for index in 0..=calls.len() {
        let entered = index.checked_sub(1).map(|index| calls[index]);
        let (at, until) = match calls.get(index) {
            Some(next) => (next.return_address.byte().0, depth_at(next)),
            None => (pc, depth),
        };
        // Code that moves SP, as the switch from one task to another does, may take less than nothing.
        let bytes = until.saturating_sub(begin);
        segments.push(Segment { routine: places.routine_at(entered, at), pc: at, bytes });
        begin = until;
    }
    segments
}

/// The cycles of one call string, with how often a routine of each is in it.
pub(crate) fn cycles(segments: &[Segment]) -> BTreeMap<Cycle, usize> {
    let mut cycles = BTreeMap::new();
    add_cycles(&mut cycles, segments);
    cycles
}

/// Adds what the routines of one call string take.
fn add_usage(routines: &mut BTreeMap<Routine, Usage>, segments: &[Segment]) {
    let mut below = 0;
    for (index, segment) in segments.iter().enumerate().rev() {
        below += segment.bytes;
        let usage = routine(routines, segment.routine);
        usage.own = usage.own.max(segment.bytes);
        usage.total = usage.total.max(below);
        if let Some(caller) = index.checked_sub(1) {
            usage.callers.insert(segments[caller].routine);
        }
        if matches!(segment.routine, Routine::Handler(_)) {
            // The interrupted routine does not take what the handler takes.
            below = 0;
        }
    }
}

/// Adds the cycles of one call string: a function that comes again before an interrupt does, a handler that comes again.
fn add_cycles(cycles: &mut BTreeMap<Cycle, usize>, segments: &[Segment]) {
    let handlers: Vec<Routine> = segments.iter().map(|one| one.routine).filter(is_handler).collect();
    add_repetitions(cycles, &handlers);
    for run in segments.split(|one| is_handler(&one.routine)) {
        add_repetitions(cycles, &run.iter().map(|one| one.routine).collect::<Vec<_>>());
    }
}

fn is_handler(routine: &Routine) -> bool {
    matches!(routine, Routine::Handler(_))
}

fn add_repetitions(cycles: &mut BTreeMap<Cycle, usize>, routines: &[Routine]) {
    let mut last: BTreeMap<Routine, usize> = BTreeMap::new();
    for (index, routine) in routines.iter().enumerate() {
        let before = last.insert(*routine, index);
        let Some(before) = before.filter(|before| index - before <= MAX_CYCLE) else { continue };
        let between = &routines[before..index];
        // The cycle is told once, from its smallest routine on.
        let first = between.iter().zip(0..).min().map_or(0, |(_, first)| first);
        let turned = [&between[first..], &between[..first]].concat();
        let count = |routine: &Routine| routines.iter().filter(|one| *one == routine).count();
        let times = turned.iter().map(count).max().unwrap_or(0);
        let most = cycles.entry(Cycle { routines: turned }).or_default();
        *most = times.max(*most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Routine::{Function, Handler};

    fn segments(routines: &[(Routine, u32)]) -> Vec<Segment> {
        routines.iter().map(|(routine, bytes)| Segment { routine: *routine, pc: 0, bytes: *bytes }).collect()
    }

    #[test]
    fn routines_take_what_they_call_but_not_what_interrupts_them() {
        let mut routines = BTreeMap::new();
        add_usage(&mut routines, &segments(&[(Function(0), 1), (Function(2), 4), (Handler(1), 8), (Function(6), 16)]));
        add_usage(&mut routines, &segments(&[(Function(0), 0), (Function(2), 2), (Function(6), 3)]));
        let row = |of: Routine| {
            let Usage { own, total, callers, .. } = &routines[&of];
            (*own, *total, callers.iter().copied().collect::<Vec<_>>())
        };
        assert_eq!(row(Function(0)), (1, 5, vec![]));
        assert_eq!(row(Function(2)), (4, 5, vec![Function(0)]));
        assert_eq!(row(Handler(1)), (8, 24, vec![Function(2)]));
        assert_eq!(row(Function(6)), (16, 16, vec![Function(2), Handler(1)]));
    }

    #[track_caller]
    fn check(routines: &[Routine], expected: &[(&[Routine], usize)]) {
        let mut cycles = BTreeMap::new();
        let bytes: Vec<(Routine, u32)> = routines.iter().map(|routine| (*routine, 2)).collect();
        add_cycles(&mut cycles, &segments(&bytes));
        let expected = expected.iter().map(|(routines, times)| (Cycle { routines: routines.to_vec() }, *times));
        assert_eq!(cycles, expected.collect());
    }

    #[test]
    fn cycles_are_recursion_and_nesting_and_nothing_else() {
        check(&[Function(0), Function(2), Function(4)], &[]);
        check(&[Function(0), Function(2), Function(2), Function(2)], &[(&[Function(2)], 3)]);
        check(&[Function(4), Function(2), Function(4), Function(2)], &[(&[Function(2), Function(4)], 2)]);
        // A handler may call what it interrupts.
        check(&[Function(2), Handler(1), Function(2)], &[]);
        check(&[Function(2), Handler(1), Function(2), Handler(1)], &[(&[Handler(1)], 2)]);
        check(&[Handler(2), Handler(1), Handler(2)], &[(&[Handler(1), Handler(2)], 2)]);
    }
}
