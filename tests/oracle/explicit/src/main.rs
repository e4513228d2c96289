//! Compares the verdicts of the verifier with those of an explicit-state model checker that shares nothing with it: random
//! tiny programs with interrupts, and random formulas about them. `tests/oracle/explicit/run` runs it.
//!
//!     explicit-oracle [--programs N] [--seed N] [--falsify FAULT]
//!
//! Every program has a seed of its own, the numbers from the given one on. Ends with exit code 1 when a verdict
//! contradicts what is so. With `--falsify` the oracle itself is wrong in one thing, which must be found then.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the report is what the program is for")]

mod ask;
mod board;
mod compare;
mod formula;
mod generate;
mod graph;
mod linear;
mod machine;
mod program;
mod solve;
mod state;
#[cfg(test)]
mod tests;

use compare::Counts;
use machine::Fault;
use std::process::ExitCode;
use std::time::Instant;

/// The most contradictions that are printed in full.
const PRINTED: usize = 20;

/// The command line.
struct Arguments {
    programs: u64,
    seed: u64,
    fault: Option<Fault>,
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut parsed = Self { programs: 3000, seed: 1, fault: None };
        while let Some(option) = arguments.next() {
            let value = arguments.next()?;
            match option.as_str() {
                "--programs" => parsed.programs = value.parse().ok()?,
                "--seed" => parsed.seed = value.parse().ok()?,
                "--falsify" => {
                    let mut all = Fault::ALL.into_iter();
                    parsed.fault = Some(all.find(|fault| format!("{fault:?}") == value)?);
                }
                _ => return None,
            }
        }
        Some(parsed)
    }
}

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        let faults: Vec<String> = Fault::ALL.iter().map(|fault| format!("{fault:?}")).collect();
        eprintln!("usage: explicit-oracle [--programs N] [--seed N] [--falsify {}]", faults.join("|"));
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let mut counts = Counts::default();
    // Programs that are left out do not count, but there is an end to them.
    let mut seed = arguments.seed;
    while counts.programs < arguments.programs && seed < arguments.seed + 3 * arguments.programs + 10 {
        compare::run([seed], arguments.fault, &mut counts);
        seed += 1;
    }
    report(&counts, started.elapsed().as_secs_f64());
    if counts.programs < arguments.programs {
        println!("too few programs could be looked at");
        return ExitCode::FAILURE;
    }
    if counts.contradictions.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(counts: &Counts, seconds: f64) {
    for contradiction in counts.contradictions.iter().take(PRINTED) {
        println!("{contradiction}");
    }
    let Counts { programs, states, properties, sharp, .. } = counts;
    println!("{programs} programs with {states} states, {properties} properties, {sharp} of them sharp");
    let share = 100.0 * counts.unknown as f64 / counts.properties.max(1) as f64;
    println!("agreed: {} hold, {} violated; unknown: {} ({share:.1} %)", counts.holds, counts.violated, counts.unknown);
    for (method, count) in &counts.methods {
        println!("  decided with {method}: {count}");
    }
    for (reason, (count, example)) in &counts.reasons {
        println!("  unknown {count}: {reason}, as with {example}");
    }
    for (reason, count) in &counts.left_out {
        println!("  left out {count}: {reason}");
    }
    let verifying = counts.verifying.as_secs_f64();
    println!(
        "{} contradictions, {seconds:.1} s, {verifying:.1} s of them in the verifier",
        counts.contradictions.len()
    );
}
