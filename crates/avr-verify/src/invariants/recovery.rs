//! Proofs by symbolic execution between the heads of loops, for a program with invariants: `EF q` and `E[p U q]` by claims, `AG p`, and eventualities.

use super::Invariants;
use super::eventuality::Comes;
use avr_machine::Machine;
use avr_progress::{Form, Limits, Proof, StateFormula, Stuck, WithAtoms, awaited, holds_everywhere, recovers};
use avr_properties::{Atom, BoundProperty};

/// The most steps on symbolic bits for a formula that is to be true everywhere.
const STEPS_EVERYWHERE: usize = 50_000;

/// The result of looking for a proof by symbolic execution.
pub(crate) enum Recovery {
    /// There is a proof.
    Proved(SymbolicProof),
    /// No proof was found for some of the formulas that must be reached, each with its text where there are others; so many have one.
    Stuck(usize, Vec<(Option<String>, Stuck)>),
    /// The property is of another form.
    OtherForm,
}

/// A proof by symbolic execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SymbolicProof {
    /// A formula is true on all paths between heads.
    Everywhere,
    /// A proof for each formula that must be reached.
    Claims(Vec<Proof>),
    /// Ranks that fall on all paths.
    Ranks(Comes),
}

/// True if a property has a form that claims or symbolic execution may prove.
pub(crate) fn may_be_proved(bound: &BoundProperty) -> bool {
    Form::of(bound).is_some() || awaited(bound).is_some()
}

impl Invariants {
    /// Looks for claims about loops that prove a property, or proves it on all paths between heads.
    pub(crate) fn prove_symbolically(
        &self,
        machine: &Machine,
        (atoms, bound): (&[Atom], &BoundProperty),
        is_over: &dyn Fn() -> bool,
    ) -> Recovery {
        let map = (&self.map, &self.moves);
        if let Some(awaited) = awaited(bound) {
            let fair = bound.fairness().and_then(|fairness| fairness.interrupts.clone()).unwrap_or_default();
            let limits = (&Limits::default(), is_over);
            return match self.prove_eventualities(machine, (atoms, &awaited), &fair, limits) {
                Ok(comes) => Recovery::Proved(SymbolicProof::Ranks(comes)),
                Err(stuck) => stuck.map_or(Recovery::OtherForm, |stuck| Recovery::Stuck(0, vec![(None, stuck)])),
            };
        }
        let reached = match Form::of(bound) {
            None => return Recovery::OtherForm,
            Some(Form::Everywhere(formula)) => {
                let Some(target) = StateFormula::new(atoms, formula) else { return Recovery::OtherForm };
                let few = Limits { steps: STEPS_EVERYWHERE, ..Limits::default() };
                return match holds_everywhere(machine, map, &target, (&few, is_over)) {
                    Ok(_) => Recovery::Proved(SymbolicProof::Everywhere),
                    Err(_) => Recovery::OtherForm,
                };
            }
            Some(Form::Recovery(reached)) => reached,
        };
        let (mut proofs, mut open) = (Vec::new(), Vec::new());
        for one in &reached {
            let Some(of_states) = WithAtoms::new(atoms, one) else { return Recovery::OtherForm };
            match recovers(machine, map, &of_states.possibility(), (&Limits::default(), is_over)) {
                Ok(proof) => proofs.push(proof),
                Err(stuck) => open.push(((reached.len() > 1).then(|| of_states.text()), stuck)),
            }
        }
        match open.is_empty() {
            true => Recovery::Proved(SymbolicProof::Claims(proofs)),
            false => Recovery::Stuck(proofs.len(), open),
        }
    }
}
