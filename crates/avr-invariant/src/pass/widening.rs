//! Widening with thresholds for bytes that go on growing.

use avr_isa::Instruction;
use avr_machine::Program;
use three_valued::TvByte;

/// The numbers at which growing ranges stop: those that a program compares with or loads, and their neighbours.
#[derive(Debug)]
pub(crate) struct Thresholds(Vec<u8>);

impl Thresholds {
    /// Those of a program.
    pub(crate) fn new(program: &Program) -> Self {
        let immediates = program.instructions().filter_map(|(_, instruction)| match instruction {
            Instruction::Cpi { k, .. } | Instruction::Ldi { k, .. } | Instruction::Andi { k, .. } => Some(k),
            Instruction::Subi { k, .. } => Some(k),
            _ => None,
        });
        let near = |k: u8| [k.wrapping_sub(1), k, k.wrapping_add(1)];
        let mut all: Vec<u8> = immediates.flat_map(near).chain([0, u8::MAX]).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    /// A byte that stands for everything that `new` stands for, where `old`, which is part of it, has grown.
    pub(crate) fn widened(&self, old: TvByte, new: TvByte) -> TvByte {
        if old == new {
            return new;
        }
        let below = || self.0.iter().rev().find(|one| **one <= new.low()).copied().unwrap_or(0);
        let above = || self.0.iter().find(|one| **one >= new.high()).copied().unwrap_or(u8::MAX);
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
        let thresholds = Thresholds(vec![0, 9, 10, 11, 63, 64, 65, 255]);
        let range = |low, high| TvByte::UNKNOWN.within(low, high).expect("the range is not empty");
        assert_eq!(thresholds.widened(range(0, 3), range(0, 4)), range(0, 9));
        assert_eq!(thresholds.widened(range(12, 13), range(11, 14)), range(11, 63));
        for step in [1_u8, 2, 4, 7] {
            let mut all = TvByte::constant(0);
            let mut next = 0_u8;
            for _ in 0..40 {
                next = next.wrapping_add(step);
                let grown = all.hull(TvByte::constant(next));
                if grown != all {
                    let widened = thresholds.widened(all, grown);
                    assert!(widened.covers(grown), "{widened} {grown}");
                    all = widened;
                }
            }
            assert!((0..=u8::MAX).filter(|one| one % step == 0).take(40).all(|one| all.contains(one)));
        }
    }
}
