//! AVR firmware as a system for abstraction refinement.
//!
//! [`Firmware`] makes a [`Machine`](avr_machine::Machine) a [`tvar::System`]. Its parts, each below the next:
//!
//! * [`state`]: abstract states, stored once, and the working state.
//! * [`abstraction`]: decay, and the order in which states are expanded.
//! * [`context`]: the store and the working state, which all passes take.
//! * [`pass`]: the names of the passes.
//! * [`predicates`]: bits of states that say how numbers of several bytes compare.
//! * [`transfer`]: one step, over all answers to all open questions.
//! * [`reduction`]: states and steps that need not be looked at because no goal can tell.
//! * `refinement`: the provenance of unknown bits.
#![forbid(unsafe_code)]

pub mod abstraction;
pub mod context;
pub mod expanded_space;
pub mod faults;
mod firmware;
pub mod pass;
pub mod predicates;
pub mod reduction;
mod refinement;
pub mod state;
#[cfg(test)]
mod tests;
pub mod transfer;

pub use firmware::Firmware;
