//! The instructions that enable interrupts.

use avr_isa::{FlashWordAddress, Instruction};
use avr_machine::{Fetched, Machine};

/// True if some instruction sets the I flag by its name.
pub fn lets_interrupts_in(machine: &Machine) -> bool {
    let sets = |address: FlashWordAddress| match machine.program.fetch(address) {
        Fetched::Instruction { instruction, .. } => instruction == (Instruction::Bset { flag: 7 }),
        Fetched::Reserved | Fetched::Outside => false,
    };
    machine.program.addresses().any(sets)
}
