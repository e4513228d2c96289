//! Claims that were altered: the check accepts none that are false.

use super::enumeration::{Known, limits, random_case};
use super::explorer::Goal;
use super::faults::{MAIN, ON, OVERFLOW_VECTOR, PINB, PORTB, SHOWN_BY_RANDOM, limits_of, program};
use super::generator::{GO, Generated, LEFT, TICKS};
use crate::faults::{Fault, with_fault};
use crate::{Location, LoopClaim, Region, Rejection};
use avr_invariant::{CallStrings, Move, Place};
use avr_isa::{DataAddress, Instruction as I};
use avr_symbolic::{Interrupts, Rounds, Strategy, Term};
use avr_testkit::Random;
use avr_testkit::image::r;
use std::collections::BTreeMap;
use std::slice::from_ref;

/// A random change of a claim, and its name.
pub(super) fn alter(claims: &mut Vec<LoopClaim>, random: &mut Random) -> &'static str {
    let (number, other) = (random.below(claims.len()), random.below(claims.len()));
    let place = claims[other].head.clone();
    let group = claims[other].group;
    let claim = &mut claims[number];
    let rounds = random.below(claim.rounds.len().max(1));
    match random.below(14) {
        0 => {
            claims.remove(number);
            "a claim is dropped"
        }
        1 => {
            claim.rank.clear();
            "a rank is dropped"
        }
        2 => {
            let all: Vec<usize> = (0..claims.len()).filter(|one| claims[*one].group == group).collect();
            all.into_iter().for_each(|one| _ = claims[one].rank.pop());
            "the ranks of a group are shorter"
        }
        3 => {
            claim.rank = claim.rank.iter().map(reversed).collect();
            "a rank is reversed"
        }
        4 => {
            claim.rank.reverse();
            "the numbers of a rank change places"
        }
        5 => {
            let cell = random.pick(&[LEFT, TICKS, GO, DataAddress(17), DataAddress(18), DataAddress(0x25)]);
            claim.rank = vec![Term::Cells(vec![cell])];
            "a rank is another one"
        }
        6 => {
            claim.group = group;
            "a claim is in another group"
        }
        7 => {
            claim.group = random.below(4);
            "a claim is in some group"
        }
        8 => {
            claim.head = place;
            "a claim is about another head"
        }
        9 => {
            claim.passed.push(place);
            "another head is passed"
        }
        10 => {
            claim.passed.clear();
            "no head is passed"
        }
        11 => {
            if rounds < claim.rounds.len() {
                claim.rounds.remove(rounds);
            }
            "a strategy is dropped"
        }
        12 => {
            let interrupts =
                random.pick(&[Interrupts::Any, Interrupts::Order(Vec::new()), Interrupts::Order(vec![16])]);
            claim.rounds.push(Rounds { strategy: Strategy { interrupts, ..Strategy::anything() }, count: 1 });
            "a strategy is added"
        }
        _ => {
            if let Some(one) = claim.rounds.get_mut(rounds) {
                one.count = random.below(3);
                one.strategy.held = BTreeMap::new();
            }
            "a strategy is another one"
        }
    }
}

/// A number that rises where the first one falls.
fn reversed(term: &Term) -> Term {
    Term::Constant(u64::MAX, term.width().unwrap_or(1)).minus(term.clone())
}

/// Changes of claims, applied to the proofs of random programs: what the check accepts of some target is true.
#[test]
fn altered_claims_prove_nothing_false() {
    let (mut accepted, mut refused, mut refused_of_false) = (0, 0, 0);
    let mut kinds: BTreeMap<&'static str, (u32, u32)> = BTreeMap::new();
    for seed in 0..avr_testkit::cases(24, 200) {
        let (generated, goals) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        let mut random = Random::new(seed ^ 0xa17e);
        let proofs: Vec<_> = goals.iter().filter_map(|goal| known.proof(*goal, &limits()).ok()).collect();
        let is_true = goals.map(|goal| known.stuck(goal).is_none());
        for claims in proofs.iter().map(|proof| &proof.claims.loops).filter(|claims| !claims.is_empty()) {
            for (goal, is_true) in goals.iter().zip(is_true) {
                for _ in 0..20 {
                    let mut altered = claims.clone();
                    let what = alter(&mut altered, &mut random);
                    let is_accepted = known.check(*goal, &altered, &limits()).is_ok();
                    assert!(is_true || !is_accepted, "seed {seed}, {goal:?}: {what}, {:04x?}", generated.code.words);
                    let kind = kinds.entry(what).or_default();
                    if is_accepted {
                        kind.0 += 1
                    } else {
                        kind.1 += 1
                    }
                    (accepted, refused) = (accepted + u64::from(is_accepted), refused + u64::from(!is_accepted));
                    refused_of_false += u64::from(!is_true);
                }
            }
        }
    }
    let numbers = format!("{accepted} accepted, {refused} refused, {refused_of_false} of false targets");
    assert!(accepted > 50 && refused > refused_of_false + 30 && refused_of_false > 50, "{numbers}");
    assert!(kinds.values().all(|(_, refused)| *refused > 0), "{kinds:?}");
}

