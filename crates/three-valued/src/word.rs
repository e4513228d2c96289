//! Three-valued words of 1 to 63 bits: the arithmetic behind [`TvByte`](crate::TvByte), in one place for all widths. So
//! exhaustive tests at small widths speak for the code that runs at 8 and 16 bits.

use crate::Truth;

/// A three-valued word of a given width: bits whose `known` is 1 have the value in `value`, the others may be either.
///
/// `value` is 0 wherever `known` is 0, and both are 0 above the width, so equal words are equal as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TvWord {
    width: u32,
    value: u64,
    known: u64,
}

/// The result of an addition or subtraction of three-valued words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TvSum {
    /// The result modulo 2^width.
    pub value: TvWord,
    /// Bit `i` is the carry (or borrow) out of bit `i`.
    pub carries: TvWord,
    /// True if the exact signed result does not fit the width.
    pub overflow: Truth,
    /// True if the exact signed result is negative.
    pub negative: Truth,
    /// True if the result modulo 2^width is zero.
    pub zero: Truth,
}

impl TvWord {
    /// The widest word in bits.
    pub const MAX_WIDTH: u32 = 63;

    /// A word of `width` bits (1 to [`Self::MAX_WIDTH`]) of which those in the mask `known` have the value in `value`.
    #[must_use]
    pub fn new(width: u32, value: u64, known: u64) -> Self {
        debug_assert!((1..=Self::MAX_WIDTH).contains(&width));
        let known = known & mask(width);
        Self { width, value: value & known, known }
    }

    /// The word that is certainly `value` modulo 2^width.
    #[must_use]
    pub fn constant(width: u32, value: u64) -> Self {
        Self::new(width, value, u64::MAX)
    }

    /// The word of which nothing is known.
    #[must_use]
    pub fn unknown(width: u32) -> Self {
        Self::new(width, 0, 0)
    }

    /// The width in bits.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The values of the known bits, 0 elsewhere. Read as a number: the smallest unsigned value.
    #[must_use]
    pub fn value(self) -> u64 {
        self.value
    }

    /// The mask of the known bits.
    #[must_use]
    pub fn known_mask(self) -> u64 {
        self.known
    }

    /// The largest unsigned value.
    #[must_use]
    pub fn max(self) -> u64 {
        self.value | (!self.known & mask(self.width))
    }

    /// The smallest and the largest signed value.
    #[must_use]
    pub fn signed_range(self) -> (i64, i64) {
        let sign = 1u64 << (self.width - 1);
        let unknown = !self.known & mask(self.width);
        let lowest = self.value | (unknown & sign);
        let highest = self.value | (unknown & !sign);
        (sign_extend(lowest, self.width), sign_extend(highest, self.width))
    }

    /// The value if every bit is known.
    #[must_use]
    pub fn known(self) -> Option<u64> {
        (self.known == mask(self.width)).then_some(self.value)
    }

    /// True if the concrete `value` (modulo 2^width) is one that the word stands for.
    #[must_use]
    pub fn contains(self, value: u64) -> bool {
        (value ^ self.value) & self.known == 0
    }

    /// The truth of the comparison for equality: unknown if the words have equal and unequal concrete values.
    #[must_use]
    pub fn equals(self, other: Self) -> Truth {
        if (self.value ^ other.value) & self.known & other.known != 0 {
            Truth::False
        } else if self.known().is_some() && other.known().is_some() {
            Truth::True
        } else {
            Truth::Unknown
        }
    }

    /// `self + other + carry`. Value, carries and sign are optimal.
    #[must_use]
    pub fn add(self, other: Self, carry: Truth) -> TvSum {
        let (carry_min, carry_max) = range(carry);
        let (low, high) = (self.value + other.value + carry_min, self.max() + other.max() + carry_max);
        // SOUND: each carry is a monotone function of all operand bits, so its extremes are at the extremes of them.
        let carries_min = self.value ^ other.value ^ low;
        let carries_max = self.max() ^ other.max() ^ high;
        let (a, b) = (self.signed_range(), other.signed_range());
        let exact = (a.0 + b.0 + carry_min.cast_signed(), a.1 + b.1 + carry_max.cast_signed());
        // The sum is zero exactly when self == -(other + carry): decided by conflicts with the complement for carry 1.
        let zero = match carry {
            Truth::True => self.equals(other.not()),
            Truth::False | Truth::Unknown => Truth::Unknown,
        };
        self.sum(other, low, carries_min, carries_max, exact, zero)
    }

