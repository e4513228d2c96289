//! Classes of instructions.

use avr_isa::{Instruction, MemoryAccess};

/// True if an instruction makes the stack shallower.
#[must_use]
pub fn raises(instruction: Instruction) -> bool {
    matches!(instruction.memory_access(), MemoryAccess::Pop | MemoryAccess::PopReturnAddress)
}

/// True if an instruction reaches the data space through an address.
#[must_use]
pub fn is_memory_instruction(instruction: Instruction) -> bool {
    matches!(instruction.memory_access(), MemoryAccess::Load(_) | MemoryAccess::Store(_))
}
