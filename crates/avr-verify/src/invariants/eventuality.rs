//! Eventualities by ranks: `AF q` and `A[p U q]`, in the first state, in every state, or in those where something holds.

use super::Invariants;
use avr_invariant::Thread;
use avr_isa::DataAddress;
use avr_machine::{FrameKind, Machine};
use avr_progress::{
    Eventuality, EventualityProof, FairInterrupt, Limits, Proof, StateFormula, Stuck, Target, Trigger, always_comes,
    recovers,
};
use avr_properties::{Atom, BoundProperty};
use avr_symbolic::{SymbolicBit, SymbolicState};
use mu_calculus::{AtomId, Formula, PathOperator, PathPairOperator, PathQuantifier};
use std::collections::BTreeSet;
use three_valued::BitDomain;

/// The most steps on symbolic bits to find out which fairness would make a property true.
const STEPS_FOR_FAIRNESS: usize = 50_000;

/// The states from which something is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Awaits {
    /// Those after power-on.
    Start,
    /// All.
    Everywhere,
    /// Those in which all of these hold.
    Where(Vec<Formula<AtomId>>),
}

/// `A[holds U until]`, or `AF until`, in some states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    from: Awaits,
    holds: Option<Formula<AtomId>>,
    until: Formula<AtomId>,
}

/// Proofs that what is awaited comes.
pub(crate) struct Comes {
    /// One for each part of the property.
    pub(crate) proofs: Vec<EventualityProof>,
    /// That each fair interrupt can come again and again, from every state: a fair run goes on there.
    pub(crate) fair: Vec<Proof>,
}

/// What is awaited, if a formula says no more than that it comes; the formula is true if all of that is.
pub(super) fn awaited(formula: &Formula<AtomId>) -> Option<Vec<Awaited>> {
    match formula {
        Formula::And(parts) => Some(parts.iter().map(awaited).collect::<Option<Vec<_>>>()?.concat()),
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => awaited_everywhere(inner, &[]),
        _ => of_path(formula, Awaits::Start),
    }
}

/// The same for a formula that is to be true in every state in which conditions hold.
///
/// SOUND: `p -> q` is true where p is not, and a disjunction with formulas about states is such an implication. `AG q` in some states is
/// true if q is true in all.
fn awaited_everywhere(formula: &Formula<AtomId>, conditions: &[Formula<AtomId>]) -> Option<Vec<Awaited>> {
    let with = |more: Vec<Formula<AtomId>>| [conditions.to_vec(), more].concat();
    match formula {
        Formula::And(parts) => {
            let parts = parts.iter().map(|part| awaited_everywhere(part, conditions));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        Formula::Implies(one, then) if one.is_boolean() => awaited_everywhere(then, &with(vec![(**one).clone()])),
        Formula::Or(parts) => {
            let (states, others): (Vec<_>, Vec<_>) = parts.iter().partition(|part| part.is_boolean());
            let [other] = others.as_slice() else { return None };
            let negated = states.into_iter().map(|part| Formula::Not(Box::new(part.clone())));
            awaited_everywhere(other, &with(negated.collect()))
        }
        Formula::Path(PathQuantifier::All, PathOperator::Always, inner) => awaited_everywhere(inner, &[]),
        _ if conditions.is_empty() => of_path(formula, Awaits::Everywhere),
        _ => of_path(formula, Awaits::Where(conditions.to_vec())),
    }
}

fn of_path(formula: &Formula<AtomId>, from: Awaits) -> Option<Vec<Awaited>> {
    let (holds, until) = match formula {
        Formula::Path(PathQuantifier::All, PathOperator::Eventually, until) => (None, until),
        Formula::PathPair(PathQuantifier::All, PathPairOperator::Until, holds, until) => (Some(holds), until),
        _ => return None,
    };
    let are_of_states = until.is_boolean() && holds.is_none_or(|holds| holds.is_boolean());
    let holds = holds.map(|holds| (**holds).clone());
    are_of_states.then(|| vec![Awaited { from, holds, until: (**until).clone() }])
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
        let awaited = awaited(&bound.formula).filter(|_| bound.fairness().is_none())?;
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
        for Awaited { from, holds, until } in awaited {
            let of_states = |formula| StateFormula::new(atoms, formula).ok_or(None);
            let until = of_states(until)?;
            let holds = holds.as_ref().map(of_states).transpose()?;
            let conditions = match from {
                Awaits::Where(all) if all.len() > 1 => Some(of_states(&Formula::And(all.clone()))?),
                Awaits::Where(all) => all.first().map(of_states).transpose()?,
                Awaits::Start | Awaits::Everywhere => None,
            };
            let trigger = match (from, &conditions) {
                (Awaits::Start, _) => Trigger::Start,
                (_, Some(conditions)) => Trigger::When(conditions),
                (_, None) => Trigger::Everywhere,
            };
            let holds = holds.as_ref().map(|holds| holds as &dyn Target);
            let eventuality = Eventuality { trigger, holds, until: &until, fair: &interrupts };
            proofs.push(always_comes(machine, map, &eventuality, (limits, is_over))?);
        }
        // SOUND: from every state a run goes on on which all of them come again and again, which is a fair one.
        let comes_again = |number: &u8| recovers(machine, map, &InHandler(*number), (limits, is_over));
        let fair = numbers.iter().map(comes_again).collect::<Result<_, _>>()?;
        Ok(Comes { proofs, fair })
    }
}
