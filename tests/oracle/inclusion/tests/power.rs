//! The power of the comparison with libsimavr: with a fault put in, some state is not covered, a bound is exceeded, or a hazard is missing.
//!
//! Needs the program of `runner.c`, whose path is in `INCLUSION_RUNNER`: `tests/oracle/inclusion/run` builds it and runs this test.

#![allow(clippy::print_stdout, reason = "it says where each fault is found")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use avr_invariant::faults::{Fault as MapFault, with_fault};
use inclusion_oracle::compare::{Effort, compare};
use inclusion_oracle::subjects::{Selection, Subject, subjects};
use inclusion_oracle::{generated, invariants, kernels, sampled};
use three_valued::fault::{Fault, put_in};

/// The faults that the comparison finds, each with an image and a selection of what is left out in which it does.
const FOUND: &[(Fault, &str, usize)] = &[
    (Fault::EntryForgotten, "entry-flag-stack.elf", 0),
    (Fault::LowByteUncounted, "frame-low-byte.elf", 1),
    (Fault::FramesKept, "dropped-return-low-byte.elf", 1),
    (Fault::DataUnchecked, "frame-in-data.elf", 1),
    (Fault::FlagStays, "entry-flag-stack.elf", 0),
    (Fault::EntryKeepsI, "usart-echo.Os.elf", 1),
    (Fault::ZeroNotChained, "shared-counter-torn.Os.elf", 1),
    (Fault::SkipOneWord, "skip-two-words.elf", 1),
    (Fault::WordCarryLost, "low-byte-first.elf", 1),
    (Fault::UnknownIsZero, "low-byte-first.elf", 1),
    // With partial-order reduction of interrupts only.
    (Fault::NothingOwed, "two-left-for-later.elf", 4),
    // With all inputs split, in generated programs.
    (Fault::HalfCarryInverted, "generated-3.elf", 6),
    (Fault::BusyStale, "generated-38.elf", 6),
    (Fault::SignWithoutOverflow, "generated-51.elf", 6),
    // On an ATmega2560 and on an ATtiny85.
    (Fault::LongReturnReversed, "generated-160.elf", 1),
    (Fault::VectorsOfTwoWords, "other-handler.elf", 1),
    // In kernels and boot loaders.
    (Fault::StackKept, "kernel-5.elf", 1),
    (Fault::HalfPointerWhole, "kernel-5.elf", 1),
    (Fault::SavedRegisterKept, "kernel-turns.Os.elf with kernel-turns", 2),
    (Fault::OtherStackUnwritten, "kernel-25.elf", 1),
    (Fault::TaskOverflowUnseen, "kernel-turns-small.Os.elf with kernel-turns-small", 1),
    (Fault::SavedReturnTrusted, "kernel-25.elf", 1),
    (Fault::StartOfNextCell, "boot-flag with half a mark", 1),
    (Fault::AbsentEntered, "boot-serial-unchecked.Os.elf with boot-serial-unchecked", 0),
    (Fault::ApplicationReadErased, "boot-serial with any application", 1),
    // With all reductions: the run never comes back to covered states.
    (Fault::WordCarryLost, "low-byte-first.elf", 0),
    (Fault::SkipOneWord, "skip-two-words.elf", 0),
];

fn problems(runner: &Path, subject: &Subject, selection: usize) -> Vec<String> {
    let is_generated = subject.name.starts_with("generated")
        || subject.name.starts_with("kernel-") && !subject.name.contains(" with ");
    let effort = if is_generated { Effort::GENERATED } else { Effort::SHORT };
    compare(runner, subject, Selection::ALL[selection], effort).problems
}

/// The finding of a comparison with a fault put in.
fn finding(runner: &Path, subject: &Subject, selection: usize) -> Option<String> {
    first_or_assertion(|| problems(runner, subject, selection))
}

/// The first problem, or the assertion at which the work ends: what is wrong on purpose may contradict itself before it contradicts libsimavr.
fn first_or_assertion(work: impl FnOnce() -> Vec<String>) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(problems) => problems.into_iter().next(),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Some(format!("an assertion: {}", text.unwrap_or("without a text")))
        }
    }
}

#[test]
fn an_assertion_finds_a_fault() {
    let at = |step: usize| first_or_assertion(|| panic!("the state of step {step} differs"));
    assert_eq!(at(7).as_deref(), Some("an assertion: the state of step 7 differs"));
    assert_eq!(first_or_assertion(|| panic!("no text")).as_deref(), Some("an assertion: no text"));
    assert_eq!(first_or_assertion(|| vec!["one".to_owned(), "two".to_owned()]).as_deref(), Some("one"));
    assert_eq!(first_or_assertion(Vec::new), None);
}

/// Held by each test that puts a fault in or relies on there being none: faults of the executor are put in for all threads.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn runner() -> PathBuf {
    PathBuf::from(std::env::var("INCLUSION_RUNNER").expect("it names the program of runner.c"))
}

