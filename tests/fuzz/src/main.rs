//! Feeds a target for some time.
//!
//!     avr-tvar-fuzz TARGET|all SECONDS [SEED]
//!
//! Exit code 1: the target panicked, hung, took too much memory or contradicted itself; the input is in
//! `fuzz-TARGET-SEED.case`.
#![forbid(unsafe_code)]

use std::alloc::System;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use avr_tvar_fuzz::{Amount, Current, Target, Watchdog, feed};
use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The limits of one input.
const LIMITS: Watchdog = Watchdog { time: Duration::from_secs(20), memory: 1 << 30 };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (targets, seconds, seed) = match arguments.as_slice() {
        [target, seconds] => (targets(target), seconds.parse(), Ok(1)),
        [target, seconds, seed] => (targets(target), seconds.parse(), seed.parse()),
        _ => (Vec::new(), Ok(0), Ok(0)),
    };
    let (Ok(seconds), Ok(seed), false) = (seconds, seed, targets.is_empty()) else {
        eprintln!("usage: avr-tvar-fuzz hex|elf|ron|formula|verify|all SECONDS [SEED]");
        return ExitCode::from(2);
    };
    let is_well = |target: &Target| run(*target, seconds, seed);
    if targets.iter().all(is_well) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn targets(name: &str) -> Vec<Target> {
    Target::ALL.into_iter().filter(|target| name == "all" || target.name() == name).collect()
}

/// Feeds a target; whether all is well.
fn run(target: Target, seconds: u64, seed: u64) -> bool {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let case = PathBuf::from(format!("fuzz-{}-{seed}.case", target.name()));
    let current = Current::default();
    let end = move |what: &str| {
        eprintln!("an input of {} {what}", target.name());
        std::process::exit(1);
    };
    LIMITS.watch(current.clone(), || ALLOCATOR.allocated(), case.clone(), end);
    let amount = Amount::Time(Duration::from_secs(seconds));
    // Formulas are trees of limited depth, for which the main thread's stack is small.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let work = {
        let current = current.clone();
        thread.spawn(move || feed(target, &corpus, seed, amount, &current))
    };
    match work.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(fed))) => {
            eprintln!("{}: {fed} inputs, at most {} MiB", target.name(), ALLOCATOR.max_allocated() >> 20);
            true
        }
        Ok(Err(_)) => {
            let saved = current.get().is_some_and(|(_, input)| std::fs::write(&case, input).is_ok());
            eprintln!("{}: see {}", target.name(), if saved { case.display().to_string() } else { "above".to_owned() });
            false
        }
        Ok(Ok(Err(error))) | Err(error) => {
            eprintln!("{}: {error}", target.name());
            false
        }
    }
}
