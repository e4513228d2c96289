//! Proofs by symbolic execution as certificates store them.

use crate::invariants::SymbolicProof;
use avr_certificate::{
    Head, LoopClaim as WrittenClaim, Loops, Map, Rounds as WrittenRounds, SymbolicProof as Written, Term as WrittenTerm,
};
use avr_progress::{Claims, Location, LoopClaim, Region};
use avr_symbolic::{Interrupts, Rounds, Term};

/// A proof as certificates have it, with the map of the certificate.
pub(super) fn written(proof: &SymbolicProof, map: &Map) -> Written {
    match proof {
        SymbolicProof::Everywhere => Written::Everywhere,
        SymbolicProof::Claims(proofs) => Written::Loops(proofs.iter().map(|proof| loops(&proof.claims, map)).collect()),
    }
}

fn loops(claims: &Claims, map: &Map) -> Loops {
    Loops {
        first: claims.first.iter().map(rounds).collect(),
        claims: claims.loops.iter().map(|claim| loop_claim(claim, map)).collect(),
    }
}

fn loop_claim(claim: &LoopClaim, map: &Map) -> WrittenClaim {
    WrittenClaim {
        head: head(&claim.head, map),
        is_conditional: claim.region == Region::Triggering,
        passed: claim.passed.iter().map(|passed| head(passed, map)).collect(),
        group: claim.group as u32,
        rank: claim.rank.iter().map(term).collect(),
        rounds: claim.rounds.iter().map(rounds).collect(),
    }
}

fn head(location: &Location, map: &Map) -> Head {
    let calls = map.calls.iter().position(|frames| *frames == location.frames);
    Head { pc: location.pc, calls: calls.expect("the map has the states of each head") as u32 }
}

fn term(term: &Term) -> WrittenTerm {
    match term {
        Term::Cells(cells) => WrittenTerm::Cells(cells.clone()),
        Term::Constant(value, width) => WrittenTerm::Constant(*value, *width as u8),
        Term::Difference(one, other) => WrittenTerm::Difference(Box::new(self::term(one)), Box::new(self::term(other))),
    }
}

fn rounds(rounds: &Rounds) -> WrittenRounds {
    let interrupts = match &rounds.strategy.interrupts {
        Interrupts::Any => None,
        Interrupts::Order(order) => Some(order.clone()),
    };
    WrittenRounds {
        count: rounds.count as u32,
        interrupts,
        held: rounds.strategy.held.iter().map(|(register, levels)| (*register, *levels)).collect(),
        sequences: rounds.strategy.sequences.iter().map(|(register, levels)| (*register, levels.clone())).collect(),
    }
}
