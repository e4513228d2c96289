//! Deliberate faults, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A predicate keeps its value when one of its cells is written.
    KeptAfterWrite,
    /// A predicate keeps its value when a store may hit one of its cells.
    KeptAfterWildStore,
    /// A predicate keeps its value when an instruction writes one of its registers.
    KeptInRegisters,
    /// A predicate keeps its value when the device is reset.
    KeptAfterReset,
    /// A comparison with its operands in the other order is taken for one in the order of the term.
    OrderLost,
    /// A number that is less than a constant is taken to be less than the one below.
    BoundsOffByOne,
    /// A number from which a constant is subtracted is taken to be the same.
    NothingSubtracted,
    /// A number is taken to be what it was a copy of before the step.
    CopiesOutlived,
    /// Numbers that are at most others are taken to be less.
    OrderIsStrict,
    /// A disjunction keeps its value when a cell of it is written.
    ClauseKept,
    /// Of a disjunction that is true both parts are taken to be.
    ClauseIsEnough,
    /// A number of which some bits are compared is taken as a whole.
    MaskLost,
    /// A number is taken to be told by the bits of another one that are left under another mask.
    MaskIgnored,
    /// A number to which a constant is added is taken to be the same.
    NothingAdded,
    /// A number is taken to be the sum of another one and any constant.
    AnySum,
    /// A number that is known not to equal a constant is taken to equal it where its bytes tell others.
    UnequalTold,
    /// An order with a sign is taken for one without where several terms are asked together.
    SignsMixed,
    /// A predicate that several terms do not tell together is taken for false.
    OpenRefuted,
    /// Predicates that are about to be forgotten tell others with cells as they are after the write.
    OverwrittenRead,
}

impl Fault {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::KeptAfterWrite,
        Self::KeptAfterWildStore,
        Self::KeptInRegisters,
        Self::KeptAfterReset,
        Self::OrderLost,
        Self::BoundsOffByOne,
        Self::NothingSubtracted,
        Self::CopiesOutlived,
        Self::OrderIsStrict,
        Self::ClauseKept,
        Self::ClauseIsEnough,
        Self::MaskLost,
        Self::MaskIgnored,
        Self::NothingAdded,
        Self::AnySum,
        Self::UnequalTold,
        Self::SignsMixed,
        Self::OpenRefuted,
        Self::OverwrittenRead,
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
