//! Limits of proofs.

use avr_symbolic::{ExecutionLimits, QueryLimits};

/// Limits of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps on symbolic bits, of all executions together.
    pub steps: usize,
    /// Entries of the map at heads.
    pub entries: usize,
    /// Queries.
    pub queries: usize,
    /// States between heads from which something is to be possible.
    pub starts: usize,
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
            starts: 20_000,
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
