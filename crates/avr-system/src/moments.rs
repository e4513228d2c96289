//! Formulas that do not tell moments without events.
//!
//! A line that ends a frame has a moment of its own in runs: no event is true in it, and all else is as it was in the moment before. A formula
//! that such moments leave as it is may be asked of runs without them. The rules are those of stutter invariance (Lamport, 1983; Peled &
//! Wilke, 1997), with events: a moment more satisfies `!e`, and does not satisfy `e`, so it changes no `F e` and no `G (e -> F d)`. It would
//! change `d U e` and `G (p -> F e)`.

use mu_calculus::{AtomId, Formula, LinearOperator, LinearPairOperator};
use three_valued::Truth;

use crate::faults::{Fault, is_on};

/// True if a formula has the same value at the moments of a run whatever moments without events are between them.
pub(crate) fn are_untold(formula: &Formula<AtomId>, is_event: &dyn Fn(AtomId) -> bool) -> bool {
    if is_on(Fault::MomentsUntold) || !formula.atoms().into_iter().any(|atom| is_event(*atom)) {
        return true;
    }
    let (yes, no) = (Truth::True, Truth::False);
    let between = |p: &Formula<AtomId>| without_events(p, is_event);
    let parts_are = formula.children().into_iter().all(|part| are_untold(part, is_event));
    parts_are
        && match formula {
            Formula::Linear(LinearOperator::Eventually | LinearOperator::Once, p) => between(p) == no,
            Formula::Linear(LinearOperator::Always | LinearOperator::Historically, p) => between(p) == yes,
            Formula::LinearPair(LinearPairOperator::Release, p, q) => between(p) == no && between(q) == yes,
            Formula::LinearPair(_, p, q) => between(p) == yes && between(q) == no,
            _ => is_boolean(formula),
        }
}

/// The value of a condition in a moment without events, whatever the nodes are.
pub(crate) fn without_events(formula: &Formula<AtomId>, is_event: &dyn Fn(AtomId) -> bool) -> Truth {
    let of = |p: &Formula<AtomId>| without_events(p, is_event);
    match formula {
        Formula::Constant(value) => Truth::from(*value),
        Formula::Atom(atom) if is_event(*atom) => Truth::False,
        Formula::Not(p) => !of(p),
        Formula::And(all) => all.iter().fold(Truth::True, |so_far, p| so_far & of(p)),
        Formula::Or(all) => all.iter().fold(Truth::False, |so_far, p| so_far | of(p)),
        Formula::Implies(p, q) => !of(p) | of(q),
        _ => Truth::Unknown,
    }
}

/// True if a formula is an atom, or combines its parts in one moment.
fn is_boolean(formula: &Formula<AtomId>) -> bool {
    matches!(
        formula,
        Formula::Constant(_)
            | Formula::Atom(_)
            | Formula::Not(_)
            | Formula::And(_)
            | Formula::Or(_)
            | Formula::Implies(..)
            | Formula::Iff(..)
            | Formula::Choice(..)
    )
}
