//! Limits on time and memory, and reports of progress.

use std::fmt;
use std::time::Duration;

/// The limit that ended the work early.
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

/// The phase of the work of the engine.
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

/// The size of a state space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpaceSize {
    /// States.
    pub states: usize,
    /// The number of them that were expanded.
    pub expanded: usize,
}

/// The progress of the work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The present phase.
    pub phase: Phase,
    /// The number of times that the state space was built, this time included.
    pub pass: usize,
    /// States of the space so far.
    pub states: usize,
    /// Steps so far, as the system counts them.
    pub steps: u64,
    /// The size of the largest space that was built to the end of a pass or a stage of it.
    pub largest: SpaceSize,
    /// Refinements so far.
    pub refinements: usize,
    /// The place of the last of them, as [`Place::number`](crate::Place::number) gives it.
    pub refined_at: Option<u32>,
    /// The place at which locations had the most states, if they are counted, as
    /// [`Place::number`](crate::Place::number) gives it; and the number of these states.
    pub fullest: Option<(u32, u64)>,
    /// Locations that have a precision of their own.
    pub locations: usize,
    /// Bits that these locations forget.
    pub forgotten_bits: u64,
}

/// The watch over the work: it sets the limits and is told about the progress.
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
