//! Prints `docs/precision-of-instructions.md`: how often the three-valued result of an instruction is not optimal.
//!
//! `cargo run --release -p avr-machine --example precision_table > docs/precision-of-instructions.md`
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;

use avr_isa::{DataAddress, FlashWordAddress, Instruction, Register};
use avr_machine::device::Device;
use avr_machine::{
    Control, Demand, DeterminedBy, Environment, Input, Machine, MachineState, Options, Program, Question,
};
use avr_testkit::Random;
use three_valued::{ByteDomain, TvByte};

/// Random operands for each instruction.
const SAMPLES: u32 = 20_000;
/// SREG: the flags that enter operations are C and Z.
const STATUS: DataAddress = DataAddress(0x5f);
const CARRY_AND_ZERO: u8 = 0x03;
/// The flags that operations on values write, as the columns have them: bit number and name.
const FLAGS: [(u8, &str); 6] = [(5, "H"), (4, "S"), (3, "V"), (2, "N"), (1, "Z"), (0, "C")];

/// Nothing is asked by instructions that only compute.
struct NoQuestions;

impl<V: ByteDomain> Environment<V> for NoQuestions {
    fn input(&mut self, source: Input, _mask: u8, _demand: Demand, _: DeterminedBy) -> V {
        unreachable!("an instruction that only computes asks for {source:?}")
    }

    fn choose(&mut self, _count: usize) -> usize {
        unreachable!("no interrupt is enabled")
    }

    fn case(&mut self, _count: usize, about: Question<'_, V>) -> usize {
        unreachable!("an instruction that only computes asks about {about:?}")
    }
}

/// A byte of which the bits in `mask` are 0, 1 or unknown, each as often, and the others 0.
fn byte(random: &mut Random, mask: u8) -> TvByte {
    (0..8).filter(|bit| mask >> bit & 1 == 1).fold(TvByte::ZERO, |byte, bit| match random.below(3) {
        0 => byte,
        1 => TvByte::new(byte.value() | 1 << bit, byte.known_mask()),
        _ => byte.forget(1 << bit),
    })
}

/// The number of results with a part that was not optimal.
#[derive(Default)]
struct Losses {
    registers: u32,
    flags: [u32; 8],
}

/// The cells that an instruction may read, with their contents.
type Operands = Vec<(DataAddress, TvByte)>;

fn step<V: ByteDomain>(machine: &Machine, state: &mut MachineState<V>, place: u32) {
    state.control = Control { pc: FlashWordAddress(place), ..Control::default() };
    machine.step(state, &mut NoQuestions).expect("instructions that only compute are always possible");
}

/// The most precise three-valued result: the join of the results of all concrete operands.
fn optimum(machine: &Machine, place: u32, operands: &Operands, results: &[DataAddress]) -> Vec<TvByte> {
    let mut state: MachineState<u8> = MachineState::new(machine.cells(), 0);
    let mut all: Option<Vec<TvByte>> = None;
    let mut next = Some(vec![0u8; operands.len()]);
    while let Some(free) = next {
        for ((address, byte), free) in operands.iter().zip(&free) {
            state.data.set(*address, byte.value() | free);
        }
        step(machine, &mut state, place);
        let found: Vec<TvByte> = results.iter().map(|cell| TvByte::constant(*state.data.get(*cell))).collect();
        all = Some(match all {
            None => found,
            Some(all) => all.iter().zip(&found).map(|(all, one)| all.join(one)).collect(),
        });
        next = following(free, operands);
    }
    all.unwrap_or_default()
}

/// The next choice of the unknown bits: counts through them, the first operand fastest.
fn following(mut free: Vec<u8>, operands: &Operands) -> Option<Vec<u8>> {
    for (bits, (_, byte)) in free.iter_mut().zip(operands) {
        *bits = (*bits | byte.known_mask()).wrapping_add(1) & byte.unknown_mask();
        if *bits != 0 {
            return Some(free);
        }
    }
    None
}

/// Compares the result of random operands with the optimum.
fn measure(machine: &Machine, place: u32, instruction: Instruction, random: &mut Random) -> Losses {
    let cells = |set: avr_isa::RegisterSet| set.iter().map(|one| one.address()).collect::<Vec<_>>();
    let inputs = cells(instruction.registers_read());
    let results: Vec<DataAddress> = cells(instruction.registers_written()).into_iter().chain([STATUS]).collect();
    let mut losses = Losses::default();
    for _ in 0..SAMPLES {
        let mut operands: Operands = inputs.iter().map(|cell| (*cell, byte(random, 0xff))).collect();
        operands.push((STATUS, byte(random, CARRY_AND_ZERO & instruction.flags_read().bits())));
        let mut state = MachineState::new(machine.cells(), TvByte::ZERO);
        operands.iter().for_each(|(cell, byte)| state.data.set(*cell, *byte));
        step(machine, &mut state, place);
        let optimum = optimum(machine, place, &operands, &results);
        count(&state, &results, &optimum, &mut losses);
    }
    losses
}