    /// `self - other - borrow`. Value, carries (borrows) and sign are optimal.
    #[must_use]
    pub fn subtract(self, other: Self, borrow: Truth) -> TvSum {
        let (borrow_min, borrow_max) = range(borrow);
        // SOUND: each borrow falls with the bits of self and rises with those of other and the borrow in.
        let low = self.max().wrapping_sub(other.value).wrapping_sub(borrow_min);
        let high = self.value.wrapping_sub(other.max()).wrapping_sub(borrow_max);
        let borrows_min = self.max() ^ other.value ^ low;
        let borrows_max = self.value ^ other.max() ^ high;
        let (a, b) = (self.signed_range(), other.signed_range());
        let exact = (a.0 - b.1 - borrow_max.cast_signed(), a.1 - b.0 - borrow_min.cast_signed());
        let zero = match borrow {
            Truth::False => self.equals(other),
            Truth::True | Truth::Unknown => Truth::Unknown,
        };
        self.sum(other, low, borrows_min, borrows_max, exact, zero)
    }

    /// `sample` is the result of one choice of the operands; `ins_*` hold the carry into each bit at both extremes.
    fn sum(self, other: Self, sample: u64, ins_min: u64, ins_max: u64, exact: (i64, i64), zero: Truth) -> TvSum {
        let width = self.width;
        let ins_known = !(ins_min ^ ins_max);
        // A bit of the result is the exclusive or of two operand bits and a carry that depends only on lower bits.
        let value = Self::new(width, sample, self.known & other.known & ins_known);
        let carries = Self::new(width, ins_min >> 1, ins_known >> 1);
        let negative = sign_of(exact);
        let overflow = overflow(width, exact, carries);
        let zero = if zero.is_unknown() { value.equals(Self::constant(width, 0)) } else { zero };
        TvSum { value, carries, overflow, negative, zero }
    }

    /// The product modulo 2^width.
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        let mut product = Self::constant(self.width, 0);
        for index in 0..self.width {
            let bit = Self::new(1, other.value >> index, other.known >> index).known();
            let row = match bit {
                Some(0) => continue,
                Some(_) => self.shift_left(index),
                None => self.shift_left(index).join(Self::constant(self.width, 0)),
            };
            product = product.add(row, Truth::False).value;
        }
        product
    }

    /// All bits moved `count` places up, zeros coming in.
    #[must_use]
    pub fn shift_left(self, count: u32) -> Self {
        if count >= self.width {
            return Self::constant(self.width, 0);
        }
        Self::new(self.width, self.value << count, self.known << count | mask_or_zero(count))
    }

    /// Bitwise complement (optimal).
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "the operations of the domain are methods side by side")]
    pub fn not(self) -> Self {
        Self::new(self.width, !self.value, self.known)
    }

    /// The word that stands for everything that either operand stands for (optimal).
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self::new(self.width, self.value, self.known & other.known & !(self.value ^ other.value))
    }

    /// The word made wider: with zeros, or with copies of the top bit.
    #[must_use]
    pub fn extend(self, width: u32, signed: bool) -> Self {
        let high = mask(width) & !mask(self.width);
        let top = self.width - 1;
        let (value, known) = match (signed, self.known >> top & 1, self.value >> top & 1) {
            (false, ..) | (true, 1, 0) => (self.value, self.known | high),
            (true, 1, _) => (self.value | high, self.known | high),
            (true, ..) => (self.value, self.known),
        };
        Self::new(width, value, known)
    }
}

fn mask(width: u32) -> u64 {
    (1u64 << width) - 1
}

fn mask_or_zero(width: u32) -> u64 {
    if width == 0 { 0 } else { mask(width) }
}

fn sign_extend(value: u64, width: u32) -> i64 {
    let shift = 64 - width;
    (value << shift).cast_signed() >> shift
}

fn range(bit: Truth) -> (u64, u64) {
    match bit {
        Truth::False => (0, 0),
        Truth::Unknown => (0, 1),
        Truth::True => (1, 1),
    }
}

fn sign_of((lowest, highest): (i64, i64)) -> Truth {
    if highest < 0 {
        Truth::True
    } else if lowest >= 0 {
        Truth::False
    } else {
        Truth::Unknown
    }
}

fn overflow(width: u32, (lowest, highest): (i64, i64), carries: TvWord) -> Truth {
    let (least, greatest) = (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1);
    if least <= lowest && highest <= greatest {
        Truth::False
    } else if highest < least || greatest < lowest {
        Truth::True
    } else if width >= 2 {
        let top_two = TvWord::new(2, carries.value >> (width - 2), carries.known >> (width - 2));
        top_two.known().map_or(Truth::Unknown, |bits| Truth::from(bits == 1 || bits == 2))
    } else {
        Truth::Unknown
    }
}
