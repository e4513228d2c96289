//! Deliberate faults of conformance, to see that the tests find them.
//!
//! They exist in builds with the feature `faults` only, which tests ask for; without it `is_on` is a constant.

/// A deliberate fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An event that the specification cannot answer is passed over.
    UnansweredPassed,
    /// Silent moves of the specification are forgotten.
    SilentForgotten,
    /// Values of events are not compared.
    ValuesIgnored,
    /// The data of states are taken to be true.
    DataIgnored,
    /// Inclusion of traces is taken for simulation.
    SetsForStates,
    /// Every state may stop.
    StopsAnywhere,
    /// The first of several initial states is the only one.
    FirstInitialOnly,
}

impl Fault {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::UnansweredPassed,
        Self::SilentForgotten,
        Self::ValuesIgnored,
        Self::DataIgnored,
        Self::SetsForStates,
        Self::StopsAnywhere,
        Self::FirstInitialOnly,
    ];
}

#[cfg(any(test, feature = "faults"))]
static CURRENT: std::sync::Mutex<Option<Fault>> = std::sync::Mutex::new(None);

/// Does something with a fault in the whole process, which is taken out again whatever comes of it. Properties are bound on the
/// threads of a pool.
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
pub(crate) fn is_on(fault: Fault) -> bool {
    *CURRENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner) == Some(fault)
}

/// True if a fault is put in: never in this build.
#[cfg(not(any(test, feature = "faults")))]
pub(crate) const fn is_on(_: Fault) -> bool {
    false
}
