//! The core of the checker on small random systems: of thousands of altered certificates none passes that no longer proves its
//! claim, as a naive evaluator and an enumeration of all concrete steps see it.

mod certificate;
mod mutants;
mod naive;
mod system;

use std::ops::Range;

use crate::rejection::Rejection;
use crate::vigilance::{Check, with_fault};
use avr_testkit::Random;
use certificate::Certificate;
use system::System;

/// The number of random systems.
const SYSTEMS: u64 = 1500;
/// The number of mutants of each certificate.
const MUTANTS: usize = 24;

/// The results of all mutants.
#[derive(Debug, Default)]
struct Tally {
    certificates: usize,
    rejected: usize,
    harmless: usize,
    /// Mutants that passed although they prove nothing, described.
    wrong: Vec<String>,
}

/// Checks certificates of random systems and mutants of them.
fn tally(seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut random = Random::new(seed);
        let system = System::random(&mut random);
        let Some(certificate) = Certificate::random(&system, &mut random) else { continue };
        tally.certificates += 1;
        let original: Result<(), Rejection> = certificate.check(&system);
        assert!(original.is_ok(), "seed {seed}: {}\n{certificate:#?}", original.unwrap_err());
        assert!(naive::proves(&system, &certificate), "seed {seed}: {certificate:#?}");
        for _ in 0..MUTANTS {
            let (what, mutant) = mutants::mutant(&certificate, &mut random);
            match mutant.check(&system) {
                Err(_) => tally.rejected += 1,
                Ok(()) if naive::proves(&system, &mutant) => tally.harmless += 1,
                Ok(()) => tally.wrong.push(format!("seed {seed}: {what}")),
            }
        }
    }
    tally
}

#[test]
fn no_mutant_passes_that_proves_nothing() {
    let tally = tally(0..SYSTEMS);
    assert_eq!(tally.wrong, Vec::<String>::new());
    assert!(tally.certificates > 1000, "only {} certificates", tally.certificates);
    assert!(tally.rejected > 10_000 && tally.harmless > 5000, "{tally:?}");
}

/// Leaves a check out and expects that mutants pass that prove nothing.
#[track_caller]
fn check_is_needed(check: Check) {
    let is_found_out = || (0..SYSTEMS).any(|seed| !tally(seed..seed + 1).wrong.is_empty());
    assert!(with_fault(check, is_found_out), "{check:?} is not needed");
}

#[test]
fn a_checker_without_one_of_its_checks_is_found_out() {
    check_is_needed(Check::Literals);
    check_is_needed(Check::Labels);
    check_is_needed(Check::Cycles);
    check_is_needed(Check::AllSuccessors);
    check_is_needed(Check::Forced);
}
