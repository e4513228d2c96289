//! Relations of flags to what a comparison compares.
//!
//! A comparison of several bytes is a row of instructions behind which a branch asks for a flag. Its operands are resolved
//! where the row begins: to constants, to cells of SRAM that registers were loaded from, or to registers that the row
//! does not write. So they hold the same when the branch is executed, and the flag there tells how they compare.
//!
//! SOUND: the relation is dropped with everything but the instructions of the row, one directly behind the other. An
//! interrupt, a reset or a jump into the row drops it as well, because the ghost of a step is gone then.

use super::super::flags::flag;
use super::{MAX_CHAIN, Other, REGISTERS, Step};
use crate::comparison::{Comparison, Number, Operand};
use crate::copies::{Copies, Relation};
use crate::environment::Environment;
use crate::program::Fetched;
use avr_isa::{DataAddress, Instruction, Register, RegisterSet};
use three_valued::{BitDomain, ByteDomain};

/// The most bytes of a number.
const MOST_BYTES: usize = 4;

/// The flags of a difference: its borrow, zero, and sign.
const OF_DIFFERENCE: u8 = 1 << flag::C | 1 << flag::Z | 1 << flag::S;

/// A row of instructions that compare two numbers.
struct Row {
    /// The bytes of both numbers, the lowest first.
    bytes: Vec<(Other, Other)>,
    /// The bits of the lowest byte of the first number that are compared.
    mask: u8,
    /// The flags that tell the outcome.
    flags: u8,
    /// The registers whose content is another one after the row.
    written: RegisterSet,
    /// Constants that the row loads, by register.
    loaded: Vec<(Register, u8)>,
}

impl Row {
    /// The row that an instruction begins.
    fn beginning(instruction: Instruction) -> Option<Self> {
        use Instruction as I;
        use Other::{Constant, Register};
        let mut mask = 0xff;
        let (bytes, flags) = match instruction {
            I::Cp { rd, rr } | I::Sub { rd, rr } => (vec![(Register(rd), Register(rr))], OF_DIFFERENCE),
            I::Cpi { rd, k } | I::Subi { rd, k } => (vec![(Register(rd), Constant(k))], OF_DIFFERENCE),
            I::Sbiw { rd, k } => (vec![(Register(rd), Constant(k)), (Register(rd.next()), Constant(0))], OF_DIFFERENCE),
            I::Adiw { rd, k } => {
                let [low, high] = u16::from(k).wrapping_neg().to_le_bytes();
                (vec![(Register(rd), Constant(low)), (Register(rd.next()), Constant(high))], 1 << flag::Z)
            }
            // They clear V, so S is the sign.
            I::And { rd, rr } | I::Or { rd, rr } if rd == rr => {
                (vec![(Register(rd), Constant(0))], 1 << flag::Z | 1 << flag::S)
            }
            I::Andi { rd, k } => {
                mask = k;
                (vec![(Register(rd), Constant(0))], 1 << flag::Z | 1 << flag::S)
            }
            I::Or { rd, rr } => (vec![(Register(rd), Constant(0)), (Register(rr), Constant(0))], 1 << flag::Z),
            I::Dec { rd } => (vec![(Register(rd), Constant(1))], 1 << flag::Z),
            _ => return None,
        };
        let is_kept = matches!(instruction, I::And { rd, rr } | I::Or { rd, rr } if rd == rr);
        let written = if is_kept { RegisterSet::default() } else { instruction.registers_written() };
        Some(Self { bytes, mask, flags, written, loaded: Vec::new() })
    }

    /// Adds the next instruction; none if it is no part of the row.
    fn add(&mut self, instruction: Instruction) -> Option<()> {
        use Instruction as I;
        let bytes = match instruction {
            I::Cpc { rd, rr } | I::Sbc { rd, rr } => Some((self.register(rd)?, self.register(rr)?)),
            I::Sbci { rd, k } => Some((self.register(rd)?, Other::Constant(k))),
            I::Ldi { rd, k } => {
                self.loaded.retain(|(register, _)| *register != rd);
                self.loaded.push((rd, k));
                None
            }
            _ => return None,
        };
        if bytes.is_some() {
            let written = instruction.registers_written();
            self.loaded.retain(|(register, _)| !written.contains(*register));
        }
        // Only a difference goes on with a borrow.
        if bytes.is_some() && (self.flags != OF_DIFFERENCE || self.bytes.len() == MOST_BYTES) {
            return None;
        }
        self.bytes.extend(bytes);
        self.written = self.written.union(instruction.registers_written());
        Some(())
    }

    /// A register as the next instruction finds it; none if it is neither as it was before the row nor a constant.
    fn register(&self, register: Register) -> Option<Other> {
        let loaded = self.loaded.iter().find(|(one, _)| *one == register);
        match loaded {
            Some((_, constant)) => Some(Other::Constant(*constant)),
            None if self.written.contains(register) => None,
            None => Some(Other::Register(register)),
        }
    }
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// The flag that a branch asks for, if it is the outcome of a comparison that the environment knows; where predicates tell its
    /// value, the flag has it from here on.
    pub(in crate::execute) fn flag_told(&mut self, instruction: Instruction, copies: Copies) -> Option<u8> {
        let (Instruction::Brbs { flag, .. } | Instruction::Brbc { flag, .. }) = instruction else { return None };
        let relation = copies.relation();
        if !relation.tells(flag) {
            return None;
        }
        if self.flag(flag).truth().known().is_none()
            && let Some(value) = self.environment.outcome(relation.number, flag, &self.state.data).known()
        {
            self.set_flags(&[(flag, &V::Bit::constant(value))]);
        }
        Some(flag)
    }

