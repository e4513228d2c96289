//! Proofs for random programs against an enumeration of their states, with faults put in.

mod enumeration;
mod eventualities;
mod explorer;
mod fair_paths;
mod faults;
mod generator;
mod mutants;
mod possibilities;
mod promises;
mod rank_mutants;
