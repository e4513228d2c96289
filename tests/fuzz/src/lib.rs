//! Inputs that nobody meant: the files of a corpus altered at random, and random programs. Whatever they are, what reads them
//! must not panic, hang or take memory without a limit, and what verifies them must not contradict itself.
//!
//! Runs on stable Rust and repeats exactly for a seed.
#![forbid(unsafe_code)]

mod alter;
mod corpus;
mod target;
mod watch;

pub use corpus::Corpus;
pub use target::Target;
pub use watch::{Current, Taken, Watchdog};

use avr_testkit::Random;
use std::path::Path;
use std::time::{Duration, Instant};

/// The amount of input that a target gets.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    /// So many altered inputs.
    Inputs(u64),
    /// This long.
    Time(Duration),
}

/// Feeds every input of the corpus to a target as it is, and then altered ones; how many.
///
/// # Panics
/// If the target does, or contradicts itself; `current` has the input then.
///
/// # Errors
/// If the corpus cannot be read.
pub fn feed(
    target: Target,
    corpus: &Path,
    seed: u64,
    amount: Amount,
    current: &Current,
) -> Result<u64, std::io::Error> {
    let corpus = Corpus::read(&corpus.join(target.name()))?;
    let mut random = Random::new(seed);
    let begun = Instant::now();
    let mut fed = 0;
    for input in corpus.inputs() {
        current.begin(input);
        target.take(input);
        fed += 1;
    }
    let mut altered = 0;
    loop {
        let enough = match amount {
            Amount::Inputs(inputs) => altered >= inputs,
            Amount::Time(time) => begun.elapsed() >= time,
        };
        if enough {
            current.end();
            return Ok(fed + altered);
        }
        let input = alter::altered(&corpus, &mut random);
        current.begin(&input);
        target.take(&input);
        altered += 1;
    }
}
