//! Limits on time and memory, and what is told while work goes on.

use std::fmt;
use std::time::Duration;

/// Why work ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// The time that the user allowed is over.
    Time(Duration),
    /// The memory that the user allowed, in bytes, is used up.
    Memory(usize),
    /// The user interrupted.
    Interrupted,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "the time limit of {} s was reached", limit.as_secs_f64()),
            Self::Memory(limit) => write!(f, "the memory limit of {} MiB was reached", limit >> 20),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// What the engine is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Building the state space.
    #[default]
    Exploring,
    /// Evaluating formulas.
    Checking,
    /// Looking for what to refine.
    Refining,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exploring => "exploring",
            Self::Checking => "checking",
            Self::Refining => "refining",
        })
    }
}

/// How far the work is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is going on.
    pub phase: Phase,
    /// The number of times that the state space was built, this time included.
    pub pass: usize,
    /// States of the space so far.
    pub states: usize,
    /// Refinements so far.
    pub refinements: usize,
    /// The place of the last of them, as [`Place::number`](crate::Place::number) gives it.
    pub refined_at: Option<u32>,
    /// The place at which locations had the most states, if they are counted, and how many: as
    /// [`Place::number`](crate::Place::number) gives it.
    pub fullest: Option<(u32, u64)>,
    /// Locations that have a precision of their own.
    pub locations: usize,
    /// Bits that these locations forget.
    pub forgotten_bits: u64,
}

/// Whoever watches the work: sets its limits and is told about its progress.
pub trait Watch: Sync {
    /// Called often; says whether a limit was reached.
    fn check(&self, progress: &Progress) -> Option<Exhausted>;

    /// True if model checking, which follows an exploration that a limit may have ended, must stop as well.
    fn cancelled(&self) -> bool;
}

/// A watch without limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Watch for Unlimited {
    fn check(&self, _: &Progress) -> Option<Exhausted> {
        None
    }

    fn cancelled(&self) -> bool {
        false
    }
}