/// Claims that the search finds with a fault are refused by the check without one.
#[test]
fn false_claims_of_faults_are_refused() {
    let mut refused: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..avr_testkit::cases(20, 150) {
        let (generated, goals) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for goal in goals {
            if known.stuck(goal).is_none() {
                continue;
            }
            for fault in SHOWN_BY_RANDOM {
                let limits = limits_of(fault);
                let Ok(proof) = with_fault(fault, || known.proof(goal, &limits)) else { continue };
                let checked = known.check(goal, &proof.claims.loops, &limits);
                assert!(checked.is_err(), "seed {seed}, {goal:?}, {fault:?}: {:04x?}", generated.code.words);
                *refused.entry(format!("{fault:?}")).or_default() += 1;
            }
        }
    }
    assert!(refused.len() >= 6, "{refused:?}");
}

fn at(pc: u32) -> Location {
    Location { pc: avr_isa::FlashWordAddress(pc), frames: Vec::new() }
}

fn quiet(pc: u32, group: usize, rank: Vec<Term>) -> LoopClaim {
    let rounds = vec![Rounds::one(Strategy::entering(&[]))];
    LoopClaim { head: at(pc), region: Region::All, passed: Vec::new(), group, rank, rounds }
}

fn known(generated: &Generated) -> Known {
    Known::of(generated).unwrap_or_else(|_| panic!("there is a map"))
}

/// A wait for a pin with bit 0 of port B at 1, behind which it is 0 for ever. The heads are at `MAIN + 2` and `MAIN + 5`.
fn ends_off() -> Generated {
    program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    })
}

#[test]
fn each_head_takes_one_claim() {
    let mut known = known(&ends_off());
    assert!(known.stuck(ON).is_some());
    let (wait, end) = (quiet(MAIN + 2, 0, Vec::new()), quiet(MAIN + 5, 1, Vec::new()));
    let check = |claims: &[LoopClaim]| known.check(ON, claims, &limits());
    assert_eq!(check(&[]), Err(Rejection::Missing(wait.head.at())));
    assert_eq!(check(from_ref(&wait)), Err(Rejection::Missing(end.head.at())));
    assert!(with_fault(Fault::ClaimForgotten, || check(from_ref(&wait))).is_ok());
    assert_eq!(check(&[wait.clone(), end.clone()]), Err(Rejection::NotShown(end.head.at())));
    assert_eq!(check(&[wait.clone(), end.clone(), end.clone()]), Err(Rejection::Twice(end.head.at())));
    let elsewhere = quiet(MAIN + 3, 1, Vec::new());
    assert_eq!(check(&[wait.clone(), end.clone(), elsewhere.clone()]), Err(Rejection::NoHead(elsewhere.head.at())));
    let passing = LoopClaim { passed: vec![at(MAIN + 3)], ..wait };
    assert_eq!(check(&[passing, end]), Err(Rejection::NoHead(elsewhere.head.at())));
}

/// A loop does not lead on to itself, whatever its group.
#[test]
fn groups_are_an_order() {
    let mut known = known(&ends_off());
    let check = |groups: [usize; 2], rank: &[Term]| {
        let claims = [quiet(MAIN + 2, groups[0], rank.to_vec()), quiet(MAIN + 5, groups[1], rank.to_vec())];
        known.check(ON, &claims, &limits())
    };
    for groups in [[0, 0], [0, 1], [1, 0], [7, 3]] {
        for rank in [Vec::new(), vec![Term::Constant(1, 1)], vec![Term::Cells(vec![DataAddress(16)])]] {
            assert_eq!(check(groups, &rank), Err(Rejection::NotShown(at(MAIN + 5).at())), "{groups:?}");
        }
    }
    assert!(with_fault(Fault::GroupForgotten, || check([0, 1], &[])).is_ok());
    // A switch that is on at the end is on before.
    let off = Goal::Bit(DataAddress(0x25), 0, false);
    assert!(known.stuck(off).is_none());
    let pressed = Strategy {
        held: BTreeMap::from([(DataAddress(0x23), three_valued::TvByte::constant(1))]),
        ..Strategy::entering(&[])
    };
    let claims = |groups: [usize; 2]| {
        let wait = LoopClaim { rounds: vec![Rounds::one(pressed.clone())], ..quiet(MAIN + 2, groups[0], Vec::new()) };
        [wait, quiet(MAIN + 5, groups[1], Vec::new())]
    };
    assert!(known.check(off, &claims([1, 0]), &limits()).is_ok_and(|accepted| accepted.freedom.inputs));
    let quiet = [quiet(MAIN + 2, 1, Vec::new()), quiet(MAIN + 5, 0, Vec::new())];
    assert_eq!(known.check(off, &quiet, &limits()), Err(Rejection::NotShown(at(MAIN + 2).at())));
}

