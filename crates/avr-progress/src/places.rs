//! The places of a map, and the heads of the loops of the main program.

use crate::claim::Location;
use crate::faults::{Fault, is_on};
use avr_invariant::{CallStrings, Entry, Map, Move, Place, Thread};
use avr_isa::FlashWordAddress;
use avr_machine::{Frame, Machine};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A place whatever else is known of the processor: a thread, a call string by its place in their order, and a program counter.
pub(crate) type Spot = (Thread, u32, FlashWordAddress);

/// The call strings of a map in an order that does not depend on their numbers, so that neither do the heads.
struct CallOrder {
    /// The place of each number.
    places: Vec<u32>,
    /// The number at each place.
    numbers: Vec<u32>,
}

impl CallOrder {
    fn new(calls: &CallStrings) -> Self {
        let mut numbers: Vec<u32> = (0..calls.len() as u32).collect();
        numbers.sort_by_key(|number| calls.frames(*number));
        let mut places = vec![0; numbers.len()];
        numbers.iter().zip(0..).for_each(|(number, place)| places[*number as usize] = place);
        Self { places, numbers }
    }

    fn spot(&self, place: &Place) -> Spot {
        (place.thread, self.places[place.calls as usize], place.control.pc)
    }
}

/// The reason why nothing is known of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Obstacle {
    /// A handler has a loop, so that it may never end.
    #[error("a handler has a loop")]
    HandlerLoops(FlashWordAddress),
    /// A handler may return to where the next interrupt comes at once.
    #[error("a handler returns without an instruction before the next interrupt")]
    NoDelay,
}

/// The spots of the main program that cut all cycles, and the entries of the map at each.
pub(crate) struct Places<'a> {
    map: &'a Map,
    order: CallOrder,
    /// The heads, in ascending order.
    pub(crate) heads: Vec<Spot>,
    numbers: FxHashMap<(Vec<Frame>, FlashWordAddress), usize>,
    ways: BTreeMap<Spot, BTreeSet<Spot>>,
}

impl<'a> Places<'a> {
    /// The places of a closed map without marks; `moves` are those of its closing check.
    ///
    /// SOUND: each run has infinitely many steps of the main program, because no handler has a loop, one instruction of what is interrupted
    /// follows each return, and what interrupts a handler begins at a lower stack pointer. The spots without the heads have no cycle. So each run comes to heads infinitely often.
    pub(crate) fn new(machine: &Machine, map: &'a Map, moves: &BTreeMap<Move, usize>) -> Result<Self, Obstacle> {
        let returns_at_once = map.exits.iter().any(|exit| !exit.control.interrupt_delay);
        if returns_at_once && !is_on(Fault::NoDelayPassed) {
            return Err(Obstacle::NoDelay);
        }
        let order = CallOrder::new(&map.calls);
        let ways = ways(machine, map, (moves, &order));
        let mut cut = heads(&ways);
        // A reset in a handler is no way between spots of one thread.
        let resets = moves.keys().filter_map(|one| match one {
            Move::To(from, to) if from.thread != to.thread => Some(order.spot(to)),
            _ => None,
        });
        cut.extend(resets);
        if is_on(Fault::HandlerLoopsPassed) {
            cut.retain(|(thread, ..)| *thread == Thread::Main);
        }
        if let Some((.., pc)) = cut.iter().find(|(thread, ..)| *thread != Thread::Main) {
            return Err(Obstacle::HandlerLoops(*pc));
        }
        if is_on(Fault::HeadLeftOut) {
            cut.pop_last();
        }
        let heads: Vec<Spot> = cut.into_iter().collect();
        let numbers = heads.iter().zip(0..);
        let frames = |calls: u32| map.calls.frames(order.numbers[calls as usize]).to_vec();
        let numbers = numbers.map(|((_, calls, pc), number)| ((frames(*calls), *pc), number)).collect();
        Ok(Self { map, order, numbers, heads, ways })
    }

    /// The head at which the main program is with these return addresses and this program counter.
    pub(crate) fn head_at(&self, frames: &[Frame], pc: FlashWordAddress) -> Option<usize> {
        if is_on(Fault::FramesForgotten) {
            return self.heads.iter().position(|(.., head)| *head == pc);
        }
        self.numbers.get(&(frames.to_vec(), pc)).copied()
    }

    /// The head at a location.
    pub(crate) fn head(&self, location: &Location) -> Option<usize> {
        self.numbers.get(&(location.frames.clone(), location.pc)).copied()
    }

    /// The location of a head.
    pub(crate) fn location(&self, head: usize) -> Location {
        let (_, calls, pc) = self.heads[head];
        Location { pc, frames: self.map.calls.frames(self.order.numbers[calls as usize]).to_vec() }
    }

