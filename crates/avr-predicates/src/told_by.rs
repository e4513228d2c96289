//! The truth of predicates with those that tell it.

use std::collections::BTreeMap;
use three_valued::Truth;

/// Predicates that told something, as bits, by the index of their term.
pub type ToldBy = BTreeMap<usize, u8>;

/// Adds predicates to others.
pub fn add(all: &mut ToldBy, others: &ToldBy) {
    others.iter().for_each(|(index, mask)| *all.entry(*index).or_default() |= mask);
}

/// The truth of a predicate in a state, as far as it is known.
#[derive(Clone, Debug)]
pub struct Told {
    /// The truth.
    pub truth: Truth,
    /// The predicates that tell it.
    pub by: ToldBy,
}

impl Told {
    pub(crate) fn unknown() -> Self {
        Self { truth: Truth::Unknown, by: ToldBy::new() }
    }

    /// Another one where this is unknown.
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.truth.is_unknown() { other() } else { self }
    }
}
