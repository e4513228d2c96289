//! Deliberate faults of event automata and comparisons, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A move of each state is forgotten.
    MoveForgotten,
    /// States are joined whatever their moves lead to.
    AllJoined,
    /// All states are joined, and the firmware is taken to be able to do all that its automaton does.
    AbilityAssumed,
    /// A move of each state is forgotten, and the automaton is taken to do all that the firmware does.
    ConformanceAssumed,
    /// All states are joined, and the ability to show an event is asked for with any value.
    ValuesIgnored,
    /// All states are joined, and after an event nothing more is asked for.
    OneEventOnly,
}

impl Fault {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::MoveForgotten,
        Self::AllJoined,
        Self::AbilityAssumed,
        Self::ConformanceAssumed,
        Self::ValuesIgnored,
        Self::OneEventOnly,
    ];
}

/// True if all states are joined.
pub(crate) fn joins_all() -> bool {
    [Fault::AllJoined, Fault::AbilityAssumed, Fault::ValuesIgnored, Fault::OneEventOnly].into_iter().any(is_on)
}

#[cfg(any(test, feature = "faults"))]
static CURRENT: std::sync::Mutex<Option<Fault>> = std::sync::Mutex::new(None);

/// Does something with a fault in the whole process, which is taken out again whatever comes of it.
#[cfg(any(test, feature = "faults"))]
pub fn with_fault<T>(fault: Fault, work: impl FnOnce() -> T) -> T {
    struct TakenOut;
    impl Drop for TakenOut {
        fn drop(&mut self) {
            put_in(None);
        }
    }
    put_in(Some(fault));
    let _taken_out = TakenOut;
    work()
}

#[cfg(any(test, feature = "faults"))]
fn put_in(fault: Option<Fault>) {
    *CURRENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = fault;
}

/// True if a fault is put in.
#[cfg(any(test, feature = "faults"))]
#[must_use]
pub fn is_on(fault: Fault) -> bool {
    *CURRENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) == Some(fault)
}

/// True if a fault is put in: never in this build.
#[cfg(not(any(test, feature = "faults")))]
#[must_use]
pub const fn is_on(_: Fault) -> bool {
    false
}
