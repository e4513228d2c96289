//! Runs of libsimavr, and finished state spaces and maps of invariants: what `inclusion-oracle` compares.

mod boards;
pub mod compare;
pub mod generated;
pub mod hazards;
pub mod invariants;
pub mod kernels;
pub mod runs;
pub mod sampled;
pub mod subjects;
pub mod world;
