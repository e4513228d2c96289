//! Claims about loops as a guide of runs.

use super::{Invariants, text};
use avr_image::Image;
use avr_machine::{Frame, Machine, MachineState};
use avr_progress::{Limits, Location, LoopClaim, Possibility, Proof, Region, exit};
use avr_symbolic::{Interrupts, Rounds};
use avr_witness::{Guide, Plan};

/// The claims of a proof that something is possible.
pub(crate) struct Claimed<'a> {
    machine: &'a Machine,
    image: &'a Image,
    invariants: &'a Invariants,
    possibility: Possibility<'a>,
    loops: &'a [LoopClaim],
    /// The plans up to the first head with a claim.
    first: Vec<Plan>,
    /// The plans of each claim.
    plans: Vec<Vec<Plan>>,
}

impl<'a> Claimed<'a> {
    pub(crate) fn new(
        (machine, image): (&'a Machine, &'a Image),
        invariants: &'a Invariants,
        (possibility, proof): (Possibility<'a>, &'a Proof),
    ) -> Self {
        let loops = proof.claims.loops.as_slice();
        let first = proof.claims.first.iter().map(plan).collect();
        let plans = loops.iter().map(|claim| claim.rounds.iter().map(plan).collect()).collect();
        Self { machine, image, invariants, possibility, loops, first, plans }
    }

    fn is_at(location: &Location, state: &MachineState<u8>) -> bool {
        location.pc == state.control.pc && same_calls(&location.frames, state.calls.frames())
    }
}

/// The choices that rounds make.
fn plan(rounds: &Rounds) -> Plan {
    let interrupts = match &rounds.strategy.interrupts {
        Interrupts::Any => None,
        Interrupts::Order(numbers) => Some(numbers.clone()),
    };
    let (held, sequences) = (rounds.strategy.held.clone(), rounds.strategy.sequences.clone());
    Plan { interrupts, held, sequences, rounds: rounds.count }
}

/// True if calls are the same, whatever functions were left by jumps.
fn same_calls(some: &[Frame], others: &[Frame]) -> bool {
    let same = |(one, other): (&Frame, &Frame)| {
        (one.position, one.return_address, one.kind) == (other.position, other.return_address, other.kind)
    };
    some.len() == others.len() && some.iter().zip(others).all(same)
}

impl Guide for Claimed<'_> {
    fn head(&self, state: &MachineState<u8>) -> Option<usize> {
        // A claim about some states of a head says nothing of the others.
        let speaks_of = |claim: &LoopClaim| claim.region == Region::All && Self::is_at(&claim.head, state);
        self.loops.iter().position(speaks_of)
    }

    fn first(&self) -> &[Plan] {
        &self.first
    }

    fn plans(&self, head: usize) -> &[Plan] {
        &self.plans[head]
    }

    fn passes(&self, head: usize, other: usize) -> bool {
        self.loops[head].passed.contains(&self.loops[other].head)
    }

    fn is_nearer(&self, from: (usize, &MachineState<u8>), to: (usize, &MachineState<u8>)) -> bool {
        let (one, other) = (&self.loops[from.0], &self.loops[to.0]);
        let before = one.rank.iter().map(|term| term.concrete(from.1));
        let after = other.rank.iter().map(|term| term.concrete(to.1));
        other.group < one.group || other.group == one.group && after.lt(before)
    }

    fn words(&self, head: usize) -> String {
        text::loop_claim(self.machine, self.image, &self.loops[head])
    }

    fn exit(&self, head: usize, near: &MachineState<u8>) -> Option<MachineState<u8>> {
        let map = (&self.invariants.map, &self.invariants.moves);
        exit(self.machine, map, (&self.possibility, &Limits::default()), (self.loops, head), near)
    }
}
