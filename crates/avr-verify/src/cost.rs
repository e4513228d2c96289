//! The cost of exploring: steps, and the memory of states.

use avr_machine::Frame;
use avr_model::state::AbstractState;
use avr_model::state::interner::{Block, CallsId, Page, Store};
use fixedbitset::FixedBitSet;
use std::time::Duration;
use tvar::StateSpace;

/// The cost of exploring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Steps of the machine on three-valued bytes in all passes together, each way that a step can go counted, also where no
    /// state was stored. Where invariants of the whole program are sought, all ways of a step count as one. Steps of concrete runs and of the search for what to refine are not among them.
    pub steps: u64,
    /// Those of them that led where they had led in an earlier state space.
    pub repeated: u64,
    /// Steps that were not taken, because expansions of an earlier state space were used again. Budgets count them as taken.
    pub reused: u64,
    /// The CPU time of the thread that took them, and that refined the precision and looked for runs in between. Properties are
    /// evaluated in other threads.
    pub time: Duration,
    /// The states that were stored in the end; none if a limit left no time to count.
    pub stored: Option<Stored>,
}

/// The states of the state space that was built last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Their number.
    pub states: usize,
    /// The bytes that they take with their transitions and with the pages of memory and the calls that they refer to, each
    /// counted once. Room that tables keep in reserve is not counted.
    pub bytes: usize,
}

impl Exploration {
    /// The cost of exploring twice; the second time is the last.
    #[must_use]
    pub(crate) fn and(self, next: Self) -> Self {
        let Self { steps, repeated, reused, time, stored } = next;
        Self {
            steps: self.steps + steps,
            repeated: self.repeated + repeated,
            reused: self.reused + reused,
            time: self.time + time,
            stored: stored.or(self.stored),
        }
    }

    /// The same with more steps, which took so long.
    #[must_use]
    pub(crate) fn with(self, steps: u64, time: Duration) -> Self {
        Self { steps: self.steps + steps, time: self.time + time, ..self }
    }

    /// The number of steps that were taken in a second; none when there was no time to measure.
    #[must_use]
    pub fn steps_per_second(&self) -> Option<f64> {
        let seconds = self.time.as_secs_f64();
        (seconds > 0.0).then(|| self.steps as f64 / seconds)
    }
}

impl Stored {
    /// The bytes of a state on the average; none without states.
    #[must_use]
    pub fn bytes_per_state(&self) -> Option<f64> {
        (self.states > 0).then(|| self.bytes as f64 / self.states as f64)
    }

    /// The memory that the states of a space take.
    pub(crate) fn of(space: &StateSpace<AbstractState>, store: &Store) -> Self {
        let mut parts = Parts::default();
        for state in &space.states {
            if let AbstractState::Running(running) = state {
                parts.add_memory(running.memory.0, store);
                parts.add_calls(running.calls, store);
            }
        }
        let edges: usize = (0..space.states.len()).map(|state| space.edges(state).count()).sum();
        let of_state = size_of::<AbstractState>() + size_of::<(u32, u32)>() + INDEXED;
        let of_edges = (edges + space.transitions()) * size_of::<u32>();
        Self { states: space.states.len(), bytes: space.states.len() * of_state + of_edges + parts.bytes }
    }
}

/// The place of an entry in the index by content: its number and a byte of its hash.
const INDEXED: usize = size_of::<u32>() + 1;

/// The parts that were counted already, by their numbers in the store.
#[derive(Default)]
struct Parts {
    memories: FixedBitSet,
    blocks: FixedBitSet,
    pages: FixedBitSet,
    calls: FixedBitSet,
    bytes: usize,
}

impl Parts {
    fn add_memory(&mut self, memory: u32, store: &Store) {
        if !is_new(&mut self.memories, memory) {
            return;
        }
        let blocks = store.roots.get(memory);
        self.bytes += size_of::<Box<[u32]>>() + size_of_val::<[u32]>(blocks) + INDEXED;
        for block in blocks.iter().filter(|block| is_new(&mut self.blocks, **block)) {
            self.bytes += size_of::<Block>() + INDEXED;
            let pages = store.blocks.get(*block).iter();
            let new = pages.filter(|page| is_new(&mut self.pages, **page)).count();
            self.bytes += new * (size_of::<Page>() + INDEXED);
        }
    }

    fn add_calls(&mut self, calls: CallsId, store: &Store) {
        let mut rest = calls;
        while let Some((below, _)) = store.pop_call(rest).filter(|_| is_new(&mut self.calls, rest.0)) {
            self.bytes += size_of::<(CallsId, Frame, u32)>() + INDEXED;
            rest = below;
        }
    }
}

fn is_new(seen: &mut FixedBitSet, number: u32) -> bool {
    seen.grow(number as usize + 1);
    !seen.put(number as usize)
}

#[cfg(test)]
mod tests {
    use super::{Exploration, Stored};
    use crate::random_programs::results;
    use crate::request::Reductions;
    use std::time::Duration;

    /// The cost of exploring a program.
    fn explored(words: &[u16]) -> Exploration {
        let results = results(words, &["Inherent()"], Reductions::NONE, Duration::from_secs(60));
        results.exploration.expect("it was explored")
    }

    const NOTHING: Exploration = Exploration { steps: 0, repeated: 0, reused: 0, time: Duration::ZERO, stored: None };

    #[test]
    fn every_step_is_counted() {
        // rjmp .-2: the step that chooses the initial content is none of the machine, and the loop is one step.
        assert_eq!(explored(&[0xcfff]).steps, 1);
        // nop; nop; rjmp .-2
        assert_eq!(explored(&[0x0000, 0x0000, 0xcfff]).steps, 3);
    }

    #[test]
    fn steps_of_several_explorations_are_added() {
        let first = Exploration { steps: 10, repeated: 3, reused: 5, ..NOTHING };
        let next = Exploration { steps: 1, repeated: 1, reused: 2, ..NOTHING };
        assert_eq!(first.and(next), Exploration { steps: 11, repeated: 4, reused: 7, ..NOTHING });
    }

    #[test]
    fn states_that_share_their_memory_take_little() {
        let nops = |count: usize| [vec![0x0000; count], vec![0xcfff]].concat();
        let stored = |count| explored(&nops(count)).stored.expect("there was time");
        let (few, many) = (stored(1), stored(101));
        assert_eq!(many.states - few.states, 100);
        let of_each = (many.bytes - few.bytes) / 100;
        assert!((32..=144).contains(&of_each), "{of_each} bytes for a state whose memory was there already");
        assert!(few.bytes > 2304 / 64, "the memory is counted: {}", few.bytes);
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let nothing = Stored { states: 0, bytes: 0 };
        let exploration = Exploration { stored: Some(nothing), ..NOTHING };
        assert_eq!((exploration.steps_per_second(), nothing.bytes_per_state()), (None, None));
        let exploration = Exploration { steps: 10, time: Duration::from_secs(4), ..NOTHING };
        assert_eq!(exploration.steps_per_second(), Some(2.5));
        assert_eq!(Stored { states: 2, bytes: 5 }.bytes_per_state(), Some(2.5));
    }
}
