//! Possibilities that are proved, in random programs and in programs that are written for it, against an enumeration of all states.

use super::enumeration::{Known, goal, limits};
use super::explorer::{On, Possible};
use super::generator::{Generated, program};
use crate::faults::{Fault, with_fault};
use crate::Limits;
use avr_symbolic::ExecutionLimits;
use avr_testkit::Random;

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
    for seed in 0..avr_testkit::cases(45, 3_000) {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for possible in &all {
            let refuted = known.refutes(possible);
            let proof = known.possibility_proof(possible, &limits());
            let words = || format!("seed {seed}: {possible:?}, {:04x?}", generated.code.words);
            assert!(proof.is_err() || refuted.is_none(), "{refuted:?}, {}", words());
            let coarse = known.coarse_proof(possible, &limits());
            assert!(coarse.is_err() || refuted.is_none(), "{refuted:?}, {}", words());
            let tally = if refuted.is_none() { &mut is_true } else { &mut is_false };
            tally[kind(possible)] += 1;
            proved[kind(possible)] += u64::from(proof.is_ok());
            coarsely += u64::from(coarse.is_ok());
        }
    }
    let numbers = format!("{is_true:?} true, {is_false:?} false, {proved:?} proved, {coarsely} of few bits");
    assert!(is_true.iter().zip(is_false).all(|(is_true, is_false)| is_false * 8 > *is_true), "{numbers}");
    assert!(proved.iter().zip(is_true).all(|(proved, is_true)| *proved * 2 > is_true && is_true > 0), "{numbers}");
    assert!(coarsely * 4 > proved.iter().sum(), "{numbers}");
}

/// The faults of possibilities that random programs show.
pub(super) const SHOWN_BY_RANDOM: [Fault; 8] = [
    Fault::HoldsAtHeadsOnly,
    Fault::HoldsInHandlersForgotten,
    Fault::HoldsAtFirstForgotten,
    Fault::HoldsAtLastForgotten,
    Fault::RegionForgotten,
    Fault::PossibleTriggerPassed,
    Fault::BetweenForgotten,
    Fault::TriggerAtHeadsForgotten,
];

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
    for seed in 0..400 {
        let (generated, all) = random_case(seed);
        let Ok(mut known) = Known::of(&generated) else { continue };
        for possible in &all {
            if known.refutes(possible).is_some() {
                let limits = |fault| if fault == Fault::ElsewherePassed { few } else { limits() };
                let is_shown = |fault| {
                    with_fault(fault, || {
                        known.possibility_proof(possible, &limits(fault)).is_ok()
                            || known.coarse_proof(possible, &limits(fault)).is_ok()
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
