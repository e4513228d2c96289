//! Deliberate faults, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The state behind a handler has the cells that the handler changed as they were.
    InterferenceForgotten,
    /// The state behind a handler has its values under the numbers that the values before had.
    NumbersKept,
    /// The state behind a handler is made of that before the entry, which changes flags and enable bits.
    EntryForgotten,
    /// Interrupts come only where the last instruction was a jump.
    ClosedAtJumps,
    /// The first state in which a handler begins stands for all.
    FirstMemoryOnly,
    /// Handlers are taken to leave their return address as it is.
    ReturnAddressTrusted,
    /// Handlers are taken to give back all registers.
    RegistersTrusted,
    /// Cells below the stack pointer are taken to be as they were behind a handler.
    DeadCellsKept,
    /// A cell that is overwritten is taken to hold the same as before.
    NothingRenamed,
    /// Hazards are passed over.
    MarksForgotten,
    /// States that cannot be followed are passed over.
    GapsForgotten,
    /// No interrupt comes in a handler.
    NestingForgotten,
    /// A handler that interrupts another one begins with what is known of the beginning of that one.
    EntryOfInterrupted,
    /// The writes of a handler that interrupts another one are not counted among what that one has changed.
    NestedWritesForgotten,
    /// Of the cases into which a state is split, only the first one is looked at.
    CasesForgotten,
    /// Cells of the state that everything begins in are taken to be 0.
    StartForgotten,
    /// A range stays with the cells that held its number.
    RangesKept,
    /// The outcome of a comparison stays where the carry is overwritten.
    CarryKept,
    /// Sums and differences of the higher bytes of a number leave the carry out.
    CarryDropped,
    /// Ranges of cells that a handler changes stay.
    RangesOfInterrupted,
    /// Equations of sums and differences of the higher bytes of a number leave the carry out.
    EquationsWithoutCarry,
    /// The entry value of a cell is taken to be what the cell holds now.
    EntryTakenForNow,
    /// Equations of entries are taken to follow from what comes to them.
    EquationsUnchecked,
    /// Results of a division stay where a handler changes its registers.
    ResultsOfInterrupted,
    /// A quotient is taken to be no more than the one by the greatest divisor.
    GreatestDivisor,
    /// A division is told by its first instructions.
    RoutineUnread,
}

impl Fault {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::InterferenceForgotten,
        Self::NumbersKept,
        Self::EntryForgotten,
        Self::ClosedAtJumps,
        Self::FirstMemoryOnly,
        Self::ReturnAddressTrusted,
        Self::RegistersTrusted,
        Self::DeadCellsKept,
        Self::NothingRenamed,
        Self::MarksForgotten,
        Self::GapsForgotten,
        Self::NestingForgotten,
        Self::EntryOfInterrupted,
        Self::NestedWritesForgotten,
        Self::CasesForgotten,
        Self::StartForgotten,
        Self::RangesKept,
        Self::CarryKept,
        Self::CarryDropped,
        Self::RangesOfInterrupted,
        Self::EquationsWithoutCarry,
        Self::EntryTakenForNow,
        Self::EquationsUnchecked,
        Self::ResultsOfInterrupted,
        Self::GreatestDivisor,
        Self::RoutineUnread,
    ];
}

#[cfg(any(test, feature = "faults"))]
std::thread_local! {
    static CURRENT: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Does something on this thread with a fault, which is taken out again whatever comes of it.
#[cfg(any(test, feature = "faults"))]
pub fn with_fault<T>(fault: Fault, work: impl FnOnce() -> T) -> T {
    struct TakenOut;
    impl Drop for TakenOut {
        fn drop(&mut self) {
            CURRENT.set(None);
        }
    }
    CURRENT.set(Some(fault));
    let _taken_out = TakenOut;
    work()
}

/// True if a fault is put in.
#[cfg(any(test, feature = "faults"))]
pub(crate) fn is_on(fault: Fault) -> bool {
    CURRENT.get() == Some(fault)
}

/// True if a fault is put in: never in this build.
#[cfg(not(any(test, feature = "faults")))]
pub(crate) const fn is_on(_: Fault) -> bool {
    false
}
