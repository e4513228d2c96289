//! Eventualities by ranks: `AF q` and `A[p U q]`, in the first state, in every state, or in those where something holds.

use super::Invariants;
use avr_invariant::Thread;
use avr_isa::DataAddress;
use avr_machine::{FrameKind, Machine};
use avr_progress::{
    Awaited, EventualityProof, FairInterrupt, Limits, Possibility, Proof, Stuck, Target, WithAtoms, always_comes,
    awaited, recovers,
};
use avr_properties::{Atom, BoundProperty};
use avr_symbolic::{SymbolicBit, SymbolicState};
use mu_calculus::PathQuantifier;
use std::collections::BTreeSet;
use three_valued::BitDomain;

/// The most steps on symbolic bits to find out which fairness would make a property true.
const STEPS_FOR_FAIRNESS: usize = 50_000;

/// Proofs that what is awaited comes.
pub(crate) struct Comes {
    /// One for each part of the property.
    pub(crate) proofs: Vec<EventualityProof>,
    /// That each fair interrupt can come again and again, from every state: a fair run goes on there.
    pub(crate) fair: Vec<Proof>,
}

/// An interrupt of which fairness is assumed, with the states in which it is enabled, and those in its handler.
struct Fair {
    number: u8,
    enabled: (DataAddress, u8),
}

impl Target for Fair {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let (cell, mask) = self.enabled;
        let bits = state.data.get(cell).to_bits();
        let all = bits.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1);
        all.fold(SymbolicBit::ONE, |all, (_, bit)| all.and(bit))
    }
}

/// The states in the handler of an interrupt.
struct InHandler(u8);

impl Target for InHandler {
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let is_own = |frame: &avr_machine::Frame| frame.kind == FrameKind::Interrupt(self.0);
        SymbolicBit::constant(state.calls.frames().iter().any(is_own))
    }
}

impl Invariants {
    /// The numbers of interrupts of which fairness would make a property true that says that something comes, if some are found soon.
    pub(crate) fn fairness_for(
        &self,
        machine: &Machine,
        (atoms, bound): (&[Atom], &BoundProperty),
        is_over: &dyn Fn() -> bool,
    ) -> Option<Vec<u8>> {
        let awaited = awaited(&bound.formula, PathQuantifier::All).filter(|_| bound.fairness().is_none())?;
        let threads = self.map.entries.iter().filter_map(|entry| match entry.place.thread {
            Thread::Main => None,
            Thread::Handler { interrupt, .. } => Some(interrupt),
        });
        let all: Vec<u8> = threads.collect::<BTreeSet<u8>>().into_iter().collect();
        let few = Limits { steps: STEPS_FOR_FAIRNESS, ..Limits::default() };
        let prove = |numbers: &[u8]| {
            self.prove_eventualities(machine, (atoms, &awaited), numbers, (&few, is_over))
                .ok()
                .map(|comes| comes.proofs)
        };
        let proofs = prove(&all)?;
        let needed = proofs.iter().flat_map(|proof| &proof.claims).filter_map(|claim| claim.waits_for);
        let needed: Vec<u8> = needed.collect::<BTreeSet<u8>>().into_iter().collect();
        let is_enough = !needed.is_empty() && prove(&needed).is_some();
        is_enough.then_some(needed)
    }

    /// Looks for ranks that prove that what is awaited comes, under fairness of some interrupts.
    ///
    /// # Errors
    /// The reason why there are none; none if the property reads cells that depend on the state.
    pub(super) fn prove_eventualities(
        &self,
        machine: &Machine,
        (atoms, awaited): (&[Atom], &[Awaited]),
        numbers: &[u8],
        (limits, is_over): (&Limits, &dyn Fn() -> bool),
    ) -> Result<Comes, Option<Stuck>> {
        let map = (&self.map, &self.moves);
        let of_number = |number: &u8| {
            let interrupt = machine.device.interrupts.iter().find(|interrupt| interrupt.number == *number);
            interrupt.map(|one| Fair { number: *number, enabled: (one.enable.address, one.enable.mask()) })
        };
        let fair: Vec<Fair> = numbers.iter().map(of_number).collect::<Option<_>>().ok_or(None)?;
        let interrupts: Vec<FairInterrupt<'_>> =
            fair.iter().map(|one| FairInterrupt { number: one.number, enabled: one }).collect();
        let mut proofs = Vec::new();
        for one in awaited {
            let of_states = WithAtoms::new(atoms, one).ok_or(None)?;
            let eventuality = of_states.eventuality(&interrupts);
            proofs.push(always_comes(machine, map, &eventuality, (limits, is_over))?);
        }
        // SOUND: from every state a run goes on on which all of them come again and again, which is a fair one.
        let comes_again =
            |number: &u8| recovers(machine, map, &Possibility::everywhere(&InHandler(*number)), (limits, is_over));
        let fair = numbers.iter().map(comes_again).collect::<Result<_, _>>()?;
        Ok(Comes { proofs, fair })
    }
}
