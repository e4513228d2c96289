//! The properties that say that something comes: `AF q` and `A[p U q]`, in the first state, in every state, or in those where something
//! holds, on all paths or on those that are fair.

use crate::accepted::Accepted;
use crate::check::{Rejection, check};
use crate::claim::Claims;
use crate::eventualities::{Eventuality, FairInterrupt, Fairness, Ranks, WaitsFor, check_ranks};
use crate::form::{Awaited, WithAtoms};
use crate::limits::Limits;
use crate::possibility::Possibility;
use crate::target::Target;
use avr_invariant::{Map, Move};
use avr_machine::{Frame, FrameKind, Machine};
use avr_properties::Atom;
use avr_symbolic::{SymbolicBit, SymbolicState};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::BitDomain;

/// A property that says that something comes, on a machine.
pub struct Coming<'a> {
    parts: Vec<WithAtoms<'a>>,
    fair: Vec<Fairness>,
}

/// A proof of such a property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComingProof {
    /// One for each part of the property.
    pub parts: Vec<Ranks>,
    /// Claims that each interrupt of which fairness is assumed can come again and again, from every state: a fair run goes on there.
    pub fair: Vec<Claims>,
}

impl<'a> Coming<'a> {
    /// The events awaited on paths that are fair to others; none if it reads cells that depend on the state, or there is no such event.
    #[must_use]
    pub fn new(machine: &Machine, atoms: &'a [Atom], (awaited, fair): (&'a [Awaited], &[WaitsFor])) -> Option<Self> {
        let fair = fair.iter().map(|event| match *event {
            WaitsFor::Interrupt(number) => {
                let interrupt = machine.device.interrupts.iter().find(|interrupt| interrupt.number == number)?;
                let enabled = (interrupt.enable.address, interrupt.enable.mask());
                Some(Fairness::Interrupt(FairInterrupt { number, enabled }))
            }
            WaitsFor::Promised(number) => {
                let promise = machine.device.promises.get(usize::from(number))?;
                Some(Fairness::Promised { number, promise })
            }
        });
        let parts = awaited.iter().map(|one| WithAtoms::new(atoms, one));
        Some(Self { parts: parts.collect::<Option<_>>()?, fair: fair.collect::<Option<_>>()? })
    }

    /// The parts: the property is true if each is, and a fair run goes on from every state.
    pub fn eventualities(&self) -> impl ExactSizeIterator<Item = Eventuality<'_>> {
        self.parts.iter().map(|part| part.eventuality(&self.fair))
    }

    /// The states in the handlers of the interrupts of which fairness is assumed. What the data sheet promises need not be shown possible.
    ///
    /// SOUND: if from every state a run comes to each of these, some run comes to all of them again and again, because no handler has a
    /// loop. It is a fair one.
    pub fn handlers(&self) -> impl Iterator<Item = InHandler> {
        self.fair.iter().filter_map(|fair| match fair {
            Fairness::Interrupt(interrupt) => Some(InHandler(interrupt.number)),
            Fairness::Promised { .. } => None,
        })
    }

    /// Accepts a proof of all parts if it is one.
    ///
    /// # Errors
    /// The first reason why it is not.
    pub fn check(
        &self,
        machine: &Machine,
        map: (&Map, &BTreeMap<Move, usize>),
        proof: &ComingProof,
        limits: (&Limits, &dyn Fn() -> bool),
    ) -> Result<Accepted, Rejection> {
        let (parts, handlers) = (self.eventualities(), self.handlers());
        let is_whole = parts.len() == proof.parts.len() && self.handlers().count() == proof.fair.len();
        if !is_whole {
            return Err(Rejection::Parts);
        }
        let mut all = Accepted::default();
        for (eventuality, ranks) in parts.zip(&proof.parts) {
            all = all.and(check_ranks(machine, map, &eventuality, ranks, limits)?);
        }
        for (handler, claims) in handlers.zip(&proof.fair) {
            all = all.and(check(machine, map, &Possibility::everywhere(&handler), claims, limits)?);
        }
        Ok(all)
    }
}

impl ComingProof {
    /// The events without which a rank may stay, in order.
    #[must_use]
    pub fn waits_for(&self) -> BTreeSet<WaitsFor> {
        let claims = self.parts.iter().flat_map(|ranks| &ranks.claims);
        claims.filter_map(|claim| claim.waits_for).collect()
    }
}

/// The states in the handler of an interrupt, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InHandler(u8);

impl Target for InHandler {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let is_own = |frame: &Frame| frame.kind == FrameKind::Interrupt(self.0);
        SymbolicBit::constant(state.calls.frames().iter().any(is_own))
    }
}
