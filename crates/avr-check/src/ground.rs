//! A state space of a certificate as the game sees it.

use avr_certificate::{Edges, Space, State, Store};
use avr_image::{DataAddress, FlashWordAddress};
use avr_isa::Register;
use avr_machine::Machine;
use avr_predicates::{Literal, Predicates};
use avr_properties::{Atom, Event, Occurred};
use three_valued::Truth;

use crate::play::{Future, Ground};
use crate::rejection::{Reason, Rejection};
use crate::view::View;
use crate::vigilance::{Check, does};

/// A state space with what its labels are made of.
pub(crate) struct Land<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) space: &'a Space,
    pub(crate) store: &'a Store,
    pub(crate) atoms: &'a [Atom],
    pub(crate) watched: &'a [Event],
    pub(crate) did: &'a [Vec<Occurred>],
    pub(crate) predicates: Option<&'a Predicates>,
    /// True if formulas see hazards as states that are never left.
    pub(crate) observes_hazards: bool,
}

impl Ground for Land<'_> {
    fn edges(&self) -> &Edges {
        &self.space.edges
    }

    fn label(&self, state: u32, atom: usize) -> Result<Truth, Rejection> {
        let stated = self.space.labels.get(state, atom);
        let atom = &self.atoms[atom];
        let computed = match &self.space.states[state as usize] {
            State::Running(running) => {
                let (store, watched, did, predicates) = (self.store, self.watched, self.did, self.predicates);
                atom.evaluate(&View { store, running, watched, did, predicates })
            }
            State::Hazard { hazard, pc } => atom.kind().at_hazard(self.machine.ends_path(hazard.kind, *pc)),
            State::Start { .. } | State::Anything => Truth::Unknown,
        };
        if stated == computed || !does(Check::Labels) {
            return Ok(stated);
        }
        Err(Reason::Label { atom: atom.to_string(), computed, stated }.at(state))
    }

    fn future(&self, state: u32) -> Future {
        match self.space.states[state as usize] {
            State::Hazard { hazard, pc } if self.observes_hazards || self.machine.ends_path(hazard.kind, pc) => {
                Future::End
            }
            State::Hazard { .. } | State::Anything => Future::Open,
            State::Start { .. } | State::Running(_) => Future::Step,
        }
    }
}

/// Checks that the parts of states are those of the machine, so that a step can be taken from every state.
pub(crate) fn check_store(
    store: &Store,
    machine: &Machine,
    watched: &[Event],
    predicates: Option<&Predicates>,
) -> Result<(), Rejection> {
    let cells = machine.cells() + predicates.map_or(0, |_| Predicates::cells());
    let misfit = |what| Err(Reason::Misfit(what).into());
    if store.memory_blocks != cells.div_ceil(avr_machine::PAGE_CELLS * avr_certificate::BLOCK_PAGES) {
        return misfit("memories have another size");
    }
    let words = machine.device.memory.flash_words();
    if store.calls.iter().any(|link| link.frame.return_address.0 >= words) {
        return misfit("a call returns outside of the flash");
    }
    if store.did.iter().flatten().any(|seen| seen.event as usize >= watched.len()) {
        return misfit("the properties speak of no such event");
    }
    let mut cut = store.advice.iter().flat_map(|advice| &advice.cases);
    if cut.any(|(cell, _)| cell.index() >= cells) {
        return misfit("a cell is cut that does not exist");
    }
    Ok(())
}

/// The predicates of a certificate, which tell some of the atoms.
///
/// SOUND: hardware changes other cells than registers and those of SRAM without an event, so there are none about them.
pub(crate) fn predicates(
    certificate: &avr_certificate::PredicateTerms,
    machine: &Machine,
    atoms: &[Atom],
) -> Result<Predicates, Rejection> {
    let misfit = |what| Err(Reason::Misfit(what).into());
    let mut predicates = Predicates::new(DataAddress::of_index(machine.cells()));
    for comparison in &certificate.compared {
        predicates.number(comparison);
    }
    if predicates.count() != certificate.compared.len() {
        return misfit("numbers are compared twice, or too many");
    }
    let is_kept = |cell: &DataAddress| Register::at(*cell).is_some() || machine.sram().contains(cell);
    if !predicates.terms().all(|(_, term)| term.cells().all(|cell| is_kept(&cell))) {
        return misfit("a predicate is about what hardware changes");
    }
    for clause in &certificate.clauses {
        let literals =
            clause.map(|one| Literal { term: one.pair as usize, predicate: one.predicate, is_negated: one.is_negated });
        if !predicates.add_literals(literals) {
            return misfit("a disjunction has no such predicates, or there are too many");
        }
    }
    if predicates.clauses().len() != certificate.clauses.len() {
        return misfit("there is a disjunction twice");
    }
    predicates.tell_of(certificate.telling as usize, atoms);
    Ok(predicates)
}

/// Checks that the states of a space are states of the machine, and the first and no other the one before the start.
pub(crate) fn check_states(space: &Space, machine: &Machine) -> Result<(), Rejection> {
    let words = machine.device.memory.flash_words();
    let is_start = |state: &State| matches!(state, State::Start { .. });
    if !space.states.first().is_some_and(is_start) || space.states[1..].iter().any(is_start) {
        return Err(Reason::Start.into());
    }
    for (state, number) in space.states.iter().zip(0..) {
        let pc = match state {
            State::Running(running) => running.control.pc,
            State::Hazard { pc, .. } => *pc,
            State::Start { .. } | State::Anything => FlashWordAddress(0),
        };
        if pc.0 >= words {
            return Err(Reason::Misfit("it executes outside of the flash").at(number));
        }
    }
    Ok(())
}
