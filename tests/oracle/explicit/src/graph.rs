//! The graph of all states that a program can reach.

use crate::machine::Machine;
use crate::program::Place;
use crate::state::{Misstep, State};
use avr_testkit::Random;
use rustc_hash::FxHashMap;

/// The contents that a place may have at the start. Formulas ask whether it is at most, or equal to, a number up to 3,
/// or whether one of the bits 0 and 1 is set, or equal to another content; more contents than these make no difference.
const CONTENTS: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The states with their successors, of which each has at least one.
pub(crate) struct Graph {
    pub(crate) states: Vec<State>,
    /// The number of initial states: they come first.
    pub(crate) initial: usize,
    next: Lists,
    previous: Lists,
}

/// Lists of numbers, one for each state, in one vector.
struct Lists {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Lists {
    fn of(&self, state: usize) -> &[u32] {
        &self.members[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    /// The lists of a relation with its members turned around.
    fn reversed(&self) -> Self {
        let count = self.starts.len() - 1;
        let mut starts = vec![0; count + 1];
        self.members.iter().for_each(|member| starts[*member as usize + 1] += 1);
        for state in 0..count {
            starts[state + 1] += starts[state];
        }
        let mut places = starts.clone();
        let mut members = vec![0; self.members.len()];
        for state in 0..count {
            for member in self.of(state) {
                let place = &mut places[*member as usize];
                members[*place as usize] = state as u32;
                *place += 1;
            }
        }
        Self { starts, members }
    }
}

impl Graph {
    /// Everything that can be reached, unless that is more than a number of states.
    pub(crate) fn explore(machine: &Machine<'_>, limit: usize) -> Result<Self, Misstep> {
        let mut numbers: FxHashMap<State, u32> = FxHashMap::default();
        let mut states = initial_states(&machine.program.observed);
        for (state, number) in states.iter().zip(0..) {
            numbers.insert(state.clone(), number);
        }
        let initial = states.len();
        let mut next = Lists { starts: vec![0], members: Vec::new() };
        let mut successors = Vec::new();
        let mut state = 0;
        while state < states.len() {
            if states.len() > limit {
                return Err(Misstep::States);
            }
            successors.clear();
            machine.step(&states[state], &mut successors)?;
            let start = next.members.len();
            for successor in successors.drain(..) {
                let number = *numbers.entry(successor).or_insert_with_key(|key| {
                    states.push(key.clone());
                    states.len() as u32 - 1
                });
                if !next.members[start..].contains(&number) {
                    next.members.push(number);
                }
            }
            next.starts.push(next.members.len() as u32);
            state += 1;
        }
        let previous = next.reversed();
        Ok(Self { states, initial, next, previous })
    }

    /// The same states without some steps: those between two instructions, in one state or in all. None if a state would
    /// have no step left, or there is no choice to take away.
    pub(crate) fn thinned(&self, random: &mut Random) -> Option<Self> {
        let state = (0..20).map(|_| random.below(self.len())).find(|state| self.next.of(*state).len() > 1)?;
        let from = self.states[state].pc;
        let to = self.states[random.pick(self.next.of(state)) as usize].pc;
        let in_all = !random.once_in(4);
        let mut next = Lists { starts: vec![0], members: Vec::new() };
        for (number, here) in self.states.iter().enumerate() {
            let affected = here.pc == from && (in_all || number == state);
            let start = next.members.len();
            let kept = self.next.of(number).iter().filter(|next| !affected || self.states[**next as usize].pc != to);
            next.members.extend(kept);
            if next.members.len() == start {
                return None;
            }
            next.starts.push(next.members.len() as u32);
        }
        let previous = next.reversed();
        Some(Self { states: self.states.clone(), initial: self.initial, next, previous })
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn next(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.next.of(state).iter().map(|next| *next as usize)
    }

    pub(crate) fn previous(&self, state: usize) -> impl Iterator<Item = usize> + '_ {
        self.previous.of(state).iter().map(|previous| *previous as usize)
    }

    /// True if there are other outputs or instructions in the states of another graph, as far as numbers and sums tell.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let sums = |graph: &Self| {
            let of = |state: &State| u64::from(state.portb) + 31 * u64::from(state.gpior0) + 1009 * u64::from(state.pc);
            (graph.len(), graph.states.iter().map(of).sum::<u64>())
        };
        sums(self) != sums(other)
    }

    /// The most bytes that are on the stack in any state.
    pub(crate) fn deepest(&self) -> u8 {
        self.states.iter().map(|state| state.depth).max().unwrap_or(0)
    }
}

fn initial_states(observed: &[Place]) -> Vec<State> {
    let mut states = vec![State::reset()];
    for place in observed {
        let with = |state: &State, content: u8| {
            let mut state = state.clone();
            match *place {
                Place::Register(register) => state.set_content(register, content),
                Place::Cell(address) => state.set_cell(address, content),
            }
            state
        };
        states = states.iter().flat_map(|state| CONTENTS.map(|content| with(state, content))).collect();
    }
    states
}
