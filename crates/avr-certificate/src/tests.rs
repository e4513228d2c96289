//! Claims about loops: what is written is read, and what is out of bounds is refused.

use crate::read::MAX_TERM_DEPTH;
use crate::{
    Certificate, Claim, ClosedSet, Coming, Head, Header, LoopClaim, Loops, Map, Passing, RankClaim, Ranks, ReadError,
    ReadErrorKind, Rounds, Stack, Store, Symbolic, SymbolicProof, Term, WaitsFor,
};
use avr_isa::{DataAddress, FlashWordAddress};
use three_valued::TvByte;

const MEMORY: usize = 1 << 20;

fn certificate(proof: SymbolicProof, calls: usize) -> Certificate {
    let map = Map { calls: vec![Vec::new(); calls], ..Map::default() };
    Certificate {
        header: Header::default(),
        predicates: None,
        store: Store::default(),
        spaces: Vec::new(),
        map: Some(map),
        claims: vec![Claim::Symbolic(Symbolic { proof, vacuous: Some(3) }), Claim::Undecided],
        stack: Stack::default(),
    }
}

fn claim() -> LoopClaim {
    let head = Head { pc: FlashWordAddress(0x1234), calls: 1 };
    let number = Term::Difference(
        Box::new(Term::Cells(vec![DataAddress(0x100), DataAddress(0x101)])),
        Box::new(Term::Constant(u64::MAX, 2)),
    );
    let rounds = Rounds {
        count: 2,
        interrupts: Some(vec![16, 3]),
        held: vec![(DataAddress(0x23), TvByte::new(0x11, 0x33)), (DataAddress(0x26), TvByte::constant(0xff))],
        sequences: vec![(DataAddress(0x29), vec![1, 2, 3])],
    };
    let any = Rounds { count: 1, interrupts: None, held: Vec::new(), sequences: Vec::new() };
    LoopClaim {
        head,
        is_conditional: true,
        passed: vec![head, Head { calls: 0, ..head }],
        group: 7,
        rank: vec![number],
        rounds: vec![rounds, any],
    }
}

fn claims(claims: &[LoopClaim]) -> Loops {
    Loops { first: Vec::new(), claims: claims.to_vec() }
}

fn ranks() -> Ranks {
    let LoopClaim { head, passed, group, rank, .. } = claim();
    let first = RankClaim {
        head,
        is_triggering: true,
        passed: passed.clone(),
        group,
        rank: rank.clone(),
        waits_for: Some(WaitsFor::Interrupt(0)),
    };
    let second = RankClaim {
        head,
        is_triggering: false,
        passed: Vec::new(),
        group: 0,
        rank,
        waits_for: Some(WaitsFor::Promised(255)),
    };
    Ranks { idle: vec![Passing { head, passed }], claims: vec![first, second] }
}

fn read(certificate: &Certificate, memory: usize) -> Result<Certificate, ReadError> {
    let mut bytes = Vec::new();
    certificate.write(&mut bytes).expect("a list takes everything");
    Certificate::read(bytes.as_slice(), memory)
}

#[track_caller]
fn is_damaged(alter: impl FnOnce(&mut LoopClaim), expected: &str) {
    let mut altered = claim();
    alter(&mut altered);
    let error = read(&certificate(SymbolicProof::Loops(vec![claims(&[claim()]), claims(&[altered])]), 2), MEMORY);
    let error = error.expect_err("it is out of bounds");
    assert_eq!(error.to_string(), format!("the certificate is damaged: {expected}"));
}

#[test]
fn claims_about_loops_are_read_as_they_were_written() {
    for proof in [
        SymbolicProof::Everywhere,
        SymbolicProof::Loops(Vec::new()),
        SymbolicProof::Loops(vec![Loops::default(), claims(&[claim(), claim()])]),
        SymbolicProof::Loops(vec![Loops { first: claim().rounds, ..claims(&[claim()]) }]),
        SymbolicProof::Ranks(Coming::default()),
        SymbolicProof::Ranks(Coming {
            parts: vec![ranks(), Ranks::default()],
            fair: vec![Loops { first: claim().rounds, ..claims(&[claim()]) }, Loops::default()],
        }),
    ] {
        let certificate = certificate(proof, 2);
        assert_eq!(read(&certificate, MEMORY).unwrap_or_else(|error| panic!("{error}")), certificate);
    }
}

#[test]
fn closed_sets_are_read_as_they_were_written() {
    let map = Map { calls: vec![Vec::new(); 3], ..Map::default() };
    let closed = ClosedSet { stimulus: "(exact: [])".to_owned(), steps: u64::MAX, map };
    let claims = vec![Claim::Confined(Box::new(closed)), Claim::Undecided];
    // They need no map of the whole program.
    let certificate = Certificate { claims, map: None, ..certificate(SymbolicProof::Everywhere, 0) };
    assert_eq!(read(&certificate, MEMORY).unwrap_or_else(|error| panic!("{error}")), certificate);
}

#[test]
fn claims_out_of_bounds_are_refused() {
    is_damaged(|claim| claim.head.calls = 2, "there is no such call string");
    is_damaged(|claim| claim.passed[1].calls = 9, "there is no such call string");
    is_damaged(|claim| claim.rounds[0].count = 0, "a strategy has no rounds");
    is_damaged(|claim| claim.rounds[0].held.reverse(), "the inputs of a strategy are out of order");
    is_damaged(
        |claim| {
            let one = claim.rounds[0].sequences[0].clone();
            claim.rounds[0].sequences.push(one);
        },
        "the inputs of a strategy are out of order",
    );
    let nested = |depth| {
        let one = || Box::new(Term::Constant(1, 1));
        (0..depth).fold(Term::Constant(0, 1), |term, _| Term::Difference(one(), Box::new(term)))
    };
    is_damaged(|claim| claim.rank.push(nested(MAX_TERM_DEPTH + 1)), "a number of a rank is too deep");
    let mut deep = claim();
    deep.rank.push(nested(MAX_TERM_DEPTH));
    assert!(read(&certificate(SymbolicProof::Loops(vec![claims(&[deep])]), 2), MEMORY).is_ok());
}

#[test]
fn ranks_out_of_bounds_are_refused() {
    let alterations: [fn(&mut Ranks); 4] = [
        |ranks| ranks.claims[1].head.calls = 2,
        |ranks| ranks.claims[0].passed[0].calls = 2,
        |ranks| ranks.idle[0].head.calls = 9,
        |ranks| ranks.idle[0].passed[1].calls = 9,
    ];
    for alter in alterations {
        let mut altered = ranks();
        alter(&mut altered);
        let coming = Coming { parts: vec![ranks(), altered], fair: Vec::new() };
        let error = read(&certificate(SymbolicProof::Ranks(coming), 2), MEMORY).expect_err("it is out of bounds");
        assert_eq!(error.to_string(), "the certificate is damaged: there is no such call string");
    }
}

#[test]
fn claims_take_a_map_and_memory() {
    let without = Certificate { map: None, ..certificate(SymbolicProof::Everywhere, 0) };
    let error = read(&without, MEMORY).expect_err("there is no map");
    assert_eq!(error.to_string(), "the certificate is damaged: a claim rests on invariants, and there are none");
    let large = certificate(SymbolicProof::Loops(vec![claims(&vec![claim(); 1_000])]), 2);
    let error = read(&large, 10_000).expect_err("it is too large");
    assert!(matches!(error.kind, ReadErrorKind::TooLarge { limit: 10_000 }), "{error}");
}
