//! The domain of numbered bytes: three-valued bytes of which some are known to be equal to others.
//!
//! *Value numbers* (Alpern, Wegman & Zadeck, "Detecting equality of variables in programs", 1988): bytes with the same number have the same
//! value in each concrete state. A byte keeps its number only where its value is passed on as it is.

use crate::{ByteDomain, Signedness, Sum, Truth, TvByte};

/// A three-valued byte with a value number.
///
/// SOUND: only what gives the value of an operand unchanged keeps its number; what narrows a byte leaves the value as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedByte {
    /// What is known of the value.
    pub byte: TvByte,
    /// The value number; 0 for a value of which nothing is known to be equal to it.
    pub number: u32,
}

impl NumberedByte {
    /// A byte of which nothing is known to be equal to it.
    #[must_use]
    pub const fn new(byte: TvByte) -> Self {
        Self { byte, number: 0 }
    }

    fn sum(sum: Sum<TvByte>) -> Sum<Self> {
        Sum {
            value: Self::new(sum.value),
            carries: Self::new(sum.carries),
            overflow: sum.overflow,
            negative: sum.negative,
            zero: sum.zero,
        }
    }

    /// True if both stand for one value.
    fn is_same(&self, other: &Self) -> bool {
        self.number != 0 && self.number == other.number
    }
}

impl ByteDomain for NumberedByte {
    type Bit = Truth;

    fn constant(value: u8) -> Self {
        Self::new(TvByte::constant(value))
    }

    fn bits(&self) -> TvByte {
        self.byte
    }

    fn bit(&self, index: u8) -> Truth {
        self.byte.bit(index)
    }

    fn with_bit(&self, index: u8, bit: &Truth) -> Self {
        match self.byte.bit(index) {
            Truth::Unknown => Self::new(self.byte.with_bit(index, bit)),
            known if known == *bit => *self,
            _ => Self::new(self.byte.with_bit(index, bit)),
        }
    }

    fn not(&self) -> Self {
        Self::new(self.byte.not())
    }

    fn and(&self, other: &Self) -> Self {
        if self.is_same(other) { *self } else { Self::new(self.byte.and(&other.byte)) }
    }

    fn or(&self, other: &Self) -> Self {
        if self.is_same(other) { *self } else { Self::new(self.byte.or(&other.byte)) }
    }

    fn xor(&self, other: &Self) -> Self {
        if self.is_same(other) { Self::constant(0) } else { Self::new(self.byte.xor(&other.byte)) }
    }

    fn add(&self, other: &Self, carry: &Truth) -> Sum<Self> {
        Self::sum(self.byte.add(&other.byte, carry))
    }

    fn subtract(&self, other: &Self, borrow: &Truth) -> Sum<Self> {
        if self.is_same(other) {
            let zero = TvByte::ZERO;
            return Self::sum(zero.subtract(&zero, borrow));
        }
        Self::sum(self.byte.subtract(&other.byte, borrow))
    }

    fn multiply(&self, sign: Signedness, other: &Self, other_sign: Signedness) -> (Self, Self) {
        let (low, high) = self.byte.multiply(sign, &other.byte, other_sign);
        (Self::new(low), Self::new(high))
    }

    fn shift_right(&self, high: &Truth) -> Self {
        Self::new(self.byte.shift_right(high))
    }

    fn swap_nibbles(&self) -> Self {
        Self::new(self.byte.swap_nibbles())
    }

    fn is_zero(&self) -> Truth {
        self.byte.is_zero()
    }

    fn equals(&self, other: &Self) -> Truth {
        if self.is_same(other) { Truth::True } else { self.byte.equals(&other.byte) }
    }

    fn join(&self, other: &Self) -> Self {
        if self.is_same(other) {
            return Self { byte: self.byte.meet(other.byte).unwrap_or(self.byte), ..*self };
        }
        Self::new(self.byte.hull(other.byte))
    }

    fn assume(&self, fact: TvByte) -> Option<Self> {
        Some(Self { byte: self.byte.meet(fact)?, ..*self })
    }

    fn without_range(self) -> Self {
        Self { byte: self.byte.without_range(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(low: u8, high: u8, number: u32) -> NumberedByte {
        NumberedByte { byte: TvByte::UNKNOWN.within(low, high).expect("the range is not empty"), number }
    }

    /// All pairs of values that two bytes may have together.
    fn pairs(a: NumberedByte, b: NumberedByte) -> Vec<(u8, u8)> {
        let all = a.byte.concretisations().flat_map(|x| b.byte.concretisations().map(move |y| (x, y)));
        all.filter(|(x, y)| !a.is_same(&b) || x == y).collect()
    }

    #[test]
    fn operations_cover_every_pair_of_values() {
        let ends = [(0, 0), (0, 3), (2, 5), (250, 255), (0, 255)];
        for (one, other) in ends.iter().flat_map(|one| ends.iter().map(move |other| (*one, *other))) {
            for number in [0, 1, 2] {
                let (a, b) = (numbered(one.0, one.1, 1), numbered(other.0, other.1, number));
                for (x, y) in pairs(a, b) {
                    assert!(a.and(&b).byte.contains(x & y) && a.or(&b).byte.contains(x | y));
                    assert!(a.xor(&b).byte.contains(x ^ y), "{a:?} {b:?}");
                    assert!(a.join(&b).byte.contains(x) && a.join(&b).byte.contains(y));
                    assert_ne!(a.equals(&b).known(), Some(x != y));
                    for borrow in [false, true] {
                        let (exact, abstracted) =
                            (ByteDomain::subtract(&x, &y, &borrow), a.subtract(&b, &Truth::from(borrow)));
                        assert!(abstracted.value.byte.contains(exact.value));
                        assert!(abstracted.carries.byte.contains(exact.carries));
                        assert_ne!(abstracted.zero.known(), Some(!exact.zero));
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_stays_with_the_value_and_with_nothing_else() {
        let byte = numbered(3, 200, 7);
        let kept = [
            byte.assume(TvByte::new(0, 1)).expect("some value has it"),
            byte.and(&byte),
            byte.join(&byte),
            byte.without_range(),
        ];
        assert!(kept.iter().all(|byte| byte.number == 7));
        let other = numbered(3, 200, 8);
        let zero = Truth::False;
        let lost = [
            byte.not(),
            byte.and(&other),
            byte.join(&other),
            byte.with_bit(0, &Truth::True),
            byte.add(&NumberedByte::constant(0), &zero).value,
            byte.shift_right(&zero),
            byte.swap_nibbles(),
        ];
        assert!(lost.iter().all(|byte| byte.number == 0));
        let unnumbered = numbered(0, 255, 0);
        assert_eq!(unnumbered.equals(&unnumbered), Truth::Unknown, "no number is not a number");
    }
}
