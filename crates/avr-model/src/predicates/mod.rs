//! Predicates: three-valued bits of abstract states that say how numbers of several bytes compare.
//!
//! A *term* is a pair of numbers of one to four bytes, which are cells and constants. A state has one cell for each term, behind
//! the cells of the machine. It has a bit for each of five predicates: less, equal, greater, and less and greater with
//! a sign. So predicates decay, are limited, joined, covered and brought back by refinement like any other bit. See
//! `docs/soundness.md`, section "Predicates".

mod number;
mod table;

pub use number::NumberSet;
pub(crate) use table::{PredicateBasis, PredicateUse, add};
pub use table::{PredicateOrder, Predicates, Term, UsedPredicate};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The terms of an analysis, which all steps share.
#[derive(Clone, Debug)]
pub struct SharedPredicates(Arc<Mutex<Predicates>>);

impl SharedPredicates {
    /// Terms that steps share.
    #[must_use]
    pub fn new(predicates: Predicates) -> Self {
        Self(Arc::new(Mutex::new(predicates)))
    }

    /// The terms.
    pub fn get(&self) -> MutexGuard<'_, Predicates> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
