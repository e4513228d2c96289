//! Predicates: three-valued bits of abstract states that say how numbers of several bytes compare.
//!
//! A *term* is a pair of numbers of one to four bytes, which are cells and constants. A state has one cell for each term, behind
//! the cells of the machine. It has a bit for each of five predicates: less, equal, greater, and less and greater with
//! a sign. So predicates decay, are limited, joined, covered and brought back by refinement like any other bit. See
//! `docs/soundness.md`, section "Predicates".
//!
//! The model keeps predicates in its states, and the checker of certificates takes steps with them: this crate is what both share, and
//! has to be trusted, with the SAT solver behind it. Which terms there are and when they are kept is decided elsewhere.
#![forbid(unsafe_code)]

mod chain;
mod clause;
pub mod faults;
mod number;
mod order;
mod precondition;
mod same;
mod table;
mod term;
mod together;
mod told_by;
mod written;

pub use clause::{Clause, Literal, MOST_CLAUSES};
pub use number::NumberSet;
pub use order::PredicateOrder;
pub use table::{MOST_TERMS, Predicates};
pub use term::Term;
pub use told_by::{Told, ToldBy, add};
pub use written::Written;
