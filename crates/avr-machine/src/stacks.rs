//! The stacks of tasks: areas of static data that the program takes as stacks.

use avr_isa::{DataAddress, FlashWordAddress, Instruction, io_address};

use crate::machine::Machine;
use crate::program::Fetched;

/// The stack of a task: the bytes of the SRAM that it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackArea {
    /// The lowest data address of the stack.
    pub lowest: DataAddress,
    /// The highest data address of the stack: an empty stack has the pointer here.
    pub highest: DataAddress,
}

impl StackArea {
    /// True if the stack may take the byte at a data address.
    #[must_use]
    pub fn contains(&self, address: DataAddress) -> bool {
        (self.lowest..=self.highest).contains(&address)
    }

    /// The number of its bytes.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        u32::from(self.highest.0 - self.lowest.0) + 1
    }

    /// True if no byte is left for a stack pointer.
    fn is_full_at(&self, pointer: DataAddress) -> bool {
        pointer.wrapping_add(1) == self.lowest
    }
}

impl Machine {
    /// True if tasks have stacks of their own.
    #[must_use]
    pub fn has_stacks(&self) -> bool {
        !self.options().stacks.is_empty()
    }

    /// The area of the stack of this number; none for the main one.
    #[must_use]
    pub fn stack_area(&self, stack: u8) -> Option<&StackArea> {
        usize::from(stack).checked_sub(1).and_then(|index| self.options().stacks.get(index))
    }

    /// The highest data address of the stack of this number: RAMEND for the main one.
    #[must_use]
    pub fn stack_end(&self, stack: u8) -> DataAddress {
        self.stack_area(stack).map_or(self.data_end(), |area| area.highest)
    }

    /// The number of the stack that the program selects when it sets SP to this value while it uses the stack of number `current`;
    /// none if it may be the full one in use as well as the empty one below it.
    pub(crate) fn stack_selected(&self, current: u8, pointer: DataAddress) -> Option<u8> {
        let containing = (1..).zip(&self.options().stacks).find(|(_, area)| area.contains(pointer));
        let fills = self.stack_area(current).is_some_and(|area| area.is_full_at(pointer));
        match (containing, fills) {
            (Some(_), true) => None,
            (None, true) => Some(current),
            (Some((number, _)), false) => Some(number),
            (None, false) => Some(0),
        }
    }

    /// True if one of the next two instructions writes SPH, before anything uses the stack: then a write of SPL is the first half of
    /// a change.
    pub(crate) fn sets_high_half_next(&self, pc: FlashWordAddress) -> bool {
        let Some(high) = self.stack_pointer().high else { return false };
        let mut pc = pc;
        for _ in 0..2 {
            let Fetched::Instruction { instruction, words, .. } = self.program.fetch(pc) else { return false };
            match instruction {
                Instruction::Out { io, .. } if io_address(io) == high => return true,
                Instruction::Sts { address, .. } if address == high => return true,
                Instruction::Ld { .. } | Instruction::Lds { .. } | Instruction::Mov { .. } | Instruction::Nop => {
                    pc = pc.wrapping_add(words.into());
                }
                _ => return false,
            }
        }
        false
    }
}
