//! The three-valued solver: two Boolean parity games over (state, subformula).
//!
//! The value is *true* if the game for "certainly true" is won, and not *false* if the game for "not certainly false"
//! is won. They differ in the labels that count as true and in who picks the member of a hyper-edge:
//!
//! | node | certainly true | not certainly false |
//! |---|---|---|
//! | atom | the label is 1 | the label is not 0 |
//! | `<>p` | some hyper-edge, all its members | some hyper-edge, some member; a sink: itself |
//! | `[]p` | all hyper-edges, all members; a sink: itself | all hyper-edges, some member; a sink: true |
//!
//! Both games are solved block by block of the normal form (`evaluate`), recursive blocks as parity games (`game`).

mod arena;
mod evaluate;
mod game;
mod recurrence;

use thiserror::Error;

use crate::cancel::{Cancel, Cancelled, Ticker};
use crate::problem::Problem;
use crate::solution::Solution;
use evaluate::evaluate;

/// Up to how many (state, subformula) pairs a second thread costs more than it saves.
const SMALL: usize = 1 << 13;

impl Problem<'_> {
    /// Computes the value of every subformula in every state.
    ///
    /// Time is linear in states plus hyper-edge members times subformulas if the formula is alternation-free. Several
    /// problems may be solved at once, also on the same graph. The result does not depend on threads or timing.
    ///
    /// # Errors
    /// If `cancel` said so, the labels do not fit the graph or the formula, or 32 bits cannot number the game.
    pub fn solve(&self, cancel: &Cancel<'_>) -> Result<Solution, SolveError> {
        self.check()?;
        let play = |game| evaluate(self, game, &mut Ticker::new(cancel));
        let size = self.graph.state_count() * self.formula.node_count();
        let (definite, possible) = if size < SMALL {
            (play(Game::Definite), play(Game::Possible))
        } else {
            rayon::join(|| play(Game::Definite), || play(Game::Possible))
        };
        Ok(Solution::new(self, definite?, possible?))
    }

    fn check(&self) -> Result<(), SolveError> {
        let (labelled, states) = (self.labels.state_count(), self.graph.state_count());
        if labelled != states {
            return Err(SolveError::LabelMismatch { labelled, states });
        }
        match self.formula.atoms().last() {
            Some(atom) if atom.index() >= self.labels.atom_count() => {
                Err(SolveError::MissingAtom { atom: atom.0, atoms: self.labels.atom_count() })
            }
            _ => Ok(()),
        }
    }
}

/// The reason why nothing was computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The caller's cancellation said to stop.
    #[error("the evaluation of the formula was cancelled")]
    Cancelled,
    /// The labels are those of another graph.
    #[error("the labels are for {labelled} states, the graph has {states}")]
    LabelMismatch {
        /// The number of states of the labels.
        labelled: usize,
        /// The number of states of the graph.
        states: usize,
    },
    /// The formula uses an atom without label.
    #[error("the formula uses atom {atom}, but only {atoms} atoms are labelled")]
    MissingAtom {
        /// The atom.
        atom: u32,
        /// The number of atoms of the labels.
        atoms: usize,
    },
    /// Too many states times subformulas.
    #[error("{states} states times {nodes} mutually recursive subformulas exceed 32-bit numbers; simplify the formula")]
    TooLarge {
        /// The number of states.
        states: usize,
        /// The number of subformulas that depend on each other.
        nodes: usize,
    },
}

/// The two games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Game {
    /// For "certainly true".
    Definite,
    /// For "not certainly false".
    Possible,
}

impl From<Cancelled> for SolveError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
