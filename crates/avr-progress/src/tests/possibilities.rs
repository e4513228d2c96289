//! Possibilities that are proved, in random programs and in programs that are written for it, against an enumeration of all states.

use super::enumeration::{Known, goal, limits};
use super::explorer::{Goal, On, Possible};
use super::faults::{self, OVERFLOW_VECTOR, PORTB, TCCR0B, TIMSK0};
use super::generator::{Generated, program};
use super::mutants;
use crate::faults::{Fault, with_fault};
use crate::{Claims, Limits, Region};
use avr_isa::{DataAddress, Instruction as I};
use avr_symbolic::{ExecutionLimits, Interrupts, Rounds, Strategy};
use avr_testkit::Random;
use avr_testkit::image::r;

/// A random program with what is to be possible in it.
fn random_case(seed: u64) -> (Generated, Vec<Possible>) {
    let mut random = Random::new(seed ^ 0xe0);
    let generated = program(&mut random);
    let mut one = |has_condition: bool| {
        let trigger = match random.below(4) {
            0 => On::Start,
            1 => On::Everywhere,
            _ => On::When(goal(&mut random)),
        };
        let until = goal(&mut random);
        let holds = has_condition.then(|| goal(&mut random));
        Possible { trigger, holds, until }
    };
    let all = [true, true, true, false].map(&mut one);
    (generated, all.to_vec())
}

fn kind(possible: &Possible) -> usize {
    let kind = match possible.trigger {
        On::Start => 0,
        On::Everywhere => 1,
        On::When(_) => 2,
    };
    kind + if possible.holds.is_some() { 3 } else { 0 }
}

#[test]
fn what_is_proved_is_possible() {
    let (mut is_true, mut is_false, mut proved, mut coarsely) = ([0; 6], [0; 6], [0; 6], 0);
    for seed in 0..avr_testkit::cases(30, 600) {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for (number, possible) in all.iter().enumerate() {
            let refuted = known.refutes(possible);
            let proof = known.possibility_proof(possible, &limits());
            let words = || format!("seed {seed}: {possible:?}, {:04x?}", generated.code.words);
            assert!(proof.is_err() || refuted.is_none(), "{refuted:?}, {}", words());
            let coarse = (number < 2).then(|| known.coarse_proof(possible, &limits()));
            let is_coarse = coarse.is_some_and(|proof| proof.is_ok());
            assert!(!is_coarse || refuted.is_none(), "{refuted:?}, {}", words());
            let tally = if refuted.is_none() { &mut is_true } else { &mut is_false };
            tally[kind(possible)] += 1;
            proved[kind(possible)] += u64::from(proof.is_ok());
            coarsely += u64::from(is_coarse);
        }
    }
    let numbers = format!("{is_true:?} true, {is_false:?} false, {proved:?} proved, {coarsely} of few bits");
    assert!(is_false.iter().all(|count| *count > 0), "{numbers}");
    assert!(is_false.iter().sum::<u64>() * 3 > is_true.iter().sum(), "{numbers}");
    assert!(proved.iter().zip(is_true).all(|(proved, is_true)| *proved * 2 > is_true && is_true > 0), "{numbers}");
    assert!(coarsely * 8 > proved.iter().sum(), "{numbers}");
}

/// The faults of possibilities that random programs show.
pub(super) const SHOWN_BY_RANDOM: [Fault; 5] = [
    Fault::HoldsAtHeadsOnly,
    Fault::HoldsInHandlersForgotten,
    Fault::HoldsAtFirstForgotten,
    Fault::PossibleTriggerPassed,
    Fault::BetweenForgotten,
];

/// Those that programs show which are written for them.
pub(super) const WRITTEN: [Fault; 3] =
    [Fault::HoldsAtLastForgotten, Fault::RegionForgotten, Fault::TriggerAtHeadsForgotten];

/// Other faults that possibilities must show as well.
const SHARED: [Fault; 9] = [
    Fault::HeadLeftOut,
    Fault::BehindForgotten,
    Fault::UnknownIsZero,
    Fault::RankStays,
    Fault::ElsewherePassed,
    Fault::HoldsForgotten,
    Fault::TriggerForgotten,
    Fault::PowerOnForgotten,
    Fault::PossibleReached,
];

