//! Prints the number of instructions a second that the executor takes with concrete values on one core, by kind of
//! instruction.
//!
//! `cargo run --release -p avr-machine --example concrete_speed`
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;
use std::time::Instant;

use avr_isa::{Instruction, LpmMode, Pointer, PointerMode, Register};
use avr_machine::device::Device;
use avr_machine::{Demand, DeterminedBy, Environment, Input, Machine, Options, Program, Question};

/// Each kind is timed this often, and the best counts: other work on the machine only ever slows a slice down.
const SLICES: u32 = 40;
/// Instructions of a slice.
const STEPS: u32 = 500_000;

/// A world in which nothing happens.
struct Silence;

impl Environment<u8> for Silence {
    fn input(&mut self, _source: Input, _mask: u8, _demand: Demand, _: DeterminedBy) -> u8 {
        0
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }
}

/// The bodies of endless loops.
fn kinds() -> Vec<(&'static str, Vec<Instruction>)> {
    use Instruction as I;
    let register = Register::from_low_bits;
    let (rd, rr, x) = (register(16), register(17), Pointer::X);
    let back = |words: i16| I::Rjmp { offset: -words - 1 };
    vec![
        (
            "arithmetic",
            vec![I::Add { rd, rr }, I::Adc { rd, rr }, I::Subi { rd, k: 3 }, I::Sbci { rd: rr, k: 0 }, back(4)],
        ),
        ("logic", vec![I::And { rd, rr }, I::Or { rd, rr }, I::Eor { rd: rr, rr: rd }, I::Com { rd }, back(4)]),
        (
            "moves",
            vec![I::Ldi { rd, k: 1 }, I::Mov { rd, rr }, I::Movw { rd, rr: register(18) }, I::Swap { rd }, back(4)],
        ),
        ("word arithmetic", vec![I::Adiw { rd: register(24), k: 5 }, I::Sbiw { rd: register(24), k: 1 }, back(2)]),
        ("multiplication", vec![I::Mul { rd, rr }, I::Muls { rd, rr }, I::Fmul { rd, rr }, back(3)]),
        ("branches", vec![I::Dec { rd }, I::Brbc { flag: 1, offset: 0 }, I::Brbs { flag: 1, offset: 0 }, back(3)]),
        ("skips", vec![I::Cpse { rd, rr }, I::Nop, I::Sbrc { rr, bit: 2 }, I::Nop, back(4)]),
        ("calls", vec![I::Rcall { offset: 1 }, back(1), I::Ret]),
        ("stack", vec![I::Push { rr }, I::Push { rr: rd }, I::Pop { rd }, I::Pop { rd: rr }, back(4)]),
        (
            "memory",
            vec![
                I::Ldi { rd: x.low(), k: 0 },
                I::Ldi { rd: x.high(), k: 2 },
                I::St { pointer: x, mode: PointerMode::PostIncrement, rr },
                I::Ld { rd, pointer: x, mode: PointerMode::PreDecrement },
                back(4),
            ],
        ),
        ("flash", vec![I::Lpm { rd, mode: LpmMode::Plain }, back(1)]),
        ("plain I/O", vec![I::In { rd, io: 0x1e }, I::Out { io: 0x1e, rr }, I::Sbi { io: 0x1e, bit: 1 }, back(3)]),
        ("port I/O", vec![I::In { rd, io: 0x03 }, I::Out { io: 0x05, rr }, I::Sbi { io: 0x05, bit: 1 }, back(3)]),
        ("SREG saved", vec![I::In { rd, io: 0x3f }, I::Bclr { flag: 7 }, I::Out { io: 0x3f, rr: rd }, back(3)]),
    ]
}

/// Runs a loop and gives the best rate of a slice in instructions per second.
fn rate(device: &'static Device, body: &[Instruction]) -> Result<f64, Box<dyn Error>> {
    let mut words = Vec::new();
    for instruction in body {
        let code = instruction.encode()?;
        words.push(code.first);
        words.extend(code.second);
    }
    let program =
        Program::decode(device.memory.flash_words(), device.core.features, |at| words.get(at as usize).copied());
    let machine = Machine::new(device, program, Options::default());
    let mut state = machine.power_on(&mut Silence);
    let mut best = 0.0f64;
    for _ in 0..SLICES {
        let started = Instant::now();
        for _ in 0..STEPS {
            machine.step(&mut state, &mut Silence).map_err(|stop| format!("{stop:?}"))?;
        }
        best = best.max(f64::from(STEPS) / started.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::named("atmega328p")?;
    for (name, body) in kinds() {
        println!("{name:>16}: {:6.1} million instructions a second", rate(device, &body)? / 1e6);
    }
    Ok(())
}
