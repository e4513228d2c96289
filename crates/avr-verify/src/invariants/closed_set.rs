//! Closed sets: states that nothing leads away from, whatever the inputs and interrupts, so that a goal is out of reach in them.
//!
//! A closed set is a map of invariants from one concrete state (`docs/soundness.md`, "Closed sets").

use super::{LIMITS, View};
use avr_invariant::{Analysis, Claims, Map, Options, Start, analyse_from};
use avr_machine::{Machine, MachineState};
use avr_properties::{Atom, BoundProperty, StateView};
use avr_witness::Lost;
use mu_calculus::state_formula::truth;
use mu_calculus::{AtomId, NormalForm};
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
    let normal = |part: avr_progress::Wanted<'_>| {
        Some(Wanted {
            when: part.when.into_iter().map(|p| NormalForm::new(p).ok()).collect::<Option<_>>()?,
            reached: NormalForm::new(part.reached).ok()?,
            subformula: NormalForm::new(part.subformula).ok()?,
        })
    };
    avr_progress::wanted(bound).into_iter().filter_map(normal).collect()
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
    /// A closed set behind a state in which nothing is reached, if one is found.
    pub(crate) fn closed_set(&self, state: &MachineState<u8>) -> Option<Map> {
        let limits = Options { steps: STEPS, further: 0, ..LIMITS };
        let Analysis { map, outcome, .. } = analyse_from(self.machine, Start::At(state), &limits, self.is_over);
        // SOUND: behind a hazard anything may happen.
        let is_lost = outcome.is_ok_and(|claims: Claims| claims.has_no_hazard())
            && map.entries.iter().all(|entry| !self.is_reached(&View { map: &map, entry }));
        is_lost.then_some(map)
    }

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
        let closed = self.closed_set(state);
        if let Some(map) = &closed {
            self.states.set(map.entries.len());
        }
        closed.is_some()
    }
}
