//! Reasons why a path is not followed further. Nothing is claimed of such a path.

use avr_machine::Limit;
use thiserror::Error;

/// The reason why a path is not followed further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Cannot {
    /// The machine cannot go on (self-programming among others).
    #[error("{0}")]
    Machine(Limit),
    /// A question depends on an open bit.
    #[error("a step that depends on what is not known")]
    Open,
    /// A question that is not about a single bit.
    #[error("a question about more than one bit")]
    Question,
    /// The case that was chosen contradicts what is known.
    #[error("a case that contradicts what is known")]
    Contradiction,
    /// The processor sleeps on.
    #[error("a processor that sleeps on")]
    Sleep,
    /// A step has too many outcomes.
    #[error("a step with too many outcomes")]
    Outcomes,
    /// Too many paths are open.
    #[error("too many paths")]
    Paths,
    /// Too many steps were taken.
    #[error("too many steps")]
    Steps,
    /// The graph is full.
    #[error("too many nodes")]
    Nodes,
}