#[test]
fn random_programs_show_faults() {
    let mut left: Vec<Fault> = SHOWN_BY_RANDOM.into_iter().chain(SHARED).collect();
    let few = Limits { execution: ExecutionLimits { steps: 5, ..limits().execution }, ..limits() };
    for seed in 0..100 {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for possible in &all {
            if known.refutes(possible).is_some() {
                let limits = |fault| if fault == Fault::ElsewherePassed { few } else { limits() };
                let is_shown = |fault| {
                    with_fault(fault, || match fault {
                        Fault::PossibleTriggerPassed => known.coarse_proof(possible, &limits(fault)).is_ok(),
                        _ => known.possibility_proof(possible, &limits(fault)).is_ok(),
                    })
                };
                left.retain(|fault| !is_shown(*fault));
            }
        }
        if left.is_empty() {
            return;
        }
    }
    panic!("{left:?} are not shown");
}

/// Bits 0 and 1 of port B.
const fn output(bit: u8, value: bool) -> Goal {
    Goal::Bit(DataAddress(0x25), bit, value)
}

/// What is possible in a program with these instructions, and which fault makes it seem so.
fn written() -> [(Fault, Possible, Vec<I>); 5] {
    let set = |bit| I::Sbi { io: PORTB, bit };
    let clear = |bit| I::Cbi { io: PORTB, bit };
    let here = I::Rjmp { offset: -1 };
    let until_on = |trigger, holds| Possible { trigger, holds, until: output(1, true) };
    let off = Some(output(0, false));
    [
        // The head is the first place at which what is to hold does not.
        (Fault::HoldsAtLastForgotten, until_on(On::Start, off), vec![I::Nop, set(0), set(1), I::Rjmp { offset: -2 }]),
        // The head is the first place from which it is to be possible.
        (Fault::TriggerAtHeadsForgotten, until_on(On::When(output(0, true)), None), vec![set(0), here]),
        // The state from which it is to be possible lies before the head; there it is one of those no more.
        (
            Fault::RegionForgotten,
            until_on(On::When(output(0, true)), None),
            vec![set(0), clear(0), I::Sbis { io: PORTB, bit: 0 }, I::Rjmp { offset: -2 }, set(1), here],
        ),
        // For one instruction what is to hold does not.
        (
            Fault::HoldsAtHeadsOnly,
            until_on(On::Start, off),
            vec![I::Nop, I::Dec { rd: r(16) }, I::Brbc { flag: 1, offset: -2 }, set(0), clear(0), set(1), here],
        ),
        (Fault::HoldsAtFirstForgotten, until_on(On::When(output(0, true)), off), vec![set(0), set(1), here]),
    ]
}

#[test]
fn written_programs_show_faults() {
    for (fault, possible, code) in written() {
        let generated = faults::program(OVERFLOW_VECTOR, &[I::Reti], |all| {
            code.iter().for_each(|instruction| all.add(*instruction))
        });
        let mut known = Known::of(&generated).unwrap_or_else(|_| panic!("{fault:?}: there is a map"));
        assert!(known.refutes(&possible).is_some(), "{fault:?}");
        assert!(known.possibility_proof(&possible, &limits()).is_err(), "{fault:?}");
        assert!(with_fault(fault, || known.possibility_proof(&possible, &limits()).is_ok()), "{fault:?}");
    }
}

/// A program that waits for the overflow of timer 0, whose handler sets bit 1 of port B, and, if it is noisy, bit 0 for a while.
fn waiting_for_the_handler(is_noisy: bool) -> Generated {
    let mut handler = vec![I::Sbi { io: PORTB, bit: 1 }, I::Reti];
    if is_noisy {
        handler.splice(0..0, [I::Sbi { io: PORTB, bit: 0 }, I::Cbi { io: PORTB, bit: 0 }]);
    }
    faults::program(OVERFLOW_VECTOR, &handler, |code| {
        code.add(I::Out { io: TCCR0B, rr: r(16) });
        code.add(I::Sts { address: TIMSK0, rr: r(16) });
        code.add(I::Bset { flag: 7 });
        code.add(I::Cbi { io: PORTB, bit: 1 });
        code.add(I::Rjmp { offset: -2 });
    })
}

