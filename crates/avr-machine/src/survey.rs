//! A survey of the instructions of a program, without running it.

use std::collections::BTreeMap;

use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess};

use crate::program::Program;

/// The findings in the instructions. Data among them look like instructions as well, and accesses through pointers are
/// not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The data addresses that instructions name, and how they use them.
    pub named: BTreeMap<DataAddress, Use>,
    /// Flash word addresses to which a jump leads back: the heads of loops, each with whether such a jump is without a
    /// condition.
    pub loop_heads: BTreeMap<FlashWordAddress, bool>,
}

/// The use of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// True if it is read.
    pub reads: bool,
    /// True if it is written.
    pub writes: bool,
}

impl Survey {
    /// Looks at the instructions of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut survey = Self::default();
        for (address, instruction) in program.instructions() {
            survey.note_use(instruction);
            let flow = instruction.control_flow(address, program);
            if let Some(head) = flow.jump_target().filter(|target| *target <= address) {
                *survey.loop_heads.entry(head).or_default() |= matches!(flow, ControlFlow::Jump { .. });
            }
        }
        survey
    }

    fn note_use(&mut self, instruction: Instruction) {
        let (address, reads, writes) = match instruction.memory_access() {
            MemoryAccess::LoadIo { address }
            | MemoryAccess::LoadIoBit { address, .. }
            | MemoryAccess::Load(Addressing::Direct(address)) => (address, true, false),
            MemoryAccess::StoreIo { address }
            | MemoryAccess::StoreIoBit { address, .. }
            | MemoryAccess::Store(Addressing::Direct(address)) => (address, false, true),
            MemoryAccess::None
            | MemoryAccess::Load(Addressing::Indirect { .. })
            | MemoryAccess::Store(Addressing::Indirect { .. })
            | MemoryAccess::Push
            | MemoryAccess::Pop
            | MemoryAccess::PushReturnAddress
            | MemoryAccess::PopReturnAddress
            | MemoryAccess::LoadFlash
            | MemoryAccess::StoreFlash
            | MemoryAccess::ResetWatchdog => return,
        };
        let known = self.named.entry(address).or_default();
        known.reads |= reads;
        known.writes |= writes;
    }
}

#[cfg(test)]
mod tests {
    use super::{Survey, Use};
    use crate::program::Program;
    use avr_isa::{DataAddress, FeatureSet, FlashWordAddress};

    #[test]
    fn registers_and_loops_are_seen() {
        // in r24,PINB; 1: sbi PORTB,5; sts 0x0100,r24; brne 1b; rjmp .+0; 2: rjmp 2b
        let words = [0xb183, 0x9a2d, 0x9380, 0x0100, 0xf7e1, 0xc000, 0xcfff];
        let features = FeatureSet::architecture("avr5").expect("the table has it");
        let program = Program::decode(0x100, features, |address| words.get(address as usize).copied());
        let survey = Survey::of(&program);
        let (reads, writes) = (Use { reads: true, writes: false }, Use { reads: false, writes: true });
        assert_eq!(
            survey.named.into_iter().collect::<Vec<_>>(),
            [(0x23, reads), (0x25, writes), (0x100, writes)].map(|(cell, access)| (DataAddress(cell), access))
        );
        assert_eq!(
            survey.loop_heads.into_iter().collect::<Vec<_>>(),
            [(FlashWordAddress(1), false), (FlashWordAddress(6), true)]
        );
    }
}
