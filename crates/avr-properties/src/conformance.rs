//! Specification automata: what a firmware may do, in named states with data, moves and silent moves.
//!
//! `file/specification.rs` reads them; `bind/conforms.rs` makes a formula of them.

mod error;
pub mod faults;
mod monitor;

use std::collections::BTreeSet;

pub use error::SpecificationError;
pub(crate) use monitor::Answer;
pub use monitor::{Moment, Monitor, unanswered};

use crate::place::Place;
use faults::{Fault, is_on};

/// The most states of a specification.
pub const MAX_STATES: usize = 1_000;

/// An automaton with named states that a firmware is to conform to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationAutomaton {
    /// The name of its file, for messages.
    pub name: String,
    /// The states in which a run may begin, by number.
    pub initial: Vec<usize>,
    /// The states, in the order of the file.
    pub states: Vec<SpecificationState>,
    /// The text of the file.
    pub(crate) text: String,
}

/// A state of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationState {
    /// The name.
    pub name: String,
    /// The condition that is true as long as the specification is in the state, if it has one.
    pub data: Option<PlacedText>,
    /// The moves from here.
    pub moves: Vec<SpecificationMove>,
    /// True if no event need come any more.
    pub may_stop: bool,
}

/// A move of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecificationMove {
    /// The event that it answers, with or without a comparison; none if the specification makes it by itself.
    pub on: Option<PlacedText>,
    /// The number of the state that it leads to.
    pub to: usize,
}

/// A text of a specification file with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedText {
    /// The text.
    pub text: String,
    pub(crate) place: Place,
}

/// The relation between a firmware and a specification that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Weak simulation: the specification answers each move without knowledge of those to come.
    Simulation,
    /// Inclusion of traces: for each run of the firmware there is a run of the specification.
    Traces,
}

impl Relation {
    /// The name in property files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simulation => "simulation",
            Self::Traces => "traces",
        }
    }

    /// The relation that a property file names.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Simulation, Self::Traces].into_iter().find(|relation| relation.name() == name)
    }
}

/// The name of the silent move in specification files.
pub(crate) const TAU: &str = "tau";

impl SpecificationAutomaton {
    /// The states with those that are reached from them by silent moves.
    #[must_use]
    pub fn closure(&self, states: &BTreeSet<usize>) -> BTreeSet<usize> {
        let (mut closed, mut waiting) = (states.clone(), states.iter().copied().collect::<Vec<_>>());
        if is_on(Fault::SilentForgotten) {
            return closed;
        }
        while let Some(state) = waiting.pop() {
            let silent = self.states[state].moves.iter().filter(|it| it.on.is_none());
            waiting.extend(silent.map(|it| it.to).filter(|to| closed.insert(*to)));
        }
        closed
    }

    /// The states in which a run may begin, with those reached from them by silent moves.
    #[must_use]
    pub fn first(&self) -> BTreeSet<usize> {
        let count = if is_on(Fault::FirstInitialOnly) { 1 } else { self.initial.len() };
        self.closure(&self.initial.iter().copied().take(count).collect())
    }

    /// The texts of the events of all moves, each with the name of its state, in the order of the file.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&str, &PlacedText)> {
        self.states
            .iter()
            .flat_map(|state| state.moves.iter().filter_map(|it| it.on.as_ref()).map(|on| (state.name.as_str(), on)))
    }
}
