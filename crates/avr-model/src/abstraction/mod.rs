//! Abstraction: decay of states, the order in which they are expanded, and their differences.

pub(crate) mod difference;
pub(crate) mod expansion_order;
pub mod forget;
