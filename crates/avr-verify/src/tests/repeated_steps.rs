//! Expansions that are used again against those that are made anew: small random programs with two interrupts, and what
//! each kind of carelessness would miss.

use crate::pipeline::portfolio::with_first_budget;
use crate::random_programs::{PROGRAMS, Random, program, results};
use crate::{Reductions, Verdict};
use avr_model::faults::repeated_steps::{Fault, with_fault};
use std::time::Duration;

/// The time for a program of a few instructions.
const LIMIT: Duration = Duration::from_secs(2);

/// The properties: one that is refined much for, and one that sees all that can be reached.
const PROPERTIES: [&str; 2] = ["Inherent()", "AG EF (PORTB == 0)"];

/// The facts that are found of a program: verdicts, and where all of it was looked at the stack bound and the
/// instructions that are reached.
#[derive(Debug, PartialEq)]
struct Found {
    verdicts: Vec<Verdict>,
    stack: Option<(Option<u32>, Vec<u32>)>,
}

/// What is found with an initial budget of states.
fn found(words: &[u16], budget: usize) -> Found {
    let results = with_first_budget(budget, || results(words, &PROPERTIES, Reductions::ALL, LIMIT));
    let verdicts: Vec<Verdict> = results.properties.iter().map(|property| property.verdict.clone()).collect();
    let survey = results.survey.filter(|_| verdicts[0] == Verdict::Holds);
    let stack = survey.map(|survey| (results.stack.upper, survey.instructions.keys().copied().collect()));
    Found { verdicts, stack }
}

/// The budgets: with the first one locations are limited from the beginning.
const BUDGETS: [usize; 2] = [1, 50_000];

#[test]
fn what_75() {
    let words = program(&mut Random::new(75));
    for budget in BUDGETS { eprintln!("A {:?}\nB {:?}", found(&words, budget), with_fault(Fault::NothingRepeated, || found(&words, budget))); }
}
#[test]
fn what_is_found_is_what_is_found_anew() {
    let mut hold = 0;
    for seed in 0..avr_testkit::cases(40, PROGRAMS) {
        let words = program(&mut Random::new(seed));
        for budget in BUDGETS {
            let anew = with_fault(Fault::NothingRepeated, || found(&words, budget));
            assert_eq!(found(&words, budget), anew, "seed {seed}, {budget}");
            hold += u64::from(anew.stack.is_some());
        }
    }
    assert!(hold > 10, "{hold} hold");
}

/// Checks that some program shows a fault.
#[track_caller]
fn check_found(fault: Fault) {
    let is_wrong = |seed: &u64| {
        let words = program(&mut Random::new(*seed));
        BUDGETS.into_iter().any(|budget| {
            with_fault(fault, || found(&words, budget)) != with_fault(Fault::NothingRepeated, || found(&words, budget))
        })
    };
    let seed = (0..4 * PROGRAMS).find(is_wrong);
    eprintln!("SEED {fault:?} {seed:?}");
    assert!(seed.is_some(), "{fault:?} was not noticed");
}

#[test]
fn refinements_that_are_not_seen_would_be_noticed() {
    check_found(Fault::ChangesUnseen);
}

#[test]
fn assumptions_that_are_not_seen_would_be_noticed() {
    check_found(Fault::AssumptionsUnseen);
}

#[test]
fn notes_that_are_not_taken_again_would_be_noticed() {
    check_found(Fault::NotesForgotten);
}

#[test]
fn depths_that_are_not_seen_would_be_noticed() {
    check_found(Fault::DepthUnseen);
}
