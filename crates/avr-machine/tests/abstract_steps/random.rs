//! Random three-valued bytes.

pub use avr_testkit::Random;
use three_valued::TvByte;

/// Makes three-valued bytes.
pub trait ThreeValued {
    /// A byte with at most so many unknown bits around a known value.
    fn near(&mut self, value: u8, unknown_bits: usize) -> TvByte;

    /// A byte that is known, partly known or unknown.
    fn three_valued(&mut self) -> TvByte;

    /// A value that the byte stands for.
    fn concrete(&mut self, byte: TvByte) -> u8;
}

impl ThreeValued for Random {
    fn near(&mut self, value: u8, unknown_bits: usize) -> TvByte {
        let unknown = (0..unknown_bits).fold(0u8, |mask, _| mask | 1 << self.below(8));
        let bits = TvByte::new(value, !unknown);
        if unknown_bits > 0 && self.once_in(3) { ranged(self, bits, value) } else { bits }
    }

    fn three_valued(&mut self) -> TvByte {
        let value = self.byte();
        match self.below(7) {
            0 => TvByte::UNKNOWN,
            6 => ranged(self, TvByte::UNKNOWN, value),
            1 => TvByte::new(value, self.byte()),
            2 => self.near(value, 3),
            _ => TvByte::constant(value),
        }
    }

    fn concrete(&mut self, byte: TvByte) -> u8 {
        let value = byte.value() | self.byte() & byte.unknown_mask();
        if byte.contains(value) {
            return value;
        }
        let all: Vec<u8> = byte.concretisations().collect();
        all[self.below(all.len())]
    }
}

/// The byte with a range around one of its values.
fn ranged(random: &mut Random, byte: TvByte, value: u8) -> TvByte {
    let (below, above) = (random.below(20), random.below(20));
    byte.within(value.saturating_sub(below), value.saturating_add(above)).expect("the value is in it")
}
