//! Disjunctions of two predicates, which are predicates themselves: Boolean combinations of two comparisons, each of which is one or the
//! negation of one.

use crate::faults::{Fault, is_on};
use crate::order::{EQUAL, GREATER, LESS, SIGNED_GREATER, SIGNED_LESS};
use crate::term::Term;
use avr_properties::{ComparedNumbers, Order};

/// The most disjunctions.
pub const MOST_CLAUSES: usize = 32;
/// The bit of a cell that tells the truth of a disjunction.
pub(crate) const TRUE: u8 = 1;

/// A predicate of a term, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The index of the term.
    pub term: usize,
    /// The bit of the predicate.
    pub predicate: u8,
    /// True if it is the negation.
    pub is_negated: bool,
}

/// A disjunction of two literals.
pub type Clause = [Literal; 2];

/// The predicate that a comparison of the numbers of a term is, or is the negation of.
pub(crate) fn predicate_of(compared: &ComparedNumbers, is_swapped: bool) -> u8 {
    let is_less = (compared.order == Order::Less) != (is_swapped && !is_on(Fault::OrderLost));
    match (compared.order, is_less, compared.is_signed) {
        (Order::Equal, ..) => EQUAL,
        (_, true, false) => LESS,
        (_, false, false) => GREATER,
        (_, true, true) => SIGNED_LESS,
        (_, false, true) => SIGNED_GREATER,
    }
}

/// The literal that a comparison is among some terms; none if its numbers are no term.
pub(crate) fn literal(terms: &[Term], compared: &ComparedNumbers) -> Option<Literal> {
    let (term, is_swapped) = Term::of(&compared.numbers);
    let index = terms.iter().position(|one| *one == term)?;
    let predicate = predicate_of(compared, is_swapped);
    Some(Literal { term: index, predicate, is_negated: compared.is_negated })
}
