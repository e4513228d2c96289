//! Reproducible random numbers: the test cases of a seed are the same everywhere.

use std::ops::Range;

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        self.bits() as u8
    }

    /// A number from a range that is not empty.
    pub fn within(&mut self, range: Range<u32>) -> u32 {
        range.start + (self.bits() % u64::from(range.end - range.start)) as u32
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u32) -> bool {
        self.within(0..n) == 0
    }

    /// One of several, which must not be none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.within(0..from.len() as u32) as usize]
    }

    /// A byte that is more often than others one at which arithmetic turns.
    pub fn operand(&mut self) -> u8 {
        if self.once_in(4) { *self.pick(&[0, 1, 0x0f, 0x10, 0x7f, 0x80, 0xfe, 0xff]) } else { self.byte() }
    }

    /// Puts the elements in a random order.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            elements.swap(last, self.within(0..last as u32 + 1) as usize);
        }
    }
}
