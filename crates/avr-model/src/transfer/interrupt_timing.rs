//! The timing of interrupts that are possible before a step.

/// When the interrupts that are possible before a step come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Now, or not.
    #[default]
    Now,
    /// Later: before an instruction that can tell.
    Later,
    /// They came before: interrupts had their chance where nothing could tell the difference.
    Before,
    /// Now although one more instruction should run after RETI, because some were left for later.
    CatchingUp,
}
