//! Values that a program knows: constants of its comparisons, and strings in its flash.

use avr_isa::Instruction;
use avr_machine::Program;
use fastrand::Rng;

/// The fewest and the most characters of a string that is tried.
const STRING: std::ops::RangeInclusive<usize> = 3..=16;
/// The most strings.
const MAX_STRINGS: usize = 256;

/// The values that a program knows.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    constants: Vec<u8>,
    strings: Vec<Vec<u8>>,
}

impl Dictionary {
    /// The values that a program knows.
    pub(super) fn new(program: &Program) -> Self {
        let compared = |instruction| match instruction {
            Instruction::Cpi { k, .. } | Instruction::Subi { k, .. } => Some(k),
            _ => None,
        };
        let mut constants: Vec<u8> =
            program.instructions().filter_map(|(_, instruction)| compared(instruction)).collect();
        constants.sort_unstable();
        constants.dedup();
        let bytes: Vec<u8> = (0..2 * program.words()).map(|address| program.byte(address)).collect();
        let runs = bytes.split(|byte| !(b' '..=b'~').contains(byte));
        let strings = runs.filter(|run| STRING.contains(&run.len())).take(MAX_STRINGS).map(<[u8]>::to_vec).collect();
        Self { constants, strings }
    }

    /// One of the constants.
    pub(super) fn constant(&self, random: &mut Rng) -> Option<u8> {
        random.choice(&self.constants).copied()
    }

    /// One of the strings.
    pub(super) fn string(&self, random: &mut Rng) -> Option<&[u8]> {
        random.choice(&self.strings).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::FeatureSet;

    #[test]
    fn constants_and_strings_are_found() {
        // cpi r24, 'L'; subi r24, '0'; "OPEN".
        let words = [0x348c_u16, 0x5380, 0x504f, 0x4e45, 0x0000];
        let program = Program::decode(16, FeatureSet::default(), |address| words.get(address as usize).copied());
        let dictionary = Dictionary::new(&program);
        assert!([b'L', b'0'].iter().all(|one| dictionary.constants.contains(one)), "{:?}", dictionary.constants);
        let has_end = |one: &Vec<u8>| one.ends_with(b"OPEN");
        assert!(dictionary.strings.iter().any(has_end), "{:?}", dictionary.strings);
    }
}
