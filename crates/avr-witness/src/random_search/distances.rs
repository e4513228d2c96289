//! Distances of places of a program from those that runs are directed at.
//!
//! The distance is the number of decisions, branches and interrupts, that have to come out right: where all ways lead to a target, it is 0.

use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Frame, FrameKind, MachineState};
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

/// A place of a program. The return addresses are those since the last interrupt.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// The return addresses, oldest first. That of an interrupt does not count.
    pub frames: &'a [Frame],
    /// The flash word address of the next instruction.
    pub pc: FlashWordAddress,
}

/// A step between places, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The place before it.
    pub from: usize,
    /// The place after it.
    pub to: usize,
    /// The interrupt that it is.
    pub interrupt: Option<Interrupt>,
}

/// An interrupt at a depth of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interrupt {
    /// Its number.
    pub number: u8,
    /// The stack pointer before the return address is pushed.
    pub pointer: DataAddress,
}

/// The distances of places.
#[derive(Debug, Default)]
pub struct Distances {
    /// By the hash of the place: a mistake would cost nothing but time.
    spots: FxHashMap<u64, Rated>,
    /// The interrupts that lead nearer.
    interrupts: FxHashMap<u64, Vec<Interrupt>>,
}

/// A place with its distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rated {
    /// The number of decisions that have to come out right.
    pub(super) distance: u32,
    /// True if the instruction there is one of them.
    pub(super) decides: bool,
    /// The number of instructions until the next of them.
    pub(super) steps: u32,
}

/// So many instructions before a decision states are kept.
const STEPS_BEFORE_DECISION: u32 = 16;

impl Rated {
    /// True if the instruction is a decision that did not come out right: this is the place behind it.
    pub(super) fn leads_away(self, after: Option<Self>) -> bool {
        self.decides && after.is_none_or(|after| after.distance >= self.distance)
    }

    /// True if a decision comes soon, and not so before.
    pub(super) fn comes_before_decision(self, before: Option<Self>) -> bool {
        let is_close = |one: Self| one.distance == self.distance && one.steps <= STEPS_BEFORE_DECISION;
        is_close(self) && !before.is_some_and(is_close)
    }
}

/// The order of the states of runs by nearness: the latest progress of numbers that decide, the distance, and the stack pointer.
pub(super) type Nearness = (Reverse<u32>, u32, DataAddress);

impl Distances {
    /// The distances from targets in a graph.
    #[must_use]
    pub fn new(spots: &[Spot<'_>], ways: impl IntoIterator<Item = Way>, targets: &BTreeSet<usize>) -> Self {
        let ways: BTreeSet<Way> = ways.into_iter().filter(|way| way.from != way.to).collect();
        let distances = distances(spots.len(), &ways, targets);
        let steps = steps(&distances, &ways, targets);
        let mut all = Self::default();
        for (spot, (distance, steps)) in spots.iter().zip(distances.iter().zip(steps)) {
            let rated = distance.map(|distance| Rated { distance, decides: false, steps });
            all.spots.extend(rated.map(|rated| (hash(spot.frames, spot.pc), rated)));
        }
        for way in ways {
            let (Some(before), Some(after)) = (distances[way.from], distances[way.to]) else { continue };
            if after < before {
                let spot = hash(spots[way.from].frames, spots[way.from].pc);
                match way.interrupt {
                    Some(interrupt) => all.interrupts.entry(spot).or_default().push(interrupt),
                    None => _ = all.spots.entry(spot).and_modify(|rated| rated.decides = true),
                }
            }
        }
        all
    }

    /// The rating of a state, if a target may come behind it.
    pub(super) fn rated(&self, state: &MachineState<u8>) -> Option<Rated> {
        self.spots.get(&hash_of(state)).copied()
    }

    /// The interrupts that lead nearer from a state with this stack pointer.
    pub(super) fn interrupts(&self, state: &MachineState<u8>, pointer: DataAddress) -> impl Iterator<Item = u8> {
        let all = self.interrupts.get(&hash_of(state)).into_iter().flatten();
        all.filter(move |one| one.pointer == pointer).map(|one| one.number)
    }
}

/// The distances of all places from targets, in rounds: those from which all ways lead to places with a distance, and then those from
/// which some do. An interrupt is never the only way.
fn distances(count: usize, ways: &BTreeSet<Way>, targets: &BTreeSet<usize>) -> Vec<Option<u32>> {
    let mut before: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
    let mut others = vec![0_u32; count];
    for way in ways {
        let is_interrupt = way.interrupt.is_some();
        before[way.to].push((way.from, is_interrupt));
        others[way.from] += u32::from(!is_interrupt);
    }
    let mut distances = vec![None; count];
    let mut round: Vec<usize> = targets.iter().copied().collect();
    for distance in 0.. {
        round.retain(|spot| distances[*spot].is_none());
        round.dedup();
        if round.is_empty() {
            break;
        }
        round.iter().for_each(|spot| distances[*spot] = Some(distance));
        let mut index = 0;
        while let Some(spot) = round.get(index).copied() {
            index += 1;
            for (from, _) in before[spot].iter().filter(|(_, is_interrupt)| !is_interrupt) {
                others[*from] -= 1;
                if others[*from] == 0 && distances[*from].is_none() {
                    distances[*from] = Some(distance);
                    round.push(*from);
                }
            }
        }
        round = round.iter().flat_map(|spot| before[*spot].iter().map(|(from, _)| *from)).collect();
        round.sort_unstable();
    }
    distances
}

/// The numbers of instructions until the distance gets less, or a target comes.
fn steps(distances: &[Option<u32>], ways: &BTreeSet<Way>, targets: &BTreeSet<usize>) -> Vec<u32> {
    let mut steps = vec![u32::MAX; distances.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); distances.len()];
    let mut queue: VecDeque<usize> = targets.iter().copied().collect();
    for way in ways {
        let (from, to) = (distances[way.from], distances[way.to]);
        if to.is_some() && from == to {
            before[way.to].push(way.from);
        } else if to.is_some() && to < from {
            queue.push_back(way.from);
        }
    }
    queue.iter().for_each(|spot| steps[*spot] = 0);
    while let Some(spot) = queue.pop_front() {
        for from in &before[spot] {
            if steps[*from] == u32::MAX {
                steps[*from] = steps[spot] + 1;
                queue.push_back(*from);
            }
        }
    }
    steps
}