/// Bit 0 of port B is switched on and off behind a loop that counts down.
fn counts() -> Generated {
    program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        code.add(I::Ldi { rd: r(17), k: 9 });
        code.add(I::Dec { rd: r(17) });
        code.add(I::Brbc { flag: 1, offset: -2 });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -6 });
    })
}

#[test]
fn ranks_are_numbers_of_the_same_widths() {
    let known = known(&counts());
    let proof = known.proof(ON, &limits()).unwrap_or_else(|stuck| panic!("{stuck}"));
    let check = |rank: Vec<Term>| {
        let mut claims = proof.claims.loops.clone();
        let ranked = claims.iter_mut().find(|claim| !claim.rank.is_empty()).expect("a number falls");
        ranked.rank = rank;
        known.check(ON, &claims, &limits())
    };
    let counter = || Term::Cells(vec![DataAddress(17)]);
    let ones = |width| Term::Constant(1, width);
    // The map tells that it is not 0 at the head.
    assert!(check(vec![counter().minus(ones(1))]).is_ok() && check(vec![counter()]).is_ok());
    let is_not_shown = |rank| matches!(check(rank), Err(Rejection::NotShown(_)));
    assert!(is_not_shown(Vec::new()) && is_not_shown(vec![ones(1).minus(counter())]));
    assert!(is_not_shown(vec![ones(1)]) && is_not_shown(vec![Term::Cells(vec![DataAddress(18)])]));
    let is_none = |rank| matches!(check(rank), Err(Rejection::Rank(_)));
    assert!(is_none(vec![counter().minus(ones(2))]) && is_none(vec![ones(0)]) && is_none(vec![ones(9)]));
    assert!(is_none(vec![Term::Cells(Vec::new())]) && is_none(vec![Term::Cells(vec![DataAddress(0xffff)])]));
}

/// The same map with other numbers for its call strings.
fn renumbered(known: &mut Known) {
    let analysis = &mut known.analysis;
    let count = analysis.map.calls.len() as u32;
    let mut calls = CallStrings::default();
    (0..count).rev().for_each(|number| _ = calls.number(analysis.map.calls.frames(number)));
    let place = |place: &Place| Place { calls: count - 1 - place.calls, ..*place };
    analysis.map.calls = calls;
    analysis.map.entries.iter_mut().for_each(|entry| entry.place = place(&entry.place));
    let moves = analysis.moves.iter().map(|(one, times)| {
        let one = match one {
            Move::To(from, to) => Move::To(place(from), place(to)),
            Move::Begins(from, to) => Move::Begins(place(from), place(to)),
            Move::Returns(from) => Move::Returns(place(from)),
        };
        (one, *times)
    });
    analysis.moves = moves.collect();
}

/// A certificate numbers the call strings of a map anew.
#[test]
fn heads_do_not_depend_on_numbers_of_call_strings() {
    let calling = program(OVERFLOW_VECTOR, &[I::Reti], |code| {
        let (start, function) = (code.words.len() as u32, MAIN + 0x20);
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.call(function);
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.call(function);
        code.jump(start);
        code.place(function);
        code.add(I::Ldi { rd: r(17), k: 9 });
        code.add(I::Dec { rd: r(17) });
        code.add(I::Brbc { flag: 1, offset: -2 });
        code.add(I::Ret);
    });
    let mut with_calls = 0;
    let random = (0..avr_testkit::cases(20, 150)).map(random_case);
    for (generated, goals) in std::iter::once((calling, [ON, ON])).chain(random) {
        let Ok(mut known) = Known::of(&generated) else { continue };
        let proofs: Vec<_> =
            goals.iter().filter_map(|goal| Some((goal, known.proof(*goal, &limits()).ok()?))).collect();
        renumbered(&mut known);
        for (goal, proof) in proofs {
            let accepted = known.check(*goal, &proof.claims.loops, &limits());
            assert_eq!(accepted.map(|accepted| accepted.freedom), Ok(proof.freedom), "{:04x?}", generated.code.words);
            with_calls += usize::from(known.analysis.map.calls.len() > 2);
        }
    }
    assert!(with_calls > 1, "{with_calls} proofs of programs with calls");
}
