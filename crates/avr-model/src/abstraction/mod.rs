//! Abstraction: what states forget, in which order they are expanded, and how they differ.

pub(crate) mod difference;
pub(crate) mod expansion_order;
pub mod forget;