fn hash_of(state: &MachineState<u8>) -> u64 {
    let frames = state.calls.frames();
    let is_interrupt = |frame: &Frame| matches!(frame.kind, FrameKind::Interrupt(_));
    let since = frames.iter().rposition(is_interrupt).unwrap_or(0);
    hash(&frames[since..], state.control.pc)
}

fn hash(frames: &[Frame], pc: FlashWordAddress) -> u64 {
    let mut hasher = FxHasher::default();
    for frame in frames {
        match frame.kind {
            FrameKind::Interrupt(number) => (number, frame.position).hash(&mut hasher),
            FrameKind::Call => (frame.return_address, frame.position).hash(&mut hasher),
        }
    }
    pc.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distances in a graph of places, each at an address of its own.
    fn found(count: usize, ways: &[(usize, usize, Option<u8>)], target: usize) -> Vec<Option<Rated>> {
        let spots: Vec<Spot<'_>> = (0..count as u32).map(|pc| Spot { frames: &[], pc: FlashWordAddress(pc) }).collect();
        let interrupt = |number| Interrupt { number, pointer: DataAddress(0x8ff) };
        let ways = ways.iter().map(|(from, to, number)| Way { from: *from, to: *to, interrupt: number.map(interrupt) });
        let distances = Distances::new(&spots, ways, &BTreeSet::from([target]));
        spots.iter().map(|spot| distances.spots.get(&hash(spot.frames, spot.pc)).copied()).collect()
    }

    #[test]
    fn decisions_count_and_what_comes_by_itself_does_not() {
        // 0 decides between 1 and 2, which both come to 3; 3 decides between 4, the target, and 0; nothing comes back from 4.
        let ways = [(0, 1, None), (0, 2, None), (1, 3, None), (2, 3, None), (3, 4, None), (3, 0, None), (4, 5, None)];
        let rated = |distance, decides, steps| Some(Rated { distance, decides, steps });
        let ways_in = [rated(1, false, 2), rated(1, false, 1), rated(1, false, 1), rated(1, true, 0)];
        let expected = [ways_in.as_slice(), &[rated(0, false, 0), None]].concat();
        assert_eq!(found(6, &ways, 4), expected);
    }

    #[test]
    fn an_interrupt_is_a_decision_and_does_not_come_by_itself() {
        // An interrupt comes at 1 only; all comes round.
        let ways = [(0, 1, None), (1, 0, None), (1, 2, Some(3))];
        let rated = |distance, steps| Some(Rated { distance, decides: false, steps });
        assert_eq!(found(3, &ways, 2), [rated(1, 1), rated(1, 0), rated(0, 0)]);
    }
}
