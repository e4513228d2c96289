//! Diagnosis: why something is unknown, whether it holds vacuously, and where subformulas hold.

pub(crate) mod explosion;
pub(crate) mod fairness;
pub(crate) mod refinement_counts;
pub(crate) mod root_cause;
pub(crate) mod subformulas;
pub(crate) mod unknown_reason;
pub(crate) mod vacuity;
