//! Proofs by symbolic execution: they are repeated between the heads of the loops of a map that was accepted.
//!
//! The executions and queries are those of `avr-progress`, which also tells the formulas about states of which a property follows. Of a
//! proof nothing is trusted but what is proved again.

use avr_certificate::{
    Coming as WrittenComing, Head, LoopClaim as Written, Loops, Map, RankClaim as WrittenRankClaim,
    Ranks as WrittenRanks, Rounds as WrittenRounds, SymbolicProof, Term as WrittenTerm, WaitsFor as WrittenWaitsFor,
};
use avr_machine::Machine;
use avr_progress::{
    Accepted, Awaits, Claims, Coming, ComingProof, Form, Limits, Location, LoopClaim, Passing, RankClaim, Ranks,
    Region, StateFormula, WaitsFor, WithAtoms, awaited, check, holds_everywhere,
};
use avr_properties::Atom;
use avr_symbolic::{Interrupts, Rounds, Strategy, Term};

use crate::invariants::Invariants;
use crate::rejection::{Reason, Rejection};
use crate::statements::ByExecution;

/// Shows that a property holds, by its proof.
///
/// # Errors
/// If it does not follow.
pub(crate) fn show(
    (machine, invariants): (&Machine, &Invariants),
    (written, claimed): (&Map, &ByExecution<'_>),
    atoms: &[Atom],
) -> Result<Accepted, Rejection> {
    let map = (&invariants.map, &invariants.moves);
    let limits = Limits::default();
    let never: &dyn Fn() -> bool = &|| false;
    let target = |formula| StateFormula::new(atoms, formula).ok_or(Reason::OtherForm);
    if let SymbolicProof::Ranks(proof) = claimed.proof {
        let awaited = awaited(&claimed.bound).ok_or(Reason::OtherForm)?;
        let fair = claimed.bound.fairness().and_then(|fairness| fairness.interrupts.clone()).unwrap_or_default();
        let proof = coming_proof(proof, written)?;
        // Fairness is assumed of what the property says, and of what the data sheet promises.
        let is_promised = |event: &WaitsFor| matches!(event, WaitsFor::Promised(_));
        let assumed = fair.into_iter().map(WaitsFor::Interrupt);
        let fair: Vec<WaitsFor> = assumed.chain(proof.waits_for().into_iter().filter(is_promised)).collect();
        let coming = Coming::new(machine, atoms, (&awaited, &fair)).ok_or(Reason::OtherForm)?;
        let shown = coming.check(machine, map, &proof, (&limits, never));
        return Ok(shown.map_err(Reason::Loops)?);
    }
    match (Form::of(&claimed.bound), claimed.proof) {
        (Some(Form::Everywhere(formula)), SymbolicProof::Everywhere) => {
            let shown = holds_everywhere(machine, map, &target(formula)?, (&limits, never));
            Ok(shown.map_err(Reason::Everywhere)?)
        }
        (Some(Form::Recovery(reached)), SymbolicProof::Loops(proofs)) if reached.len() == proofs.len() => {
            let mut all = Accepted::default();
            for (one, claims) in reached.iter().zip(proofs) {
                let of_states = WithAtoms::new(atoms, one).ok_or(Reason::OtherForm)?;
                let claims = self::claims(claims, written)?;
                let accepted = check(machine, map, &of_states.possibility(), &claims, (&limits, never));
                all = all.and(accepted.map_err(Reason::Loops)?);
            }
            Ok(all)
        }
        _ => Err(Reason::OtherForm.into()),
    }
}

fn coming_proof(proof: &WrittenComing, map: &Map) -> Result<ComingProof, Reason> {
    Ok(ComingProof {
        parts: proof.parts.iter().map(|part| ranks(part, map)).collect::<Result<_, _>>()?,
        fair: proof.fair.iter().map(|one| claims(one, map)).collect::<Result<_, _>>()?,
    })
}

fn ranks(ranks: &WrittenRanks, map: &Map) -> Result<Ranks, Reason> {
    let idle = ranks
        .idle
        .iter()
        .map(|passing| Ok(Passing { head: location(&passing.head, map)?, passed: locations(&passing.passed, map)? }));
    Ok(Ranks {
        idle: idle.collect::<Result<_, Reason>>()?,
        claims: ranks.claims.iter().map(|claim| rank_claim(claim, map)).collect::<Result<_, _>>()?,
    })
}

fn rank_claim(claim: &WrittenRankClaim, map: &Map) -> Result<RankClaim, Reason> {
    Ok(RankClaim {
        head: location(&claim.head, map)?,
        awaits: if claim.is_triggering { Awaits::Triggering } else { Awaits::Any },
        passed: locations(&claim.passed, map)?,
        group: claim.group as usize,
        rank: claim.rank.iter().map(term).collect(),
        waits_for: claim.waits_for.map(waits_for),
    })
}

fn claims(claims: &Loops, map: &Map) -> Result<Claims, Reason> {
    Ok(Claims {
        first: claims.first.iter().map(rounds).collect(),
        loops: claims.claims.iter().map(|claim| loop_claim(claim, map)).collect::<Result<_, _>>()?,
    })
}

const fn waits_for(event: WrittenWaitsFor) -> WaitsFor {
    match event {
        WrittenWaitsFor::Interrupt(number) => WaitsFor::Interrupt(number),
        WrittenWaitsFor::Promised(number) => WaitsFor::Promised(number),
    }
}

fn loop_claim(claim: &Written, map: &Map) -> Result<LoopClaim, Reason> {
    Ok(LoopClaim {
        head: location(&claim.head, map)?,
        region: if claim.is_conditional { Region::Triggering } else { Region::All },
        passed: locations(&claim.passed, map)?,
        group: claim.group as usize,
        rank: claim.rank.iter().map(term).collect(),
        rounds: claim.rounds.iter().map(rounds).collect(),
    })
}

fn locations(heads: &[Head], map: &Map) -> Result<Vec<Location>, Reason> {
    heads.iter().map(|head| location(head, map)).collect()
}

fn location(head: &Head, map: &Map) -> Result<Location, Reason> {
    let frames = map.calls.get(head.calls as usize).ok_or(Reason::Misfit("a loop has no such call string"))?;
    Ok(Location { pc: head.pc, frames: frames.clone() })
}

fn term(term: &WrittenTerm) -> Term {
    match term {
        WrittenTerm::Cells(cells) => Term::Cells(cells.clone()),
        WrittenTerm::Constant(value, width) => Term::Constant(*value, usize::from(*width)),
        WrittenTerm::Difference(one, other) => self::term(one).minus(self::term(other)),
    }
}

fn rounds(rounds: &WrittenRounds) -> Rounds {
    let interrupts = rounds.interrupts.clone().map_or(Interrupts::Any, Interrupts::Order);
    let strategy = Strategy {
        interrupts,
        held: rounds.held.iter().copied().collect(),
        sequences: rounds.sequences.iter().cloned().collect(),
    };
    Rounds { strategy, count: rounds.count as usize }
}
