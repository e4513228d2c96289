//! Where instructions lead.

use avr_isa::Instruction;
use avr_machine::Program;

/// Where an instruction leads, in flash word addresses.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    Next(Vec<u32>),
    Call { function: u32, next: u32 },
    IndirectCall { next: u32 },
    Return,
    Unknown,
}

impl Flow {
    /// Where the instruction at a flash word address leads, of which so many words are one.
    pub(crate) fn of(program: &Program, instruction: Instruction, address: u32, words: u8) -> Self {
        let next = address + u32::from(words);
        let relative = |offset: i16| (address + 1).wrapping_add_signed(offset.into()) & (program.words() - 1);
        match instruction {
            Instruction::Rjmp { offset } => Self::Next(vec![relative(offset)]),
            Instruction::Jmp { target } => Self::Next(vec![target]),
            // A call of the next instruction makes room on the stack.
            Instruction::Rcall { offset: 0 } => Self::Next(vec![next]),
            Instruction::Rcall { offset } => Self::Call { function: relative(offset), next },
            Instruction::Call { target } => Self::Call { function: target, next },
            Instruction::Ret | Instruction::Reti => Self::Return,
            Instruction::Icall | Instruction::Eicall => Self::IndirectCall { next },
            Instruction::Ijmp | Instruction::Eijmp => Self::Unknown,
            Instruction::Brbs { offset, .. } | Instruction::Brbc { offset, .. } => {
                Self::Next(vec![next, relative(offset.into())])
            }
            Instruction::Cpse { .. }
            | Instruction::Sbrc { .. }
            | Instruction::Sbrs { .. }
            | Instruction::Sbic { .. }
            | Instruction::Sbis { .. } => Self::Next(vec![next, next + program.words_at(next)]),
            _ => Self::Next(vec![next]),
        }
    }
}
