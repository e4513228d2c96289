//! Tests of findings, and of the reductions of `avr-model` on random programs, with deliberate faults.

mod confined;
mod directed_runs;
mod eventualities;
mod findings;
mod forbidden;
mod handler_summaries;
mod invariants;
mod partial_order;
mod path_compression;
mod predicates;
mod race;
mod random_search;
mod recoveries;
mod repeated_steps;
mod state_formulas;
mod visibility;
