//! Contracts of functions: proofs of bodies against their contracts, and verification with contracts in place of bodies.

mod body;
mod caller;
mod proof;
mod proved;
mod verified;

pub use proved::{open_contracts, prove_contracts};
pub use verified::verify_with_contracts;
