//! Classes of instructions.

use avr_isa::Instruction;

/// True if an instruction makes the stack shallower.
#[must_use]
pub fn raises(instruction: Instruction) -> bool {
    matches!(instruction, Instruction::Pop { .. } | Instruction::Ret | Instruction::Reti)
}

/// True if an instruction reaches the data space through an address.
#[must_use]
pub fn is_memory_instruction(instruction: Instruction) -> bool {
    use Instruction as I;
    matches!(instruction, I::Ld { .. } | I::St { .. } | I::Lds { .. } | I::Sts { .. })
}
