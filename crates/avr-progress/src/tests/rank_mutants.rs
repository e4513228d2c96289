//! Ranks that were altered: the check accepts none that are false.

use super::enumeration::{Known, goal, limits};
use super::eventualities::{
    AWAITED, FAIRLY, INTERRUPTS, MAIN, ON, OVERFLOW, PINB, PORTB, PROMISED_OVERFLOW, SHARED, SHOWN_BY_RANDOM, SOURCES,
    TIMSK0, WRITTEN, count_down, pulsing, random_case, responding, setting, start_timer, ticking, waiting_for_ticks,
    with_handler,
};
use super::explorer::{Awaited, Fair, Goal, On, Source};
use super::generator::{GO, Generated, LEFT, TICKS};
use crate::faults::{Fault, with_fault};
use crate::{
    Awaits, Eventuality, FairInterrupt, Fairness, Limits, Location, Passing, RankClaim, Ranks, Rejection, Trigger,
    WaitsFor,
};
use avr_isa::{DataAddress, FlashByteAddress, Instruction as I};
use avr_symbolic::{ExecutionLimits, Term};
use avr_testkit::Random;
use avr_testkit::image::{Code, r};
use std::collections::BTreeMap;

/// The faults of the check of ranks, which have tests here.
pub(super) const OF_CHECK: [Fault; 2] = [Fault::IdleForgotten, Fault::WaitsForgotten];

/// A random change of ranks, and its name.
fn alter(ranks: &mut Ranks, random: &mut Random) -> &'static str {
    let claims = &mut ranks.claims;
    if claims.is_empty() {
        return "nothing";
    }
    let (number, other) = (random.below(claims.len()), random.below(claims.len()));
    let (place, group) = (claims[other].head.clone(), claims[other].group);
    let claim = &mut claims[number];
    let one = random.pick(&[LEFT, TICKS, GO, DataAddress(17), DataAddress(18), DataAddress(0x25)]);
    match random.below(16) {
        0 => {
            claims.remove(number);
            "a claim is dropped"
        }
        1 => {
            claim.rank.clear();
            "a rank is dropped"
        }
        2 => {
            let all = claims.iter_mut().filter(|claim| claim.group == group);
            all.for_each(|claim| _ = claim.rank.pop());
            "the ranks of a group are shorter"
        }
        3 => {
            let reversed = |term: &Term| Term::Constant(u64::MAX, term.width().unwrap_or(1)).minus(term.clone());
            claim.rank = claim.rank.iter().map(reversed).collect();
            "a rank is reversed"
        }
        4 => {
            claim.rank.reverse();
            "the numbers of a rank change places"
        }
        5 => {
            claim.rank = vec![Term::Cells(vec![one])];
            "a rank is another one"
        }
        6 => {
            let all = claims.iter_mut().filter(|claim| claim.group == group);
            all.for_each(|claim| claim.rank.insert(0, Term::Cells(vec![one])));
            "the ranks of a group are longer"
        }
        7 => {
            claim.group = group;
            "a claim is in another group"
        }
        8 => {
            claim.group = random.below(4);
            "a claim is in some group"
        }
        9 => {
            claim.head = place;
            "a claim is about another head"
        }
        10 => {
            claim.passed.push(place);
            "another head is passed"
        }
        11 => {
            claim.passed.clear();
            ranks.idle.clear();
            "no head is passed"
        }
        12 => {
            claim.awaits = if claim.awaits == Awaits::Any { Awaits::Triggering } else { Awaits::Any };
            "something is awaited in other states"
        }
        13 => {
            claim.waits_for = random.pick(&EVENTS);
            "a claim waits for another event"
        }
        14 => {
            let waits_for = random.pick(&EVENTS);
            let all = claims.iter_mut().filter(|claim| claim.group == group);
            all.for_each(|claim| claim.waits_for = waits_for);
            "a group waits for another event"
        }
        _ => {
            let head = claims[number].head.clone();
            ranks.idle.push(Passing { head, passed: vec![place] });
            "another head is passed by idle rounds"
        }
    }
}

/// Events that claims wait for, among them such as are none.
const EVENTS: [Option<WaitsFor>; 8] = [
    None,
    Some(WaitsFor::Interrupt(16)),
    Some(WaitsFor::Interrupt(1)),
    Some(WaitsFor::Interrupt(200)),
    Some(WaitsFor::Promised(0)),
    Some(WaitsFor::Promised(1)),
    Some(WaitsFor::Promised(1)),
    Some(WaitsFor::Promised(200)),
];

