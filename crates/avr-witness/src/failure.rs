//! Failures of the search for a run.

/// The reason why there is no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The concrete run does not show what the proof claims.
    Fault(String),
    /// A limit was reached.
    Limit(String),
}
