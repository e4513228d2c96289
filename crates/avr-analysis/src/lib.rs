//! Static analysis of AVR machine code: pure functions over the program, which know no states and no properties.
//!
//! Partial-order reduction relies on [`handler_transparency`], [`control_flow`] and [`instruction_class`], proofs that stores stay in their
//! objects on [`store_provenance`]; the others guide precision and
//! listings only.
#![forbid(unsafe_code)]

pub mod control_flow;
mod enable_bits;
pub mod handler_transparency;
pub mod instruction_class;
pub mod interrupt_enable;
pub mod interrupts;
pub mod iteration_order;
pub mod liveness;
mod loop_counters;
pub mod refinable_values;
pub mod register_effects;
pub mod store_provenance;
pub mod torn_access;
pub mod widening_thresholds;
