//! Where instructions lead.

use avr_isa::{ControlFlow, Instruction};
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
    /// Where the instruction at a flash word address leads. A call that only takes room on the stack is none.
    pub(crate) fn of(program: &Program, instruction: Instruction, address: u32) -> Self {
        match instruction.control_flow(address, program) {
            ControlFlow::Next { next } | ControlFlow::Sleep { next } | ControlFlow::Break { next } => {
                Self::Next(vec![next])
            }
            ControlFlow::Skip { next, target } | ControlFlow::Branch { next, target } => Self::Next(vec![next, target]),
            ControlFlow::Jump { target } => Self::Next(vec![target]),
            ControlFlow::Call { next, .. } if instruction.only_reserves_stack() => Self::Next(vec![next]),
            ControlFlow::Call { next, target } => Self::Call { function: target, next },
            ControlFlow::IndirectCall { next } => Self::IndirectCall { next },
            ControlFlow::Return | ControlFlow::InterruptReturn => Self::Return,
            ControlFlow::IndirectJump => Self::Unknown,
        }
    }
}
