//! Refinement: where unknown bits come from.

pub(crate) mod provenance;
