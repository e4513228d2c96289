//! Formulas of branching time: those that say something of each run alone, the fair runs of the others, and steps that they count.

use std::convert::Infallible;

use mu_calculus::{
    AtomId, Formula, LinearOperator, LinearPairOperator, PathOperator, PathPairOperator, PathQuantifier,
};

use crate::faults::{Fault, is_on};

/// A formula, or its negation, with negations before conditions, fixed points and path formulas only.
pub(crate) fn with_inner_negations(formula: &Formula<AtomId>, is_positive: bool) -> Formula<AtomId> {
    let part = |p: &Formula<AtomId>| with_inner_negations(p, is_positive);
    let boxed = |p: &Formula<AtomId>| Box::new(part(p));
    let parts = |all: &[Formula<AtomId>]| all.iter().map(part).collect::<Vec<_>>();
    let over = |quantifier: PathQuantifier| match (quantifier, is_positive) {
        (PathQuantifier::All, true) | (PathQuantifier::Exists, false) => PathQuantifier::All,
        _ => PathQuantifier::Exists,
    };
    match formula {
        Formula::Not(p) if !formula.is_boolean() => with_inner_negations(p, !is_positive),
        Formula::And(all) | Formula::Or(all) if !formula.is_boolean() => {
            match matches!(formula, Formula::And(_)) == is_positive {
                true => Formula::And(parts(all)),
                false => Formula::Or(parts(all)),
            }
        }
        Formula::Implies(when, then) if !formula.is_boolean() => {
            let (when, then) = (with_inner_negations(when, !is_positive), part(then));
            if is_positive { Formula::Or(vec![when, then]) } else { Formula::And(vec![when, then]) }
        }
        Formula::Path(quantifier, operator, p) => {
            let operator = match operator {
                PathOperator::Eventually if !is_positive => PathOperator::Always,
                PathOperator::Always if !is_positive => PathOperator::Eventually,
                other => *other,
            };
            Formula::Path(over(*quantifier), operator, boxed(p))
        }
        Formula::PathPair(quantifier, operator, p, q) => {
            let (operator, p) = match operator {
                _ if is_positive => (*operator, boxed(p)),
                PathPairOperator::Until => (PathPairOperator::Release, boxed(p)),
                PathPairOperator::Release => (PathPairOperator::Until, boxed(p)),
                // `p W q` is denied by `!q U (!p && !q)`.
                PathPairOperator::WeakUntil => {
                    let neither = Formula::And(vec![part(p), part(q)]);
                    return Formula::PathPair(over(*quantifier), PathPairOperator::Until, boxed(q), Box::new(neither));
                }
            };
            Formula::PathPair(over(*quantifier), operator, p, boxed(q))
        }
        other if is_positive => other.clone(),
        other => Formula::Not(Box::new(other.clone())),
    }
}

/// The formula of linear time that says the same over fair runs, for formulas whose parts do not look at several ways to go on (a
/// fragment of that of Maidl, The Common Fragment of CTL and LTL, 2000).
pub(crate) fn as_linear(formula: &Formula<AtomId>) -> Option<Formula<AtomId>> {
    use {PathOperator as One, PathQuantifier::All};
    if formula.is_boolean() {
        return Some(formula.clone());
    }
    let boxed = |p: &Formula<AtomId>| as_linear(p).map(Box::new);
    let each = |parts: &[Formula<AtomId>]| parts.iter().map(as_linear).collect::<Option<Vec<_>>>();
    Some(match formula {
        Formula::And(parts) => Formula::And(each(parts)?),
        Formula::Or(parts) if parts.iter().filter(|part| !part.is_boolean()).count() == 1 => Formula::Or(each(parts)?),
        Formula::Implies(when, then) if when.is_boolean() => Formula::Implies(when.clone(), boxed(then)?),
        // SOUND: the past begins anew inside of `A[…]`, so that it is another one in each state of `AG`.
        Formula::Path(All, One::Always, p) if !speaks_of_the_past(p) || is_on(Fault::PastGoesOn) => {
            Formula::Linear(LinearOperator::Always, boxed(p)?)
        }
        Formula::Path(All, One::Eventually, p) if p.is_boolean() => {
            Formula::Linear(LinearOperator::Eventually, p.clone())
        }
        Formula::PathPair(All, operator, p, q) if p.is_boolean() && q.is_boolean() => {
            Formula::LinearPair(linear_pair(*operator), p.clone(), q.clone())
        }
        Formula::Quantified(All, psi) if is_linear_time(psi) && !counts_steps(psi) => (**psi).clone(),
        _ => return None,
    })
}

fn linear_pair(operator: PathPairOperator) -> LinearPairOperator {
    match operator {
        PathPairOperator::Until => LinearPairOperator::Until,
        PathPairOperator::Release => LinearPairOperator::Release,
        PathPairOperator::WeakUntil => LinearPairOperator::WeakUntil,
    }
}

