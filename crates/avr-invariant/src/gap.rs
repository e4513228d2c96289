//! The reasons for which a map is open: it says nothing then, of no thread.

use std::fmt;

use avr_isa::FlashByteAddress;
use avr_machine::{Hazard, Limit};

use crate::map::{Place, Thread};

/// A reason why nothing follows from a map, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}{}", .at.map_or_else(String::new, |(thread, address)| format!(" at {:#06x} in {thread}", address.0)))]
pub struct Gap {
    /// The thread and the address of the instruction, where there is one.
    pub at: Option<(Thread, FlashByteAddress)>,
    /// The reason.
    pub reason: Reason,
}

impl Gap {
    /// A gap at a place.
    #[must_use]
    pub fn at(place: &Place, reason: Reason) -> Self {
        Self { at: Some((place.thread, place.address())), reason }
    }

    /// A gap of the whole map.
    #[must_use]
    pub fn whole(reason: Reason) -> Self {
        Self { at: None, reason }
    }
}

/// A cycle of handlers each of which may interrupt the one before, by the numbers of their interrupts; the first one interrupts the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(pub Vec<u8>);

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "interrupt {one} may come in its own handler"),
            all => {
                write!(f, "handlers interrupt each other in a cycle: ")?;
                all.iter().try_for_each(|one| write!(f, "{one}, "))?;
                write!(f, "{}", all.first().copied().unwrap_or_default())
            }
        }
    }
}

/// The reason of a gap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The machine cannot follow.
    #[error("the model does not go on: {0}")]
    Limit(Limit),
    /// A path ends at a hazard that the property file allows.
    #[error("paths end at an allowed hazard ({})", .0.kind.name())]
    EndedPath(Hazard),
    /// Handlers interrupt each other, so that one of them is active more often than the pass follows.
    #[error("{0}, more than {1} times")]
    Nested(Cycle, usize),
    /// An interrupt may come while one half of the stack pointer is written.
    #[error("an interrupt may come while one half of SP is written")]
    TornPointer,
    /// A handler may overwrite its return address.
    #[error("a handler may change its return address")]
    ReturnAddress,
    /// A handler takes its return address from the stack, or leaves it behind.
    #[error("a handler leaves its return address")]
    LeftFrame,
    /// A handler calls the start-up code through a pointer that is null, and leaves its return address there.
    #[error("an indirect call of a handler through a pointer that may be 0 (null, the start of the flash)")]
    NullCall,
    /// A handler returns by RET.
    #[error("a handler returns by RET")]
    PlainReturn,
    /// A step has too many outcomes.
    #[error("a step has too many outcomes")]
    TooManyOutcomes,
    /// A property speaks of the start-up code, which ends at address 0.
    #[error("a property speaks of the start-up code, which ends at address 0")]
    StartupEndsAtZero,
    /// The map says nothing of a state that can be reached.
    #[error("no state of the map covers {0}")]
    NotCovered(&'static str),
    /// A part of the map does not fit the machine.
    #[error("the map does not fit the machine: {0}")]
    Misfit(&'static str),
    /// More calls than the pass follows are on the stack.
    #[error("more than {0} calls are on the stack")]
    TooManyCalls(usize),
    /// The pass has done as much work as it may.
    #[error("the pass has done the work of {0} steps")]
    TooManySteps(usize),
    /// The work was cancelled.
    #[error("the work was cancelled")]
    Cancelled,
    /// The pass has reached a limit on the size of maps.
    #[error("the map has more than {0} states")]
    TooManyStates(usize),
}
