//! The context of all passes: the machine, the store of abstract states, and the working state.

use crate::abstraction::forget::DecayRules;
use crate::predicates::SharedPredicates;
use crate::state::deferral::Deferral;
use crate::state::events::{Occurrences, watched};
use crate::state::inside_body;
use crate::state::interner::Store;
use crate::state::view::View;
use crate::state::working_copy::WorkingCopy;
use crate::state::{AbstractState, Location};
use avr_isa::DataAddress;
use avr_machine::{Environment, Machine, MachineState};
use avr_predicates::Predicates;
use avr_properties::{Atom, Event as WatchedEvent};
use mu_calculus::AtomId;
use std::sync::Arc;
use three_valued::fault::{self, is_on};
use three_valued::{Truth, TvByte};
use tvar::{StateKind, StepPrecision};

/// A machine with the atoms that its properties speak of, the abstract states that are stored, and the one that is worked on.
#[derive(Debug)]
pub struct Context<'m> {
    /// The machine.
    pub machine: &'m Machine,
    /// The atoms, by their numbers.
    pub atoms: &'m [Atom],
    /// The events that atoms speak of.
    pub watched: Arc<[WatchedEvent]>,
    /// The contents of all abstract states.
    pub store: Store,
    /// The state that steps are taken in.
    pub working: WorkingCopy,
    /// The part of a state that is forgotten.
    pub decay_rules: DecayRules,
    /// The predicates that states may keep.
    pub(crate) predicates: Option<SharedPredicates>,
    /// The number of times that power came on.
    pub power_ons: u64,
}

impl<'m> Context<'m> {
    /// The context of a machine, with nothing stored.
    #[must_use]
    pub fn new(machine: &'m Machine, atoms: &'m [Atom]) -> Self {
        Self::relating(machine, atoms, None)
    }

    /// The same where states may have cells for predicates, behind those of the machine.
    #[must_use]
    pub(crate) fn relating(machine: &'m Machine, atoms: &'m [Atom], predicates: Option<SharedPredicates>) -> Self {
        let more = if predicates.is_some() { Predicates::cells() } else { 0 };
        if let Some(predicates) = &predicates {
            predicates.get().tell_of(atoms);
        }
        let mut store = Store::default();
        let working = WorkingCopy::new(machine.cells() + more, &mut store);
        let (watched, decay_rules) = (watched(atoms).into(), DecayRules::new(machine, atoms));
        Self { machine, atoms, watched, store, working, decay_rules, predicates, power_ons: 0 }
    }
}

