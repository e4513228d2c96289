//! Three-valued bytes: the value domain of verification.

use crate::{BitDomain, ByteDomain, Signedness, Sum, Truth, TvSum, TvWord};
use std::fmt;

impl BitDomain for Truth {
    #[inline]
    fn constant(value: bool) -> Self {
        Self::from(value)
    }

    #[inline]
    fn truth(&self) -> Truth {
        *self
    }

    #[inline]
    fn not(&self) -> Self {
        !*self
    }

    #[inline]
    fn and(&self, other: &Self) -> Self {
        *self & *other
    }

    #[inline]
    fn or(&self, other: &Self) -> Self {
        *self | *other
    }

    #[inline]
    fn xor(&self, other: &Self) -> Self {
        match (self.known(), other.known()) {
            (Some(a), Some(b)) => Self::from(a != b),
            _ => Self::Unknown,
        }
    }
}

/// A byte of three-valued bits: bits whose `known` is 1 have the value in `value`, the others may be either.
///
/// `value` is 0 wherever `known` is 0, so equal bytes are equal as data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TvByte {
    value: u8,
    known: u8,
}

impl TvByte {
    /// The byte of which nothing is known.
    pub const UNKNOWN: Self = Self { value: 0, known: 0 };
    /// The byte that is certainly 0.
    pub const ZERO: Self = Self { value: 0, known: 0xff };

    /// The byte of which the bits in the mask `known` have the value in `value`.
    #[inline]
    #[must_use]
    pub const fn new(value: u8, known: u8) -> Self {
        Self { value: value & known, known }
    }

    /// The byte that is certainly `value`.
    #[inline]
    #[must_use]
    pub const fn constant(value: u8) -> Self {
        Self { value, known: 0xff }
    }

    /// The values of the known bits, 0 elsewhere.
    #[inline]
    #[must_use]
    pub const fn value(self) -> u8 {
        self.value
    }

    /// The mask of the known bits.
    #[inline]
    #[must_use]
    pub const fn known_mask(self) -> u8 {
        self.known
    }

    /// The mask of the unknown bits.
    #[inline]
    #[must_use]
    pub const fn unknown_mask(self) -> u8 {
        !self.known
    }

    /// The value if every bit is known.
    #[inline]
    #[must_use]
    pub const fn known(self) -> Option<u8> {
        if self.known == 0xff { Some(self.value) } else { None }
    }

    /// Whether the concrete `value` is one that the byte stands for.
    #[inline]
    #[must_use]
    pub const fn contains(self, value: u8) -> bool {
        (value ^ self.value) & self.known == 0
    }

    /// Whether the byte stands for everything that `other` stands for.
    #[inline]
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.known & !other.known == 0 && (self.value ^ other.value) & self.known == 0
    }

    /// What both bytes stand for; none when there is no such value.
    #[inline]
    #[must_use]
    pub const fn meet(self, other: Self) -> Option<Self> {
        if (self.value ^ other.value) & self.known & other.known != 0 {
            return None;
        }
        Some(Self { value: self.value | other.value, known: self.known | other.known })
    }

    /// The byte with the bits in `mask` forgotten.
    #[inline]
    #[must_use]
    pub const fn forget(self, mask: u8) -> Self {
        Self { value: self.value & !mask, known: self.known & !mask }
    }

    /// Every concrete value that the byte stands for, in ascending order.
    pub fn concretisations(self) -> impl Iterator<Item = u8> {
        (0..=255).filter(move |value| self.contains(*value))
    }

    fn word(self) -> TvWord {
        TvWord::new(8, u64::from(self.value), u64::from(self.known))
    }

    fn from_word(word: TvWord) -> Self {
        Self { value: word.value() as u8, known: word.known_mask() as u8 }
    }

    fn from_sum(sum: TvSum) -> Sum<Self> {
        Sum {
            value: Self::from_word(sum.value),
            carries: Self::from_word(sum.carries),
            overflow: sum.overflow,
            negative: sum.negative,
            zero: sum.zero,
        }
    }
}

