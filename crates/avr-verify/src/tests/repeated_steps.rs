//! Expansions that are used again against those that are made anew: small random programs with two interrupts, and what
//! each kind of carelessness would miss.

use crate::pipeline::portfolio::with_first_budget;
use crate::random_programs::{PROGRAMS, Random, program, results};
use crate::{Reductions, Verdict};
use avr_model::faults::repeated_steps::{Fault, with_fault};
use avr_model::faults::{Compared, with_comparison};
use std::time::Duration;

/// The time for a program of a few instructions.
const LIMIT: Duration = Duration::from_secs(4);

/// The budgets: with the first one locations are limited from the beginning.
const BUDGETS: [usize; 2] = [1, 50_000];

/// The facts that are found of a program: whether it has no hazard, and then the stack bound and the instructions that
/// are reached.
#[derive(Debug, PartialEq)]
struct Found {
    holds: Option<bool>,
    reached: Option<(Option<u32>, Vec<u32>)>,
}

fn found(words: &[u16], budget: usize) -> Found {
    let results = with_first_budget(budget, || results(words, &["Inherent()"], Reductions::ALL, LIMIT));
    let holds = match &results.properties[0].verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    };
    let survey = results.survey.filter(|_| holds == Some(true));
    let reached = survey.map(|survey| (results.stack.upper, survey.instructions.keys().copied().collect()));
    Found { holds, reached }
}

/// The facts about a program that is made from a seed, with nothing used again.
fn found_anew(words: &[u16], budget: usize) -> Found {
    with_fault(Fault::NothingRepeated, || found(words, budget))
}

#[test]
fn what_is_found_is_what_is_found_anew() {
    let mut hold = 0;
    for seed in 0..avr_testkit::cases(30, PROGRAMS) {
        let words = program(&mut Random::new(seed));
        for budget in BUDGETS {
            let (found, anew) = (found(&words, budget), found_anew(&words, budget));
            if found.holds.is_some() && anew.holds.is_some() {
                assert_eq!(found, anew, "seed {seed}, {budget}");
                hold += u64::from(anew.reached.is_some());
            }
        }
    }
    assert!(hold > 10, "{hold} hold");
}

/// The comparison of the expansions of a program that were used again, under some fault.
fn compared(seed: u64, budget: usize, fault: Option<Fault>) -> Compared {
    let words = program(&mut Random::new(seed));
    let work = || with_first_budget(budget, || results(&words, &["Inherent()"], Reductions::ALL, LIMIT));
    let compare = || with_comparison(work).1;
    fault.map_or_else(compare, |fault| with_fault(fault, compare))
}

#[test]
fn expansions_that_are_used_again_are_like_new_ones() {
    let mut alike = 0;
    for seed in 0..avr_testkit::cases(300, 20 * PROGRAMS) {
        for budget in BUDGETS {
            let compared = compared(seed, budget, None);
            assert_eq!(compared.different, 0, "seed {seed}, {budget}");
            alike += compared.alike;
        }
    }
    assert!(alike > 200, "{alike} compared");
}

/// Checks that some expansion is not like a new one with a fault.
#[track_caller]
fn check_compared(fault: Fault) {
    let is_wrong = |seed: &u64| BUDGETS.into_iter().any(|budget| compared(*seed, budget, Some(fault)).different > 0);
    let seed = (0..PROGRAMS).find(is_wrong);
    assert!(seed.is_some(), "{fault:?} was not noticed");
}

#[test]
fn refinements_that_are_not_seen_would_be_noticed() {
    check_compared(Fault::ChangesUnseen);
}

#[test]
fn assumptions_that_are_not_seen_would_be_noticed() {
    check_compared(Fault::AssumptionsUnseen);
}

#[test]
fn notes_that_are_not_taken_again_would_be_noticed() {
    check_compared(Fault::NotesForgotten);
}
