//! Widening with thresholds for bytes in memory that go on changing (Blanchet et al., "Design and implementation of a
//! special-purpose static program analyzer for safety-critical real-time embedded software", 2002).
//!
//! A counter would lose one bit after the other, and each of its contents would go through the rest of the program. The
//! thresholds are the masks of the program: an index that is kept below 64 by `andi r24, 0x3f` keeps its two highest bits.

use avr_isa::Instruction;
use avr_machine::Program;

/// The masks that are made of the lowest bits of a byte, as many as one, and that a program uses.
#[derive(Debug)]
pub struct WideningThresholds {
    /// In ascending order; the last one is the whole byte.
    masks: Vec<u8>,
}

impl WideningThresholds {
    /// Those of a program.
    pub fn new(program: &Program) -> Self {
        let masks = program.instructions().filter_map(|(_, instruction)| match instruction {
            Instruction::Andi { k, .. } => Some(k),
            _ => None,
        });
        let mut masks: Vec<u8> = masks.filter(|mask| mask & mask.wrapping_add(1) == 0).chain([u8::MAX]).collect();
        masks.sort_unstable();
        masks.dedup();
        Self { masks }
    }

    /// The smallest of them that has all of some bits.
    pub fn widened(&self, bits: u8) -> u8 {
        self.masks.iter().copied().find(|mask| bits & !mask == 0).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::Register;
    use avr_machine::device::Device;

    #[test]
    fn the_masks_of_a_program_are_the_thresholds() {
        let rd = Register::new(24).expect("there are 32 registers");
        let words = [0x3f, 0x30, 0x07].map(|k| Instruction::Andi { rd, k }.encode().expect("it has a code").first);
        let device = Device::named("atmega328p").expect("a device of the tables");
        let word = |address: u32| words.get(address as usize).copied();
        let thresholds =
            WideningThresholds::new(&Program::decode(device.memory.flash_words(), device.core.features, word));
        assert_eq!([1, 7, 8, 0x30, 0x3f, 0x40].map(|bits| thresholds.widened(bits)), [7, 7, 0x3f, 0x3f, 0x3f, 0xff]);
    }
}
