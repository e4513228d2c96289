//! Differences of a number and a constant, which rows of instructions compute byte by byte.
//!
//! `x++` subtracts -1 from a number: ADIW, or SUBI and SBCI on registers in a row. Where the row begins, the number is resolved to
//! cells of SRAM that the registers were loaded from; a single instruction may also take the registers as they are.
//!
//! SOUND: the row writes nothing but its registers, so the number is the same until its last instruction, before which the environment is
//! told. The ghost is dropped with everything but the instructions of the row, one directly behind the other: an interrupt, a reset
//! or a jump into the row drops it as well.

use super::{REGISTERS, Step};
use crate::comparison::{Comparison, Number, Operand};
use crate::copies::{Copies, Difference, Sum};
use crate::environment::Environment;
use crate::program::Fetched;
use avr_isa::{DataAddress, Instruction, Register};
use three_valued::ByteDomain;

/// The most bytes of a number.
const MOST_BYTES: u8 = 4;

/// A row of instructions that subtracts a constant.
struct Row {
    first: Register,
    bytes: u8,
    /// The constant, without a sign.
    constant: u64,
    instructions: u8,
    /// True if what goes to the next byte is a carry, not a borrow.
    carries: bool,
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// The difference that is being computed behind an instruction.
    pub(in crate::execute) fn difference_after(&mut self, instruction: Instruction, copies: Copies) -> Difference {
        if !self.environment.relates() {
            return Difference::default();
        }
        let before = copies.difference();
        let present = match before.number {
            0 => self.beginning(instruction, copies).unwrap_or_default(),
            _ => before,
        };
        match (present.number, present.left) {
            (0, _) => Difference::default(),
            (number, 1) => {
                let first = Register::new(present.first).expect("the row has such a register");
                self.environment.subtracts(number, first, &self.state.data);
                Difference::default()
            }
            (_, left) => Difference { left: left - 1, ..present },
        }
    }

    /// The difference that a row computes which an instruction begins.
    fn beginning(&mut self, instruction: Instruction, copies: Copies) -> Option<Difference> {
        let row = self.row(instruction)?;
        let cells = match self.in_memory(&row, copies) {
            Some(cells) => cells,
            None if row.instructions == 1 => row.registers()?,
            None => return None,
        };
        let bytes = |number: u64| {
            let bytes = number.to_le_bytes();
            bytes[..usize::from(row.bytes)].iter().map(|byte| Operand::Constant(*byte)).collect()
        };
        let left = Number::of(cells.into_iter().map(Operand::Cell).collect());
        let number = self.environment.difference(&Comparison { left, right: Number::of(bytes(row.constant)) });
        (number != 0).then_some(Difference { number, first: row.first.index(), left: row.instructions })
    }

    /// The cells of SRAM that the registers of a row were loaded from.
    fn in_memory(&self, row: &Row, copies: Copies) -> Option<Vec<DataAddress>> {
        let in_memory =
            |register: DataAddress| copies.same_as(register).into_iter().filter(|cell| *cell >= REGISTERS).min();
        row.registers()?.into_iter().map(in_memory).collect()
    }

    /// The sum that registers hold behind an instruction, with the copies before it and those that are kept behind it.
    ///
    /// SOUND: between the instructions of a row there is no other, so what is left of it is counted down. It writes no cell of SRAM, so
    /// the number is the same at its end.
    pub(in crate::execute) fn sum_after(&self, instruction: Instruction, before: Copies, kept: Copies) -> Sum {
        let sum = before.sum();
        if !self.environment.relates() {
            return Sum::default();
        }
        if sum.left > 0 {
            return Sum { left: sum.left - 1, ..sum };
        }
        self.summed(instruction, before).unwrap_or(kept.sum())
    }

    /// The sum that a row computes which an instruction begins.
    fn summed(&self, instruction: Instruction, copies: Copies) -> Option<Sum> {
        let row = self.row(instruction)?;
        let number = self.in_memory(&row, copies)?;
        let mut cells = [DataAddress(0); MOST_BYTES as usize];
        cells[..number.len()].copy_from_slice(&number);
        let plus = (row.constant.wrapping_neg() & mask(row.bytes)) as u32;
        Some(Sum { bytes: row.bytes, first: row.first.index(), left: row.instructions - 1, plus, cells })
    }

    /// The row that an instruction begins.
    fn row(&self, instruction: Instruction) -> Option<Row> {
        use Instruction as I;
        let minus = |value: u8, bytes: u8| u64::from(value).wrapping_neg() & mask(bytes);
        let (first, bytes, constant, carries) = match instruction {
            I::Adiw { rd, k } => (rd, 2, minus(k, 2), true),
            I::Sbiw { rd, k } => (rd, 2, u64::from(k), false),
            I::Subi { rd, k } => (rd, 1, u64::from(k), false),
            I::Sub { rd, rr } if rd != rr => (rd, 1, u64::from(self.register(rr).known()?), false),
            I::Add { rd, rr } if rd != rr => (rd, 1, minus(self.register(rr).known()?, 1), true),
            // They leave C as it is.
            I::Inc { rd } => return Some(Row { first: rd, bytes: 1, constant: 0xff, instructions: 1, carries: true }),
            I::Dec { rd } => return Some(Row { first: rd, bytes: 1, constant: 1, instructions: 1, carries: false }),
            _ => return None,
        };
        let mut row = Row { first, bytes, constant, instructions: 1, carries };
        let mut next = self.state.control.pc;
        while row.bytes < MOST_BYTES {
            let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(next) else { break };
            let Some(byte) = self.continued(&row, instruction) else { break };
            let shift = 8 * u32::from(row.bytes);
            (row.bytes, row.instructions, next) = (row.bytes + 1, row.instructions + 1, next.wrapping_add(1));
            row.constant = match row.carries {
                // The sum of the bytes so far is what is taken from 0.
                true => {
                    let sum = row.constant.wrapping_neg() & mask(row.bytes - 1) | u64::from(byte) << shift;
                    sum.wrapping_neg() & mask(row.bytes)
                }
                false => row.constant | u64::from(byte) << shift,
            };
        }
        Some(row)
    }

    /// The byte that an instruction adds or subtracts if it goes on with a row.
    fn continued(&self, row: &Row, instruction: Instruction) -> Option<u8> {
        use Instruction as I;
        let (rd, byte) = match (instruction, row.carries) {
            (I::Sbci { rd, k }, false) => (rd, k),
            (I::Sbc { rd, rr }, false) | (I::Adc { rd, rr }, true) if !row.has(rr) && rd != rr => {
                (rd, self.register(rr).known()?)
            }
            _ => return None,
        };
        (rd.index() == row.first.index() + row.bytes).then_some(byte)
    }
}

impl Row {
    /// The registers that it writes; none if there are not so many.
    fn registers(&self) -> Option<Vec<DataAddress>> {
        let registers = (self.first.index()..self.first.index() + self.bytes).map(Register::new);
        registers.map(|register| register.map(Register::address)).collect()
    }

    /// True if the row writes a register.
    fn has(&self, register: Register) -> bool {
        (self.first.index()..self.first.index() + self.bytes).contains(&register.index())
    }
}

/// The bits of a number of so many bytes.
fn mask(bytes: u8) -> u64 {
    (1 << (8 * u32::from(bytes))) - 1
}
