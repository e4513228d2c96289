//! The effects of instructions on registers and flags.

use crate::control_flow::Flow;
use avr_isa::Instruction;
use avr_machine::{Fetched, Program};

/// Registers and flags: bit n is rn, bit 32 + n is the flag with bit n in SREG.
pub type Cells = u64;

/// Every register and flag.
pub(crate) const ALL: Cells = (1 << 40) - 1;
/// The registers.
pub(crate) const REGISTERS: Cells = (1 << 32) - 1;
/// I/O address of SREG.
const SREG: u8 = 0x3f;

/// What an instruction does to registers and flags, and where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) read: Cells,
    pub(crate) written: Cells,
    /// Of the registers that it reads, the one that it stores: what it writes into registers does not hang on it.
    pub(crate) stored: Cells,
    /// The pointer registers that it goes through.
    pub(crate) pointers: Cells,
    pub(crate) flow: Flow,
}

/// The effect of the instruction at a flash word address; none where there is no instruction.
pub(crate) fn effect(program: &Program, address: u32) -> Option<Effect> {
    let Fetched::Instruction { instruction, words, .. } = program.fetch(address) else { return None };
    let flags = |bits: u8| Cells::from(bits) << 32;
    let mut read = Cells::from(instruction.registers_read().bits()) | flags(instruction.flags_read().bits());
    let mut written = Cells::from(instruction.registers_written().bits()) | flags(instruction.flags_written().bits());
    match instruction {
        Instruction::In { io: SREG, .. } => read |= flags(0xff),
        Instruction::Out { io: SREG, .. } => written |= flags(0xff),
        Instruction::Lds { address, .. } if address == u16::from(SREG) + 0x20 => read |= flags(0xff),
        // A register combined with itself is a constant.
        Instruction::Eor { rd, rr } | Instruction::Sub { rd, rr } if rd == rr => {
            read &= !(1 << rd.index());
        }
        _ => {}
    }
    Some(Effect {
        read,
        written,
        stored: stored(instruction),
        pointers: pointers(instruction),
        flow: Flow::of(program, instruction, address, words),
    })
}

/// The register that a store through a pointer stores, unless it is part of the pointer.
fn stored(instruction: Instruction) -> Cells {
    match instruction {
        Instruction::St { pointer, rr, .. } => (1 << rr.index()) & !(0b11 << pointer.low().index()),
        _ => 0,
    }
}

/// The pointer registers that an instruction accesses data or flash through, or jumps through.
fn pointers(instruction: Instruction) -> Cells {
    let pair = |low: u8| 0b11 << low;
    match instruction {
        Instruction::Ld { pointer, .. } | Instruction::St { pointer, .. } => pair(pointer.low().index()),
        Instruction::Lpm { .. }
        | Instruction::Elpm { .. }
        | Instruction::Spm
        | Instruction::Ijmp
        | Instruction::Eijmp
        | Instruction::Icall
        | Instruction::Eicall => pair(30),
        _ => 0,
    }
}
