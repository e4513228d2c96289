//! Interrupts that did not come where they could have.

/// What is known about interrupts that did not come where they could have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Deferral {
    /// True if interrupts were deferred that had no chance since.
    pub pending: bool,
    /// Where interrupts had their chance last, if nothing since then depends on whether they came: the stack pointer
    /// there, else 0.
    pub granted: u16,
}
