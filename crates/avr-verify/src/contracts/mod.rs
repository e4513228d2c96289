//! Contracts of functions: proofs of bodies against their contracts, and verification with contracts in place of bodies.

mod body;
mod caller;
mod proof;
mod proved;
#[cfg(test)]
mod tests;
mod verified;

pub use proved::{ContractUse, prove_contracts};
pub use verified::verify_with_contracts;
