//! Eventualities by ranks: `AF q` and `A[p U q]`, in the first state, in every state, or in those where something holds.

use super::Invariants;
use avr_invariant::{Entry, Thread};
use avr_machine::device::{BitRef, Promise, Promised};
use avr_machine::{Machine, Survey};
use avr_progress::{
    Awaited, Coming, ComingProof, EventualityProof, Limits, Possibility, Proof, Stuck, WaitsFor, always_comes, awaited,
    recovers,
};
use avr_properties::{Atom, BoundProperty};
use std::collections::BTreeSet;

/// The most steps on symbolic bits to find out which fairness would make a property true.
const STEPS_FOR_FAIRNESS: usize = 50_000;

/// A proof that what is awaited comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comes {
    /// The proof.
    pub(crate) proof: ComingProof,
    /// True if it rests on choices that the hardware determines.
    pub(crate) rests_on_choices: bool,
}

impl Invariants {
    /// The numbers of interrupts of which fairness would make a property true that says that something comes, if some are found soon.
    pub(crate) fn fairness_for(
        &self,
        machine: &Machine,
        (atoms, bound): (&[Atom], &BoundProperty),
        is_over: &dyn Fn() -> bool,
    ) -> Option<Vec<u8>> {
        let awaited = awaited(bound).filter(|_| bound.fairness().is_none())?;
        let threads = self.map.entries.iter().filter_map(|entry| match entry.place.thread {
            Thread::Main => None,
            Thread::Handler { interrupt, .. } => Some(interrupt),
        });
        let all: Vec<u8> = threads.collect::<BTreeSet<u8>>().into_iter().collect();
        let few = Limits { steps: STEPS_FOR_FAIRNESS, ..Limits::default() };
        let prove = |numbers: &[u8]| {
            let comes = self.prove_eventualities(machine, (atoms, &awaited), numbers, (&few, is_over)).ok()?;
            Some(comes.proof.parts)
        };
        let parts = prove(&all)?;
        let needed = parts.iter().flat_map(|ranks| &ranks.claims).filter_map(|claim| match claim.waits_for? {
            WaitsFor::Interrupt(number) => Some(number),
            WaitsFor::Promised(_) => None,
        });
        let needed: Vec<u8> = needed.collect::<BTreeSet<u8>>().into_iter().collect();
        let is_enough = !needed.is_empty() && prove(&needed).is_some();
        is_enough.then_some(needed)
    }

    /// The promises of the data sheet that may help: of interrupts that are enabled somewhere, and of bits that some instruction reads by the
    /// address of their register.
    fn promises(&self, machine: &Machine) -> impl Iterator<Item = WaitsFor> {
        let is_handled = |number| {
            let is_own =
                |entry: &Entry| matches!(entry.place.thread, Thread::Handler { interrupt, .. } if interrupt == number);
            self.map.entries.iter().any(is_own)
        };
        let named = Survey::of(&machine.program).named;
        let is_read = move |bit: BitRef| named.get(&bit.address).is_some_and(|of| of.reads);
        let may_help = move |promise: &Promise| match promise.event {
            Promised::Interrupt(number) => is_handled(number),
            Promised::Change(bit) => is_read(bit),
        };
        let promises = (0..).zip(&machine.device.promises);
        promises.filter(move |(_, promise)| may_help(promise)).map(|(number, _)| WaitsFor::Promised(number))
    }

    /// Looks for ranks that prove that what is awaited comes, under fairness of some interrupts, and with what the data sheet promises.
    ///
    /// # Errors
    /// The reason why there are none; none if the property reads cells that depend on the state.
    pub(super) fn prove_eventualities(
        &self,
        machine: &Machine,
        (atoms, awaited): (&[Atom], &[Awaited]),
        numbers: &[u8],
        limits: (&Limits, &dyn Fn() -> bool),
    ) -> Result<Comes, Option<Stuck>> {
        let map = (&self.map, &self.moves);
        let assumed = numbers.iter().map(|number| WaitsFor::Interrupt(*number));
        let fair: Vec<WaitsFor> = assumed.chain(self.promises(machine)).collect();
        let coming = Coming::new(machine, atoms, (awaited, &fair)).ok_or(None)?;
        let parts = coming.eventualities().map(|eventuality| always_comes(machine, map, &eventuality, limits));
        let parts: Vec<EventualityProof> = parts.collect::<Result<_, _>>()?;
        // SOUND: from every state a run goes on on which all of them come again and again, which is a fair one.
        let fair = coming.handlers().map(|handler| recovers(machine, map, &Possibility::everywhere(&handler), limits));
        let fair: Vec<Proof> = fair.collect::<Result<_, _>>()?;
        let rests_on_choices = fair.iter().any(Proof::rests_on_choices);
        let parts = parts.into_iter().map(|part| part.ranks).collect();
        let fair = fair.into_iter().map(|proof| proof.claims).collect();
        Ok(Comes { proof: ComingProof { parts, fair }, rests_on_choices })
    }
}
