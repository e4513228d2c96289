//! Every target takes its corpus and some altered inputs.

use std::path::Path;

use avr_tvar_fuzz::{Amount, Current, Target, feed};

#[track_caller]
fn check(target: Target, inputs: u64) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let work = move || feed(target, &corpus, 1, Amount::Inputs(inputs), &Current::default());
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(work).expect("it starts");
    let fed = thread.join().expect("no input is too much").expect("the corpus is there");
    assert!(fed > inputs);
}

#[test]
fn hex() {
    check(Target::Hex, 3_000);
}

#[test]
fn elf() {
    check(Target::Elf, 300);
}

#[test]
fn ron() {
    check(Target::Ron, 2_000);
}

#[test]
fn formulas() {
    check(Target::Formula, 2_000);
}

#[test]
fn programs() {
    check(Target::Verify, 15);
}
