//! The instruction table as static data, built from `isa-tables/instructions.txt`.
//!
//! Instructions meet the table in two functions: a row's `build` makes an instruction from operand values, and [`row`]
//! finds the row and the values of an instruction. Everything else is derived from the columns.

use crate::control_flow::{Continuation, Destination};
use crate::effect::{FlagUse, RegisterUse, register_of};
use crate::memory_access::io_address;
use crate::{
    Addressing, Cycles, DataAddress, Feature, FeatureSet, FlagSet, FlashWordAddress, Instruction, LpmMode,
    MemoryAccess, Pointer, PointerMode, Register, RegisterSet,
};

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// For each first word, the index of its row in `ROWS`; an index beyond it means that no row matches.
static ROW_OF_WORD: &[u8; 1 << 16] = include_bytes!(concat!(env!("OUT_DIR"), "/row_of_word.bin"));

/// One encoding. Bits 31..16 of `value` and of fields are the first word, bits 15..0 the second.
pub(crate) struct Row {
    pub opcode: Opcode,
    pub mnemonic: &'static str,
    pub words: u8,
    /// The fixed bits.
    pub value: u32,
    pub operands: &'static [Operand],
    pub cycles: Cycles,
    pub flags: FlagUse,
    pub writes: &'static [RegisterUse],
    pub reads: &'static [RegisterUse],
    pub feature: Option<Feature>,
    pub section: &'static str,
    /// The instruction with these operand values.
    pub build: fn([i32; 2]) -> Instruction,
}

/// An operand of a row.
pub(crate) struct Operand {
    pub kind: OperandKind,
    /// The field of `Instruction` that holds it.
    pub name: &'static str,
    /// The bits that hold it in the machine code.
    pub field: u32,
    /// Its place among the values, for operands that have one.
    pub slot: Option<usize>,
    /// True if the assembler's text leaves it out.
    pub implied: bool,
}

/// The kind of value that an operand has; the head of the table explains each.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum OperandKind {
    /// Field value n is register `first + step * n`.
    Register {
        first: u8,
        step: u8,
    },
    FixedRegister(u8),
    Constant,
    IoAddress,
    Bit,
    Flag,
    Offset,
    Target,
    Address,
    Displaced(char),
    PostIncrement(char),
    PreDecrement(char),
    FlashPlain,
}

/// Another name for an operation with certain operands.
pub(crate) struct Alias {
    pub name: &'static str,
    pub opcode: Opcode,
    pub operands: &'static [AliasOperand],
    /// The slot of an operand and what it must equal.
    pub condition: Option<(usize, Wanted)>,
    /// True if listings use it.
    pub listed: bool,
    pub section: &'static str,
}

/// An operand of an alias.
pub(crate) struct AliasOperand {
    pub slot: usize,
    /// True if the alias names the complement of the byte.
    pub complement: bool,
}

/// The value that the condition of an alias compares an operand with.
pub(crate) enum Wanted {
    Value(i32),
    /// The operand in this slot.
    SameAs(usize),
}

/// The row that decodes this first word, or `None` if it is reserved.
pub(crate) fn row_of_word(first: u16) -> Option<&'static Row> {
    ROWS.get(usize::from(ROW_OF_WORD[usize::from(first)]))
}

/// The row that encodes the instruction, and its operand values.
pub(crate) fn row(instruction: Instruction) -> (&'static Row, [i32; 2]) {
    let (index, values) = split(instruction);
    (&ROWS[index], values)
}

/// The features by name.
pub(crate) fn features() -> &'static [(&'static str, Feature)] {
    &FEATURES
}

/// The architectures by name.
pub(crate) fn architectures() -> &'static [(&'static str, FeatureSet)] {
    &ARCHITECTURES
}

impl Row {
    /// The operand values in the machine code.
    pub fn values(&self, code: u32) -> [i32; 2] {
        let mut values = [0; 2];
        for operand in self.operands {
            if let Some(slot) = operand.slot {
                values[slot] = operand.value(code);
            }
        }
        values
    }

    /// The flag that the operand `flag` names; none without such an operand.
    pub fn flag_operand(&self, values: &[i32; 2]) -> FlagSet {
        let operand = self.operands.iter().find(|operand| operand.kind == OperandKind::Flag);
        let slot = operand.and_then(|operand| operand.slot);
        slot.map_or(FlagSet::default(), |slot| FlagSet::of_flag(values[slot] as u8))
    }

    /// The registers that are operands.
    pub fn operand_registers(&self, values: &[i32; 2]) -> impl Iterator<Item = Register> {
        self.operands.iter().filter_map(|operand| match operand.kind {
            OperandKind::Register { .. } => operand.slot.map(|slot| register_of(values[slot])),
            OperandKind::FixedRegister(index) => Some(Register::from_low_bits(index)),
            _ => None,
        })
    }

    /// The pair that the instruction increments or decrements; empty for the others.
    pub fn moved_pointer(&self) -> RegisterSet {
        let low = self.operands.iter().find_map(|operand| match operand.kind {
            OperandKind::PostIncrement(name) | OperandKind::PreDecrement(name) => Some(pointer(name).low()),
            _ => None,
        });
        low.map_or(RegisterSet::EMPTY, |low| RegisterSet::EMPTY.with(low).with(low.next()))
    }
}

fn pointer(name: char) -> Pointer {
    match name {
        'X' => Pointer::X,
        'Y' => Pointer::Y,
        _ => Pointer::Z,
    }
}

impl Operand {
    /// The value in the machine code.
    fn value(&self, code: u32) -> i32 {
        let raw = gather(code, self.field).cast_signed();
        match self.kind {
            OperandKind::Register { first, step } => i32::from(first) + i32::from(step) * raw,
            OperandKind::Offset => {
                let unused = 32 - self.field.count_ones();
                raw << unused >> unused
            }
            _ => raw,
        }
    }

    /// The machine code of the value, or `None` if the operand cannot have it.
    pub fn code(&self, value: i32) -> Option<u32> {
        let raw = match self.kind {
            OperandKind::Register { first, step } => {
                let distance = value - i32::from(first);
                if distance % i32::from(step) != 0 { return None } else { distance / i32::from(step) }
            }
            _ => value,
        };
        let code = scatter(raw.cast_unsigned(), self.field);
        (self.value(code) == value).then_some(code)
    }
}

/// The bits of `code` under the mask, packed towards bit 0.
fn gather(code: u32, mask: u32) -> u32 {
    let mut rest = mask;
    let mut packed = 0;
    let mut position = 0;
    while rest != 0 {
        packed |= (code >> rest.trailing_zeros() & 1) << position;
        rest &= rest - 1;
        position += 1;
    }
    packed
}

/// The low bits of `packed`, spread over the mask: the inverse of [`gather`].
fn scatter(packed: u32, mask: u32) -> u32 {
    let mut rest = mask;
    let mut code = 0;
    let mut position = 0;
    while rest != 0 {
        code |= (packed >> position & 1) << rest.trailing_zeros();
        rest &= rest - 1;
        position += 1;
    }
    code
}
