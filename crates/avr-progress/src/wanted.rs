//! The parts `EF q` of properties that a closed set refutes.

use avr_properties::BoundProperty;
use mu_calculus::{AtomId, Formula, PathOperator, PathQuantifier};

/// A part `EF q` of a property that must be true in all reachable states in which some formulas about states are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted<'f> {
    /// The formulas.
    pub when: Vec<&'f Formula<AtomId>>,
    /// q.
    pub reached: &'f Formula<AtomId>,
    /// `EF q`.
    pub subformula: &'f Formula<AtomId>,
}

/// The parts of a property, each of which must be true if it is; none if it speaks of some paths only.
///
/// SOUND: a part that is false in a reachable state makes the property false. Nothing is said of fair paths, of hazards, and of paths that
/// end.
#[must_use]
pub fn wanted(bound: &BoundProperty) -> Vec<Wanted<'_>> {
    let has_conditions = bound.fairness().is_some() || bound.something_is_left().is_some();
    let mut all = Vec::new();
    if !has_conditions && !bound.observes_hazards {
        add_parts(&bound.formula, &mut all);
    }
    all
}

fn add_parts<'f>(formula: &'f Formula<AtomId>, all: &mut Vec<Wanted<'f>>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| add_parts(part, all)),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => add_everywhere(inner, &[], all),
        _ => {}
    }
}

/// Adds the parts of a formula that must be true in the reachable states in which others are.
fn add_everywhere<'f>(formula: &'f Formula<AtomId>, when: &[&'f Formula<AtomId>], all: &mut Vec<Wanted<'f>>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| add_everywhere(part, when, all)),
        Formula::Implies(p, then) if p.is_boolean() => add_everywhere(then, &[when, &[&**p]].concat(), all),
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, reached) if reached.is_boolean() => {
            all.push(Wanted { when: when.to_vec(), reached, subformula: formula });
        }
        _ => {}
    }
}
