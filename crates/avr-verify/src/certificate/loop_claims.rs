//! Proofs by symbolic execution as certificates store them.

use crate::invariants::{Comes, SymbolicProof};
use avr_certificate::{
    Coming, Head, LoopClaim as WrittenClaim, Loops, Map, Passing as WrittenPassing, RankClaim as WrittenRankClaim,
    Ranks as WrittenRanks, Rounds as WrittenRounds, SymbolicProof as Written, Term as WrittenTerm,
    WaitsFor as WrittenWaitsFor,
};
use avr_progress::{Awaits, Claims, Location, LoopClaim, Passing, RankClaim, Ranks, Region, WaitsFor};
use avr_symbolic::{Interrupts, Rounds, Term};

/// A proof as certificates have it, with the map of the certificate.
pub(super) fn written(proof: &SymbolicProof, map: &Map) -> Written {
    match proof {
        SymbolicProof::Everywhere => Written::Everywhere,
        SymbolicProof::Claims(proofs) => Written::Loops(proofs.iter().map(|proof| loops(&proof.claims, map)).collect()),
        SymbolicProof::Ranks(Comes { proof, .. }) => Written::Ranks(Coming {
            parts: proof.parts.iter().map(|part| ranks(part, map)).collect(),
            fair: proof.fair.iter().map(|claims| loops(claims, map)).collect(),
        }),
    }
}

fn loops(claims: &Claims, map: &Map) -> Loops {
    Loops {
        first: claims.first.iter().map(rounds).collect(),
        claims: claims.loops.iter().map(|claim| loop_claim(claim, map)).collect(),
    }
}

fn ranks(ranks: &Ranks, map: &Map) -> WrittenRanks {
    let passing =
        |Passing { head, passed }: &Passing| WrittenPassing { head: self::head(head, map), passed: heads(passed, map) };
    WrittenRanks {
        idle: ranks.idle.iter().map(passing).collect(),
        claims: ranks.claims.iter().map(|claim| rank_claim(claim, map)).collect(),
    }
}

fn rank_claim(claim: &RankClaim, map: &Map) -> WrittenRankClaim {
    WrittenRankClaim {
        head: head(&claim.head, map),
        is_triggering: claim.awaits == Awaits::Triggering,
        passed: heads(&claim.passed, map),
        group: claim.group as u32,
        rank: claim.rank.iter().map(term).collect(),
        waits_for: claim.waits_for.map(waits_for),
    }
}

const fn waits_for(event: WaitsFor) -> WrittenWaitsFor {
    match event {
        WaitsFor::Interrupt(number) => WrittenWaitsFor::Interrupt(number),
        WaitsFor::Promised(number) => WrittenWaitsFor::Promised(number),
    }
}

fn loop_claim(claim: &LoopClaim, map: &Map) -> WrittenClaim {
    WrittenClaim {
        head: head(&claim.head, map),
        is_conditional: claim.region == Region::Triggering,
        passed: heads(&claim.passed, map),
        group: claim.group as u32,
        rank: claim.rank.iter().map(term).collect(),
        rounds: claim.rounds.iter().map(rounds).collect(),
    }
}

fn heads(locations: &[Location], map: &Map) -> Vec<Head> {
    locations.iter().map(|location| head(location, map)).collect()
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
