//! Reproducible random numbers, bytes and three-valued bytes.

use three_valued::TvByte;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.bits() as u8
    }

    /// A byte with at most so many unknown bits around a known value.
    pub fn near(&mut self, value: u8, unknown_bits: usize) -> TvByte {
        let unknown = (0..unknown_bits).fold(0u8, |mask, _| mask | 1 << self.below(8));
        let bits = TvByte::new(value, !unknown);
        if unknown_bits > 0 && self.once_in(3) { self.ranged(bits, value) } else { bits }
    }

    /// The byte with a range around one of its values.
    fn ranged(&mut self, byte: TvByte, value: u8) -> TvByte {
        let (below, above) = (self.below(20) as u8, self.below(20) as u8);
        byte.within(value.saturating_sub(below), value.saturating_add(above)).expect("the value is in it")
    }

    /// A byte that is known, partly known or unknown.
    pub fn three_valued(&mut self) -> TvByte {
        let value = self.byte();
        match self.below(7) {
            0 => TvByte::UNKNOWN,
            6 => self.ranged(TvByte::UNKNOWN, value),
            1 => TvByte::new(value, self.byte()),
            2 => self.near(value, 3),
            _ => TvByte::constant(value),
        }
    }

    /// A value that the byte stands for.
    pub fn concrete(&mut self, byte: TvByte) -> u8 {
        let value = byte.value() | self.byte() & byte.unknown_mask();
        if byte.contains(value) {
            return value;
        }
        let all: Vec<u8> = byte.concretisations().collect();
        all[self.below(all.len())]
    }
}
