//! Three-valued bytes: the value domain of verification.

use crate::fault::{Fault, is_on};
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

/// A byte of three-valued bits: bits whose `known` is 1 have the value in `value`, the others may be either; of the values that
/// these bits allow, it stands for those in a *range*.
///
/// Bits alone cannot say "at most 23". Ranges come from [`Self::within`], from sums and differences with a constant, and from
/// operations on bytes whose range says more than their bits do: without the former there are none.
///
/// `value` is 0 wherever `known` is 0, and `low` and `high` are the least and the greatest value that the byte stands
/// for. Bits in which all values of the range agree are known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TvByte {
    value: u8,
    known: u8,
    low: u8,
    high: u8,
}

impl TvByte {
    /// The byte of which nothing is known.
    pub const UNKNOWN: Self = Self::new(0, 0);
    /// The byte that is certainly 0.
    pub const ZERO: Self = Self::constant(0);

    /// The byte of which the bits in the mask `known` have the value in `value`.
    #[inline]
    #[must_use]
    pub const fn new(value: u8, known: u8) -> Self {
        let value = value & known;
        Self { value, known, low: value, high: value | !known }
    }

    /// The byte that is certainly `value`.
    #[inline]
    #[must_use]
    pub const fn constant(value: u8) -> Self {
        Self { value, known: 0xff, low: value, high: value }
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

    /// The least value that the byte stands for.
    #[inline]
    #[must_use]
    pub const fn low(self) -> u8 {
        self.low
    }

    /// The greatest value that the byte stands for.
    #[inline]
    #[must_use]
    pub const fn high(self) -> u8 {
        self.high
    }

    /// True if the range says more than the bits do.
    #[inline]
    #[must_use]
    pub const fn is_ranged(self) -> bool {
        self.low != self.value || self.high != self.value | !self.known
    }

    /// The mask of the bits that something is known of: all if there is a range.
    #[inline]
    #[must_use]
    pub const fn informed_mask(self) -> u8 {
        if self.is_ranged() { 0xff } else { self.known }
    }

    /// The value if every bit is known.
    #[inline]
    #[must_use]
    pub const fn known(self) -> Option<u8> {
        if self.known == 0xff { Some(self.value) } else { None }
    }

    /// True if the concrete `value` is one that the byte stands for.
    #[inline]
    #[must_use]
    pub const fn contains(self, value: u8) -> bool {
        self.allows(value) && self.low <= value && value <= self.high
    }

    /// True if the bits allow a value.
    #[inline]
    const fn allows(self, value: u8) -> bool {
        (value ^ self.value) & self.known == 0
    }

    /// True if the byte stands for everything that `other` stands for.
    #[inline]
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        let bits = self.known & !other.known == 0 && (self.value ^ other.value) & self.known == 0;
        bits && self.low <= other.low && other.high <= self.high
    }

    /// The values that both bytes stand for; none when there is no such value.
    #[inline]
    #[must_use]
    pub fn meet(self, other: Self) -> Option<Self> {
        if (self.value ^ other.value) & self.known & other.known != 0 {
            return None;
        }
        let bits = Self::new(self.value | other.value, self.known | other.known);
        if self.is_ranged() || other.is_ranged() {
            return bits.within(self.low.max(other.low), self.high.min(other.high));
        }
        Some(bits)
    }

    /// The values of the byte from `low` to `high`; none when there is no such value.
    #[must_use]
    pub fn within(self, low: u8, high: u8) -> Option<Self> {
        let mut values = (low.max(self.low)..=high.min(self.high)).filter(|value| self.allows(*value));
        let low = values.next()?;
        let high = values.next_back().unwrap_or(low);
        // Above the highest bit in which the ends differ all values of the range agree.
        let agreed = !(0xff_u8.checked_shr((low ^ high).leading_zeros()).unwrap_or(0));
        let known = self.known | agreed;
        Some(Self { value: low & known, known, low, high })
    }

    /// The byte with the bits in `mask` forgotten; its range is, if there are any.
    #[inline]
    #[must_use]
    pub const fn forget(self, mask: u8) -> Self {
        if mask == 0 { self } else { Self::new(self.value & !mask, self.known & !mask) }
    }