#[test]
fn states_in_handlers_are_looked_at() {
    for trigger in [On::Start, On::Everywhere, On::When(output(1, false))] {
        let possible = Possible { trigger, holds: Some(output(0, false)), until: output(1, true) };
        let [mut quiet, mut noisy] = [false, true]
            .map(|is_noisy| Known::of(&waiting_for_the_handler(is_noisy)).unwrap_or_else(|_| panic!("there is a map")));
        assert!(quiet.refutes(&possible).is_none() && noisy.refutes(&possible).is_some(), "{trigger:?}");
        let proof =
            quiet.possibility_proof(&possible, &limits()).unwrap_or_else(|stuck| panic!("{trigger:?}: {stuck}"));
        assert!(proof.rests_on_choices());
        let is_proved = || noisy.possibility_proof(&possible, &limits()).is_ok();
        assert!(!is_proved() && with_fault(Fault::HoldsInHandlersForgotten, is_proved), "{trigger:?}");
        // The claims of one program prove nothing of the other.
        assert!(quiet.check_possibility(&possible, &proof.claims, &limits()).is_ok());
        assert!(noisy.check_possibility(&possible, &proof.claims, &limits()).is_err());
    }
}

/// Changes of claims, and other conditions: what the check accepts is possible.
#[test]
fn altered_claims_prove_nothing_false() {
    let (mut accepted, mut refused, mut refused_of_false) = (0, 0, 0);
    for seed in 0..avr_testkit::cases(5, 150) {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        let mut random = Random::new(seed ^ 0xa17e);
        let all: Vec<(Possible, bool)> = all.iter().map(|one| (*one, known.refutes(one).is_none())).collect();
        let proofs: Vec<_> = all.iter().filter_map(|(one, _)| known.possibility_proof(one, &limits()).ok()).collect();
        for (claims, (possible, is_true)) in proofs.iter().flat_map(|proof| all.iter().map(|one| (&proof.claims, one)))
        {
            for _ in 0..2 {
                let mut altered = claims.clone();
                let what = alter_claims(&mut altered, &mut random);
                let is_accepted = known.check_possibility(possible, &altered, &limits()).is_ok();
                assert!(*is_true || !is_accepted, "seed {seed}, {possible:?}: {what}, {:04x?}", generated.code.words);
                (accepted, refused) = (accepted + u64::from(is_accepted), refused + u64::from(!is_accepted));
                refused_of_false += u64::from(!is_true);
            }
        }
    }
    let numbers = format!("{accepted} accepted, {refused} refused, {refused_of_false} of false ones");
    assert!(accepted > 10 && refused > refused_of_false + 10 && refused_of_false > 10, "{numbers}");
}

/// A random change of claims, and its name.
fn alter_claims(claims: &mut Claims, random: &mut Random) -> &'static str {
    let interrupts = random.pick(&[Interrupts::Any, Interrupts::Order(Vec::new()), Interrupts::Order(vec![16])]);
    match random.below(if claims.loops.is_empty() { 2 } else { 6 }) {
        0 => {
            claims.first.clear();
            "no strategies lead to heads"
        }
        1 => {
            let strategy = Strategy { interrupts, ..Strategy::anything() };
            claims.first = vec![Rounds { strategy, count: random.below(3) }];
            "others lead to heads"
        }
        2 => {
            let number = random.below(claims.loops.len());
            let claim = &mut claims.loops[number];
            claim.region = if claim.region == Region::All { Region::Triggering } else { Region::All };
            "a claim is about other states"
        }
        3 => {
            claims.loops.iter_mut().for_each(|claim| claim.region = Region::Triggering);
            "all claims are about states of the trigger"
        }
        _ => mutants::alter(&mut claims.loops, random),
    }
}
