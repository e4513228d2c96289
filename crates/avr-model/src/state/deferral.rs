//! Deferred interrupts: those that did not come where they could have.

use avr_isa::DataAddress;

/// The knowledge about interrupts that did not come where they could have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deferral {
    /// True if interrupts were deferred that had no chance since.
    pub pending: bool,
    /// The stack pointer at the place where interrupts had their chance last, if nothing since then depends on whether
    /// they came; else 0.
    pub granted: DataAddress,
}
