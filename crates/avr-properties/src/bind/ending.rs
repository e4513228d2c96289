//! Paths that end: a hazard that is allowed and after which nothing is defined.
//!
//! Properties speak of the paths that never end. A state from which every path ends is left out with all that leads only to such
//! states: it satisfies every `A…` and `[]`, and no `E…` and `<>`. Let D be `AF ended`, which is true there and nowhere
//! else. Every operator over paths is replaced by one that says the same of the paths that never end
//! (`docs/soundness.md`, "Paths that end").

use std::convert::Infallible;

use mu_calculus::{AtomId, Formula, LinearOperator, Modality, PathOperator, PathPairOperator, PathQuantifier};

/// The atom that is true where a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) ended: AtomId,
}

impl Ending {
    /// Something is left to speak of, as a formula about what comes before the start: some initial content has a path that
    /// never ends. No property holds without that.
    pub(super) fn something_is_left(self) -> Formula<AtomId> {
        Formula::Modal(Modality::Diamond, Box::new(self.goes_on()))
    }

    /// The formula with every operator restricted to the paths that never end.
    pub(super) fn restrict(self, formula: &Formula<AtomId>) -> Formula<AtomId> {
        use PathQuantifier::{All, Exists};
        let Ok(inner) = formula.try_map_children(&mut |child| Ok::<_, Infallible>(self.restrict(child)));
        match inner {
            Formula::Modal(Modality::Box, p) => Formula::Modal(Modality::Box, self.or_ends(p)),
            Formula::Modal(Modality::Diamond, p) => Formula::Modal(Modality::Diamond, self.and_goes_on(p)),
            Formula::Path(All, operator, p) => Formula::Path(All, operator, self.or_ends(p)),
            // SOUND: if p holds on the whole path, it is enough that the path itself never ends.
            Formula::Path(Exists, PathOperator::Always, p) => {
                Formula::Path(Exists, PathOperator::Always, self.and_not_ended(*p))
            }
            Formula::Path(Exists, operator, p) => Formula::Path(Exists, operator, self.and_goes_on(p)),
            Formula::PathPair(All, operator, p, q) => Formula::PathPair(All, operator, p, self.or_ends(q)),
            Formula::PathPair(Exists, operator @ PathPairOperator::Until, p, q) => {
                Formula::PathPair(Exists, operator, p, self.and_goes_on(q))
            }
            Formula::PathPair(Exists, operator @ PathPairOperator::WeakUntil, p, q) => {
                Formula::PathPair(Exists, operator, self.and_not_ended(*p), self.and_goes_on(q))
            }
            Formula::PathPair(Exists, operator @ PathPairOperator::Release, p, q) => {
                Formula::PathPair(Exists, operator, self.and_goes_on(p), self.and_not_ended(*q))
            }
            Formula::Quantified(All, psi) => {
                Formula::quantified(All, Formula::Implies(Box::new(self.never_ends()), psi))
            }
            Formula::Quantified(Exists, psi) => {
                Formula::quantified(Exists, Formula::And(vec![self.never_ends(), *psi]))
            }
            other => other,
        }
    }

    /// `!AF ended`: some path from here never ends.
    fn goes_on(self) -> Formula<AtomId> {
        not(self.always_ends())
    }

    /// `ended`.
    fn ended(self) -> Formula<AtomId> {
        Formula::Atom(self.ended)
    }

    /// `AF ended`, which is D.
    fn always_ends(self) -> Formula<AtomId> {
        Formula::Path(PathQuantifier::All, PathOperator::Eventually, Box::new(self.ended()))
    }

    /// `G !ended`, a path formula.
    fn never_ends(self) -> Formula<AtomId> {
        Formula::Linear(LinearOperator::Always, Box::new(not(self.ended())))
    }

    fn or_ends(self, p: Box<Formula<AtomId>>) -> Box<Formula<AtomId>> {
        if has_value_at_ends(&p, true) { p } else { Box::new(Formula::Or(vec![*p, self.always_ends()])) }
    }

    fn and_goes_on(self, p: Box<Formula<AtomId>>) -> Box<Formula<AtomId>> {
        if has_value_at_ends(&p, false) { p } else { Box::new(Formula::And(vec![*p, self.goes_on()])) }
    }

    fn and_not_ended(self, p: Formula<AtomId>) -> Box<Formula<AtomId>> {
        Box::new(Formula::And(vec![p, not(self.ended())]))
    }
}

/// True if a restricted formula certainly has this value where all paths end: what is said of all paths is true there, of some path false.
fn has_value_at_ends(formula: &Formula<AtomId>, value: bool) -> bool {
    match formula {
        Formula::Constant(constant) => *constant == value,
        Formula::Not(p) => has_value_at_ends(p, !value),
        Formula::And(parts) if value => parts.iter().all(|part| has_value_at_ends(part, true)),
        Formula::And(parts) => parts.iter().any(|part| has_value_at_ends(part, false)),
        Formula::Or(parts) if value => parts.iter().any(|part| has_value_at_ends(part, true)),
        Formula::Or(parts) => parts.iter().all(|part| has_value_at_ends(part, false)),
        Formula::Modal(modality, _) => (*modality == Modality::Box) == value,
        Formula::Path(quantifier, ..) | Formula::PathPair(quantifier, ..) | Formula::Quantified(quantifier, _) => {
            (*quantifier == PathQuantifier::All) == value
        }
        _ => false,
    }
}

fn not(p: Formula<AtomId>) -> Formula<AtomId> {
    Formula::Not(Box::new(p))
}