    /// A byte that stands for everything that either operand stands for, with the range that both have together.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        let bits = Self::new(self.value, self.known & other.known & !(self.value ^ other.value));
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        bits.within(low, high).expect("both bytes stand for something")
    }

    /// Every concrete value that the byte stands for, in ascending order.
    pub fn concretisations(self) -> impl Iterator<Item = u8> {
        (self.low..=self.high).filter(move |value| self.allows(*value))
    }

    /// The number of concrete values of the byte.
    #[must_use]
    pub fn count(self) -> usize {
        if self.is_ranged() { self.concretisations().count() } else { 1 << self.known.count_zeros() }
    }

    /// True if the range of a sum or difference of the two bytes is computed: one of them has a range or is constant.
    /// The range of an offset into a table, which may begin anywhere, says more than its bits.
    #[inline]
    const fn has_range_with(self, other: Self) -> bool {
        self.is_ranged() || other.is_ranged() || self.known().is_some() || other.known().is_some()
    }

    /// Adds to a sum or difference that its value lies between two numbers, which may be outside of a byte.
    fn narrow(mut sum: Sum<Self>, low: i16, high: i16) -> Sum<Self> {
        let high = if is_on(Fault::RangeTooNarrow) && low < high { high - 1 } else { high };
        let wraps = low.div_euclid(256);
        if wraps != high.div_euclid(256) {
            return sum;
        }
        let carry = Truth::from(wraps != 0);
        let (low, high) = (low.rem_euclid(256) as u8, high.rem_euclid(256) as u8);
        // SOUND: the value is in both, so that what they have in common is not empty.
        sum.value = sum.value.within(low, high).unwrap_or(sum.value);
        sum.carries = sum.carries.with_bit(7, &carry);
        if sum.zero.is_unknown() {
            sum.zero = sum.value.is_zero();
        }
        sum
    }

    fn word(self) -> TvWord {
        TvWord::new(8, u64::from(self.value), u64::from(self.known))
    }

    fn from_word(word: TvWord) -> Self {
        Self::new(word.value() as u8, word.known_mask() as u8)
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
    /// Known bytes as `0x2a`, others as eight bits such as `0b00X1XX01`, with the range, if there is one, as ` in 1..=16`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.known() {
            return write!(f, "{value:#04x}");
        }
        f.write_str("0b")?;
        (0..8).rev().try_for_each(|index| write!(f, "{}", ByteDomain::bit(self, index)))?;
        if self.is_ranged() {
            write!(f, " in {}..={}", self.low, self.high)?;
        }
        Ok(())
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
            Truth::False => Self::new(self.value & !mask, self.known | mask),
            Truth::Unknown => self.forget(mask),
            Truth::True => Self::new(self.value | mask, self.known | mask),
        }
    }

    #[inline]
    fn not(&self) -> Self {
        Self { value: !self.value & self.known, known: self.known, low: !self.high, high: !self.low }
    }

    #[inline]
    fn and(&self, other: &Self) -> Self {
        // Known where both are, and where either is a known 0.
        let zeros = (self.known & !self.value) | (other.known & !other.value);
        let bits = Self::new(self.value & other.value, (self.known & other.known) | zeros);
        if self.is_ranged() || other.is_ranged() {
            return bits.within(0, self.high.min(other.high)).unwrap_or(bits);
        }
        bits
    }

    #[inline]
    fn or(&self, other: &Self) -> Self {
        let ones = self.value | other.value;
        let bits = Self::new(ones, (self.known & other.known) | ones);
        if self.is_ranged() || other.is_ranged() {
            return bits.within(self.low.max(other.low), 0xff).unwrap_or(bits);
        }
        bits
    }

    #[inline]
    fn xor(&self, other: &Self) -> Self {
        Self::new(self.value ^ other.value, self.known & other.known)
    }

    fn add(&self, other: &Self, carry: &Truth) -> Sum<Self> {
        if let (Some(a), Some(b), Some(c)) = (self.known(), other.known(), carry.known()) {
            return lift(&ByteDomain::add(&a, &b, &c));
        }
        let sum = Self::from_sum(self.word().add(other.word(), *carry));
        if !self.has_range_with(*other) {
            return sum;
        }
        let [least, most] = ends(*carry);
        let end = |a: u8, b: u8, carry: i16| i16::from(a) + i16::from(b) + carry;
        Self::narrow(sum, end(self.low, other.low, least), end(self.high, other.high, most))
    }

    fn subtract(&self, other: &Self, borrow: &Truth) -> Sum<Self> {
        if let (Some(a), Some(b), Some(c)) = (self.known(), other.known(), borrow.known()) {
            return lift(&ByteDomain::subtract(&a, &b, &c));
        }
        let difference = Self::from_sum(self.word().subtract(other.word(), *borrow));
        if !self.has_range_with(*other) {
            return difference;
        }
        let [least, most] = ends(*borrow);
        let end = |a: u8, b: u8, borrow: i16| i16::from(a) - i16::from(b) - borrow;
        Self::narrow(difference, end(self.low, other.high, most), end(self.high, other.low, least))
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
        let bits = Self::new(self.value >> 1, self.known >> 1).with_bit(7, high);
        if self.is_ranged() && *high == Truth::False {
            return bits.within(self.low >> 1, self.high >> 1).unwrap_or(bits);
        }
        bits
    }

    #[inline]
    fn swap_nibbles(&self) -> Self {
        Self::new(self.value.rotate_left(4), self.known.rotate_left(4))
    }

    #[inline]
    fn is_zero(&self) -> Truth {
        if self.low != 0 {
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
        } else if self.known == 0xff && other.known == 0xff {
            Truth::True
        } else {
            Truth::Unknown
        }
    }

    #[inline]
    fn join(&self, other: &Self) -> Self {
        if is_on(Fault::JoinKeepsFirst) {
            return *self;
        }
        if self.is_ranged() || other.is_ranged() {
            return self.hull(*other);
        }
        Self::new(self.value, self.known & other.known & !(self.value ^ other.value))
    }

    #[inline]
    fn assume(&self, fact: TvByte) -> Option<Self> {
        self.meet(fact)
    }

    #[inline]
    fn without_range(self) -> Self {
        Self::new(self.value, self.known)
    }
}

/// The least and the most that a carry or borrow adds.
fn ends(carry: Truth) -> [i16; 2] {
    match carry {
        Truth::False => [0, 0],
        Truth::Unknown => [0, 1],
        Truth::True => [1, 1],
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
