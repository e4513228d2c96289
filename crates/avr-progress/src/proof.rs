//! Proofs that from every state some run comes to a target, and their limits.

use crate::check::Rejection;
use crate::places::Obstacle;
use avr_isa::{FlashByteAddress, FlashWordAddress};
use avr_machine::Frame;
use avr_symbolic::{ExecutionLimits, Freedom, QueryLimits, Rounds, Term};
use thiserror::Error;

/// Limits of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps on symbolic bits, of all executions together.
    pub steps: usize,
    /// Entries of the map at heads.
    pub entries: usize,
    /// Queries.
    pub queries: usize,
    /// Ranks that are guessed for a group of loops with the same numbers.
    pub guesses: usize,
    /// Strategies that are sought for single states of a head.
    pub sought: usize,
    /// Effects of numbers on samples that are looked at for ranks.
    pub looks: usize,
    /// Nodes of each graph.
    pub nodes: usize,
    /// Limits of an execution.
    pub execution: ExecutionLimits,
    /// Limits of an execution that passes inner loops which end by themselves.
    pub passed: ExecutionLimits,
    /// Limits of a query.
    pub query: QueryLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 200_000,
            entries: 200,
            queries: 2_000,
            guesses: 300,
            sought: 16,
            looks: 100_000_000,
            nodes: 1_000_000,
            execution: ExecutionLimits { steps: 20_000, paths: 300, ..ExecutionLimits::default() },
            passed: ExecutionLimits { steps: 1_000, paths: 100, ..ExecutionLimits::default() },
            query: QueryLimits::default(),
        }
    }
}

/// A proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The claims, one about each head.
    pub claims: Vec<LoopClaim>,
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

/// A claim about a head: from each of its states one of the strategies leads to the target, to a head of a group with a smaller number, or
/// to a head of the same group with a smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopClaim {
    /// The head.
    pub head: Location,
    /// Other heads that rounds pass: those of loops that end by themselves.
    pub passed: Vec<Location>,
    /// The number of the group.
    pub group: usize,
    /// The numbers of the rank, in lexicographic order. Places are constants.
    pub rank: Vec<Term>,
    /// The strategies.
    pub rounds: Vec<Rounds>,
}

/// A place of the main program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The program counter.
    pub pc: FlashWordAddress,
    /// The return addresses on the stack, the oldest first.
    pub frames: Vec<Frame>,
}

impl Location {
    /// The program counter as a byte address.
    #[must_use]
    pub fn at(&self) -> FlashByteAddress {
        self.pc.byte()
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
    /// The check does not accept what was found.
    #[error("the claims that were found are not accepted: {0}")]
    Rejected(Rejection),
    /// A limit is reached.
    #[error("a limit on claims is reached")]
    Limit,
}