    /// Has the environment keep what a flag that is known now says of a comparison.
    pub(in crate::execute) fn keep_outcome(&mut self, copies: Copies, flag: u8) {
        if let Some(value) = self.flag(flag).truth().known() {
            self.environment.decided(copies.relation().number, flag, value, copies, &mut self.state.data);
        }
    }

    /// The flag that the next instruction branches on, and its value, if the row of a comparison ends here and predicates tell it.
    pub(super) fn outcome_told(&mut self, relation: Relation) -> Option<(u8, bool)> {
        let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(self.state.control.pc) else {
            return None;
        };
        let (Instruction::Brbs { flag, .. } | Instruction::Brbc { flag, .. }) = instruction else { return None };
        let is_told = relation.number != 0 && relation.flags >> flag & 1 == 1;
        let outcome = is_told.then(|| self.environment.outcome(relation.number, flag, &self.state.data))?;
        outcome.known().map(|value| (flag, value))
    }

    /// The relation of the flags behind an instruction that goes on with the next one.
    pub(in crate::execute) fn relation_after(&mut self, instruction: Instruction, copies: Copies) -> Relation {
        use Instruction as I;
        if !self.environment.relates() {
            return Relation::default();
        }
        let before = copies.relation();
        match instruction {
            I::Brbs { .. } | I::Brbc { .. } => before,
            I::Cpc { .. } | I::Sbc { .. } | I::Sbci { .. } | I::Ldi { .. }
                if before.number != 0 && !before.is_complete =>
            {
                Relation { is_complete: self.is_at_branch(), ..before }
            }
            _ => self.related(instruction, copies).unwrap_or_default(),
        }
    }

    fn is_at_branch(&self) -> bool {
        let next = self.machine.program.fetch(self.state.control.pc);
        matches!(next, Fetched::Instruction { instruction: Instruction::Brbs { .. } | Instruction::Brbc { .. }, .. })
    }

    /// The relation behind an instruction that begins a comparison on which a branch follows.
    fn related(&mut self, instruction: Instruction, copies: Copies) -> Option<Relation> {
        let mut row = Row::beginning(instruction)?;
        let first = self.state.control.pc;
        let asked = (0..MAX_CHAIN).map(|words| first.wrapping_add(words)).find_map(|address| {
            let Fetched::Instruction { instruction, .. } = self.machine.program.fetch(address) else {
                return Some(None);
            };
            match instruction {
                Instruction::Brbs { flag, .. } | Instruction::Brbc { flag, .. } => Some(Some(flag)),
                other => row.add(other).is_none().then_some(None),
            }
        });
        asked.flatten().filter(|flag| row.flags >> flag & 1 == 1)?;
        let (left, right): (Vec<Other>, Vec<Other>) = row.bytes.iter().copied().unzip();
        let (mut one, mut other) = (self.number(&left, &row, copies), self.number(&right, &row, copies));
        let is_constant = [&one, &other].map(|side| side.as_ref().and_then(Number::constant).is_some());
        // Facts about a number that is compared with constants are known of registers that hold its sum with another one.
        if !is_constant[0] && !is_constant[1] {
            one = self.summed_in(&left, copies).or(one);
            other = self.summed_in(&right, copies).or(other);
        }
        let (mut left, right) = (one?, other?);
        left.bytes[0] = left.bytes[0].masked(row.mask);
        if left == right || is_constant == [true, true] {
            return None;
        }
        let number = self.environment.relation(&Comparison { left, right });
        (number != 0).then_some(Relation { number, flags: row.flags, is_complete: self.is_at_branch() })
    }

    /// A number that is the same before the row and behind it; none if there is none.
    fn number(&self, bytes: &[Other], row: &Row, copies: Copies) -> Option<Number> {
        bytes.iter().map(|byte| self.operand(*byte, row, copies)).collect::<Option<_>>().map(Number::of)
    }

    /// The sum that registers hold, unless it is in memory as well; none if they hold none.
    fn summed_in(&self, bytes: &[Other], copies: Copies) -> Option<Number> {
        let is_it = |(byte, register): (&Other, DataAddress)| matches!(byte, Other::Register(one) if one.address() == register && self.register(*one).known().is_none());
        let sum = copies.sum();
        let in_memory = |register: DataAddress| copies.same_as(register).iter().any(|cell| *cell >= REGISTERS);
        let is_whole = bytes.len() == usize::from(sum.bytes) && bytes.iter().zip(sum.registers()).all(is_it);
        if is_whole && !sum.registers().all(in_memory) { sum.number() } else { None }
    }

    /// An operand that holds the same before the row and behind it; none if there is none.
    fn operand(&self, byte: Other, row: &Row, copies: Copies) -> Option<Operand> {
        let register = match byte {
            Other::Constant(value) => return Some(Operand::Constant(value)),
            Other::Register(register) => register,
        };
        if let Some(value) = self.register(register).known() {
            return Some(Operand::Constant(value));
        }
        let same = copies.same_as(register.address());
        let in_memory = same.iter().filter(|cell| **cell >= REGISTERS).min();
        let is_kept = |cell: &DataAddress| Register::at(*cell).is_none_or(|one| !row.written.contains(one));
        let masked = copies.masked_as(register.address()).filter(|(cell, _)| is_kept(cell));
        let (in_register, masked) = match masked {
            Some((cell, _)) if cell >= REGISTERS => (None, masked),
            _ => (same.iter().find(|cell| is_kept(cell)), masked),
        };
        let whole = in_memory.or(in_register).map(|cell| Operand::Cell(*cell));
        whole.or_else(|| masked.map(|(cell, mask)| Operand::Cell(cell).masked(mask)))
    }
}
