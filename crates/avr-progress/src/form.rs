//! The forms of properties that claims and symbolic execution prove.

use avr_properties::BoundProperty;
use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier};

/// The formulas about states of which a property follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form<'f> {
    /// It is `AG p` for this p.
    Everywhere(&'f Formula<AtomId>),
    /// It is true if from every state each of these can be reached.
    Recovery(Vec<&'f Formula<AtomId>>),
}

impl<'f> Form<'f> {
    /// The form of a property, if it has one.
    ///
    /// SOUND: proofs are about all runs. They say nothing of fair ones, nor of hazards and paths that end.
    #[must_use]
    pub fn of(bound: &'f BoundProperty) -> Option<Self> {
        let has_conditions = bound.fairness().is_some() || bound.something_is_left().is_some();
        if has_conditions || bound.observes_hazards {
            return None;
        }
        let everywhere = || everywhere(&bound.formula).map(Self::Everywhere);
        everywhere().or_else(|| reached(&bound.formula).map(Self::Recovery))
    }

    /// True for `AG p`.
    #[must_use]
    pub fn is_everywhere(&self) -> bool {
        matches!(self, Self::Everywhere(_))
    }
}

/// p of `AG p`, if p speaks of states.
fn everywhere(formula: &Formula<AtomId>) -> Option<&Formula<AtomId>> {
    match formula {
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => speaks_of_states(inner).then_some(&**inner),
        _ => None,
    }
}

/// Formulas about states such that a formula is true if from every state each of them can be reached.
///
/// SOUND: `EF q` speaks of the first states, which are some of all.
fn reached(formula: &Formula<AtomId>) -> Option<Vec<&Formula<AtomId>>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(reached).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => reached_everywhere(inner),
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, inner) => {
            speaks_of_states(inner).then(|| vec![&**inner])
        }
        _ => None,
    }
}

/// The same for a formula that is to be true in every state.
///
/// SOUND: in `p -> EF q` and its like all operators around `EF` are monotone, and `EF q` is true in every state.
fn reached_everywhere(formula: &Formula<AtomId>) -> Option<Vec<&Formula<AtomId>>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(reached_everywhere).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Or(parts) => parts.iter().find_map(reached_everywhere),
        Formula::Implies(_, then) => reached_everywhere(then),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => reached_everywhere(inner),
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, inner) => {
            speaks_of_states(inner).then(|| vec![&**inner])
        }
        _ => None,
    }
}

/// True if each state decides a formula.
fn speaks_of_states(formula: &Formula<AtomId>) -> bool {
    match formula {
        Formula::Constant(_) | Formula::Atom(_) => true,
        Formula::Not(inner) => speaks_of_states(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(speaks_of_states),
        Formula::Implies(one, other) | Formula::Iff(one, other) => speaks_of_states(one) && speaks_of_states(other),
        _ => false,
    }
}