/// An eventuality, and variants of it.
fn variants(awaited: &Awaited, random: &mut Random) -> Vec<Awaited> {
    let other = goal(random);
    let mut all = vec![
        *awaited,
        Awaited { until: other, ..*awaited },
        Awaited { trigger: On::Everywhere, ..*awaited },
        Awaited { trigger: On::When(other), ..*awaited },
    ];
    match awaited.holds {
        Some(_) => all.push(Awaited { holds: Some(other), ..*awaited }),
        None => {
            let source = Fair::Assumed(random.pick(&SOURCES));
            all.extend([None, Some(source), Some(PROMISED_OVERFLOW)].map(|fair| Awaited { fair, ..*awaited }));
        }
    }
    if awaited.fair.is_none() {
        all.push(Awaited { holds: Some(other), ..*awaited });
    }
    all
}

/// Changes of ranks, applied to the proofs of random programs: what the check accepts of something awaited is true.
#[test]
fn altered_ranks_prove_nothing_false() {
    let (mut accepted, mut refused, mut refused_of_false) = (0, 0, 0);
    let mut kinds: BTreeMap<&'static str, (u32, u32)> = BTreeMap::new();
    for seed in 0..avr_testkit::cases(12, 200) {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        let mut random = Random::new(seed ^ 0xa17e);
        for awaited in &all {
            let Ok(ranks) = known.always_comes(awaited, &limits()) else { continue };
            assert!(known.check_ranks(awaited, &ranks, &limits()).is_ok(), "seed {seed}: {awaited:?}");
            for variant in variants(awaited, &mut random) {
                let is_true = known.waits_in_vain(&variant).is_none();
                for times in 0..8 {
                    let mut altered = ranks.clone();
                    let what = if times == 0 { "nothing" } else { alter(&mut altered, &mut random) };
                    let is_accepted = known.check_ranks(&variant, &altered, &limits()).is_ok();
                    let words = || format!("seed {seed}: {variant:?}: {what}, {:04x?}", generated.code.words);
                    assert!(is_true || !is_accepted, "{}", words());
                    let kind = kinds.entry(what).or_default();
                    *(if is_accepted { &mut kind.0 } else { &mut kind.1 }) += 1;
                    (accepted, refused) = (accepted + u64::from(is_accepted), refused + u64::from(!is_accepted));
                    refused_of_false += u64::from(!is_true);
                }
            }
        }
    }
    let numbers = format!("{accepted} accepted, {refused} refused, {refused_of_false} of false ones, {kinds:?}");
    assert!(accepted > 50 && refused > refused_of_false + 30 && refused_of_false > 50, "{numbers}");
    assert!(kinds.values().all(|(_, refused)| *refused > 0), "{numbers}");
}

/// Ranks that the search finds with a fault are refused by the check without one.
#[test]
fn false_ranks_of_faults_are_refused() {
    let mut refused: BTreeMap<String, u32> = BTreeMap::new();
    let few = Limits { execution: ExecutionLimits { steps: 5, ..limits().execution }, ..limits() };
    for seed in 0..avr_testkit::cases(10, 150) {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for awaited in &all {
            if known.waits_in_vain(awaited).is_none() {
                continue;
            }
            for fault in SHOWN_BY_RANDOM.into_iter().chain(SHARED).chain(WRITTEN) {
                let limits = if fault == Fault::ElsewherePassed { few } else { limits() };
                let Ok(ranks) = with_fault(fault, || known.always_comes(awaited, &limits)) else { continue };
                let checked = known.check_ranks(awaited, &ranks, &limits);
                assert!(checked.is_err(), "seed {seed}, {awaited:?}, {fault:?}: {:04x?}", generated.code.words);
                *refused.entry(format!("{fault:?}")).or_default() += 1;
            }
        }
    }
    assert!(refused.len() >= 6, "{refused:?}");
}

fn known(generated: &Generated) -> Known {
    Known::of(generated).unwrap_or_else(|_| panic!("there is a map"))
}

fn at(pc: u32) -> Location {
    Location { pc: avr_isa::FlashWordAddress(pc), frames: Vec::new() }
}

