//! The survey of the program as a whole that a state space shows. It has the instructions that are reached, the ways
//! between routines, and the stack that each of them takes.
//!
//! Nothing here knows calling conventions, symbols are not needed, and it does not matter how code came about. All is
//! read off PC, SP and call string of the abstract states.

mod routines;
mod stack_usage;

use std::collections::{BTreeMap, BTreeSet};

use avr_image::Image;
use tvar::{StateSpace, Watch};

use avr_model::context::Context;
use avr_model::reduction::skipped_paths::{Log, Spot};
use avr_model::state::AbstractState;
use avr_model::state::stack_depth;
pub(crate) use routines::Places;
use stack_usage::Calls;
pub(crate) use stack_usage::{chain, cycles};

/// A part of the program that has a stack frame of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Routine {
    /// A function, or what runs before any is called, by the flash byte address where it begins.
    Function(u32),
    /// The handler of an interrupt with all that it jumps to, by vector number.
    Handler(u8),
}

/// A routine on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The routine.
    pub routine: Routine,
    /// Flash byte address of the instruction that it is at: the one after the call for all but the last.
    pub pc: u32,
    /// The bytes that it takes: its return address, and what it pushed until the next one was called or entered.
    pub bytes: u32,
}

/// The stack usage of a routine in bytes, its return address included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The most that it takes by itself.
    pub own: u32,
    /// The most that it takes with all that it calls, interrupt handlers on top not counted.
    pub total: u32,
    /// The routines that call it; for a handler, those that it interrupts.
    pub callers: BTreeSet<Routine>,
    /// The number of abstract states that are in it.
    pub states: usize,
}

/// The way in which one routine leads to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// A call.
    Call,
    /// The entry into an interrupt handler.
    Interrupt,
    /// A return.
    Return,
    /// A jump, or running on: without a change of the call string.
    Jump,
}

/// A routine, or several that call each other, more than once in the same call string.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cycle {
    /// The routines in the order of their calls; the last one calls or is interrupted by the first.
    pub routines: Vec<Routine>,
}

/// The survey that a state space shows. It speaks of everything that the proof cannot exclude, which may be more than
/// what happens in some run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// True if every path was followed to its end, so that what is not here is not in the program. No limit of the
    /// engine was reached then, and no hazard, after which nothing is promised.
    pub complete: bool,
    /// Flash byte addresses of the instructions that are reached, with the number of their abstract states.
    pub instructions: BTreeMap<u32, usize>,
    /// The routines that are reached.
    pub routines: BTreeMap<Routine, Usage>,
    /// The ways in which they lead to each other, with the number of transitions.
    pub ways: BTreeMap<(Routine, Routine, Way), usize>,
    /// Recursion and nesting that the proof does not exclude: for each cycle the most times that one of its routines is
    /// in one call string.
    pub cycles: BTreeMap<Cycle, usize>,
    /// The call string of a state with the deepest stack, oldest routine first.
    pub deepest: Vec<Segment>,
    /// Flash byte addresses where calls lead and vectors jump to.
    pub entries: BTreeSet<u32>,
}

/// The number of states that are looked at before limits are asked for again.
const STRIDE: usize = 4096;

impl Survey {
    /// Reads a state space; none if a limit does not leave the time for it.
    pub(crate) fn new(context: &Context<'_>, image: &Image, seen: Seen<'_>, watch: &dyn Watch) -> Option<Self> {
        let space = seen.space;
        let states = space.iter().flat_map(|space| &space.states);
        let depth =
            |state: &AbstractState| context.view(state).and_then(|view| stack_depth::depth(context.machine, &view));
        // The instruction of a hazard was reached, and ran into it.
        let states = states.filter_map(|state| Some((Spot::of(state)?, depth(state))));
        let complete = space.is_none_or(|space| space.is_complete() && space.hazards().is_empty());
        Self::of(context, image, seen, states, watch).map(|survey| Self { complete, ..survey })
    }

    /// Reads a log of all places and steps.
    pub(crate) fn of_log(context: &Context<'_>, image: &Image, log: &Log, watch: &dyn Watch) -> Option<Self> {
        let survey = Self::of(context, image, Seen { space: None, log: Some(log) }, std::iter::empty(), watch)?;
        Some(Self { complete: true, ..survey })
    }

    fn of(
        context: &Context<'_>,
        image: &Image,
        seen: Seen<'_>,
        states: impl Iterator<Item = (Spot, Option<u32>)>,
        watch: &dyn Watch,
    ) -> Option<Self> {
        let in_time = |number: usize| !number.is_multiple_of(STRIDE) || !watch.cancelled();
        let entries = routines::entries(context, seen, &in_time)?;
        let places = Places::new(context.machine, image, entries.clone());
        let mut calls = Calls::new(context, &places);
        let mut instructions: BTreeMap<u32, usize> = BTreeMap::new();
        for ((spot, depth), number) in states.zip(0..) {
            if !in_time(number) {
                return None;
            }
            *instructions.entry(spot.pc.byte().0).or_default() += 1;
            calls.visit(spot, depth, 1);
        }
        for (spot, passed) in seen.log.iter().flat_map(|log| log.spots()) {
            *instructions.entry(spot.pc.byte().0).or_default() += passed.times;
            calls.visit(spot, passed.deepest, passed.times);
        }
        let ways = ways(context, &places, seen, &in_time)?;
        let (routines, cycles, deepest) = calls.finish(&in_time)?;
        Some(Self { complete: false, instructions, routines, ways, cycles, deepest, entries })
    }
}

/// A state space, if there is one, with what was passed between its states if some were skipped.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) space: Option<&'a StateSpace<AbstractState>>,
    pub(crate) log: Option<&'a Log>,
}

impl Seen<'_> {
    /// Tells all steps with their number; none if there is no time. Where states were skipped, those that only go on to
    /// the next instruction are excepted.
    fn moves(self, in_time: &dyn Fn(usize) -> bool, tell: &mut dyn FnMut(Spot, Spot, usize)) -> Option<()> {
        if let Some(log) = self.log {
            log.moves().for_each(|((from, to), times)| tell(from, to, times));
            return Some(());
        }
        let Some(space) = self.space else { return Some(()) };
        for (state, number) in space.states.iter().zip(0..) {
            let Some(from) = Spot::of(state) else { continue };
            if !in_time(number) {
                return None;
            }
            let members = space.edges(number).flatten();
            let targets = members.filter_map(|member| Spot::of(&space.states[*member as usize]));
            targets.for_each(|to| tell(from, to, 1));
        }
        Some(())
    }
}

/// The ways in which routines lead to each other; none if there is no time.
fn ways(
    context: &Context<'_>,
    places: &Places<'_>,
    seen: Seen<'_>,
    in_time: &dyn Fn(usize) -> bool,
) -> Option<BTreeMap<(Routine, Routine, Way), usize>> {
    let mut ways = BTreeMap::new();
    seen.moves(in_time, &mut |from, to, times| {
        let (origin, depth) = (places.routine(context, from), context.store.depth(from.calls));
        let (target, new_depth) = (places.routine(context, to), context.store.depth(to.calls));
        let way = match new_depth.cmp(&depth) {
            std::cmp::Ordering::Less => Way::Return,
            std::cmp::Ordering::Equal => Way::Jump,
            std::cmp::Ordering::Greater if matches!(target, Routine::Handler(_)) => Way::Interrupt,
            std::cmp::Ordering::Greater => Way::Call,
        };
        if origin != target || matches!(way, Way::Call | Way::Interrupt) {
            *ways.entry((origin, target, way)).or_default() += times;
        }
    })?;
    Some(ways)
}
