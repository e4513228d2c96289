//! Words of three-valued bits: `0`, `1` and `X`.

use std::fmt;
use three_valued::Truth;

/// Up to 64 three-valued bits. An unknown bit is 0 in `value`; bits beyond the width are known to be 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word {
    known: u64,
    value: u64,
}

impl Word {
    pub fn exact(value: u64) -> Self {
        Self { known: !0, value }
    }

    /// This word with the bits of a mask forgotten.
    pub fn forget(self, mask: u64) -> Self {
        Self { known: self.known & !mask, value: self.value & !mask }
    }

    /// The bits of both words; each bit is an unknown or a 1 in at most one of them.
    pub fn combine(self, other: Self) -> Self {
        Self { known: self.known & other.known, value: self.value | other.value }
    }

    /// This word with one bit set to a truth value.
    pub fn with(self, index: usize, truth: Truth) -> Self {
        let forgotten = self.forget(1 << index);
        let Some(bit) = truth.known() else { return forgotten };
        Self { known: forgotten.known | 1 << index, value: forgotten.value | u64::from(bit) << index }
    }

    pub fn get(self, index: usize) -> Truth {
        if self.known >> index & 1 == 0 { Truth::Unknown } else { Truth::from(self.value >> index & 1 == 1) }
    }

    /// The mask of the unknown bits.
    pub fn unknown(self) -> u64 {
        !self.known
    }

    /// The value of the known bits.
    pub fn value(self) -> u64 {
        self.value
    }

    pub fn contains(self, value: u64) -> bool {
        (self.value ^ value) & self.known == 0
    }

    /// True if every number that the other word stands for is one that this word stands for.
    pub fn covers(self, other: Self) -> bool {
        (self.unknown() | !other.unknown()) == !0 && self.contains(other.value)
    }

    pub fn join(self, other: Self) -> Self {
        self.forget(other.unknown() | (self.value ^ other.value))
    }

    /// The cases that differ in the unknown bits of a mask.
    pub fn cut(self, mask: u64) -> impl Iterator<Item = Self> {
        let mask = mask & self.unknown();
        subsets(mask).map(move |bits| Self { known: self.known | mask, value: self.value | bits })
    }

    /// The words without unknown bits that this one covers.
    pub fn concretisations(self) -> impl Iterator<Item = u64> {
        subsets(self.unknown()).map(move |bits| self.value | bits)
    }

    /// The lowest bits, most significant first.
    pub fn show(self, width: u32) -> String {
        let digit = |index: usize| match self.get(index) {
            Truth::False => '0',
            Truth::Unknown => 'X',
            Truth::True => '1',
        };
        (0..width as usize).rev().map(digit).collect()
    }

    /// The word that [`Self::show`] writes like this.
    pub fn read(text: &str) -> Self {
        text.bytes().rev().enumerate().fold(Self::exact(0), |word, (index, digit)| {
            word.with(index, [Truth::False, Truth::True, Truth::Unknown]["01X".find(digit as char).expect("01X")])
        })
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = 64 - (self.value | self.unknown()).leading_zeros();
        f.write_str(&self.show(used.max(1)))
    }
}

/// All subsets of a mask, in ascending order.
fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(0_u64);
    std::iter::from_fn(move || {
        let subset = next?;
        next = Some(subset.wrapping_sub(mask) & mask).filter(|after| *after != 0);
        Some(subset)
    })
}

/// The indices of the bits of a mask, ascending.
pub fn bits(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |index| mask >> index & 1 == 1)
}
