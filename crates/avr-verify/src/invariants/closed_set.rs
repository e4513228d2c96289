//! Closed sets: states that nothing leads away from, whatever the inputs and interrupts, so that a goal is out of reach in them.
//!
//! A closed set is a map of invariants from one concrete state (`docs/soundness.md`, "Closed sets").

use super::{LIMITS, View};
use avr_invariant::{Analysis, Claims, Options, Start, analyse_from};
use avr_machine::{Machine, MachineState};
use avr_properties::{Atom, BoundProperty, StateView};
use avr_witness::Lost;
use mu_calculus::state_formula::truth;
use mu_calculus::{AtomId, Formula, NormalForm, PathOperator, PathQuantifier};
use std::cell::Cell;
use three_valued::Truth;

/// The most abstract states from which steps are taken for a closed set.
const STEPS: usize = 20_000;

/// A part `EF q` of a property that must be true wherever some formulas are.
pub(crate) struct Wanted {
    when: Vec<NormalForm>,
    reached: NormalForm,
    subformula: NormalForm,
}

/// The parts `EF q` of a property each of which must be true in all states, or in those in which formulas about states are. None if
/// the property speaks of some paths only.
pub(crate) fn wanted(bound: &BoundProperty) -> Vec<Wanted> {
    let has_conditions = bound.fairness().is_some() || bound.something_is_left().is_some();
    let mut all = Vec::new();
    if !has_conditions && !bound.observes_hazards {
        add_parts(&bound.formula, &mut all);
    }
    all
}

fn add_parts(formula: &Formula<AtomId>, all: &mut Vec<Wanted>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| add_parts(part, all)),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => add_everywhere(inner, &[], all),
        _ => {}
    }
}

/// Adds the parts of a formula that must be true in the reachable states in which others are.
fn add_everywhere(formula: &Formula<AtomId>, when: &[&Formula<AtomId>], all: &mut Vec<Wanted>) {
    match formula {
        Formula::And(parts) => parts.iter().for_each(|part| add_everywhere(part, when, all)),
        Formula::Implies(p, then) if p.is_boolean() => {
            add_everywhere(then, &[when, &[&**p]].concat(), all);
        }
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, reached) if reached.is_boolean() => {
            let when = when.iter().map(|p| NormalForm::new(p)).collect::<Result<Vec<_>, _>>();
            let both = (when, NormalForm::new(reached), NormalForm::new(formula));
            if let (Ok(when), Ok(reached), Ok(subformula)) = both {
                all.push(Wanted { when, reached, subformula });
            }
        }
        _ => {}
    }
}

/// A part of a property on a machine.
pub(crate) struct OnMachine<'a> {
    pub(crate) wanted: &'a Wanted,
    pub(crate) machine: &'a Machine,
    pub(crate) atoms: &'a [Atom],
    pub(crate) is_over: &'a dyn Fn() -> bool,
    /// The number of abstract states of the last closed set.
    pub(crate) states: Cell<usize>,
}

impl OnMachine<'_> {
    fn truth(&self, formula: &NormalForm, view: &dyn StateView) -> Truth {
        truth(formula, formula.root(), &|atom: AtomId| self.atoms[atom.index()].evaluate(view))
    }
}

impl Lost for OnMachine<'_> {
    fn subformula(&self) -> &NormalForm {
        &self.wanted.subformula
    }

    fn atoms(&self) -> Vec<AtomId> {
        let formulas = self.wanted.when.iter().chain([&self.wanted.reached]);
        let mut atoms: Vec<AtomId> = formulas.flat_map(NormalForm::atoms).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    fn is_claimed(&self, view: &dyn StateView) -> bool {
        self.wanted.when.iter().all(|p| self.truth(p, view).is_true()) && !self.is_reached(view)
    }

    fn is_reached(&self, view: &dyn StateView) -> bool {
        !self.truth(&self.wanted.reached, view).is_false()
    }

    fn is_lost(&self, state: &MachineState<u8>) -> bool {
        let limits = Options { steps: STEPS, ..LIMITS };
        let Analysis { map, outcome, .. } = analyse_from(self.machine, Start::At(state), &limits, self.is_over);
        // SOUND: behind a hazard anything may happen.
        let is_lost = outcome.is_ok_and(|claims: Claims| claims.has_no_hazard())
            && map.entries.iter().all(|entry| !self.is_reached(&View { map: &map, entry }));
        if is_lost {
            self.states.set(map.entries.len());
        }
        is_lost
    }
}
