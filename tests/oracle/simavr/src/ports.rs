//! The ports with libsimavr's own port module connected: pins read as what drives them, writing PINx toggles PORTx.

use crate::exceptions::Step;
use crate::executor::Executor;
use crate::opcodes::{PINS, compare_step};
use crate::stepper::Stepper;
use crate::tally::Tally;
use crate::wire::{DATA_CELLS, FLASH_WORDS, Flash, MOST_CHANGES, Outcome, Start};
use avr_isa::{Instruction, Register};
use avr_testkit::Random;
use std::io;

/// The register that IN and OUT use.
const OPERAND: Register = Register::from_low_bits(16);
/// I/O addresses of the nine registers of the ports.
const PORTS: std::ops::RangeInclusive<u8> = 0x03..=0x0b;

/// Every instruction on the ports, each followed by a NOP, with their places.
fn image() -> (Box<Flash>, Vec<(u16, Instruction)>) {
    use Instruction as I;
    let mut all = Vec::new();
    for io in PORTS {
        all.extend([I::In { rd: OPERAND, io }, I::Out { io, rr: OPERAND }]);
        for bit in (0..8).filter(|bit| exists(io, *bit)) {
            all.extend([I::Sbi { io, bit }, I::Cbi { io, bit }, I::Sbic { io, bit }, I::Sbis { io, bit }]);
        }
    }
    let mut flash = Box::new([0; FLASH_WORDS]);
    let places = (0..all.len()).map(|index| 2 * index as u16);
    for (place, instruction) in places.clone().zip(&all) {
        flash[usize::from(place)] =
            instruction.encode().expect("the instructions of this list have machine codes").first;
    }
    (flash, places.zip(all).collect())
}

/// Port C has no bit 7.
fn exists(io: u8, bit: u8) -> bool {
    !(6..=8).contains(&io) || bit != 7
}

/// Random content of the registers of the ports; everything else is 0.
fn memory(random: &mut Random) -> [u8; DATA_CELLS] {
    let mut memory = [0; DATA_CELLS];
    for io in PORTS {
        let mask = if exists(io, 7) { 0xff } else { 0x7f };
        memory[usize::from(io) + 0x20] = random.byte() & mask;
    }
    memory
}

/// The value that a read of each PINx gives: an output reads as it is driven (data sheet, Reading the Pin Value).
fn pins(memory: &[u8; DATA_CELLS]) -> [u8; 3] {
    PINS.map(|pin| {
        let cell = |distance: u16| memory[usize::from(pin + distance)];
        let (level, output, driven) = (cell(0), cell(1), cell(2));
        level & !output | driven & output
    })
}

/// Compares every instruction on the ports from random contents of their registers.
///
/// # Errors
/// If the stepper fails.
pub fn compare(
    (stepper, executor): (&mut Stepper, &mut Executor),
    rounds: u32,
    random: &mut Random,
    tally: &mut Tally,
) -> io::Result<()> {
    let (flash, places) = image();
    stepper.load(&flash)?;
    stepper.connect_ports(true)?;
    executor.load(&flash);
    for _ in 0..rounds {
        let memory = memory(random);
        let pins = pins(&memory);
        stepper.set_memory(&memory)?;
        executor.set_memory(&memory);
        executor.set_pins(Some(pins));
        let start = |pc: u16, random: &mut Random| Start {
            registers: [random.byte() & 0x7f; 32],
            status: random.byte(),
            stack_pointer: 0x8ff,
            pc,
        };
        let starts: Vec<Start> = places.iter().map(|(pc, _)| start(*pc, random)).collect();
        for ((start, outcome), (_, instruction)) in starts.iter().zip(stepper.steps(&starts)?).zip(&places) {
            let step = Step { instruction: *instruction, flash: &flash, memory: &memory, start, pins: Some(pins) };
            compare_step(executor, &step, without_hardware(outcome), tally);
        }
        tally.compared("every instruction on the ports", starts.len() as u64);
    }
    executor.set_pins(None);
    stepper.connect_ports(false)
}

/// Leaves out what hardware does to PINx and to the flags of external interrupts: it is an input of ours.
pub fn without_hardware(outcome: Outcome) -> Outcome {
    let kept = |(address, _): &(u16, u8)| (0x23..=0x2b).contains(address) && !PINS.contains(address);
    let told = outcome.changes.into_iter().take(outcome.count.into());
    let changes: Vec<(u16, u8)> = told.filter(kept).collect();
    let mut padded = [(0, 0); MOST_CHANGES];
    padded[..changes.len()].copy_from_slice(&changes);
    Outcome { count: changes.len() as u8, changes: padded, ..outcome }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcodes::features;
    use avr_isa::decode;

    #[test]
    fn every_place_decodes_to_its_instruction() {
        let (flash, places) = image();
        for (place, instruction) in places {
            assert_eq!(decode(flash[usize::from(place)], None, features()), Ok(instruction));
        }
    }
}
