//! The narrative of a run: what it does, and what formulas say, in words.

pub mod events;
pub(crate) mod formula_text;
