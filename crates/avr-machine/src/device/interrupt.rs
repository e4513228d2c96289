//! Interrupt sources: vector, enable bit, request, and when the hardware can make the request.

use super::condition::{BitRef, Condition};
use super::register::Freedom;

/// One interrupt source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Vector number from 1 (0 is reset); the lower number has priority.
    pub number: u8,
    /// Short name of the data sheet, as avr-libc spells it without `_vect`.
    pub name: &'static str,
    /// Word address of the vector in flash, relative to the start of the vector table.
    pub vector: u16,
    /// The bit that enables it, beside the I flag.
    pub enable: BitRef,
    /// The source of the request.
    pub request: Request,
    /// The condition under which the hardware can make a request now, besides a stored one: it is possible if the flag
    /// may be 1 or this condition may be true. For [`Request::Condition`] it is that same condition.
    pub raised_while: Condition,
    /// While this is true the hardware requests by a level, without a flag (`INT0` with `ISC01:0` = 0).
    pub level_while: Condition,
    /// Who determines the moment.
    pub freedom: Freedom,
    /// Other bits that the entry clears, each if its condition holds (`WDIE` while `WDE`).
    pub entry_clears: Vec<(BitRef, Condition)>,
    /// Names of the sleep modes from which it can wake the processor.
    pub wakes_from: Vec<&'static str>,
    /// Conditions of waking from some of those modes.
    pub wakes_if: Vec<(Vec<&'static str>, WakeCondition)>,
}

impl Interrupt {
    /// The flag that stores the request, if there is one.
    #[must_use]
    pub fn flag(&self) -> Option<BitRef> {
        match self.request {
            Request::Latched { flag } | Request::Persistent { flag } => Some(flag),
            Request::Condition { .. } => None,
        }
    }

    /// The name of the handler that avr-libc's start-up code refers to.
    #[must_use]
    pub fn handler_symbol(&self) -> String {
        format!("__vector_{}", self.number)
    }
}

/// The condition under which an interrupt wakes from a sleep mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WakeCondition {
    /// Only while the condition holds (an address match of the two-wire interface, asynchronous timer 2).
    Only(Condition),
    /// Surely while the condition holds; otherwise versions of the data sheet differ (`INT0` by an edge).
    Surely(Condition),
}

/// The source of an interrupt request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A flag that the entry clears.
    Latched {
        /// The flag.
        flag: BitRef,
    },
    /// A flag that stays until software removes its cause (`RXC0`, `UDRE0`, `TWINT`); at entry it is 1.
    Persistent {
        /// The flag.
        flag: BitRef,
    },
    /// No flag: the request stands as long as the condition holds (`EE_READY` while `EEPE` is 0).
    Condition {
        /// The condition, over stored bits of which hardware changes some by itself.
        holds: Condition,
    },
}
