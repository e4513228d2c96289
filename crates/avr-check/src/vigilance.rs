//! The single checks that everything rests on. Tests leave one out to show that they would notice.

/// A check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Literals are certainly true.
    Literals,
    /// Labels are what the states say.
    Labels,
    /// No cycle is lost.
    Cycles,
    /// Every successor is a member of a hyper-edge.
    AllSuccessors,
    /// Hyper-edges can be forced.
    Forced,
}

/// True if a check is made.
#[cfg(not(test))]
pub(crate) const fn does(_: Check) -> bool {
    true
}

#[cfg(test)]
avr_testkit::thread_faults!(Check);

/// True if a check is made.
#[cfg(test)]
pub(crate) fn does(check: Check) -> bool {
    !faulty(check)
}
