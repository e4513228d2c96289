//! Programs for the ATmega328P, most of them random.

pub mod correlated;
pub mod interrupted;
pub mod stored_outcome;
pub mod varied;

use crate::Random;
use avr_isa::DataAddress;

/// Data addresses that programs share with handlers.
pub const CELLS: [DataAddress; 3] = [DataAddress(0x100), DataAddress(0x101), DataAddress(0x102)];
/// The I/O address of the register that enables INT0 and INT1.
pub const EIMSK: u8 = 0x1d;
/// The I/O address of the flags.
pub const SREG: u8 = 0x3f;

fn cell(random: &mut Random) -> DataAddress {
    random.pick(&CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{FeatureSet, decode};

    /// Checks that a seed gives the same program, another seed another one, and that all words but those of traps decode.
    fn check(program: fn(&mut Random) -> Vec<u16>) {
        for seed in 0..200 {
            let words = program(&mut Random::new(seed));
            assert_eq!(words, program(&mut Random::new(seed)));
            assert_ne!(words, program(&mut Random::new(seed + 1)));
            let mut rest = words.as_slice();
            while let Some((first, after)) = rest.split_first() {
                let length = match decode(*first, after.first().copied(), FeatureSet::AVR5) {
                    Ok(instruction) => usize::from(instruction.words()),
                    Err(error) => {
                        assert_eq!(*first, 0xffff, "seed {seed}: {error}");
                        1
                    }
                };
                rest = &rest[length..];
            }
        }
    }

    #[test]
    fn interrupted_programs_decode() {
        check(interrupted::program);
    }

    #[test]
    fn varied_programs_decode() {
        check(varied::program);
    }
}
