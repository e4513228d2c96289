//! The simulator of avr-gdb (`target sim`) as a third voice where libsimavr is known to be wrong.
//!
//! It has neither ports nor a program counter of 14 bits, so it has no say on the exceptions that concern those: the
//! data sheet alone decides them.

use crate::exceptions::{EXCEPTIONS, Step};
use crate::executor::Executor;
use crate::opcodes::{compare_step, features};
use crate::stepper::Stepper;
use crate::tally::Tally;
use crate::wire::{DATA_CELLS, FLASH_WORDS, Flash, Outcome, Start};
use avr_isa::{Instruction, Pointer, PointerMode, Register, decode};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// Words between the cases in flash.
const DISTANCE: usize = 16;

/// An instruction, with what stands behind it and what registers hold.
#[derive(Clone, Debug)]
struct Case {
    exception: &'static str,
    words: Vec<u16>,
    start: Start,
}

/// One case or more for each exception that avr-gdb can speak on.
fn cases() -> Vec<Case> {
    use Instruction as I;
    let (rd, rr) = (Register::from_low_bits(16), Register::from_low_bits(17));
    let skips = [I::Cpse { rd, rr }, I::Sbrs { rr, bit: 0 }, I::Sbrc { rr, bit: 1 }, I::Sbis { io: 0x1e, bit: 0 }];
    let mut cases = Vec::new();
    for skip in skips {
        for k in [0x0c, 0x1d, 0x2e, 0x3f] {
            for skipped in [I::Adiw { rd: Register::from_low_bits(24), k }, I::Sbiw { rd: Pointer::Y.low(), k }] {
                cases.push(case("skip-over-word-arithmetic", &[skip, skipped, I::Nop, I::Nop], &[(16, 5), (17, 5)]));
            }
        }
    }
    for own in [26, 27] {
        let store = I::St { pointer: Pointer::X, mode: PointerMode::Displacement(0), rr };
        cases.push(case("store-through-x-on-itself", &[store], &[(17, 0x55), (26, own), (27, 0)]));
    }
    (0..).zip(&mut cases).for_each(|(index, case)| case.start.pc = index * DISTANCE as u16);
    cases
}

/// The flash with all cases.
fn flash(cases: &[Case]) -> Box<Flash> {
    let mut flash = Box::new([0; FLASH_WORDS]);
    for case in cases {
        flash[usize::from(case.start.pc)..][..case.words.len()].copy_from_slice(&case.words);
    }
    flash
}

fn case(exception: &'static str, instructions: &[Instruction], registers: &[(usize, u8)]) -> Case {
    let code = |one: &Instruction| one.encode().expect("the instructions of this list have machine codes").first;
    let mut start = Start { registers: [0; 32], status: 0, stack_pointer: 0x8ff, pc: 0 };
    registers.iter().for_each(|(register, value)| start.registers[*register] = *value);
    Case { exception, words: instructions.iter().map(code).collect(), start }
}

/// The script for avr-gdb: one step of each case, and a line with PC and the registers after it.
fn script(cases: &[Case]) -> String {
    let mut script = "set confirm off\nset pagination off\ntarget sim\nload\nbreak *0\nrun\n".to_owned();
    let mut line = |text: String| writeln!(script, "{text}").expect("writing to a string does not fail");
    for case in cases {
        for (register, value) in case.start.registers.iter().enumerate() {
            line(format!("set $r{register} = {value}"));
        }
        // GPIOR0: a bit that SBIS finds set.
        line("set *(unsigned char *)0x80003e = 1\nset $SREG = 0\nset $SP = 0x8ff".to_owned());
        line(format!("set $pc = {}\nstepi", 2 * case.start.pc));
        let registers: String = (0..32).map(|register| format!(", $r{register}")).collect();
        line(format!("printf \"voice %d{}\\n\", $pc{registers}", " %d".repeat(32)));
    }
    script
}

