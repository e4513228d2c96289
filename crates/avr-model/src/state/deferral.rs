//! Interrupts that did not come where they could have.

/// What is known about interrupts that did not come where they could have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Postponed {
    /// Whether interrupts were left for later that had no chance since.
    pub owed: bool,
    /// Where interrupts had their chance last, if nothing since then depends on whether they came: the stack pointer
    /// there, else 0.
    pub offered: u16,
}
