//! Deliberate faults, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The inputs of one strategy are those of the others.
    VariablesShared,
    /// A path with a hazard ends well.
    HazardsPassed,
    /// A path that is not followed ends well.
    CannotPassed,
    /// The loop may be at its head in a state outside of the region.
    RegionOpen,
    /// A rank that does not fall is taken for one that does, and the reverse.
    RankStays,
    /// The cells of merged paths are those of the other one.
    SelectorInverted,
    /// Of two merged paths the condition of the first is kept.
    ConditionForgotten,
    /// The environment chooses what the data sheet leaves open.
    OpenChosen,
}

impl Fault {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::VariablesShared,
        Self::HazardsPassed,
        Self::CannotPassed,
        Self::RegionOpen,
        Self::RankStays,
        Self::SelectorInverted,
        Self::ConditionForgotten,
        Self::OpenChosen,
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
