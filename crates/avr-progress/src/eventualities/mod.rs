//! Eventualities: on all paths, whatever comes from outside, something comes.
//!
//! All paths from the states of each head are followed to the next heads, with all inputs and all events. A rank falls on each that does
//! not come to what is awaited (`docs/soundness.md`, "Eventualities by ranks").

mod between;
mod check;
mod fairness;
mod obligation;

use crate::claim::Location;
use crate::target::Target;
use crate::trigger::Trigger;
use avr_symbolic::Term;

pub(crate) use between::{Begins, Between};
pub use check::check_ranks;
pub use fairness::{FairInterrupt, Fairness, WaitsFor};
pub(crate) use obligation::{OfArrival, arrivals, ends_well, falls_or_is_quiet, followed, is_quiet};

/// The claim that on all paths from the states of the trigger something comes: `A[holds U until]`.
#[derive(Clone, Copy)]
pub struct Eventuality<'a> {
    /// The states from which it is awaited.
    pub trigger: Trigger<'a>,
    /// The states in which paths are until it comes, if they are to be in such.
    pub holds: Option<&'a dyn Target>,
    /// The states that are awaited.
    pub until: &'a dyn Target,
    /// The paths that are left out.
    pub fair: &'a [Fairness],
}

/// Claims that prove an eventuality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// The heads that rounds pass which begin with nothing awaited.
    pub idle: Vec<Passing>,
    /// The claims, one about each head at which something may be awaited.
    pub claims: Vec<RankClaim>,
}

/// A head, and others that rounds from it pass: those of loops that end by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passing {
    /// The head.
    pub head: Location,
    /// The others.
    pub passed: Vec<Location>,
}

/// A claim about a head: each path from it, while something is awaited, comes to that, to a head of a group with a smaller number, or to a
/// head of the same group with a smaller rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankClaim {
    /// The head.
    pub head: Location,
    /// The states at the head in which something may be awaited.
    pub awaits: Awaits,
    /// Other heads that rounds pass.
    pub passed: Vec<Location>,
    /// The number of the group.
    pub group: usize,
    /// The numbers of the rank, in lexicographic order. Places are constants.
    pub rank: Vec<Term>,
    /// The event without which the rank may stay.
    pub waits_for: Option<WaitsFor>,
}

/// The states at a head in which something may be awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// Those that trigger it.
    Triggering,
    /// All.
    Any,
}
