//! Cycles, flags and registers of an instruction: the columns of the table.

use std::fmt;

use crate::{Feature, FeatureSet, Instruction, Opcode, Register, RegisterSet, table};

/// Clock cycles of an instruction (AVRe and AVRe+, internal SRAM), with what adds to them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Cycles {
    /// Cycles without any addition.
    pub base: u8,
    /// Added when the branch is taken.
    pub if_taken: u8,
    /// Added for each word of the instruction that is skipped.
    pub per_skipped_word: u8,
    /// Added on parts whose program counter has 22 bits.
    pub with_22_bit_pc: u8,
    /// True if the manual gives no number; `base` is then only a lower bound (SPM).
    pub varies: bool,
}

impl Cycles {
    /// Cycles on a part when nothing is skipped and no branch is taken.
    pub const fn not_taken(self, features: FeatureSet) -> u8 {
        if features.contains(Feature::Pc22) { self.base + self.with_22_bit_pc } else { self.base }
    }
}

/// A set of flags; bits as in SREG (C 0, Z 1, N 2, V 3, S 4, H 5, T 6, I 7).
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct FlagSet(u8);

impl FlagSet {
    /// The set with these bits of SREG.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The set of the flag with this bit number; only the low three bits count.
    pub const fn of_flag(flag: u8) -> Self {
        Self(1 << (flag & 7))
    }

    /// Its mask in SREG.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True if the flag with this bit number (0 to 7) belongs to the set.
    pub const fn contains(self, flag: u8) -> bool {
        self.0 & Self::of_flag(flag).0 != 0
    }

    /// The flags of either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if no flag belongs to the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for FlagSet {
    /// The letters of the flags, I first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = "ITHSVNZC".chars().enumerate();
        let members = letters.filter(|(index, _)| self.0 << index & 0x80 != 0);
        f.write_str(&members.map(|(_, letter)| letter).collect::<String>())
    }
}

impl Instruction {
    /// The operation.
    pub fn opcode(self) -> Opcode {
        table::row(self).0.opcode
    }

    /// Size in flash words, 1 or 2.
    pub fn words(self) -> u8 {
        table::row(self).0.words
    }

    /// Clock cycles.
    pub fn cycles(self) -> Cycles {
        table::row(self).0.cycles
    }

    /// The title of the instruction's section in the AVR Instruction Set Manual (DS40002198).
    pub fn manual_section(self) -> &'static str {
        table::row(self).0.section
    }

    /// Flags that the instruction may change through its result or by definition. Writes to SREG through I/O or data
    /// memory are not among them.
    pub fn flags_written(self) -> FlagSet {
        let (row, values) = table::row(self);
        let operand = row.flags.operand_written.map(|_| row.flag_operand(&values));
        FlagSet(row.flags.written).union(operand.unwrap_or_default())
    }

    /// The flags among [`Self::flags_written`] that always become 1.
    pub fn flags_set(self) -> FlagSet {
        let (row, values) = table::row(self);
        let operand = row.flags.operand_written.filter(|value| *value).map(|_| row.flag_operand(&values));
        FlagSet(row.flags.set).union(operand.unwrap_or_default())
    }

    /// The flags among [`Self::flags_written`] that always become 0.
    pub fn flags_cleared(self) -> FlagSet {
        let (row, values) = table::row(self);
        let operand = row.flags.operand_written.filter(|value| !value).map(|_| row.flag_operand(&values));
        FlagSet(row.flags.cleared).union(operand.unwrap_or_default())
    }

    /// Flags on which the effect depends. Reads of SREG through I/O or data memory are not among them.
    pub fn flags_read(self) -> FlagSet {
        let (row, values) = table::row(self);
        if row.flags.operand_read { row.flag_operand(&values) } else { FlagSet(row.flags.read) }
    }

    /// Registers that the instruction writes by name. A store or a push whose address is below 0x20 writes a register
    /// too, which is not among them.
    pub fn registers_written(self) -> RegisterSet {
        let (row, values) = table::row(self);
        registers(row.writes, &values)
    }

    /// Registers that the instruction reads by name, pointers included. A load or a pop whose address is below 0x20
    /// reads a register too, which is not among them.
    pub fn registers_read(self) -> RegisterSet {
        let (row, values) = table::row(self);
        registers(row.reads, &values)
    }

    /// True for a push, pop, call or return: the instruction reads or writes memory at SP.
    pub fn uses_stack(self) -> bool {
        self.memory_access().uses_stack()
    }

    /// True if the manual calls the result undefined: a pointer that changes is also the register loaded or stored
    /// (LD, ST, LPM, ELPM).
    pub fn has_undefined_result(self) -> bool {
        let (row, values) = table::row(self);
        let pointer = row.moved_pointer();
        row.operand_registers(&values).any(|register| pointer.contains(register))
    }
}

/// Registers that a row reads or writes.
#[derive(Debug)]
pub(crate) enum RegisterUse {
    /// The register operand in this slot.
    Operand(usize),
    /// That register and the next one.
    Pair(usize),
    /// These; bit n is rn.
    Fixed(u32),
}

/// The use of the flags by a row; bits as in SREG.
#[derive(Debug)]
pub(crate) struct FlagUse {
    pub written: u8,
    pub set: u8,
    pub cleared: u8,
    /// The value that the flag named by an operand gets.
    pub operand_written: Option<bool>,
    pub read: u8,
    /// True if the flag named by an operand is read.
    pub operand_read: bool,
}

fn registers(uses: &[RegisterUse], values: &[i32; 2]) -> RegisterSet {
    uses.iter().fold(RegisterSet::EMPTY, |set, register| match register {
        RegisterUse::Operand(slot) => set.with(register_of(values[*slot])),
        RegisterUse::Pair(slot) => {
            let low = register_of(values[*slot]);
            set.with(low).with(low.next())
        }
        RegisterUse::Fixed(bits) => set.union(RegisterSet::from_bits(*bits)),
    })
}

/// The register of an operand value, which is always 0 to 31.
pub(crate) fn register_of(value: i32) -> Register {
    Register::from_low_bits(value as u8)
}
