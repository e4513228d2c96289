//! The value domain of expressions: what is known of an integer.
//!
//! A [`Value`] is the product of known bits of a 128-bit two's complement word and an interval. The bits are exact for
//! masks, the interval for comparisons, and each sharpens the other. Expressions are only accepted when no operand can
//! leave [`Value::LIMIT`], so the arithmetic is that of the integers.

use three_valued::{Truth, TvByte};

/// The knowledge of an integer: bits and an interval.
///
/// Invariant: at least one integer agrees with the bits and lies in the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    /// Bits that are certainly 1.
    ones: u128,
    /// Bits that are certainly 0.
    zeros: u128,
    /// The smallest integer that it may be.
    min: i128,
    /// The largest integer that it may be.
    max: i128,
}

const SIGN: u128 = 1 << 127;

impl Value {
    /// Integers at or beyond this magnitude are refused when an expression is bound.
    pub(crate) const LIMIT: u128 = 1 << 120;

    /// Nothing is known.
    const ANYTHING: Self = Self { ones: 0, zeros: 0, min: i128::MIN, max: i128::MAX };

    pub(crate) fn constant(value: i128) -> Self {
        Self { ones: value.cast_unsigned(), zeros: !value.cast_unsigned(), min: value, max: value }
    }

    /// Bytes in little-endian order as an unsigned number; at most eight.
    pub(crate) fn from_bytes(bytes: impl Iterator<Item = TvByte>) -> Self {
        let mut value = Self::constant(0);
        for (byte, shift) in bytes.zip((0..).step_by(8)) {
            value.ones |= u128::from(byte.value()) << shift;
            value.zeros &= !(u128::from(byte.value() | byte.unknown_mask()) << shift);
            value.min |= i128::from(byte.low()) << shift;
            value.max |= i128::from(byte.high()) << shift;
        }
        value.sharpened()
    }

    /// The number 0 or 1 of one bit of a byte.
    pub(crate) fn from_bit(byte: TvByte, bit: u8) -> Self {
        let mask = 1 << bit;
        let known = TvByte::new((byte.value() & mask) >> bit, 0xfe | (byte.known_mask() & mask) >> bit);
        Self::from_bytes(std::iter::once(known))
    }

    fn unknown_bits(self) -> u128 {
        !(self.ones | self.zeros)
    }

    /// The mask of the bits that are not certainly 0.
    pub(crate) fn possible_ones(self) -> u128 {
        !self.zeros
    }

    /// The value if only one is possible.
    pub(crate) fn known(self) -> Option<i128> {
        (self.min == self.max).then_some(self.min)
    }

    /// The smallest and the largest possible value.
    pub(crate) fn range(self) -> (i128, i128) {
        (self.min, self.max)
    }

    /// True if the integer is one that the value stands for.
    pub(crate) fn contains(self, value: i128) -> bool {
        let bits = value.cast_unsigned();
        (self.min..=self.max).contains(&value) && bits & self.zeros == 0 && !bits & self.ones == 0
    }

    /// The integers that it may be, ascending; `None` where the interval has more than `limit` of them.
    pub(crate) fn candidates(self, limit: i128) -> Option<impl Iterator<Item = i128>> {
        let close = self.max.checked_sub(self.min)? < limit;
        close.then(|| (self.min..=self.max).filter(move |value| self.contains(*value)))
    }

    /// Lets the bits narrow the interval and the interval fix the leading bits in which its ends agree.
    fn sharpened(self) -> Self {
        let unknown = self.unknown_bits();
        let min = self.min.max((self.ones | unknown & SIGN).cast_signed());
        let max = self.max.min((self.ones | unknown & !SIGN).cast_signed());
        // SOUND: all integers between two that agree in their leading bits (the sign among them) agree in them too.
        let differing = (min ^ max).cast_unsigned();
        let common = !u128::MAX.checked_shr(differing.leading_zeros()).unwrap_or(0);
        let ones = self.ones | min.cast_unsigned() & common;
        let zeros = self.zeros | !min.cast_unsigned() & common;
        Self { ones, zeros, min, max }
    }

    /// The least value that covers both operands.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            ones: self.ones & other.ones,
            zeros: self.zeros & other.zeros,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    pub(crate) fn add(self, other: Self) -> Self {
        let (ones, zeros) = self.sum_bits(other, 0);
        let (min, max) = (self.min.saturating_add(other.min), self.max.saturating_add(other.max));
        Self { ones, zeros, min, max }.sharpened()
    }

    pub(crate) fn subtract(self, other: Self) -> Self {
        // a - b = a + ~b + 1.
        let (ones, zeros) = self.sum_bits(other.complement(), 1);
        let (min, max) = (self.min.saturating_sub(other.max), self.max.saturating_sub(other.min));
        Self { ones, zeros, min, max }.sharpened()
    }

    pub(crate) fn negate(self) -> Self {
        Self::constant(0).subtract(self)
    }