impl fmt::Debug for TvByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TvByte {
    /// Known bytes as `0x2a`, others as eight bits such as `0b00X1XX01`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.known() {
            return write!(f, "{value:#04x}");
        }
        f.write_str("0b")?;
        (0..8).rev().try_for_each(|index| write!(f, "{}", ByteDomain::bit(self, index)))
    }
}

impl ByteDomain for TvByte {
    type Bit = Truth;

    #[inline]
    fn constant(value: u8) -> Self {
        Self::constant(value)
    }

    #[inline]
    fn bits(&self) -> TvByte {
        *self
    }

    #[inline]
    fn bit(&self, index: u8) -> Truth {
        if self.known >> index & 1 == 0 { Truth::Unknown } else { Truth::from(self.value >> index & 1 == 1) }
    }

    #[inline]
    fn with_bit(&self, index: u8, bit: &Truth) -> Self {
        let mask = 1 << index;
        match bit {
            Truth::False => Self { value: self.value & !mask, known: self.known | mask },
            Truth::Unknown => self.forget(mask),
            Truth::True => Self { value: self.value | mask, known: self.known | mask },
        }
    }

    #[inline]
    fn not(&self) -> Self {
        Self::new(!self.value, self.known)
    }

    #[inline]
    fn and(&self, other: &Self) -> Self {
        // Known where both are, and where either is a known 0.
        let zeros = (self.known & !self.value) | (other.known & !other.value);
        Self { value: self.value & other.value, known: (self.known & other.known) | zeros }
    }

    #[inline]
    fn or(&self, other: &Self) -> Self {
        let ones = self.value | other.value;
        Self { value: ones, known: (self.known & other.known) | ones }
    }

    #[inline]
    fn xor(&self, other: &Self) -> Self {
        Self::new(self.value ^ other.value, self.known & other.known)
    }

    fn add(&self, other: &Self, carry: &Truth) -> Sum<Self> {
        if let (Some(a), Some(b), Some(c)) = (self.known(), other.known(), carry.known()) {
            return lift(&ByteDomain::add(&a, &b, &c));
        }
        Self::from_sum(self.word().add(other.word(), *carry))
    }

    fn subtract(&self, other: &Self, borrow: &Truth) -> Sum<Self> {
        if let (Some(a), Some(b), Some(c)) = (self.known(), other.known(), borrow.known()) {
            return lift(&ByteDomain::subtract(&a, &b, &c));
        }
        Self::from_sum(self.word().subtract(other.word(), *borrow))
    }

    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self) {
        let a = self.word().extend(16, sign == Signedness::Signed);
        let b = other.word().extend(16, other_sign == Signedness::Signed);
        let product = a.multiply(b);
        let byte = |shift: u32| Self::new((product.value() >> shift) as u8, (product.known_mask() >> shift) as u8);
        (byte(0), byte(8))
    }

    #[inline]
    fn shift_right(&self, high: &Truth) -> Self {
        Self { value: self.value >> 1, known: self.known >> 1 }.with_bit(7, high)
    }

    #[inline]
    fn swap_nibbles(&self) -> Self {
        Self { value: self.value.rotate_left(4), known: self.known.rotate_left(4) }
    }

    #[inline]
    fn is_zero(&self) -> Truth {
        if self.value != 0 {
            Truth::False
        } else if self.known == 0xff {
            Truth::True
        } else {
            Truth::Unknown
        }
    }

    #[inline]
    fn equals(&self, other: &Self) -> Truth {
        if self.meet(*other).is_none() {
            Truth::False
        } else if self.known & other.known == 0xff {
            Truth::True
        } else {
            Truth::Unknown
        }
    }

    #[inline]
    fn join(&self, other: &Self) -> Self {
        Self::new(self.value, self.known & other.known & !(self.value ^ other.value))
    }

    #[inline]
    fn assume(&self, fact: TvByte) -> Option<Self> {
        self.meet(fact)
    }
}

fn lift(sum: &Sum<u8>) -> Sum<TvByte> {
    Sum {
        value: TvByte::constant(sum.value),
        carries: TvByte::constant(sum.carries),
        overflow: Truth::from(sum.overflow),
        negative: Truth::from(sum.negative),
        zero: Truth::from(sum.zero),
    }
}
