//! Classes of instructions.

use avr_isa::Instruction;

/// True if an instruction makes the stack shallower.
#[must_use]
pub fn raises(instruction: Instruction) -> bool {
    instruction.memory_access().pops()
}

/// True if an instruction reaches the data space through an address.
#[must_use]
pub fn is_memory_instruction(instruction: Instruction) -> bool {
    instruction.memory_access().is_load_or_store()
}
