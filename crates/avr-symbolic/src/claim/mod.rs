//! Existential claims: a loop can be left.
//!
//! A claim has a region of states at a loop head, a rank, strategies and exits. It says that for every concrete state of the region some
//! strategy leads, without a hazard, to a state of an exit, or to a state of the region with a smaller rank. Ranks do not fall for
//! ever, so that an exit can be reached from every state of the region.

pub(crate) mod check;
pub(crate) mod pattern;
pub(crate) mod rank;

use crate::execution::strategy::Strategy;
use pattern::Pattern;
use rank::Rank;

/// A claim about a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The region, at the head of the loop.
    pub region: Pattern,
    /// The number that falls.
    pub rank: Rank,
    /// What the environment and the hardware do, one of these for each state.
    pub rounds: Vec<Rounds>,
    /// The states to which the loop is left.
    pub exits: Vec<Pattern>,
}

/// A strategy for some rounds of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The strategy.
    pub strategy: Strategy,
    /// The number of times that the head is reached until the rank is compared, at least 1.
    pub count: usize,
}

impl Rounds {
    /// One round with a strategy.
    #[must_use]
    pub fn one(strategy: Strategy) -> Self {
        Self { strategy, count: 1 }
    }
}
