//! Instructions into machine words.

use thiserror::Error;

use crate::{Instruction, table};

/// The machine code of one instruction.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Encoded {
    /// The first word.
    pub first: u16,
    /// The second word of instructions that have one.
    pub second: Option<u16>,
}

/// An operand that the instruction cannot have.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{instruction:?} has no machine code: {operand} cannot be {value}; the manual, section \"{section}\", says what can"
)]
pub struct EncodeError {
    /// The instruction.
    pub instruction: Instruction,
    /// The field of the instruction with the operand.
    pub operand: &'static str,
    /// Its value.
    pub value: i64,
    /// The section of the AVR Instruction Set Manual on the instruction.
    pub section: &'static str,
}

impl Instruction {
    /// The machine code. Every word that decodes encodes to itself, except that LPM and ELPM without operands become
    /// the forms that name r0 and Z.
    ///
    /// # Errors
    /// The first operand that is out of its range.
    pub fn encode(self) -> Result<Encoded, EncodeError> {
        let (row, values) = table::row(self);
        let mut code = row.value;
        for operand in row.operands {
            let Some(slot) = operand.slot else { continue };
            let value = values[slot];
            let (name, section) = (operand.name, row.section);
            let error = EncodeError { instruction: self, operand: name, value: value.into(), section };
            code |= operand.code(value).ok_or(error)?;
        }
        Ok(Encoded { first: (code >> 16) as u16, second: (row.words == 2).then_some(code as u16) })
    }
}
