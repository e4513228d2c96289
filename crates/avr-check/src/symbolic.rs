//! Proofs by symbolic execution: they are repeated between the heads of the loops of a map that was accepted.
//!
//! The executions and queries are those of `avr-progress`, which also tells the formulas about states of which a property follows. Of a
//! proof nothing is trusted but what is proved again.

use avr_certificate::{Head, LoopClaim as Written, Map, Rounds as WrittenRounds, SymbolicProof, Term as WrittenTerm};
use avr_machine::Machine;
use avr_progress::{Accepted, Form, Limits, Location, LoopClaim, StateFormula, check, holds_everywhere};
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
    match (Form::of(&claimed.bound), claimed.proof) {
        (Some(Form::Everywhere(formula)), SymbolicProof::Everywhere) => {
            let shown = holds_everywhere(machine, map, &target(formula)?, (&limits, never));
            Ok(shown.map_err(Reason::Everywhere)?)
        }
        (Some(Form::Recovery(reached)), SymbolicProof::Loops(proofs)) if reached.len() == proofs.len() => {
            let mut all = Accepted::default();
            for (formula, claims) in reached.into_iter().zip(proofs) {
                let claims = claims.iter().map(|claim| loop_claim(claim, written));
                let claims: Vec<LoopClaim> = claims.collect::<Result<_, _>>()?;
                let accepted = check(machine, map, &target(formula)?, &claims, (&limits, never));
                all = all.and(accepted.map_err(Reason::Loops)?);
            }
            Ok(all)
        }
        _ => Err(Reason::OtherForm.into()),
    }
}

fn loop_claim(claim: &Written, map: &Map) -> Result<LoopClaim, Reason> {
    Ok(LoopClaim {
        head: location(&claim.head, map)?,
        passed: claim.passed.iter().map(|head| location(head, map)).collect::<Result<_, _>>()?,
        group: claim.group as usize,
        rank: claim.rank.iter().map(term).collect(),
        rounds: claim.rounds.iter().map(rounds).collect(),
    })
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