    /// The entries of the map at a head.
    pub(crate) fn entries(&self, head: usize) -> impl Iterator<Item = &'a Entry> + use<'_, 'a> {
        let wanted = self.heads[head];
        let most = if is_on(Fault::FirstEntryOnly) { 1 } else { usize::MAX };
        self.map.entries.iter().filter(move |entry| self.order.spot(&entry.place) == wanted).take(most)
    }

    /// The program counters of the spots that lie on a way from a head back to it.
    pub(crate) fn loop_of(&self, head: usize) -> BTreeSet<FlashWordAddress> {
        let mut before: BTreeMap<Spot, Vec<Spot>> = BTreeMap::new();
        for (from, targets) in &self.ways {
            targets.iter().for_each(|to| before.entry(*to).or_default().push(*from));
        }
        let forward = reached(self.heads[head], &|spot| self.ways.get(&spot).into_iter().flatten().copied().collect());
        let backward = reached(self.heads[head], &|spot| before.get(&spot).cloned().unwrap_or_default());
        forward.intersection(&backward).map(|(.., pc)| *pc).collect()
    }

    /// The other heads to which a run may come again and again without coming to a head, those of small loops first.
    pub(crate) fn inner(&self, head: usize) -> Vec<usize> {
        let outer = self.heads[head];
        let next = |spot: Spot| -> Vec<Spot> {
            self.ways.get(&spot).into_iter().flatten().copied().filter(|to| *to != outer).collect()
        };
        let around = self.loop_of(head);
        let comes_back = |inner: &usize| reached(self.heads[*inner], &next).contains(&self.heads[*inner]);
        let others = (0..self.heads.len()).filter(|other| *other != head && around.contains(&self.heads[*other].2));
        let mut inner: Vec<usize> = others.filter(comes_back).collect();
        inner.sort_by_key(|inner| reached(self.heads[*inner], &next).len());
        inner
    }

    /// The program counters of all handlers.
    pub(crate) fn of_handlers(&self) -> BTreeSet<FlashWordAddress> {
        let entries = self.map.entries.iter().filter(|entry| entry.place.thread != Thread::Main);
        entries.map(|entry| entry.place.control.pc).collect()
    }

    /// The interrupts whose handlers are in the map, in ascending order.
    pub(crate) fn interrupts(&self) -> Vec<u8> {
        let threads: BTreeSet<u8> = self
            .map
            .entries
            .iter()
            .filter_map(|entry| match entry.place.thread {
                Thread::Main => None,
                Thread::Handler { interrupt, .. } => Some(interrupt),
            })
            .collect();
        threads.into_iter().collect()
    }

    /// The map.
    pub(crate) fn map(&self) -> &'a Map {
        self.map
    }
}

fn reached(from: Spot, next: &dyn Fn(Spot) -> Vec<Spot>) -> BTreeSet<Spot> {
    let mut all = BTreeSet::new();
    let mut waiting = next(from);
    while let Some(spot) = waiting.pop() {
        if all.insert(spot) {
            waiting.extend(next(spot));
        }
    }
    all
}

/// The ways between spots of one thread. There may be more than steps take.
fn ways(
    machine: &Machine,
    map: &Map,
    (moves, order): (&BTreeMap<Move, usize>, &CallOrder),
) -> BTreeMap<Spot, BTreeSet<Spot>> {
    let mut ways: BTreeMap<Spot, BTreeSet<Spot>> =
        map.entries.iter().map(|entry| (order.spot(&entry.place), BTreeSet::new())).collect();
    for one in moves.keys() {
        if let Move::To(from, to) = one
            && from.thread == to.thread
        {
            ways.entry(order.spot(from)).or_default().insert(order.spot(to));
        }
    }
    if is_on(Fault::BehindForgotten) {
        return ways;
    }
    // Steps to the instruction behind are not told.
    let behind: Vec<(Spot, Spot)> = ways
        .keys()
        .map(|(thread, calls, pc)| ((*thread, *calls, *pc), (*thread, *calls, pc.wrapping_add(1))))
        .filter(|((.., pc), to)| {
            let known = machine.program.control_flow(*pc).and_then(|flow| flow.destinations());
            ways.contains_key(to) && known.is_none_or(|known| known.into_iter().any(|target| target == to.2))
        })
        .collect();
    for (from, to) in behind {
        ways.entry(from).or_default().insert(to);
    }
    ways
}

/// The spots to which a depth-first search comes back: each cycle has one.
fn heads(ways: &BTreeMap<Spot, BTreeSet<Spot>>) -> BTreeSet<Spot> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Mark {
        Open,
        Done,
    }
    let mut marks: BTreeMap<Spot, Mark> = BTreeMap::new();
    let mut heads = BTreeSet::new();
    for root in ways.keys() {
        let mut stack = vec![(*root, false)];
        while let Some((spot, is_left)) = stack.pop() {
            if is_left {
                marks.insert(spot, Mark::Done);
                continue;
            }
            match marks.get(&spot) {
                Some(_) => continue,
                None => marks.insert(spot, Mark::Open),
            };
            stack.push((spot, true));
            for to in ways.get(&spot).into_iter().flatten().rev() {
                match marks.get(to) {
                    Some(Mark::Open) => _ = heads.insert(*to),
                    Some(Mark::Done) => {}
                    None => stack.push((*to, false)),
                }
            }
        }
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(ways: &[(u32, u32)]) -> BTreeMap<Spot, BTreeSet<Spot>> {
        let at = |pc| (Thread::Main, 0, FlashWordAddress(pc));
        let mut all: BTreeMap<Spot, BTreeSet<Spot>> = BTreeMap::new();
        for (from, to) in ways {
            all.entry(at(*from)).or_default().insert(at(*to));
            all.entry(at(*to)).or_default();
        }
        all
    }

    #[test]
    fn every_cycle_has_a_head() {
        let mut random = avr_testkit::Random::new(1);
        for _ in 0..2_000 {
            let count = 2 + random.below(8);
            let ways: Vec<(u32, u32)> =
                (0..random.below(20)).map(|_| (random.below(count), random.below(count))).collect();
            let ways = spots(&ways);
            let heads = heads(&ways);
            // Without the heads, spots without ways can be taken away until none is left.
            let mut left: BTreeMap<Spot, BTreeSet<Spot>> = ways.clone();
            left.retain(|spot, _| !heads.contains(spot));
            loop {
                let present: BTreeSet<Spot> = left.keys().copied().collect();
                let before = left.len();
                left.retain(|_, targets| targets.iter().any(|to| present.contains(to)));
                if left.len() == before {
                    break;
                }
            }
            assert!(left.is_empty(), "{ways:?}: {heads:?}");
        }
    }
}