    /// The known ones and zeros of `self + other + carry`, modulo 2^128.
    fn sum_bits(self, other: Self, carry: u128) -> (u128, u128) {
        let low = self.ones.wrapping_add(other.ones).wrapping_add(carry);
        let high = (!self.zeros).wrapping_add(!other.zeros).wrapping_add(carry);
        // SOUND: each carry is a monotone function of all operand bits, so it is known where it is the same at both
        // extremes.
        let carries_low = low ^ self.ones ^ other.ones;
        let carries_high = high ^ !self.zeros ^ !other.zeros;
        let known = !(carries_low ^ carries_high) & !self.unknown_bits() & !other.unknown_bits();
        (low & known, !low & known)
    }

    pub(crate) fn complement(self) -> Self {
        Self { ones: self.zeros, zeros: self.ones, min: !self.max, max: !self.min }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        let bits = Self { ones: self.ones & other.ones, zeros: self.zeros | other.zeros, ..self.bitwise_range(other) };
        // A conjunction with a number that is not negative is neither negative nor larger than it.
        let bound = |value: Self| if value.min >= 0 { value.max } else { i128::MAX };
        Self { max: bits.max.min(bound(self)).min(bound(other)), ..bits }.sharpened()
    }

    pub(crate) fn or(self, other: Self) -> Self {
        self.complement().and(other.complement()).complement()
    }

    pub(crate) fn xor(self, other: Self) -> Self {
        let known = !self.unknown_bits() & !other.unknown_bits();
        let bits = self.ones ^ other.ones;
        Self { ones: bits & known, zeros: !bits & known, ..self.bitwise_range(other) }.sharpened()
    }

    /// Of the result of a bitwise operation only that it needs no more bits than the longer operand: all bits above
    /// repeat the signs of the operands.
    fn bitwise_range(self, other: Self) -> Self {
        let length = |bound: i128| 128 - bound.leading_zeros().max(bound.leading_ones());
        let bits = [self.min, self.max, other.min, other.max].into_iter().map(length).max().unwrap_or(128);
        let max = i128::MAX.checked_shr(127 - bits).unwrap_or(0);
        Self { min: !max, max, ..Self::ANYTHING }
    }

    /// `self << count`; the count is never negative.
    pub(crate) fn shift_left(self, count: Self) -> Self {
        self.shift(count, |value, count| {
            let zeros = value.zeros << count | !(u128::MAX << count);
            let scale = |bound: i128| bound.saturating_mul(1i128.checked_shl(count).unwrap_or(i128::MAX).max(1));
            let (min, max) = if count < 127 { (scale(value.min), scale(value.max)) } else { (i128::MIN, i128::MAX) };
            Self { ones: value.ones << count, zeros, min, max }.sharpened()
        })
    }

    /// `self >> count`, rounding down; the count is never negative.
    pub(crate) fn shift_right(self, count: Self) -> Self {
        self.shift(count, |value, count| Self {
            ones: (value.ones.cast_signed() >> count).cast_unsigned(),
            zeros: (value.zeros.cast_signed() >> count).cast_unsigned(),
            min: value.min >> count,
            max: value.max >> count,
        })
    }

    /// The join over all counts; counts above 127 do to integers below the limit what 127 does, or are refused.
    fn shift(self, count: Self, by: impl Fn(Self, u32) -> Self) -> Self {
        let most = count.max.clamp(0, 127) as u32;
        let least = count.min.clamp(0, 127) as u32;
        let possible = |places: &u32| *places == 127 || count.contains(i128::from(*places));
        let results = (least..=most).filter(possible).map(|places| by(self, places));
        results.reduce(Self::join).unwrap_or(Self::ANYTHING)
    }

    /// The low `width` bits (1 to 64), of which the highest is the sign, as a two's complement number.
    pub(crate) fn sign_extended(self, width: u32) -> Self {
        let shift = 128 - width;
        let extend = |bits: u128| ((bits << shift).cast_signed() >> shift).cast_unsigned();
        let sign = 1u128 << (width - 1);
        let unknown = self.unknown_bits();
        let min = extend(self.ones | unknown & sign).cast_signed();
        let max = extend(self.ones | unknown & !sign).cast_signed();
        Self { ones: extend(self.ones), zeros: extend(self.zeros), min, max }.sharpened()
    }

    pub(crate) fn equals(self, other: Self) -> Truth {
        let conflict = self.ones & other.zeros | self.zeros & other.ones;
        if conflict != 0 || self.max < other.min || other.max < self.min {
            Truth::False
        } else if self.known().is_some() && self.known() == other.known() {
            Truth::True
        } else {
            Truth::Unknown
        }
    }

    pub(crate) fn less(self, other: Self) -> Truth {
        if self.max < other.min {
            Truth::True
        } else if self.min >= other.max {
            Truth::False
        } else {
            Truth::Unknown
        }
    }
}

#[cfg(test)]
mod tests;
