//! Whole programs: generated ones and kept ones run in both, and their final states are compared.

use crate::executor::Executor;
use crate::generator::{Generated, generate};
use crate::opcodes::{Io, memory, operand};
use crate::stepper::Stepper;
use crate::tally::Tally;
use crate::wire::{DATA_CELLS, End, FLASH_WORDS, Flash, Start};
use avr_testkit::Random;
use std::path::Path;
use std::{fs, io};

/// The most steps of a program. Those that have not ended are compared where they are then.
const MOST_STEPS: u32 = 20_000;

/// A program with the seed of its initial state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The reason for which it is kept.
    pub why: String,
    /// Seed of registers, SREG and memory.
    pub seed: u64,
    /// The program.
    pub program: Generated,
}

/// A line of a kept program that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: '{text}' is neither `# why`, `seed NUMBER`, `stop HEX` nor hexadecimal words")]
pub struct BadLine {
    line: usize,
    text: String,
}

impl Case {
    /// Reads a kept program.
    ///
    /// # Errors
    /// The first line that is not as [`Self::text`] writes it.
    pub fn parse(text: &str) -> Result<Self, BadLine> {
        let program = Generated { words: Vec::new(), stop: 0 };
        let mut case = Self { why: String::new(), seed: 0, program };
        for (index, line) in text.lines().enumerate() {
            let bad = || BadLine { line: index + 1, text: line.to_owned() };
            if let Some(why) = line.strip_prefix('#') {
                case.why.push_str(why.trim());
            } else if let Some(seed) = line.strip_prefix("seed ") {
                case.seed = seed.parse().map_err(|_| bad())?;
            } else if let Some(stop) = line.strip_prefix("stop ") {
                case.program.stop = u16::from_str_radix(stop, 16).map_err(|_| bad())?;
            } else {
                let words = line.split_whitespace().map(|word| u16::from_str_radix(word, 16).map_err(|_| bad()));
                case.program.words.extend(words.collect::<Result<Vec<_>, _>>()?);
            }
        }
        Ok(case)
    }

    /// As the file of a kept program.
    pub fn text(&self) -> String {
        let line = |words: &[u16]| words.iter().map(|word| format!("{word:04x}")).collect::<Vec<_>>().join(" ");
        let words: Vec<String> = self.program.words.chunks(16).map(line).collect();
        format!("# {}\nseed {}\nstop {:04x}\n{}\n", self.why, self.seed, self.program.stop, words.join("\n"))
    }

    fn flash(&self) -> Box<Flash> {
        let mut flash = Box::new([0xffff; FLASH_WORDS]);
        flash[..self.program.words.len()].copy_from_slice(&self.program.words);
        flash
    }
}

/// Runs the kept programs in `directory`.
///
/// # Errors
/// If the stepper fails or a file cannot be read.
pub fn compare_kept(
    (stepper, executor): (&mut Stepper, &mut Executor),
    directory: &Path,
    tally: &mut Tally,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut paths: Vec<_> =
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "words"));
    paths.sort();
    for path in &paths {
        let text = fs::read_to_string(path)?;
        let case = Case::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let steps = compare(stepper, executor, &case, tally)?;
        tally.compared("whole programs that are kept", steps.into());
    }
    match paths.len() {
        0 => Err(format!("{}: no kept programs", directory.display()).into()),
        _ => Ok(()),
    }
}

/// Generates and runs so many programs.
///
/// # Errors
/// If the stepper fails.
pub fn compare_generated(
    (stepper, executor): (&mut Stepper, &mut Executor),
    programs: u32,
    random: &mut Random,
    tally: &mut Tally,
) -> io::Result<()> {
    for _ in 0..programs {
        let seed = random.bits() >> 32;
        let program = generate(random);
        let case = Case { why: "found by the generator".to_owned(), seed, program };
        let steps = compare(stepper, executor, &case, tally)?;
        tally.compared("whole programs that are generated", steps.into());
    }
    Ok(())
}

/// Gives the steps that libsimavr made.
fn compare(stepper: &mut Stepper, executor: &mut Executor, case: &Case, tally: &mut Tally) -> io::Result<u32> {
    let flash = case.flash();
    let mut random = Random::new(case.seed);
    let memory: [u8; DATA_CELLS] = memory(&Io::of(executor.device()), &mut random);
    let start = Start {
        registers: std::array::from_fn(|_| operand(&mut random)),
        status: random.byte(),
        stack_pointer: 0x8ff,
        pc: 0,
    };
    stepper.load(&flash)?;
    stepper.set_memory(&memory)?;
    executor.load(&flash);
    executor.set_memory(&memory);
    let theirs = stepper.run(&start, case.program.stop, MOST_STEPS)?;
    let ours = executor.run(&start, case.program.stop, MOST_STEPS);
    if theirs.pc != u32::from(case.program.stop) {
        tally.leave_out("programs compared after 20,000 steps, not at their end");
    }
    if ours.as_ref() != Ok(&theirs) {
        tally.difference(|| format!("{}\n{}", contrast(&ours, &theirs), case.text()));
    }
    Ok(theirs.steps)
}

fn contrast(ours: &Result<End, String>, theirs: &End) -> String {
    let ours = match ours {
        Ok(ours) => ours,
        Err(why) => return why.clone(),
    };
    let facts = |end: &End| (end.steps, end.cycles, end.pc);
    let cells = ours.data.iter().zip(&theirs.data).enumerate().filter(|(_, (ours, theirs))| ours != theirs);
    let cells = cells.map(|(address, (ours, theirs))| format!(" [{address:#x}] {ours:#x} {theirs:#x}"));
    let cells: String = cells.take(8).collect();
    format!(
        "ours {:x?}, simavr {:x?} (steps, cycles, PC); cells, ours and simavr's:{cells}",
        facts(ours),
        facts(theirs)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_programs_read_back_as_written() {
        let program = generate(&mut Random::new(11));
        let case = Case { why: "some reason".to_owned(), seed: 17, program };
        assert_eq!(Case::parse(&case.text()).expect("its own text"), case);
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = Case::parse("# why\nseed 1\nxyz\n").expect_err("xyz is no number");
        assert_eq!(error.line, 3);
    }
}