/// True if a formula has neither quantifiers of paths nor fixed points.
pub(crate) fn is_linear_time(formula: &Formula<AtomId>) -> bool {
    let is_other = matches!(
        formula,
        Formula::Variable(_)
            | Formula::Modal(..)
            | Formula::Path(..)
            | Formula::PathPair(..)
            | Formula::Fixed(..)
            | Formula::Equations(..)
            | Formula::Quantified(..)
    );
    !is_other && formula.children().into_iter().all(is_linear_time)
}

/// True if a formula has an operator of the past.
fn speaks_of_the_past(formula: &Formula<AtomId>) -> bool {
    let here = match formula {
        Formula::Linear(operator, _) => operator.is_past(),
        Formula::LinearPair(operator, ..) => *operator == LinearPairOperator::Since,
        _ => false,
    };
    here || formula.children().into_iter().any(speaks_of_the_past)
}

/// True if a formula has an operator that counts steps.
pub(crate) fn counts_steps(formula: &Formula<AtomId>) -> bool {
    let here = matches!(
        formula,
        Formula::Modal(..)
            | Formula::Path(_, PathOperator::Next, _)
            | Formula::Linear(LinearOperator::Next | LinearOperator::Yesterday, _)
    );
    here || formula.children().into_iter().any(counts_steps)
}

/// True if a formula speaks of runs that never end, so that it matters which of them are fair.
pub(crate) fn speaks_of_fair_runs(formula: &Formula<AtomId>) -> bool {
    path_formula(formula).is_some() || formula.children().into_iter().any(speaks_of_fair_runs)
}

/// The quantifier and the path formula of an operator that tells fair runs from others. `EF`, `E[p U q]` and what they deny do not: each
/// state has a fair run.
fn path_formula(formula: &Formula<AtomId>) -> Option<(PathQuantifier, Formula<AtomId>)> {
    use {PathOperator as One, PathPairOperator as Two, PathQuantifier as Over};
    let one = |operator: LinearOperator, p: &Formula<AtomId>| Formula::Linear(operator, Box::new(p.clone()));
    match formula {
        Formula::Path(Over::All, One::Eventually, p) => Some((Over::All, one(LinearOperator::Eventually, p))),
        Formula::Path(Over::Exists, One::Always, p) => Some((Over::Exists, one(LinearOperator::Always, p))),
        Formula::PathPair(over @ Over::All, operator @ Two::Until, p, q)
        | Formula::PathPair(over @ Over::Exists, operator @ (Two::Release | Two::WeakUntil), p, q) => {
            Some((*over, Formula::LinearPair(linear_pair(*operator), p.clone(), q.clone())))
        }
        Formula::Quantified(over, psi) => Some((*over, (**psi).clone())),
        _ => None,
    }
}

/// The formula whose quantifiers range over the runs in which this atom comes again and again.
pub(crate) fn over_fair_runs(formula: &Formula<AtomId>, round: AtomId) -> Formula<AtomId> {
    let inside = |p: &Formula<AtomId>| {
        let changed = p.try_map_children(&mut |child| Ok::<_, Infallible>(over_fair_runs(child, round)));
        changed.unwrap_or_else(|never| match never {})
    };
    match path_formula(formula).filter(|_| !is_on(Fault::UnfairCounts)) {
        Some((quantifier, psi)) => {
            let (fair, psi) = (again_and_again(round), inside(&psi));
            let psi = match quantifier {
                PathQuantifier::All => Formula::Implies(Box::new(fair), Box::new(psi)),
                PathQuantifier::Exists => Formula::And(vec![fair, psi]),
            };
            Formula::quantified(quantifier, psi)
        }
        None => inside(formula),
    }
}

/// An atom comes again and again.
pub(crate) fn again_and_again(atom: AtomId) -> Formula<AtomId> {
    let eventually = Formula::Linear(LinearOperator::Eventually, Box::new(Formula::Atom(atom)));
    Formula::Linear(LinearOperator::Always, Box::new(eventually))
}

/// True if a formula is false only where something cannot happen, whatever comes.
pub(crate) fn asks_for_possibilities(formula: &Formula<AtomId>) -> bool {
    let part = |p: &Formula<AtomId>| asks_for_possibilities(p);
    match formula {
        p if p.is_boolean() => true,
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(part),
        Formula::Implies(when, then) => when.is_boolean() && part(then),
        Formula::Path(PathQuantifier::Exists, PathOperator::Next | PathOperator::Eventually, p) => part(p),
        Formula::PathPair(PathQuantifier::Exists, PathPairOperator::Until, p, q) => part(p) && part(q),
        _ => false,
    }
}
