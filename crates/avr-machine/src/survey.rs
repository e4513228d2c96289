//! What the instructions of a program tell at a glance, without running it.

use std::collections::BTreeMap;

use avr_isa::Instruction;

use crate::program::Program;

/// What is seen in the instructions. Data among them look like instructions as well, and what a pointer reaches is not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The data addresses that instructions name, and how they use them.
    pub named: BTreeMap<u16, Use>,
    /// Flash word addresses to which a jump leads back: the heads of loops, each with whether such a jump is without a
    /// condition.
    pub loop_heads: BTreeMap<u32, bool>,
}

/// How an address is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Whether it is read.
    pub reads: bool,
    /// Whether it is written.
    pub writes: bool,
}

/// Where I/O addresses begin among data addresses.
const IO: u16 = 0x20;

impl Survey {
    /// Looks at the instructions of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let mut survey = Self::default();
        for (address, instruction) in program.instructions() {
            survey.note_use(instruction);
            let next = i64::from(address) + 1;
            let (target, endless) = match instruction {
                Instruction::Rjmp { offset } => (next + i64::from(offset), true),
                Instruction::Jmp { target } => (i64::from(target), true),
                Instruction::Brbs { offset, .. } | Instruction::Brbc { offset, .. } => {
                    (next + i64::from(offset), false)
                }
                _ => continue,
            };
            let back = u32::try_from(target).ok().filter(|target| *target <= address);
            if let Some(head) = back {
                *survey.loop_heads.entry(head).or_default() |= endless;
            }
        }
        survey
    }

    fn note_use(&mut self, instruction: Instruction) {
        let io = |io: u8| IO + u16::from(io);
        let (address, reads, writes) = match instruction {
            Instruction::In { io: address, .. } => (io(address), true, false),
            Instruction::Sbic { io: address, .. } | Instruction::Sbis { io: address, .. } => (io(address), true, false),
            Instruction::Out { io: address, .. } => (io(address), false, true),
            Instruction::Sbi { io: address, .. } | Instruction::Cbi { io: address, .. } => (io(address), false, true),
            Instruction::Lds { address, .. } => (address, true, false),
            Instruction::Sts { address, .. } => (address, false, true),
            _ => return,
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
    use avr_isa::FeatureSet;

    #[test]
    fn registers_and_loops_are_seen() {
        // in r24,PINB; 1: sbi PORTB,5; sts 0x0100,r24; brne 1b; rjmp .+0; 2: rjmp 2b
        let words = [0xb183, 0x9a2d, 0x9380, 0x0100, 0xf7e1, 0xc000, 0xcfff];
        let features = FeatureSet::architecture("avr5").expect("the table has it");
        let program = Program::decode(0x100, features, |address| words.get(address as usize).copied());
        let survey = Survey::of(&program);
        let (reads, writes) = (Use { reads: true, writes: false }, Use { reads: false, writes: true });
        assert_eq!(survey.named.into_iter().collect::<Vec<_>>(), [(0x23, reads), (0x25, writes), (0x100, writes)]);
        assert_eq!(survey.loop_heads.into_iter().collect::<Vec<_>>(), [(1, false), (6, true)]);
    }
}
