//! The timing of interrupts that are possible before a step.

/// The timing of the interrupts that are possible before a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum InterruptTiming {
    /// Now, or not.
    #[default]
    Now,
    /// Later: before an instruction that can tell.
    Deferred,
    /// They came before: interrupts had their chance where nothing could tell the difference.
    Granted,
    /// Now although one more instruction should run after RETI, because some were deferred.
    Pending,
}
