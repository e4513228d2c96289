//! The forms of properties that claims, ranks and symbolic execution prove.

use crate::eventualities::{Eventuality, Fairness};
use crate::possibility::Possibility;
use crate::state_formula::StateFormula;
use crate::target::Target;
use crate::trigger::Trigger;
use avr_properties::{Atom, BoundProperty};
use mu_calculus::{AtomId, Formula, PathOperator, PathPairOperator, PathQuantifier};

/// The formulas about states of which a property follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form<'f> {
    /// It is `AG p` for this p.
    Everywhere(&'f Formula<AtomId>),
    /// It is true if each of these is possible.
    Recovery(Vec<Awaited>),
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
        everywhere().or_else(|| comes(&bound.formula, PathQuantifier::Exists).map(Self::Recovery))
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
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => inner.is_boolean().then_some(&**inner),
        _ => None,
    }
}

/// `AF until`, `A[holds U until]`, or with E in the place of A, in some states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// These states.
    pub from: AwaitedIn,
    /// The formula that is to be true until then, if there is one.
    pub holds: Option<Formula<AtomId>>,
    /// The formula that is to become true.
    pub until: Formula<AtomId>,
}

/// The states from which something is awaited, or is to be possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AwaitedIn {
    /// Those after power-on.
    Start,
    /// All.
    Everywhere,
    /// Those in which this is true.
    Where(Formula<AtomId>),
}

/// The events awaited, if a property says no more than that they come on all paths: the property is true if they all come.
///
/// SOUND: proofs are about all runs, or about those that are fair to interrupts. They say nothing of other conditions, nor of hazards and
/// paths that end.
#[must_use]
pub fn awaited(bound: &BoundProperty) -> Option<Vec<Awaited>> {
    let has_conditions = bound.something_is_left().is_some() || bound.observes_hazards;
    let is_fair = bound.fairness().is_none_or(|fairness| fairness.interrupts.is_some());
    if has_conditions || !is_fair { None } else { comes(&bound.formula, PathQuantifier::All) }
}

/// The events that come, on all paths or on some, if a formula says no more than that; the formula is true if they all come.
fn comes(formula: &Formula<AtomId>, paths: PathQuantifier) -> Option<Vec<Awaited>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(|part| comes(part, paths)).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => comes_everywhere(inner, paths, &[]),
        _ => of_path(formula, paths, AwaitedIn::Start),
    }
}

/// The same for a formula that is to be true in every state in which conditions hold.
///
/// SOUND: `p -> q` is true where p is not, and a disjunction with formulas about states is such an implication. What is true in all states is
/// true in some, so that other conditions may be left out.
fn comes_everywhere(
    formula: &Formula<AtomId>,
    paths: PathQuantifier,
    conditions: &[Formula<AtomId>],
) -> Option<Vec<Awaited>> {
    let with = |more: Vec<Formula<AtomId>>| [conditions.to_vec(), more].concat();
    match formula {
        Formula::And(parts) => {
            let parts = parts.iter().map(|part| comes_everywhere(part, paths, conditions));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        Formula::Implies(one, then) if one.is_boolean() => comes_everywhere(then, paths, &with(vec![(**one).clone()])),
        Formula::Implies(_, then) if paths == PathQuantifier::Exists => comes_everywhere(then, paths, conditions),
        Formula::Or(parts) => {
            let (states, others): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.is_boolean());
            let negated = states.into_iter().map(|part| Formula::Not(Box::new(part.clone())));
            let conditions = with(negated.collect());
            match (others.as_slice(), paths) {
                ([other], _) => comes_everywhere(other, paths, &conditions),
                (others, PathQuantifier::Exists) => {
                    others.iter().find_map(|other| comes_everywhere(other, paths, &conditions))
                }
                (_, PathQuantifier::All) => None,
            }
        }
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => comes_everywhere(inner, paths, &[]),
        _ => {
            let from = match conditions {
                [] => AwaitedIn::Everywhere,
                [one] => AwaitedIn::Where(one.clone()),
                all => AwaitedIn::Where(Formula::And(all.to_vec())),
            };
            of_path(formula, paths, from)
        }
    }
}

fn of_path(formula: &Formula<AtomId>, paths: PathQuantifier, from: AwaitedIn) -> Option<Vec<Awaited>> {
    let (of, holds, until) = match formula {
        Formula::Path(of, PathOperator::Eventually, until) => (of, None, until),
        Formula::PathPair(of, PathPairOperator::Until, holds, until) => (of, Some(holds), until),
        _ => return None,
    };
    let are_of_states = until.is_boolean() && holds.is_none_or(|holds| holds.is_boolean());
    let holds = holds.map(|holds| (**holds).clone());
    (*of == paths && are_of_states).then(|| vec![Awaited { from, holds, until: (**until).clone() }])
}

/// An event that comes, with formulas about states.
pub struct WithAtoms<'a> {
    from: &'a AwaitedIn,
    conditions: Option<StateFormula<'a>>,
    holds: Option<StateFormula<'a>>,
    until: StateFormula<'a>,
}

impl<'a> WithAtoms<'a> {
    /// None if a formula reads a cell which depends on the state.
    #[must_use]
    pub fn new(atoms: &'a [Atom], awaited: &'a Awaited) -> Option<Self> {
        let Awaited { from, holds, until } = awaited;
        let conditions = match from {
            AwaitedIn::Where(conditions) => Some(StateFormula::new(atoms, conditions)?),
            AwaitedIn::Start | AwaitedIn::Everywhere => None,
        };
        let holds = match holds {
            Some(holds) => Some(StateFormula::new(atoms, holds)?),
            None => None,
        };
        Some(Self { from, conditions, holds, until: StateFormula::new(atoms, until)? })
    }

    /// The claim that some path leads to it.
    #[must_use]
    pub fn possibility(&self) -> Possibility<'_> {
        Possibility { trigger: self.trigger(), holds: self.holds(), until: &self.until }
    }

    /// The claim that all paths do, that fairness does not leave out.
    #[must_use]
    pub fn eventuality<'b>(&'b self, fair: &'b [Fairness]) -> Eventuality<'b> {
        Eventuality { trigger: self.trigger(), holds: self.holds(), until: &self.until, fair }
    }

    /// The texts of the atoms of what is to become true.
    #[must_use]
    pub fn text(&self) -> String {
        self.until.text()
    }

    fn trigger(&self) -> Trigger<'_> {
        match (self.from, &self.conditions) {
            (AwaitedIn::Start, _) => Trigger::Start,
            (_, Some(conditions)) => Trigger::When(conditions),
            (_, None) => Trigger::Everywhere,
        }
    }

    fn holds(&self) -> Option<&dyn Target> {
        self.holds.as_ref().map(|holds| holds as &dyn Target)
    }
}