impl Context<'_> {
    /// A state as formulas see it; none for the dummy and for sinks.
    pub fn view(&self, state: &AbstractState) -> Option<View<'_>> {
        match state {
            AbstractState::Running(running) => {
                let predicates = self.predicates.as_ref();
                Some(View { store: &self.store, watched: &self.watched, running: *running, predicates })
            }
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => None,
        }
    }

    /// The truth of an atom in a state.
    pub fn truth(&self, state: &AbstractState, atom: &Atom) -> Truth {
        match state {
            AbstractState::Hazard { hazard, pc } => atom.kind().at_hazard(self.machine.ends_path(hazard.kind, *pc)),
            _ => self.view(state).map_or(Truth::Unknown, |view| {
                match self.machine.contract_at(view.running.control.pc) {
                    Some(contract) if !is_on(fault::Fault::BodySeen) => {
                        inside_body::truth(self.machine, contract, view, atom)
                    }
                    _ => atom.evaluate(&view),
                }
            }),
        }
    }

    /// The label of an atom in a state.
    #[must_use]
    pub fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        self.truth(state, &self.atoms[atom.index()])
    }

    /// The labels of all atoms in a state.
    #[must_use]
    pub fn labels(&self, state: &AbstractState) -> Vec<Truth> {
        self.atoms.iter().map(|atom| self.truth(state, atom)).collect()
    }

    /// The kind of a state.
    pub fn kind(&self, state: &AbstractState) -> StateKind {
        match state {
            AbstractState::Dummy | AbstractState::Running(_) => StateKind::Ordinary,
            AbstractState::Hazard { hazard, pc } if self.machine.ends_path(hazard.kind, *pc) => StateKind::End,
            AbstractState::Hazard { .. } => StateKind::Hazard,
            AbstractState::Limit { .. } => StateKind::Limit,
        }
    }

    /// The location of a state.
    pub fn location(&self, state: &AbstractState) -> Location {
        match state {
            AbstractState::Dummy => Location::Dummy,
            AbstractState::Hazard { .. } | AbstractState::Limit { .. } => Location::Sink,
            AbstractState::Running(running) => {
                let byte = |address: DataAddress| self.store.cell(running.memory, address).known();
                let stack_pointer = self.machine.stack_pointer().value(byte);
                let round = self.decay_rules.round(self.machine, &self.store, running);
                Location::Running { control: running.control, stack_pointer, calls: running.calls.0, round }
            }
        }
    }

    /// The location of the working state.
    pub fn location_at_work(&mut self) -> Location {
        let calls = self.working.save_calls(&mut self.store);
        let state = &self.working.state;
        Location::Running {
            control: state.control,
            stack_pointer: self.decay_rules.pointer_in(&state.data),
            calls: calls.0,
            round: self.decay_rules.round_at_work(self.machine, &self.store, state, calls),
        }
    }

    /// The depth of the stack at a stack pointer, in bytes below RAMEND.
    pub fn depth_at(&self, pointer: Option<DataAddress>) -> Option<u32> {
        pointer.map(|pointer| self.machine.data_end().offset_from(pointer).unwrap_or_default().into())
    }

    /// True only if every concrete state that `fine` covers is covered by `coarse`.
    pub fn covers(&self, coarse: &AbstractState, fine: &AbstractState) -> bool {
        let (AbstractState::Running(coarse), AbstractState::Running(fine)) = (coarse, fine) else {
            return coarse == fine;
        };
        coarse.control == fine.control
            && coarse.calls == fine.calls
            && coarse.deferral == fine.deferral
            && self.store.memory_covers(coarse.memory, fine.memory)
            && self.store.occurrences_cover(coarse.did, fine.did)
    }

    /// The state without everything that a step precision does not keep.
    pub fn decay(&mut self, state: AbstractState, precision: &StepPrecision) -> AbstractState {
        let AbstractState::Running(running) = state else { return state };
        let lost = self.decay_rules.lost_bits(self.machine, &self.store, &running, precision);
        if lost.is_empty() {
            return state;
        }
        self.working.load(&self.store, &running);
        for (address, mask) in lost {
            let cell = self.working.state.data.get(address).forget(mask);
            let cell = if is_on(fault::Fault::UnknownIsZero) {
                TvByte::new(cell.value() & !mask, cell.known_mask() | mask)
            } else {
                cell
            };
            self.working.state.data.set(address, cell);
        }
        AbstractState::Running(self.working.save(&mut self.store, running.did, running.deferral))
    }

    /// Stores the working state after a step that did these things.
    pub fn arrived(&mut self, occurrences: Occurrences, deferral: Deferral) -> AbstractState {
        let did = self.store.intern_occurrences(occurrences);
        AbstractState::Running(self.working.save(&mut self.store, did, deferral))
    }

    /// Takes the first step: the machine gets its initial content.
    pub fn power_on(&mut self, environment: &mut impl Environment<TvByte>) {
        self.power_ons += 1;
        let fresh: MachineState<TvByte> = self.machine.power_on(environment);
        for (address, cell) in self.machine.addresses().zip(fresh.data.cells()) {
            self.working.state.data.set(address, *cell);
        }
        for address in (self.machine.cells()..self.working.state.data.len()).map(DataAddress::of_index) {
            self.working.state.data.set(address, TvByte::UNKNOWN);
        }
        self.working.state.control = fresh.control;
        self.working.state.calls.clear();
    }
}
