//! Fragments of the logic, told by the form of a formula.

use crate::{AtomId, Formula, PathOperator, PathPairOperator, PathQuantifier};

/// True if a formula is one of CTL without next steps. Its value is stutter-invariant.
pub fn is_branching(formula: &Formula<AtomId>) -> bool {
    let is_here = match formula {
        Formula::PathPair(..) => true,
        Formula::Path(_, operator, _) => *operator != PathOperator::Next,
        other => is_boolean(other),
    };
    is_here && formula.children().into_iter().all(is_branching)
}

/// True if a formula says of all runs that something bad never comes, and each run alone tells if it comes.
///
/// The forms: `AG p`, `A[p W q]` with p and q about states, conjunctions of such formulas, one of them behind `||` or
/// `->` and formulas about states, and `AG` of them. These say the same in linear time (Maidl).
pub fn is_linear(formula: &Formula<AtomId>) -> bool {
    match formula {
        Formula::And(parts) => parts.iter().all(is_linear),
        Formula::Or(parts) => {
            parts.iter().filter(|part| !is_of_state(part)).count() <= 1 && parts.iter().all(is_linear)
        }
        Formula::Implies(when, then) => is_of_state(when) && is_linear(then),
        Formula::Path(PathQuantifier::All, PathOperator::Always, always) => is_linear(always),
        Formula::PathPair(PathQuantifier::All, PathPairOperator::WeakUntil | PathPairOperator::Release, one, other) => {
            is_of_state(one) && is_of_state(other)
        }
        _ => is_of_state(formula),
    }
}

/// True if a formula is about a single state.
pub fn is_of_state(formula: &Formula<AtomId>) -> bool {
    is_boolean(formula) && formula.children().into_iter().all(is_of_state)
}

/// True if a formula is a constant, an atom, or made of its parts by a Boolean operator.
fn is_boolean(formula: &Formula<AtomId>) -> bool {
    use Formula as F;
    matches!(formula, F::Constant(_) | F::Atom(_) | F::Not(_) | F::And(_) | F::Or(_) | F::Implies(..) | F::Iff(..))
}

/// True if a formula is an eventuality: something comes on all paths, or stays away on one for ever.
pub fn has_eventualities(formula: &Formula<AtomId>) -> bool {
    use {PathOperator as One, PathPairOperator as Two, PathQuantifier as Over};
    let is_one = matches!(
        formula,
        Formula::Path(Over::All, One::Eventually, _)
            | Formula::Path(Over::Exists, One::Always, _)
            | Formula::PathPair(Over::All, Two::Until, ..)
            | Formula::PathPair(Over::Exists, Two::Release | Two::WeakUntil, ..)
    );
    is_one || formula.children().into_iter().any(has_eventualities)
}