fn count(state: &MachineState<TvByte>, results: &[DataAddress], optimum: &[TvByte], losses: &mut Losses) {
    let lost = |cell: DataAddress, best: TvByte| {
        let found = *state.data.get(cell);
        assert!(found.covers(best), "{found} does not cover {best}: the step is not sound");
        best.known_mask() & !found.known_mask()
    };
    let mut pairs = results.iter().zip(optimum);
    losses.registers += u32::from(pairs.any(|(cell, best)| *cell != STATUS && lost(*cell, *best) != 0));
    let status = optimum.last().map_or(0, |best| lost(STATUS, *best));
    losses.flags.iter_mut().zip(0..).for_each(|(count, flag)| *count += u32::from(status >> flag & 1));
}

/// The instructions that compute with values, with the names for their operands.
fn instructions() -> Vec<(&'static str, Instruction)> {
    use Instruction as I;
    let (rd, rr, low) = (Register::from_low_bits(16), Register::from_low_bits(17), Register::from_low_bits(24));
    let k = 0x35;
    vec![
        ("ADD", I::Add { rd, rr }),
        ("ADC", I::Adc { rd, rr }),
        ("ADD Rd, Rd (LSL)", I::Add { rd, rr: rd }),
        ("ADC Rd, Rd (ROL)", I::Adc { rd, rr: rd }),
        ("ADIW Rd, 0x35", I::Adiw { rd: low, k }),
        ("SUB", I::Sub { rd, rr }),
        ("SUBI Rd, 0x35", I::Subi { rd, k }),
        ("SBC", I::Sbc { rd, rr }),
        ("SBC Rd, Rd", I::Sbc { rd, rr: rd }),
        ("SBCI Rd, 0x35", I::Sbci { rd, k }),
        ("SBIW Rd, 0x35", I::Sbiw { rd: low, k }),
        ("CP", I::Cp { rd, rr }),
        ("CPC", I::Cpc { rd, rr }),
        ("CPI Rd, 0x35", I::Cpi { rd, k }),
        ("AND", I::And { rd, rr }),
        ("AND Rd, Rd (TST)", I::And { rd, rr: rd }),
        ("ANDI Rd, 0x35", I::Andi { rd, k }),
        ("OR", I::Or { rd, rr }),
        ("ORI Rd, 0x35", I::Ori { rd, k }),
        ("EOR", I::Eor { rd, rr }),
        ("EOR Rd, Rd (CLR)", I::Eor { rd, rr: rd }),
        ("COM", I::Com { rd }),
        ("NEG", I::Neg { rd }),
        ("INC", I::Inc { rd }),
        ("DEC", I::Dec { rd }),
        ("LSR", I::Lsr { rd }),
        ("ROR", I::Ror { rd }),
        ("ASR", I::Asr { rd }),
        ("SWAP", I::Swap { rd }),
        ("MUL", I::Mul { rd, rr }),
        ("MUL Rd, Rd", I::Mul { rd, rr: rd }),
        ("MULS", I::Muls { rd, rr }),
        ("MULSU", I::Mulsu { rd, rr }),
        ("FMUL", I::Fmul { rd, rr }),
        ("FMULS", I::Fmuls { rd, rr }),
        ("FMULSU", I::Fmulsu { rd, rr }),
    ]
}

/// A share of the samples as the table shows it.
fn share(count: u32) -> String {
    match count {
        0 => "0".to_owned(),
        _ => format!("{:.2} %", 100.0 * f64::from(count) / f64::from(SAMPLES)),
    }
}

fn row(name: &str, instruction: Instruction, losses: &Losses) -> String {
    let written = instruction.flags_written();
    let registers =
        if instruction.registers_written().bits() == 0 { "–".to_owned() } else { share(losses.registers) };
    let flag = |flag: u8| match written.contains(flag) {
        true => share(losses.flags[usize::from(flag)]),
        false => "–".to_owned(),
    };
    let flags: Vec<String> = FLAGS.iter().map(|(number, _)| flag(*number)).collect();
    format!("| {name} | {registers} | {} |", flags.join(" | "))
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::named("atmega328p")?;
    let instructions = instructions();
    let words: Vec<u16> = instructions
        .iter()
        .map(|(_, instruction)| instruction.encode().map(|code| code.first))
        .collect::<Result<_, _>>()?;
    let program =
        Program::decode(device.memory.flash_words(), device.core.features, |at| words.get(at as usize).copied());
    let machine = Machine::new(device, program, Options::default());
    println!(
        "# How precise the instructions are\n\n\
         How often the three-valued result of an instruction knows less than it could. The optimum is the join of\n\
         the results of all concrete operands; the table counts the results of which some bit is known there and\n\
         unknown in ours. Every result is also checked to be sound. Operands are drawn so that each bit is 0, 1 or\n\
         unknown equally often, {SAMPLES} for each instruction; C and Z likewise where they enter. \"–\": not written,\n\
         0: never.\n\n\
         Made by `cargo run --release -p avr-machine --example precision_table`.\n"
    );
    println!("| instruction | registers | {} |", FLAGS.map(|(_, name)| name).join(" | "));
    println!("|---|{}", "---|".repeat(1 + FLAGS.len()));
    let mut random = Random::new(0x5eed);
    for (place, (name, instruction)) in (0..).zip(&instructions) {
        println!("{}", row(name, *instruction, &measure(&machine, place, *instruction, &mut random)));
    }
    Ok(())
}
