//! Compares the executor of `avr-machine` with libsimavr: exhaustively where operands can be enumerated, from random
//! states for every opcode, and over whole programs. `tests/oracle/run.sh` builds the other end and runs this.
//!
//!     simavr-oracle STEPPER REGRESSIONS [--seed N] [--falsify FLAG]
//!
//! Ends with exit code 1 when something differs that no known error of libsimavr explains, or fewer than
//! [`FEWEST_STEPS`] steps were compared. It does so too when a known error was not met, or a flag that was falsified on
//! purpose goes unnoticed. With `--falsify H` the flag H is given wrongly for one pair of operands: then the run must
//! fail.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "the report is what the program is for")]

mod exceptions;
mod executor;
mod exhaustive;
mod generator;
mod opcodes;
mod ports;
mod programs;
mod stepper;
mod tally;
mod third_voice;
mod wire;

use avr_testkit::Random;
use exceptions::EXCEPTIONS;
use executor::Executor;
use opcodes::Amount;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use stepper::Stepper;
use tally::Tally;

/// The fewest compared steps of a run.
const FEWEST_STEPS: u64 = 100_000_000;
/// Opcodes from random states: this many placements of each, and states for each placement.
const OPCODES: Amount = Amount { rounds: 10, states: 40 };
/// Random contents of the registers of the ports.
const PORT_ROUNDS: u32 = 200;
/// Generated programs.
const PROGRAMS: u32 = 3000;
/// The flags, bit 0 first.
const FLAGS: &str = "CZNVSHTI";

/// The command line.
struct Arguments {
    stepper: PathBuf,
    regressions: PathBuf,
    seed: u64,
    falsified: Option<u8>,
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let (stepper, regressions) = (arguments.next()?.into(), arguments.next()?.into());
        let mut parsed = Self { stepper, regressions, seed: 1, falsified: None };
        while let Some(option) = arguments.next() {
            let value = arguments.next()?;
            match option.as_str() {
                "--seed" => parsed.seed = value.parse().ok()?,
                "--falsify" => parsed.falsified = Some(FLAGS.find(&value)? as u8),
                _ => return None,
            }
        }
        Some(parsed)
    }
}

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("usage: simavr-oracle STEPPER REGRESSIONS [--seed N] [--falsify C|Z|N|V|S|H|T|I]");
        return ExitCode::from(2);
    };
    match run(&arguments) {
        Ok(tally) => report(&tally),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<Tally, Box<dyn Error>> {
    let mut stepper = Stepper::start(&arguments.stepper)?;
    let mut executor = Executor::new(arguments.falsified)?;
    let mut random = Random::new(arguments.seed);
    let mut tally = Tally::default();
    notice_falsified_flags(&mut stepper, &mut tally)?;
    exhaustive::compare(&mut stepper, &mut executor, &exhaustive::layout(), &mut tally)?;
    opcodes::compare((&mut stepper, &mut executor), OPCODES, &mut random, &mut tally)?;
    opcodes::refuse_undefined(&mut executor, &mut tally);
    ports::compare((&mut stepper, &mut executor), PORT_ROUNDS, &mut random, &mut tally)?;
    programs::compare_kept((&mut stepper, &mut executor), &arguments.regressions, &mut tally)?;
    programs::compare_generated((&mut stepper, &mut executor), PROGRAMS, &mut random, &mut tally)?;
    third_voice::compare((&mut stepper, &mut executor), &mut tally)?;
    stepper.finish()?;
    check_completeness(&mut tally);
    Ok(tally)
}

/// Proves that the comparison can fail: each flag, given wrongly for one of 65,536 pairs of operands, is a difference.
fn notice_falsified_flags(stepper: &mut Stepper, tally: &mut Tally) -> Result<(), Box<dyn Error>> {
    for (flag, name) in (0..).zip(FLAGS.chars()) {
        let mut trial = Tally::default();
        exhaustive::compare(stepper, &mut Executor::new(Some(flag))?, &exhaustive::one_block(), &mut trial)?;
        if trial.differences() != 1 {
            tally.difference(|| format!("flag {name}, falsified once, gives {} differences", trial.differences()));
        }
    }
    tally.compared("falsified flags, each noticed", FLAGS.len() as u64);
    Ok(())
}

fn check_completeness(tally: &mut Tally) {
    for exception in &EXCEPTIONS {
        if !tally.has_excepted(exception.name) {
            tally.difference(|| format!("the exception {} was not met; is it still needed?", exception.name));
        }
    }
    let total = tally.total();
    if total < FEWEST_STEPS {
        tally.difference(|| format!("only {total} steps were compared, fewer than {FEWEST_STEPS}"));
    }
}

fn report(tally: &Tally) -> ExitCode {
    println!("{tally}\nKnown errors of libsimavr 1.6:");
    for exception in &EXCEPTIONS {
        println!("  {}: {}", exception.name, exception.decided_by);
    }
    ExitCode::from(u8::from(tally.differences() > 0))
}
