//! The control flow of instructions.

use avr_isa::{ControlFlow, FlashWordAddress, Instruction};
use avr_machine::{Machine, Program};

/// The successors of an instruction, in flash word addresses.
#[derive(Clone, Debug)]
pub enum Flow {
    /// One of these.
    Next(Vec<FlashWordAddress>),
    /// A function, and the instruction behind the call.
    Call {
        /// The first instruction of the function.
        function: FlashWordAddress,
        /// The instruction behind the call.
        next: FlashWordAddress,
    },
    /// Some function.
    IndirectCall {
        /// The instruction behind the call.
        next: FlashWordAddress,
    },
    /// The instruction behind the call of the present function.
    Return,
    /// A jump through a register.
    Unknown,
}

impl Flow {
    /// The successors of the instruction at a flash word address. A call that only takes room on the stack is none.
    pub fn of(program: &Program, instruction: Instruction, address: FlashWordAddress) -> Self {
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

/// True if whatever comes after an instruction stands behind it: without other instructions no run goes round.
#[must_use]
pub fn goes_forward(machine: &Machine, instruction: Instruction, pc: FlashWordAddress, words: u8) -> bool {
    let next = pc.wrapping_add(words.into());
    let destinations = instruction.control_flow(pc, &machine.program).destinations();
    let forward = destinations.is_some_and(|all| all.into_iter().all(|target| target >= next));
    forward && next.0 + 2 < machine.program.words()
}
