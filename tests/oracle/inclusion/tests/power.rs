//! The power of the comparison with libsimavr: with a fault put in, some state is not covered, a bound is exceeded, or a hazard is missing.
//!
//! Needs the program of `runner.c`, whose path is in `INCLUSION_RUNNER`: `tests/oracle/inclusion/run` builds it and runs this test.

use std::path::PathBuf;

use inclusion_oracle::compare::compare;
use inclusion_oracle::subjects::{Selection, Subject, subjects};
use three_valued::fault::{Fault, put_in};

/// The faults that the comparison finds, each with an image in which it does.
const FOUND: &[(Fault, &str)] = &[];

fn problems(runner: &PathBuf, subject: &Subject) -> Vec<String> {
    Selection::ALL.iter().flat_map(|selection| compare(runner, subject, *selection, false).problems).collect()
}

#[test]
#[ignore = "needs libsimavr: tests/oracle/inclusion/run"]
fn faults_are_found() {
    let runner = PathBuf::from(std::env::var("INCLUSION_RUNNER").expect("it names the program of runner.c"));
    let all = subjects(false, None);
    let named = |name: &str| all.iter().find(|subject| subject.name == name).expect("there is such an image");
    let mut missed = Vec::new();
    for (fault, image) in FOUND {
        put_in(None);
        let before = problems(&runner, named(image));
        assert!(before.is_empty(), "{image}: {before:?}");
        put_in(Some(*fault));
        let found = problems(&runner, named(image));
        match found.first() {
            Some(problem) => println!("{} is found in {image}: {problem}", fault.name()),
            None => missed.push(fault.name()),
        }
    }
    put_in(None);
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
#[ignore = "a measurement: prints the first image in which each fault is found"]
fn measure() {
    let runner = PathBuf::from(std::env::var("INCLUSION_RUNNER").expect("it names the program of runner.c"));
    let mut all = subjects(false, None);
    all.sort_by_key(|subject| !subject.name.starts_with(|first: char| "bdeflptu".contains(first)));
    for fault in Fault::ALL {
        put_in(Some(*fault));
        let begun = std::time::Instant::now();
        let found = all.iter().find_map(|subject| Some((subject.name.clone(), problems(&runner, subject).into_iter().next()?)));
        match found {
            Some((image, problem)) => println!("{} {image} {:?} {problem}", fault.name(), begun.elapsed()),
            None => println!("{} NOT FOUND {:?}", fault.name(), begun.elapsed()),
        }
    }
}
