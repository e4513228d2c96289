//! The control flow of instructions.

use avr_isa::Instruction;
use avr_machine::{Machine, Program};

/// The successors of an instruction, in flash word addresses.
#[derive(Clone, Debug)]
pub enum Flow {
    /// One of these.
    Next(Vec<u32>),
    /// A function, and the instruction behind the call.
    Call {
        /// The first instruction of the function.
        function: u32,
        /// The instruction behind the call.
        next: u32,
    },
    /// Some function.
    IndirectCall {
        /// The instruction behind the call.
        next: u32,
    },
    /// The instruction behind the call of the present function.
    Return,
    /// A jump through a register.
    Unknown,
}

impl Flow {
    /// The successors of the instruction at a flash word address leads, of which so many words are one.
    pub fn of(program: &Program, instruction: Instruction, address: u32, words: u8) -> Self {
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

/// True if whatever comes after an instruction stands behind it: without other instructions no run goes round.
#[must_use]
pub fn goes_forward(machine: &Machine, instruction: Instruction, pc: u32, words: u8) -> bool {
    use Instruction as I;
    let next = pc + u32::from(words);
    let forward = match instruction {
        I::Rjmp { offset } | I::Rcall { offset } => {
            offset >= 0 && next.saturating_add_signed(offset.into()) < machine.program.words()
        }
        I::Jmp { target } | I::Call { target } => target >= next,
        I::Brbs { offset, .. } | I::Brbc { offset, .. } => {
            offset >= 0 && next.saturating_add_signed(offset.into()) < machine.program.words()
        }
        I::Ijmp | I::Eijmp | I::Icall | I::Eicall | I::Ret | I::Reti => false,
        _ => true,
    };
    forward && next + 2 < machine.program.words()
}