fn named<'a>(all: &'a [Subject], name: &str) -> &'a Subject {
    all.iter().find(|subject| subject.name == name).unwrap_or_else(|| panic!("there is no image {name}"))
}

#[test]
#[ignore = "needs libsimavr: tests/oracle/inclusion/run"]
fn faults_are_found() {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (runner, mut all) = (runner(), subjects(false, None));
    all.extend([3, 38, 51, 160].map(generated::subject));
    all.push(generated::other_handler());
    all.extend([5, 25].map(kernels::subject));
    let mut missed = Vec::new();
    for (fault, image, selection) in FOUND {
        put_in(None);
        let before = problems(&runner, named(&all, image), *selection);
        assert!(before.is_empty(), "{image}: {before:?}");
        put_in(Some(*fault));
        match finding(&runner, named(&all, image), *selection) {
            Some(problem) => println!("{} is found in {image}: {problem}", fault.name()),
            None => missed.push(fault.name()),
        }
    }
    put_in(None);
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// The faults of invariants that runs find, each with an image or a program in which they do.
const FOUND_IN_MAPS: [(MapFault, &str); 4] = [
    (MapFault::InterferenceForgotten, "counted"),
    (MapFault::NumbersKept, "copied"),
    (MapFault::ClosedAtJumps, "torn"),
    (MapFault::GapsForgotten, "plain"),
];

#[test]
#[ignore = "needs libsimavr: tests/oracle/inclusion/run"]
fn faults_of_maps_are_found() {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all = subjects(false, None);
    all.extend(invariants::programs().into_iter().map(|program| program.subject));
    let problems = |image: &str| invariants::compare(&runner(), named(&all, image), 40, 500).problems;
    let mut missed = Vec::new();
    for (fault, image) in FOUND_IN_MAPS {
        let before = problems(image);
        assert!(before.is_empty(), "{image}: {before:?}");
        match with_fault(fault, || first_or_assertion(|| problems(image))) {
            Some(problem) => println!("{fault:?} is found in {image}: {problem}"),
            None => missed.push(fault),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// The faults of invariants, each with a program in which sampled steps find it.
const FOUND_BY_STEPS: [(MapFault, &str); 18] = [
    (MapFault::InterferenceForgotten, "counted"),
    (MapFault::NumbersKept, "copied"),
    (MapFault::EntryForgotten, "acknowledged"),
    (MapFault::ClosedAtJumps, "counted"),
    (MapFault::FirstMemoryOnly, "pointer"),
    (MapFault::ReturnAddressTrusted, "redirected"),
    (MapFault::RegistersTrusted, "register"),
    (MapFault::DeadCellsKept, "below"),
    (MapFault::NothingRenamed, "counted"),
    (MapFault::MarksForgotten, "counted"),
    (MapFault::GapsForgotten, "plain"),
    (MapFault::NestingForgotten, "nested-read"),
    (MapFault::EntryOfInterrupted, "nested-entry"),
    (MapFault::NestedWritesForgotten, "nested-write"),
    (MapFault::EntryTakenForNow, "overwritten"),
    (MapFault::ResultsOfInterrupted, "divided-changed"),
    (MapFault::GreatestDivisor, "divided-by-some"),
    (MapFault::RoutineUnread, "divided-otherwise"),
];

/// Faults that maps from the reset do not show: one concerns maps that begin in a state of a run, and one the closing check, to which the pass gives no wrong map.
/// The tests of closed sets in `avr-verify` and the tests of `avr-invariant` find them. These find the faults of ranges and equations as well, in programs that count.
const NOT_FROM_THE_RESET: [MapFault; 8] = [
    MapFault::EquationsWithoutCarry,
    MapFault::EquationsUnchecked,
    MapFault::StartForgotten,
    MapFault::CasesForgotten,
    MapFault::RangesKept,
    MapFault::CarryKept,
    MapFault::CarryDropped,
    MapFault::RangesOfInterrupted,
];

#[test]
#[ignore = "needs libsimavr: tests/oracle/inclusion/run"]
fn sampled_steps_find_faults_of_maps() {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let all: Vec<Subject> = invariants::programs().into_iter().map(|program| program.subject).collect();
    let problems = |image: &str| sampled::compare(&runner(), named(&all, image), sampled::Effort::FULL, 1).problems;
    let mut missed: Vec<MapFault> =
        MapFault::ALL.iter().copied().filter(|fault| !NOT_FROM_THE_RESET.contains(fault)).collect();
    for (fault, image) in FOUND_BY_STEPS {
        let before = problems(image);
        assert!(before.is_empty(), "{image}: {before:?}");
        if let Some(problem) = with_fault(fault, || first_or_assertion(|| problems(image))) {
            println!("{fault:?} is found in {image}: {problem}");
            missed.retain(|one| *one != fault);
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// Faults of the executor, each with a program in which sampled steps find it.
const FOUND_BY_STEPS_IN_EXECUTOR: [(Fault, &str); 6] = [
    (Fault::FlagStays, "acknowledged"),
    (Fault::NoDelayAfterSei, "counted"),
    (Fault::NoDelayAfterReti, "counted"),
    (Fault::HalfCarryInverted, "counted"),
    (Fault::RangeTooNarrow, "counted"),
    (Fault::WordCarryLost, "generated-3.elf"),
];

#[test]
#[ignore = "needs libsimavr: tests/oracle/inclusion/run"]
fn sampled_steps_find_faults() {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<Subject> = invariants::programs().into_iter().map(|program| program.subject).collect();
    all.push(generated::subject(3));
    let problems = |image: &str| sampled::compare(&runner(), named(&all, image), sampled::Effort::FULL, 1).problems;
    let mut missed = Vec::new();
    for (fault, image) in FOUND_BY_STEPS_IN_EXECUTOR {
        put_in(None);
        let before = problems(image);
        assert!(before.is_empty(), "{image}: {before:?}");
        put_in(Some(fault));
        match first_or_assertion(|| problems(image)) {
            Some(problem) => println!("{} is found in {image}: {problem}", fault.name()),
            None => missed.push(fault.name()),
        }
    }
    put_in(None);
    assert!(missed.is_empty(), "not found: {missed:?}");
}

/// The number of generated programs that are measured.
const GENERATED: u64 = 100;

/// Images in which faults are looked for first: they take little time.
const QUICK: [&str; 18] = [
    "two-left-for-later.elf",
    "low-byte-first.elf",
    "frame-low-byte.elf",
    "dropped-return-low-byte.elf",
    "frame-in-data.elf",
    "eeprom-second-byte.elf",
    "eeprom-second-ready.elf",
    "eeprom-second-write.elf",
    "parser-repaired.Os.elf",
    "shared-counter-torn.Os.elf",
    "sleep-wake.Os.elf",
    "put-back-return-interrupt.elf",
    "torn-interrupt.elf",
    "usart-echo.Os.elf",
    "message-repaired.Os.elf",
    "sketch-string.Os.elf",
    "entry-external-flag.elf",
    "entry-flag-stack.elf",
];

#[test]
#[ignore = "a measurement: prints the kernels and boot loaders in which each fault is found, for the table above; AVR_TVAR_FAULTS names some"]
fn measure_kernels() {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (runner, mut all) = (runner(), subjects(false, None));
    all.retain(|subject| !subject.world.is_plain());
    all.extend((1..=GENERATED).map(kernels::subject));
    let wanted = std::env::var("AVR_TVAR_FAULTS").unwrap_or_default();
    let is_wanted = |fault: &&Fault| wanted.is_empty() || wanted.split(',').any(|name| name == fault.name());
    let faults = std::iter::once(None).chain(Fault::ALL.iter().filter(is_wanted).copied().map(Some));
    for fault in faults {
        put_in(fault);
        let begun = Instant::now();
        let found: Vec<(&str, usize, String)> = all
            .par_iter()
            .flat_map_iter(|subject| {
                let selections = if subject.world.stacks.is_empty() { vec![0, 1] } else { vec![1, 2] };
                let one = |selection| {
                    finding(&runner, subject, selection).map(|problem| (subject.name.as_str(), selection, problem))
                };
                selections.into_iter().filter_map(one).collect::<Vec<_>>()
            })
            .collect();
        let name = fault.map_or("none", Fault::name);
        println!("{name}: {} findings in {:?}", found.len(), begun.elapsed());
        found.iter().take(8).for_each(|one| println!("    {one:?}"));
    }
    put_in(None);
}

#[test]
#[ignore = "a measurement: prints an image and a selection in which each fault is found, for the table above; AVR_TVAR_FAULTS names some"]
fn measure() {
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (runner, all) = (runner(), subjects(false, None));
    let wanted = std::env::var("AVR_TVAR_FAULTS").unwrap_or_default();
    for fault in
        Fault::ALL.iter().filter(|fault| wanted.is_empty() || wanted.split(',').any(|name| name == fault.name()))
    {
        put_in(Some(*fault));
        let begun = Instant::now();
        let tried = QUICK.iter().flat_map(|image| [6, 1, 0, 2, 4].map(|selection| (*image, selection)));
        let found = tried.into_iter().find_map(|(image, selection)| {
            finding(&runner, named(&all, image), selection).map(|problem| (image, selection, problem))
        });
        println!("{} {found:?} {:?}", fault.name(), begun.elapsed());
        let found: Vec<(u64, usize, String)> = (1..=GENERATED)
            .into_par_iter()
            .filter_map(|seed| {
                let subject = generated::subject(seed);
                [6, 4].into_iter().find_map(|selection| {
                    finding(&runner, &subject, selection).map(|problem| (seed, selection, problem))
                })
            })
            .collect();
        println!(
            "{} of {GENERATED} generated programs, such as {:?} {:?}",
            found.len(),
            found.first(),
            begun.elapsed()
        );
    }
}
