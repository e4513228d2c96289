//! Widening with thresholds for bytes that go on growing.

use avr_isa::Instruction;
use avr_machine::Program;
use three_valued::TvByte;

/// So many times a byte grows to the next number of all, so many times then to the next bound, and so many times to the next power of 2. From then on
/// it grows as far as it can at once.
const STAGES: [u8; 3] = [8, 20, 40];

/// The numbers at which ranges stop that have grown that often.
const ENDS: [u8; 2] = [0, u8::MAX];

/// The numbers at which growing ranges stop.
#[derive(Debug)]
pub(crate) struct Thresholds {
    /// Those that a program compares with or loads, and their neighbours: what is below a number that is below one of them, too.
    all: Vec<u8>,
    /// Those that bound a byte: masks, and what it is compared with.
    bounds: Vec<u8>,
    /// All bits up to one.
    powers: Vec<u8>,
}

impl Thresholds {
    /// Those of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let (mut all, mut bounds) = (vec![0, u8::MAX], vec![0, u8::MAX]);
        for (_, instruction) in program.instructions() {
            let k = match instruction {
                Instruction::Cpi { k, .. } | Instruction::Ldi { k, .. } | Instruction::Subi { k, .. } => k,
                Instruction::Andi { k, .. } => k,
                _ => continue,
            };
            all.extend([k.wrapping_sub(2), k.wrapping_sub(1), k, k.wrapping_add(1)]);
            match instruction {
                Instruction::Andi { .. } => bounds.push(k),
                Instruction::Cpi { .. } => bounds.extend([k.wrapping_sub(2), k.wrapping_sub(1), k]),
                _ => {}
            }
        }
        let powers = (0..=u8::BITS).map(|bits| ((1_u16 << bits) - 1) as u8).collect();
        Self::of(all, bounds, powers)
    }

    fn of(mut all: Vec<u8>, mut bounds: Vec<u8>, powers: Vec<u8>) -> Self {
        for list in [&mut all, &mut bounds] {
            list.sort_unstable();
            list.dedup();
        }
        Self { all, bounds, powers }
    }

    /// A byte that stands for everything that `new` stands for, where `old`, which is part of it, has grown for so many times. It comes to an
    /// end: the fewer numbers are left, the more often it has grown.
    pub(crate) fn widened(&self, times: u8, old: TvByte, new: TvByte) -> TvByte {
        if old == new {
            return new;
        }
        let stage = STAGES.iter().filter(|stage| **stage < times).count();
        let stops = [&self.all[..], &self.bounds, &self.powers, &ENDS][stage];
        let below = || stops.iter().rev().find(|one| **one <= new.low()).copied().unwrap_or(0);
        let above = || stops.iter().find(|one| **one >= new.high()).copied().unwrap_or(u8::MAX);
        let low = if new.low() < old.low() { below() } else { old.low() };
        let high = if new.high() > old.high() { above() } else { old.high() };
        // Bits that only the range tells are told again by the wider range.
        let bits = old.known_mask() & new.known_mask();
        let known = if new.is_ranged() { own_bits(new, bits) } else { new };
        known.within(low, high).unwrap_or(TvByte::UNKNOWN)
    }
}

/// The byte with those of its known bits that lie below the highest unknown one: the others are those of its range.
fn own_bits(byte: TvByte, bits: u8) -> TvByte {
    let highest = u8::BITS - byte.unknown_mask().leading_zeros();
    let low = (1_u16 << highest) - 1;
    TvByte::new(byte.value(), bits & low as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_widened_covers_what_it_was_and_comes_to_an_end() {
        let powers = vec![0, 1, 3, 7, 15, 31, 63, 127, 255];
        let thresholds = Thresholds::of(vec![0, 9, 10, 11, 63, 64, 65, 255], vec![0, 63, 255], powers);
        let range = |low, high| TvByte::UNKNOWN.within(low, high).expect("the range is not empty");
        assert_eq!(thresholds.widened(1, range(0, 3), range(0, 4)), range(0, 9));
        assert_eq!(thresholds.widened(1, range(12, 13), range(11, 14)), range(11, 63));
        assert_eq!(thresholds.widened(9, range(12, 13), range(11, 14)), range(0, 63));
        assert_eq!(thresholds.widened(21, range(12, 13), range(11, 14)), range(7, 15));
        assert_eq!(thresholds.widened(41, range(12, 13), range(11, 14)), TvByte::UNKNOWN);
        for step in [1_u8, 2, 4, 7] {
            let mut all = TvByte::constant(0);
            let mut next = 0_u8;
            let mut times = 0;
            for _ in 0..40 {
                next = next.wrapping_add(step);
                let grown = all.hull(TvByte::constant(next));
                if grown != all {
                    times += 1;
                    let widened = thresholds.widened(times, all, grown);
                    assert!(widened.covers(grown), "{widened} {grown}");
                    all = widened;
                }
            }
            assert!((0..=u8::MAX).filter(|one| one % step == 0).take(40).all(|one| all.contains(one)));
        }
    }

    #[test]
    fn a_byte_that_is_masked_grows_to_its_mask_in_a_program_with_many_numbers() {
        let all: Vec<u8> = (0..60).chain([63, 255]).collect();
        let thresholds = Thresholds::of(all, vec![0, 5, 63, 255], vec![0, 1, 3, 7, 15, 31, 63, 127, 255]);
        let mut byte = TvByte::constant(0);
        for times in 1..=40 {
            let grown = byte.hull(TvByte::constant((byte.high() + 1) & 0x3f));
            byte = if grown == byte { byte } else { thresholds.widened(times, byte, grown) };
        }
        assert_eq!(byte, TvByte::UNKNOWN.within(0, 63).expect("the range is not empty"));
    }
}
