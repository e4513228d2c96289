//! Runs of libsimavr and finished state spaces: what `inclusion-oracle` compares.

pub mod compare;
pub mod generated;
pub mod hazards;
pub mod runs;
pub mod subjects;