/// PC in words and the registers after each case.
fn ask(cases: &[Case]) -> io::Result<Vec<(u32, Vec<u8>)>> {
    let directory = std::env::temp_dir().join(format!("simavr-oracle-{}", std::process::id()));
    fs::create_dir_all(&directory)?;
    let answer = ask_in(&directory, cases);
    fs::remove_dir_all(&directory)?;
    answer
}

fn ask_in(directory: &Path, cases: &[Case]) -> io::Result<Vec<(u32, Vec<u8>)>> {
    let (binary, elf, commands) =
        (directory.join("cases.bin"), directory.join("cases.elf"), directory.join("commands"));
    let words = &flash(cases)[..cases.len() * DISTANCE];
    fs::write(&binary, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())?;
    fs::write(&commands, script(cases))?;
    let section = ".data=.text,alloc,load,code,readonly,contents";
    let mut copy = Command::new("avr-objcopy");
    copy.args(["-I", "binary", "-O", "elf32-avr", "--rename-section", section]).arg(&binary).arg(&elf);
    if !copy.status()?.success() {
        return Err(io::Error::other("avr-objcopy makes no ELF file"));
    }
    let output = Command::new("avr-gdb").args(["-nx", "-batch", "-x"]).arg(&commands).arg(&elf).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers = |line: &str| line.split(' ').map(|number| number.parse::<u32>().unwrap_or(u32::MAX)).collect();
    let lines = text.lines().filter_map(|line| line.strip_prefix("voice ")).map(numbers);
    let answers = lines.map(|line: Vec<u32>| (line[0] / 2, line[1..].iter().map(|byte| *byte as u8).collect()));
    let answers: Vec<_> = answers.collect();
    match answers.len() == cases.len() {
        true => Ok(answers),
        false => Err(io::Error::other(format!("avr-gdb answered {} of {} cases", answers.len(), cases.len()))),
    }
}

/// Checks on each case that libsimavr is wrong as the exception says, and that avr-gdb agrees with the executor.
///
/// # Errors
/// If a simulator fails or is not there.
pub fn compare((stepper, executor): (&mut Stepper, &mut Executor), tally: &mut Tally) -> io::Result<()> {
    let cases = cases();
    let mut memory = [0; DATA_CELLS];
    memory[0x3e] = 1;
    stepper.set_memory(&memory)?;
    executor.set_memory(&memory);
    let flash = flash(&cases);
    stepper.load(&flash)?;
    executor.load(&flash);
    for (case, (pc, registers)) in cases.iter().zip(ask(&cases)?) {
        let theirs = stepper.steps(&[case.start])?.remove(0);
        let instruction = decode(case.words[0], None, features()).map_err(io::Error::other)?;
        let step = Step { instruction, flash: &flash, memory: &memory, start: &case.start, pins: None };
        compare_step(executor, &step, theirs, tally);
        judge(case, executor.step(&case.start), (pc, &registers), theirs, tally);
    }
    tally.compared("avr-gdb as the third voice on the exceptions", cases.len() as u64);
    Ok(())
}

fn judge(case: &Case, ours: Result<Outcome, String>, gdb: (u32, &[u8]), theirs: Outcome, tally: &mut Tally) {
    let agrees = |outcome: &Outcome| outcome.pc == gdb.0 && outcome.registers[..] == *gdb.1;
    if !ours.as_ref().is_ok_and(agrees) {
        tally.difference(|| format!("avr-gdb has {gdb:x?} after {case:x?}, ours {ours:x?}"));
    }
    if agrees(&theirs) {
        tally.difference(|| format!("libsimavr is right after {case:x?}, so the exception does not hold"));
    }
    debug_assert!(EXCEPTIONS.iter().any(|exception| exception.name == case.exception));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_name_exceptions_and_start_at_an_instruction() {
        for case in cases() {
            assert!(EXCEPTIONS.iter().any(|exception| exception.name == case.exception), "{}", case.exception);
            assert!(decode(case.words[0], None, features()).is_ok());
        }
    }
}