fn claim(pc: u32, group: usize, rank: Vec<Term>) -> RankClaim {
    RankClaim { head: at(pc), awaits: Awaits::Any, passed: Vec::new(), group, rank, waits_for: None }
}

fn ranks(claims: Vec<RankClaim>) -> Ranks {
    Ranks { idle: Vec::new(), claims }
}

/// A wait for a pin, behind which the output is on for ever.
fn ends_on() -> Generated {
    with_handler(&[I::Reti], |code| {
        code.add(I::Nop);
        code.add(I::Sbis { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -2 });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Rjmp { offset: -1 });
    })
}

#[test]
fn a_loop_does_not_lead_on_to_itself() {
    let mut known = known(&ends_on());
    assert!(known.waits_in_vain(&AWAITED).is_some());
    let wait = MAIN + 3 * 3 + 2;
    let check = |claims: Vec<RankClaim>| known.check_ranks(&AWAITED, &ranks(claims), &limits());
    assert_eq!(check(Vec::new()), Err(Rejection::Missing(at(wait).at())));
    let end = wait + 3;
    assert_eq!(check(vec![claim(wait, 0, Vec::new())]), Err(Rejection::Missing(at(end).at())));
    for groups in [[0, 0], [0, 1], [1, 0], [7, 3]] {
        for rank in [Vec::new(), vec![Term::Constant(1, 1)], vec![Term::Cells(vec![DataAddress(16)])]] {
            let claims = vec![claim(wait, groups[0], rank.clone()), claim(end, groups[1], rank)];
            assert_eq!(check(claims), Err(Rejection::NotShown(at(wait).at())), "{groups:?}");
        }
    }
    let both = || vec![claim(wait, 1, Vec::new()), claim(end, 0, Vec::new())];
    assert!(with_fault(Fault::GroupForgotten, || check(both())).is_ok());
    assert!(with_fault(Fault::HeadPassed, || check(both())).is_ok());
    assert!(with_fault(Fault::ClaimForgotten, || check(vec![claim(end, 0, Vec::new())])).is_ok());
    assert_eq!(check(vec![claim(end, 0, Vec::new())]), Err(Rejection::Missing(at(wait).at())));
    let twice = [both(), both()].concat();
    assert_eq!(check(twice), Err(Rejection::Twice(at(wait).at())));
    let no_head = claim(wait + 2, 0, Vec::new());
    assert_eq!(check(vec![no_head]), Err(Rejection::NoHead(at(wait + 2).at())));
    let passing = RankClaim { passed: vec![at(wait + 2)], ..claim(wait, 0, Vec::new()) };
    assert_eq!(check(vec![passing]), Err(Rejection::NoHead(at(wait + 2).at())));
}

/// The check of a proof with one of its claims altered.
fn altered(
    known: &Known,
    (awaited, ranks): (&Awaited, &Ranks),
    is_meant: impl Fn(&RankClaim) -> bool,
    alter: impl FnOnce(&mut RankClaim),
) -> Result<(), Rejection> {
    let mut ranks = ranks.clone();
    alter(ranks.claims.iter_mut().find(|claim| is_meant(claim)).expect("there is such a claim"));
    known.check_ranks(awaited, &ranks, &limits()).map(|_| ())
}

#[test]
fn ranks_are_numbers_that_fall() {
    let known = known(&pulsing(&ticking(), true, count_down));
    let proof = known.always_comes(&AWAITED, &limits()).unwrap_or_else(|stuck| panic!("{stuck}"));
    let check = |rank: Vec<Term>| {
        altered(&known, (&AWAITED, &proof), |claim| !claim.rank.is_empty(), |claim| claim.rank = rank)
    };
    let counter = || Term::Cells(vec![LEFT]);
    let ones = |width| Term::Constant(1, width);
    assert_eq!(check(vec![counter()]), Ok(()));
    let is_not_shown = |rank| matches!(check(rank), Err(Rejection::NotShown(_)));
    assert!(is_not_shown(Vec::new()) && is_not_shown(vec![ones(1).minus(counter())]) && is_not_shown(vec![ones(1)]));
    // What a handler counts.
    assert!(is_not_shown(vec![Term::Cells(vec![TICKS])]) && is_not_shown(vec![Term::Cells(vec![TICKS]), counter()]));
    // It is 0 at the end only.
    assert!(is_not_shown(vec![counter().minus(Term::Constant(2, 1))]));
    let is_none = |rank| matches!(check(rank), Err(Rejection::Rank(_)));
    assert!(is_none(vec![counter().minus(ones(2))]) && is_none(vec![ones(0)]) && is_none(vec![ones(9)]));
    assert!(is_none(vec![Term::Cells(Vec::new())]) && is_none(vec![Term::Cells(vec![DataAddress(0xffff)])]));
    assert!(is_none(vec![counter(); 17]));
    // The same proof does not show it of a program whose handler sets the counter back.
    let set_back = Known::of(&pulsing(&setting(LEFT, 3), true, count_down));
    let set_back = set_back.unwrap_or_else(|_| panic!("there is a map"));
    assert!(set_back.check_ranks(&AWAITED, &proof, &limits()).is_err());
}

