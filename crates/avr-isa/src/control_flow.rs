//! The control flow of an instruction: the column `flow` of the table, with destinations resolved.

use crate::FlashWordAddress;

/// Program memory, as far as control flow depends on it.
pub trait CodeSpace {
    /// The bits that the program counter has. What carries beyond them is lost: flash wraps.
    fn pc_mask(&self) -> u32;

    /// The number of words that a skip passes over at a flash word address: 2 where an instruction of two words begins,
    /// else 1.
    fn words_at(&self, address: FlashWordAddress) -> u32;
}

/// The continuation of an instruction at a certain place. All addresses count flash words and lie in the flash.
///
/// Interrupts, resets and the end of a program are not among it.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "`next` is the instruction behind this one; the other fields are described")]
pub enum ControlFlow {
    /// The next instruction.
    Next { next: FlashWordAddress },
    /// The next instruction, or `target` behind it (CPSE, SBRC, SBRS, SBIC, SBIS).
    Skip { next: FlashWordAddress, target: FlashWordAddress },
    /// The next instruction, or `target` (BRBS, BRBC).
    Branch { next: FlashWordAddress, target: FlashWordAddress },
    /// `target` (RJMP, JMP).
    Jump { target: FlashWordAddress },
    /// The address in Z (IJMP) or EIND:Z (EIJMP).
    IndirectJump,
    /// `target`; the address of the next instruction is pushed (RCALL, CALL).
    Call { next: FlashWordAddress, target: FlashWordAddress },
    /// The address in Z (ICALL) or EIND:Z (EICALL); the address of the next instruction is pushed.
    IndirectCall { next: FlashWordAddress },
    /// The address that is popped (RET).
    Return,
    /// The address that is popped; interrupts are enabled (RETI).
    InterruptReturn,
    /// The next instruction; if sleep is enabled, only once the processor wakes up (SLEEP).
    Sleep { next: FlashWordAddress },
    /// The next instruction, where no debugger is attached (BREAK).
    Break { next: FlashWordAddress },
}

impl ControlFlow {
    /// The flash word addresses that the program counter can have after the instruction, the same one twice if there is
    /// only one. `None` where registers or the stack say the address.
    pub const fn destinations(self) -> Option<[FlashWordAddress; 2]> {
        match self {
            Self::Next { next } | Self::Sleep { next } | Self::Break { next } => Some([next, next]),
            Self::Skip { next, target } | Self::Branch { next, target } => Some([next, target]),
            Self::Jump { target } | Self::Call { target, .. } => Some([target, target]),
            Self::IndirectJump | Self::IndirectCall { .. } | Self::Return | Self::InterruptReturn => None,
        }
    }

    /// The destination of a jump or a branch, where the instruction says it.
    pub const fn jump_target(self) -> Option<FlashWordAddress> {
        match self {
            Self::Jump { target } | Self::Branch { target, .. } => Some(target),
            Self::Next { .. }
            | Self::Skip { .. }
            | Self::IndirectJump
            | Self::Call { .. }
            | Self::IndirectCall { .. }
            | Self::Return
            | Self::InterruptReturn
            | Self::Sleep { .. }
            | Self::Break { .. } => None,
        }
    }
}

/// The column `flow`, with the operand that says the destination.
#[derive(Copy, Clone)]
pub(crate) enum Continuation {
    Next,
    Skip,
    Branch(Destination),
    Jump(Destination),
    Call(Destination),
    IndirectJump,
    IndirectCall,
    Return,
    InterruptReturn,
    Sleep,
    Break,
}

/// The operand of a jump, branch or call.
#[derive(Copy, Clone)]
pub(crate) enum Destination {
    /// Words from the next instruction.
    Relative(i32),
    /// A flash word address.
    Absolute(FlashWordAddress),
}
