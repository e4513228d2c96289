//! The tracing domain: concrete bytes with the inputs that they were computed from.
//!
//! A run in it takes the same steps as one with concrete bytes. It tells which inputs a comparison depends on, and no more: flags
//! carry no sources, and an address leaves none in what is fetched from there.

use crate::{ByteDomain, Signedness, Sum, TvByte};

/// The inputs that a byte was computed from, by number.
///
/// At most [`Sources::LIMIT`] are kept, those with the greatest numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sources {
    /// By falling number; 0 where there is none.
    numbers: [u32; Sources::LIMIT],
    count: u8,
}

impl Sources {
    /// The most inputs that are kept.
    pub const LIMIT: usize = 4;

    /// The set of one input.
    #[must_use]
    pub fn of(number: u32) -> Self {
        let mut numbers = [0; Self::LIMIT];
        numbers[0] = number;
        Self { numbers, count: 1 }
    }

    /// The numbers, greatest first.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        &self.numbers[..usize::from(self.count)]
    }

    /// True if there are none.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The union of two sets, as far as it is kept.
    #[inline]
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if other.is_empty() || self == other {
            *self
        } else if self.is_empty() {
            *other
        } else {
            self.merged(other)
        }
    }

    fn merged(&self, other: &Self) -> Self {
        let mut all = Self::default();
        let (mut one, mut two) = (self.as_slice().iter().peekable(), other.as_slice().iter().peekable());
        while usize::from(all.count) < Self::LIMIT {
            let next = match (one.peek(), two.peek()) {
                (None, None) => break,
                (Some(_), None) => one.next(),
                (None, Some(_)) => two.next(),
                (Some(first), Some(second)) if first > second => one.next(),
                (Some(first), Some(second)) if first < second => two.next(),
                _ => {
                    two.next();
                    one.next()
                }
            };
            all.numbers[usize::from(all.count)] = *next.expect("it was peeked at");
            all.count += 1;
        }
        all
    }
}

/// A concrete byte with the inputs that it was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedByte {
    /// The byte.
    pub value: u8,
    /// The inputs.
    pub sources: Sources,
}

impl TracedByte {
    fn with(&self, other: &Self, value: u8) -> Self {
        Self { value, sources: self.sources.union(&other.sources) }
    }

    fn is_certainly(&self, value: u8) -> bool {
        self.value == value && self.sources.is_empty()
    }

    fn sum(&self, other: &Self, sum: &Sum<u8>) -> Sum<Self> {
        Sum {
            value: self.with(other, sum.value),
            carries: self.with(other, sum.carries),
            overflow: sum.overflow,
            negative: sum.negative,
            zero: sum.zero,
        }
    }
}

impl ByteDomain for TracedByte {
    type Bit = bool;

    #[inline]
    fn constant(value: u8) -> Self {
        Self { value, sources: Sources::default() }
    }

    #[inline]
    fn bits(&self) -> TvByte {
        TvByte::constant(self.value)
    }

    #[inline]
    fn bit(&self, index: u8) -> bool {
        self.value.bit(index)
    }

    #[inline]
    fn with_bit(&self, index: u8, bit: &bool) -> Self {
        Self { value: self.value.with_bit(index, bit), sources: self.sources }
    }

    #[inline]
    fn not(&self) -> Self {
        Self { value: !self.value, sources: self.sources }
    }

    fn and(&self, other: &Self) -> Self {
        if self.is_certainly(0) || other.is_certainly(0) {
            return Self::constant(0);
        }
        self.with(other, self.value & other.value)
    }

    fn or(&self, other: &Self) -> Self {
        if self.is_certainly(0xff) || other.is_certainly(0xff) {
            return Self::constant(0xff);
        }
        self.with(other, self.value | other.value)
    }

    fn xor(&self, other: &Self) -> Self {
        self.with(other, self.value ^ other.value)
    }

    fn add(&self, other: &Self, carry: &bool) -> Sum<Self> {
        self.sum(other, &self.value.add(&other.value, carry))
    }

    fn subtract(&self, other: &Self, borrow: &bool) -> Sum<Self> {
        self.sum(other, &self.value.subtract(&other.value, borrow))
    }

    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self) {
        let (low, high) = self.value.multiply(sign, &other.value, other_sign);
        (self.with(other, low), self.with(other, high))
    }

    fn shift_right(&self, high: &bool) -> Self {
        Self { value: ByteDomain::shift_right(&self.value, high), sources: self.sources }
    }

    fn swap_nibbles(&self) -> Self {
        Self { value: self.value.swap_nibbles(), sources: self.sources }
    }

    #[inline]
    fn is_zero(&self) -> bool {
        self.value == 0
    }

    #[inline]
    fn equals(&self, other: &Self) -> bool {
        self.value == other.value
    }

    fn join(&self, other: &Self) -> Self {
        self.with(other, self.value.join(&other.value))
    }

    fn assume(&self, fact: TvByte) -> Option<Self> {
        fact.contains(self.value).then_some(*self)
    }

    #[inline]
    fn known(&self) -> Option<u8> {
        Some(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(value: u8, number: u32) -> TracedByte {
        TracedByte { value, sources: Sources::of(number) }
    }

    #[test]
    fn values_are_those_of_concrete_bytes() {
        for (a, b) in (0..=255u8).flat_map(|a| (0..=255u8).map(move |b| (a, b))) {
            let (one, two) = (input(a, 1), input(b, 2));
            assert_eq!(one.and(&two).value, a & b);
            assert_eq!(one.or(&two).value, a | b);
            assert_eq!(one.xor(&two).value, a ^ b);
            for carry in [false, true] {
                let (sum, concrete) = (one.add(&two, &carry), a.add(&b, &carry));
                assert_eq!((sum.value.value, sum.carries.value), (concrete.value, concrete.carries));
                let (difference, concrete) = (one.subtract(&two, &carry), a.subtract(&b, &carry));
                assert_eq!((difference.value.value, difference.carries.value), (concrete.value, concrete.carries));
                assert_eq!((difference.zero, difference.overflow), (concrete.zero, concrete.overflow));
            }
            let product = one.multiply(Signedness::Signed, &two, Signedness::Unsigned);
            let concrete = a.multiply(Signedness::Signed, &b, Signedness::Unsigned);
            assert_eq!((product.0.value, product.1.value), concrete);
            assert_eq!(one.equals(&two), a == b);
        }
    }

    #[test]
    fn results_have_the_sources_of_both_operands() {
        let (one, two, none) = (input(7, 1), input(9, 2), TracedByte::constant(3));
        assert_eq!(one.add(&two, &false).value.sources.as_slice(), [2, 1]);
        assert_eq!(one.xor(&one).sources.as_slice(), [1]);
        assert_eq!(none.subtract(&two, &true).value.sources.as_slice(), [2]);
        assert_eq!(one.not().swap_nibbles().with_bit(3, &true).sources.as_slice(), [1]);
        assert!(one.and(&TracedByte::constant(0)).sources.is_empty(), "the input does not matter");
        assert!(one.or(&TracedByte::constant(0xff)).sources.is_empty(), "the input does not matter");
    }

    #[test]
    fn the_latest_sources_are_kept() {
        let all = [3, 9, 1, 7, 5, 9].map(Sources::of).iter().fold(Sources::default(), |all, one| all.union(one));
        assert_eq!(all.as_slice(), [9, 7, 5, 3]);
        assert_eq!(all.union(&Sources::of(8)).as_slice(), [9, 8, 7, 5]);
        assert_eq!(Sources::of(8).union(&all).as_slice(), [9, 8, 7, 5]);
    }
}
