//! Proofs that something is possible.

use crate::check::Rejection;
use crate::claim::Claims;
use crate::places::Obstacle;
use avr_isa::FlashByteAddress;
use avr_symbolic::Freedom;
use thiserror::Error;

/// A proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The claims.
    pub claims: Claims,
    /// The freedom that strategies use.
    pub freedom: Freedom,
    /// Steps on symbolic bits, of the search.
    pub steps: usize,
    /// Queries of the search.
    pub queries: usize,
}

impl Proof {
    /// True if it rests on choices that the hardware determines.
    #[must_use]
    pub fn rests_on_choices(&self) -> bool {
        self.freedom.rests_on_choices()
    }
}

/// The reason why there is no proof. It says nothing of the property.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stuck {
    /// The map does not say enough.
    #[error("{0}")]
    Obstacle(Obstacle),
    /// For a loop no claim was found.
    #[error("no way out of the loop at {0} was found")]
    Loop(FlashByteAddress),
    /// There are claims about all loops, but some state between them leads to none.
    #[error("no way from between loops was found")]
    Between,
    /// The check does not accept what was found.
    #[error("the claims that were found are not accepted: {0}")]
    Rejected(Rejection),
    /// A limit is reached.
    #[error("a limit on claims is reached")]
    Limit,
}
