//! Refinement: the provenance of unknown bits, and the comparisons that refute paths.

pub(crate) mod provenance;
pub(crate) mod refuted_path;
