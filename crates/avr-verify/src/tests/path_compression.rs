//! Compressed against uncompressed: small random programs with two interrupts, and what each kind of carelessness would
//! miss.

use crate::diagnosis::subformulas::Effort;
use crate::pipeline::property_result::Purpose;
use crate::pipeline::verified::verified;
use crate::random_programs::{LONG, PROGRAMS, Random, contradict, program, results, said, with_request};
use crate::{Pass, Reductions, Results, Verdict};
use avr_model::faults::path_compression::{Fault, with_fault};
use std::time::Duration;

/// The time for a compressed program. A few need very many refinements, which take long along expanded paths.
const SHORT: Duration = Duration::from_secs(4);
const PATHS: Reductions = Reductions { interrupts: false, paths: true, handlers: false };

/// The survey of the program as a whole: instructions, routines with what they take of the stack, and how they lead to
/// each other.
fn surveyed(results: &Results) -> impl PartialEq + std::fmt::Debug + use<> {
    let survey = results.survey.clone().expect("there is no limit");
    let routines: Vec<_> = survey
        .routines
        .iter()
        .map(|(routine, usage)| (*routine, usage.own, usage.total, usage.callers.clone()))
        .collect();
    let instructions: Vec<u32> = survey.instructions.keys().copied().collect();
    let ways: Vec<_> = survey.ways.keys().copied().collect();
    (survey.complete, instructions, routines, ways, survey.cycles, survey.entries, survey.deepest.len())
}

#[test]
fn compressed_answers_are_those_of_all_states() {
    let programs = avr_testkit::cases(40, PROGRAMS);
    let (mut hold, mut violated, mut fewer, mut late) = (0, 0, 0, 0);
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        let all = said(&words, Reductions::NONE, LONG);
        for reductions in [PATHS, Reductions::ALL] {
            let compressed = said(&words, reductions, SHORT);
            assert!(!contradict(&all, &compressed), "seed {seed}: {compressed:?} where it is {all:?}");
            late += u64::from(compressed.holds.is_none());
            assert!(compressed.holds.is_none() || all.holds == compressed.holds, "seed {seed}");
            if compressed.holds == Some(true) {
                assert_eq!(all.stack, compressed.stack, "seed {seed}");
            }
            fewer += u64::from(2 * compressed.states < all.states);
        }
        hold += u64::from(all.holds == Some(true));
        violated += u64::from(all.holds == Some(false));
    }
    assert!(hold > programs / 10 && violated > programs / 10, "{hold} hold, {violated} are violated");
    assert!(late <= programs / 20, "{late} took too long");
    assert!(fewer > programs, "{fewer} of {} have less than half the states", 2 * programs);
}

#[test]
fn compressed_programs_look_the_same_as_a_whole() {
    let programs = avr_testkit::cases(40, PROGRAMS);
    let mut hold = 0;
    for seed in 0..programs {
        let words = program(&mut Random::new(seed));
        let all = results(&words, &["Inherent()"], Reductions::NONE, LONG);
        if all.properties[0].verdict != Verdict::Holds {
            continue;
        }
        let compressed = results(&words, &["Inherent()"], PATHS, SHORT);
        if compressed.properties[0].verdict == Verdict::Holds {
            assert_eq!(surveyed(&all), surveyed(&compressed), "seed {seed}");
            hold += 1;
        }
    }
    assert!(hold > programs / 10, "{hold} hold");
}

/// True if every limit on the stack near the exact bound is judged rightly, with runs of the same kind.
fn stack_is_judged_alike(words: &[u16]) -> bool {
    let bound = said(words, Reductions::NONE, LONG).stack;
    let Some(exact) = bound.exact().filter(|exact| *exact > 0) else { return true };
    let limits = [exact - 1, exact].map(|bytes| format!("Stack(max_bytes: {bytes})"));
    limits.iter().enumerate().all(|(number, limit)| {
        let found = results(words, &[limit], PATHS, SHORT);
        let property = &found.properties[0];
        match number {
            0 => property.verdict == Verdict::Violated && property.evidence.as_ref().is_some_and(|run| run.replayed),
            _ => property.verdict == Verdict::Holds && found.stack == bound,
        }
    })
}

#[test]
fn limits_on_the_stack_are_judged_as_with_all_states() {
    for seed in 0..PROGRAMS / 4 {
        assert!(stack_is_judged_alike(&program(&mut Random::new(seed))), "seed {seed}");
    }
}

#[test]
fn runs_are_found_where_states_are_left_out() {
    let mut violated = 0;
    for seed in 0..PROGRAMS / 4 {
        let words = program(&mut Random::new(seed));
        let Some(exact) = said(&words, Reductions::NONE, LONG).stack.exact().filter(|exact| *exact > 0) else {
            continue;
        };
        let limit = format!("Stack(max_bytes: {})", exact - 1);
        let stayed = with_request(&words, &[&limit], PATHS, LONG, |request| {
            let looked = verified(request, (Effort::LITTLE, Purpose::Results), |work, _, _| {
                work.firmware.model.passes.has(Pass::PathCompression)
            });
            looked.expect("the property is bound")
        });
        assert!(stayed, "seed {seed}: all states were looked at for the run");
        violated += 1;
    }
    assert!(violated > 20, "{violated} are violated");
}

#[track_caller]
fn check_found(fault: Fault) {
    let wrong = |seed: &u64| {
        let words = program(&mut Random::new(*seed));
        let all = said(&words, Reductions::NONE, LONG);
        let compressed = with_fault(fault, || said(&words, PATHS, SHORT));
        contradict(&all, &compressed) || compressed.holds == Some(true) && all.stack != compressed.stack
    };
    assert!((0..PROGRAMS).find(wrong).is_some(), "{fault:?} was not noticed");
}

#[test]
fn steps_with_several_outcomes_would_be_noticed() {
    check_found(Fault::FirstOutcomeOnly);
}

#[test]
fn a_deeper_stack_that_is_left_out_would_be_noticed() {
    check_found(Fault::DeepestLeftOut);
}

#[test]
fn steps_that_are_not_taken_back_would_be_noticed() {
    check_found(Fault::NotTakenBack);
}
