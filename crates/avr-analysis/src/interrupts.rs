//! The instructions that enable interrupts.

use avr_isa::Instruction;
use avr_machine::{Fetched, Machine};

/// True if some instruction sets the I flag by its name.
pub fn lets_interrupts_in(machine: &Machine) -> bool {
    let sets = |address: u32| match machine.program.fetch(address) {
        Fetched::Instruction { instruction, .. } => instruction == (Instruction::Bset { flag: 7 }),
        Fetched::Reserved | Fetched::Outside => false,
    };
    (0..machine.program.words()).any(sets)
}
