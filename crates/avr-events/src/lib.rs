//! Event automata: the sequences of events that a firmware can show, as far as an alphabet sees them.
//!
//! [`EventGraph`] is a state space with the events of each step. [`EventAutomaton::of`] forgets its silent steps and joins what
//! cannot be distinguished. The automaton is written as a specification file, and as the formula that a firmware can do all that
//! the automaton does. SOUND: no verdict rests on this extraction; both directions are proved by formulas (`docs/decisions/0035-comparison.md`).
#![forbid(unsafe_code)]

mod alphabet;
mod automaton;
mod cubes;
mod extraction;
pub mod faults;
mod formula;
mod reduction;
mod specification;

pub use alphabet::{Alphabet, Letter, LetterError};
pub use automaton::{EventAutomaton, EventMove, Occurred, Seen};
pub use cubes::Cube;
pub use extraction::{EventGraph, EventNode, TooLarge};
pub use specification::MAX_STATES;
