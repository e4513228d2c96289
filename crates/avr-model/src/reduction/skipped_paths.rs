//! Skipped paths: the steps between the states that are kept, in enough detail to tell what the program does as a
//! whole.

use crate::state::AbstractState;
use crate::state::interner::CallsId;
use avr_isa::FlashWordAddress;
use rustc_hash::FxHashMap;

/// A place in the program, with how it was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// Flash word address of the instruction.
    pub pc: FlashWordAddress,
    /// The call string.
    pub calls: CallsId,
}

impl Spot {
    /// The spot of a state; none before the start and in sinks.
    pub fn of(state: &AbstractState) -> Option<Self> {
        match state {
            AbstractState::Running(running) => Some(Self { pc: running.control.pc, calls: running.calls }),
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => None,
        }
    }
}

/// The knowledge of the skipped states at a spot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// The number of times that a state was skipped.
    pub times: usize,
    /// The greatest depth of the stack, in bytes below RAMEND.
    pub deepest: Option<u32>,
}

/// The skipped states, and all steps.
#[derive(Clone, Debug, Default)]
pub struct Log {
    spots: FxHashMap<Spot, Passed>,
    /// The steps that do more than go on to the next instruction, with their number.
    moves: FxHashMap<(Spot, Spot), usize>,
    /// The fewest steps from one state that is kept to the next, by their spots.
    lengths: FxHashMap<(Spot, Spot), u32>,
}

impl Log {
    /// True if all that another took note of is here, but for the numbers of times.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let is_deeper =
            |(spot, passed): (&Spot, &Passed)| self.spots.get(spot).is_some_and(|here| here.deepest >= passed.deepest);
        let is_shorter =
            |(ends, steps): (&(Spot, Spot), &u32)| self.lengths.get(ends).is_some_and(|here| here <= steps);
        other.spots.iter().all(is_deeper)
            && other.moves.keys().all(|ends| self.moves.contains_key(ends))
            && other.lengths.iter().all(is_shorter)
    }

    /// Takes note of a skipped state, with the depth of its stack.
    pub fn note_spot(&mut self, spot: Spot, depth: Option<u32>) {
        let passed = self.spots.entry(spot).or_default();
        passed.times += 1;
        passed.deepest = passed.deepest.max(depth);
    }

    /// The skipped states, in the order of their spots.
    pub fn spots(&self) -> impl Iterator<Item = (Spot, Passed)> {
        sorted(&self.spots)
    }

    /// The steps that do more than go on to the next instruction, with their number, in the order of their spots.
    pub fn moves(&self) -> impl Iterator<Item = ((Spot, Spot), usize)> {
        sorted(&self.moves)
    }

    /// The fewest steps from a state that is kept to the next one, by their spots.
    pub fn length(&self, from: Spot, to: Spot) -> u32 {
        self.lengths.get(&(from, to)).copied().unwrap_or(1)
    }

    /// Takes note of the number of steps from a state that is kept to the next one.
    pub fn note_length(&mut self, from: Spot, to: Spot, steps: u32) {
        let known = self.lengths.entry((from, to)).or_insert(steps);
        *known = steps.min(*known);
    }

    /// Takes note of a step.
    pub fn note_move(&mut self, from: Spot, to: Spot) {
        self.note_moves(from, to, 1);
    }

    /// True if a step does more than go on to the next instruction.
    pub(crate) fn is_move(from: Spot, to: Spot) -> bool {
        from.calls != to.calls || to.pc != from.pc.wrapping_add(1)
    }

    /// Takes note of a step that is taken so many times.
    pub fn note_moves(&mut self, from: Spot, to: Spot, times: usize) {
        if Self::is_move(from, to) {
            *self.moves.entry((from, to)).or_default() += times;
        }
    }
}

fn sorted<K: Copy + Ord, V: Copy>(map: &FxHashMap<K, V>) -> impl Iterator<Item = (K, V)> + use<K, V> {
    let mut all: Vec<(K, V)> = map.iter().map(|(key, value)| (*key, *value)).collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all.into_iter()
}
