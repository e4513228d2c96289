//! Event automata: states, and moves that show events.

use crate::alphabet::{Alphabet, Letter};
use crate::cubes::Cube;
use crate::extraction::{EventGraph, TooLarge};
use crate::reduction;

/// An event of the alphabet with its value, which is 0 where none is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Occurred {
    /// The number of the letter.
    pub letter: usize,
    /// The bits of the value that are seen.
    pub value: u8,
}

/// An event of a move, with the values that it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// The number of the letter.
    pub letter: usize,
    /// The values.
    pub cube: Cube,
}

/// A move: the events of one step in the order of the alphabet, at least one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventMove {
    /// The events.
    pub step: Vec<Seen>,
    /// The number of the state that the move leads to.
    pub to: usize,
}

/// An automaton whose words are the sequences of events of a firmware, without silent moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventAutomaton {
    /// The events.
    pub alphabet: Alphabet,
    /// The states in which a run may begin.
    pub initial: Vec<usize>,
    /// The moves of each state.
    pub states: Vec<Vec<EventMove>>,
}

impl EventAutomaton {
    /// The automaton of a graph.
    ///
    /// # Errors
    /// If there are too many states or events.
    pub fn of(graph: &EventGraph, alphabet: &Alphabet) -> Result<Self, TooLarge> {
        reduction::automaton(&graph.labelled(alphabet)?, alphabet)
    }

    /// The moves of a state as text, for messages.
    #[must_use]
    pub fn moves_text(&self, state: usize) -> Vec<String> {
        let one = |it: &EventMove| {
            let events: Vec<String> = it.step.iter().map(|seen| self.event_text(*seen)).collect();
            events.join(" with ")
        };
        let mut texts: Vec<String> = self.states[state].iter().map(one).collect();
        texts.sort();
        texts.dedup();
        texts
    }

    pub(crate) fn letter(&self, seen: Seen) -> &Letter {
        &self.alphabet.letters[seen.letter]
    }

    /// The event with the comparison of its value.
    pub(crate) fn event_text(&self, seen: Seen) -> String {
        seen.cube.comparison(&self.letter(seen).event)
    }
}