#[test]
fn fairness_is_that_of_the_property() {
    let known = known(&waiting_for_ticks(true, true));
    let fairly = Awaited { trigger: On::Start, ..FAIRLY };
    let proof = known.always_comes(&fairly, &limits()).unwrap_or_else(|stuck| panic!("{stuck}"));
    let waits = |claim: &RankClaim| claim.waits_for.is_some();
    let check = |awaited: &Awaited, waits_for: Option<WaitsFor>| {
        altered(&known, (awaited, &proof), waits, |claim| claim.waits_for = waits_for)
    };
    let is_refused = |checked| matches!(checked, Err(Rejection::Waits(_)));
    let own = Some(WaitsFor::Interrupt(OVERFLOW.number));
    assert_eq!(check(&fairly, own), Ok(()));
    assert!(matches!(check(&fairly, None), Err(Rejection::NotShown(_))));
    assert!(
        is_refused(check(&fairly, Some(WaitsFor::Interrupt(1))))
            && is_refused(check(&fairly, Some(WaitsFor::Interrupt(200))))
    );
    let of_another = Awaited { fair: Some(Fair::Assumed(SOURCES[0])), ..fairly };
    assert!(is_refused(check(&of_another, own)) && is_refused(check(&Awaited { fair: None, ..fairly }, own)));
    assert!(matches!(check(&of_another, Some(WaitsFor::Interrupt(SOURCES[0].number))), Err(Rejection::NotShown(_))));
    // The bit that enables another interrupt is not that of this one.
    let misread = Awaited { fair: Some(Fair::Assumed(Source { enabled: (TIMSK0, 1), ..OVERFLOW })), ..fairly };
    assert!(matches!(check(&misread, own), Err(Rejection::NotShown(_))));
    // What is awaited is that of the property.
    let never = Goal::Cell(GO, 2);
    assert!(check(&Awaited { until: never, ..fairly }, own).is_err());
    assert!(check(&Awaited { trigger: On::When(Goal::Cell(GO, 1)), until: never, ..fairly }, own).is_err());
}

/// A handler begins what is awaited, behind the first head.
#[test]
fn paths_with_nothing_awaited_count() {
    let generated = with_handler(&[I::Sbi { io: PORTB, bit: 1 }, I::Reti], |code| {
        start_timer(code);
        code.add(I::Nop);
        code.add(I::Rjmp { offset: -1 });
    });
    let mut known = known(&generated);
    let awaited = Awaited { trigger: On::When(Goal::Bit(DataAddress(0x25), 1, true)), ..AWAITED };
    assert!(known.waits_in_vain(&awaited).is_some());
    let none = Ranks::default();
    assert!(matches!(known.check_ranks(&awaited, &none, &limits()), Err(Rejection::NotAwaited(_))));
    assert!(with_fault(Fault::IdleForgotten, || known.check_ranks(&awaited, &none, &limits())).is_ok());
    // From power-on nothing comes either.
    let at_start = Awaited { trigger: On::Start, ..AWAITED };
    let refused = known.check_ranks(&at_start, &none, &limits());
    assert_eq!(refused, Err(Rejection::NotAwaited(FlashByteAddress(0))));
    assert!(with_fault(Fault::PowerOnForgotten, || known.check_ranks(&at_start, &none, &limits())).is_ok());
}

