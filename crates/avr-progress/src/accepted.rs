//! The work of checks.

use avr_symbolic::Freedom;

/// The work of a check that accepts, and what it rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The freedom that strategies use.
    pub freedom: Freedom,
    /// Steps on symbolic bits.
    pub steps: usize,
    /// Queries.
    pub queries: usize,
}

impl Accepted {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            freedom: self.freedom.union(other.freedom),
            steps: self.steps + other.steps,
            queries: self.queries + other.queries,
        }
    }
}
