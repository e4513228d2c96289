//! Refinement: the provenance of unknown bits.

pub(crate) mod provenance;