#[test]
fn a_head_awaits_in_the_states_of_its_claim() {
    let trigger = On::When(Goal::Cell(GO, 1));
    let awaited = Awaited { trigger, ..AWAITED };
    let known = known(&responding(true));
    let proof = known.always_comes(&awaited, &limits()).unwrap_or_else(|stuck| panic!("{stuck}"));
    let triggering = |claim: &RankClaim| claim.awaits == Awaits::Triggering;
    // In other states at this head nothing comes.
    let checked = altered(&known, (&awaited, &proof), triggering, |claim| claim.awaits = Awaits::Any);
    assert!(matches!(checked, Err(Rejection::NotShown(_))), "{checked:?}");
    let elsewhere = |claim: &RankClaim| claim.awaits == Awaits::Any;
    if proof.claims.iter().any(elsewhere) {
        let checked = altered(&known, (&awaited, &proof), elsewhere, |claim| claim.awaits = Awaits::Triggering);
        assert!(checked.is_ok() || matches!(checked, Err(Rejection::NotAwaited(_) | Rejection::NotShown(_))));
    }
    for number in 0..proof.claims.len() {
        let mut dropped = proof.clone();
        dropped.claims.remove(number);
        assert!(known.check_ranks(&awaited, &dropped, &limits()).is_err(), "{number}");
    }
}

/// Two loops lead to each other. In each of them one interrupt would bring what is awaited, and the other one nothing.
fn takes_turns() -> (Generated, [u32; 2]) {
    let mut heads = Vec::new();
    let mut code = Code::default();
    code.jump(MAIN);
    let handlers = [(2, 0), (0x20, 1)];
    for (vector, bit) in handlers {
        code.place(vector);
        code.add(I::Sbi { io: 0x1e, bit });
        code.add(I::Reti);
    }
    code.place(MAIN);
    code.add(I::Ldi { rd: r(16), k: 1 });
    code.add(I::Out { io: 0x25, rr: r(16) });
    code.add(I::Sts { address: TIMSK0, rr: r(16) });
    code.add(I::Out { io: 0x1d, rr: r(16) });
    code.add(I::Sts { address: DataAddress(0x69), rr: r(16) });
    for bit in [0, 1] {
        heads.push(code.words.len() as u32);
        code.add(I::Cbi { io: 0x1e, bit });
        code.add(I::Bset { flag: INTERRUPTS });
        code.add(I::Nop);
        code.add(I::Bclr { flag: INTERRUPTS });
        code.add(I::Sbic { io: 0x1e, bit });
        code.add(I::Sbi { io: PORTB, bit: 0 });
        code.add(I::Cbi { io: PORTB, bit: 0 });
        code.add(I::Sbic { io: PINB, bit: 0 });
        code.add(I::Rjmp { offset: -9 });
    }
    code.jump(heads[0]);
    (Generated { code, pins: 3, unwritten: Vec::new() }, [heads[0], heads[1]])
}

/// Both interrupts come again and again, each while the loop of the other one goes round.
#[test]
fn the_loops_of_a_group_wait_for_one_interrupt() {
    let (generated, [one, other]) = takes_turns();
    let known = known(&generated);
    let enabled = [(1, (DataAddress(0x3d), 1)), (16, (TIMSK0, 1))];
    let fair = enabled.map(|(number, enabled)| Fairness::Interrupt(FairInterrupt { number, enabled }));
    let eventuality = Eventuality { trigger: Trigger::Everywhere, holds: None, until: &ON, fair: &fair };
    let check = |waits_for: [Option<WaitsFor>; 2]| {
        let of = |pc, waits_for| RankClaim { waits_for, ..claim(pc, 0, Vec::new()) };
        let ranks = ranks(vec![of(one, waits_for[0]), of(other, waits_for[1])]);
        known.check_of(&eventuality, &ranks, &limits()).map(|_| ())
    };
    let turns = [Some(WaitsFor::Interrupt(1)), Some(WaitsFor::Interrupt(16))];
    assert_eq!(check(turns), Err(Rejection::Waits(at(other).at())));
    assert_eq!(with_fault(Fault::WaitsForgotten, || check(turns)), Ok(()));
    for waits_for in [[None; 2], [Some(WaitsFor::Interrupt(1)); 2], [Some(WaitsFor::Interrupt(16)); 2]] {
        assert!(matches!(check(waits_for), Err(Rejection::NotShown(_))), "{waits_for:?}");
    }
}
