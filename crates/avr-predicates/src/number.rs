//! Sets of numbers of up to four bytes, as ranges with and without a sign and a few values that are left out.

use crate::faults::{Fault, is_on};
use three_valued::TvByte;

/// A set of numbers of so many bytes: those in both ranges, but for some.
#[derive(Clone, Debug)]
pub struct NumberSet {
    bytes: usize,
    unsigned: (i64, i64),
    signed: (i64, i64),
    /// Numbers, without a sign, that are left out.
    excluded: Vec<i64>,
}

impl NumberSet {
    /// All numbers of one to four bytes.
    #[must_use]
    pub fn all(bytes: usize) -> Self {
        let count = 1i64 << (8 * bytes);
        Self { bytes, unsigned: (0, count - 1), signed: (-count / 2, count / 2 - 1), excluded: Vec::new() }
    }

    /// The numbers with these bytes, the lowest first, or more.
    #[must_use]
    pub fn of(bytes: &[TvByte]) -> Self {
        let bound = |of: fn(TvByte) -> u8| bytes.iter().rev().fold(0, |all, byte| all << 8 | i64::from(of(*byte)));
        let all = Self::all(bytes.len());
        Self { unsigned: (bound(TvByte::low), bound(TvByte::high)), ..all }.closed()
    }

    /// The value with a sign of a number without one.
    pub(super) fn with_sign(&self, value: i64) -> i64 {
        let count = 1i64 << (8 * self.bytes);
        if value >= count / 2 { value - count } else { value }
    }

    /// The number of bytes of each.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if there are none: no state has them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unsigned.0 > self.unsigned.1 || self.signed.0 > self.signed.1
    }

    /// The least and the greatest number, without and with a sign.
    #[must_use]
    pub fn bounds(&self) -> [(i64, i64); 2] {
        [self.unsigned, self.signed]
    }

    /// True if a number, without a sign, is not among them.
    #[must_use]
    pub fn excludes(&self, value: i64) -> bool {
        let signed = self.with_sign(value);
        !(self.unsigned.0..=self.unsigned.1).contains(&value)
            || !(self.signed.0..=self.signed.1).contains(&signed)
            || self.excluded.contains(&value)
    }

    /// Those from one number to another, without a sign.
    #[must_use]
    pub fn within(self, least: i64, most: i64) -> Self {
        let unsigned = (self.unsigned.0.max(least), self.unsigned.1.min(most));
        Self { unsigned, ..self }.closed()
    }

    /// The same with a sign.
    #[must_use]
    pub fn within_signed(self, least: i64, most: i64) -> Self {
        let signed = (self.signed.0.max(least), self.signed.1.min(most));
        Self { signed, ..self }.closed()
    }

    /// All but one number, without a sign.
    #[must_use]
    pub fn without(mut self, value: i64) -> Self {
        self.leave_out(value);
        self.closed()
    }

    fn leave_out(&mut self, value: i64) {
        if !self.excluded.contains(&value) {
            self.excluded.push(value);
        }
    }

    /// The numbers that are left when a constant, without a sign, is subtracted from each; what is borrowed at the end is lost.
    #[must_use]
    pub fn minus(&self, constant: i64) -> Self {
        let constant = if is_on(Fault::NothingSubtracted) { 0 } else { constant };
        let count = 1i64 << (8 * self.bytes);
        let half = count / 2;
        let unsigned = |value: i64| (value - constant).rem_euclid(count);
        let signed = |value: i64| (value - constant + half).rem_euclid(count) - half;
        let all = Self::all(self.bytes);
        // Numbers that go on from the greatest to the least are no range.
        let range = |(least, most): (i64, i64), whole| if least <= most { (least, most) } else { whole };
        Self {
            bytes: self.bytes,
            unsigned: range((unsigned(self.unsigned.0), unsigned(self.unsigned.1)), all.unsigned),
            signed: range((signed(self.signed.0), signed(self.signed.1)), all.signed),
            excluded: self.excluded.iter().map(|value| unsigned(*value)).collect(),
        }
        .closed()
    }

    /// The numbers that are in both sets.
    #[must_use]
    pub fn meet(mut self, other: &Self) -> Self {
        other.excluded.iter().for_each(|value| self.leave_out(*value));
        self.within(other.unsigned.0, other.unsigned.1).within_signed(other.signed.0, other.signed.1)
    }

    /// The same set with ranges that say of each other what they know, and do not end with what is left out.
    fn closed(mut self) -> Self {
        let half = 1i64 << (8 * self.bytes - 1);
        loop {
            let before = (self.unsigned, self.signed);
            if self.is_empty() {
                return self;
            }
            let excluded = |value: i64| self.excluded.contains(&value);
            if excluded(self.unsigned.0) {
                self.unsigned.0 += 1;
            } else if excluded(self.unsigned.1) {
                self.unsigned.1 -= 1;
            }
            let unsigned = |signed: i64| if signed < 0 { signed + 2 * half } else { signed };
            if excluded(unsigned(self.signed.0)) {
                self.signed.0 += 1;
            } else if excluded(unsigned(self.signed.1)) {
                self.signed.1 -= 1;
            }
            // Numbers on one side of the sign are in the same order with and without it.
            if self.unsigned.1 < half || self.unsigned.0 >= half {
                let (least, most) = (self.with_sign(self.unsigned.0), self.with_sign(self.unsigned.1));
                self.signed = (self.signed.0.max(least), self.signed.1.min(most));
            }
            if self.signed.0 >= 0 || self.signed.1 < 0 {
                let (least, most) = (unsigned(self.signed.0), unsigned(self.signed.1));
                self.unsigned = (self.unsigned.0.max(least), self.unsigned.1.min(most));
            }
            if before == (self.unsigned, self.signed) {
                return self;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_testkit::Random;

    /// Compares a set of bytes with what its constraints say of each byte.
    #[test]
    fn sets_of_bytes_hold_all_that_their_constraints_allow() {
        let mut random = Random::new(1);
        let mut empty = 0;
        for _ in 0..20_000 {
            let mut set = NumberSet::all(1);
            let mut allowed: Vec<u8> = (0..=255).collect();
            for _ in 0..random.below(5) {
                let (value, kind) = (random.byte(), random.below(5));
                let (number, signed) = (i64::from(value), i64::from(value as i8));
                set = match kind {
                    0 => set.within(0, number - 1),
                    1 => set.within(number, 255),
                    2 => set.within_signed(-128, signed - 1),
                    3 => set.within_signed(signed, 127),
                    _ => set.without(number),
                };
                allowed.retain(|one| match kind {
                    0 => *one < value,
                    1 => *one >= value,
                    2 => i64::from(*one as i8) < signed,
                    3 => i64::from(*one as i8) >= signed,
                    _ => *one != value,
                });
            }
            for value in &allowed {
                assert!(!set.excludes((*value).into()), "{value} in {set:?}");
            }
            if set.is_empty() {
                assert!(allowed.is_empty());
                empty += 1;
                continue;
            }
            let constant = random.byte();
            let moved = set.minus(constant.into());
            for value in &allowed {
                assert!(!moved.excludes(value.wrapping_sub(constant).into()), "{value} - {constant} in {set:?}");
            }
            // One range of the two orders, without what is left out, says all there is to say.
            if let (Some(least), Some(most)) = (allowed.first(), allowed.last()) {
                let [(low, high), _] = set.bounds();
                assert!(low <= i64::from(*least) && i64::from(*most) <= high, "{set:?}");
            }
        }
        assert!(empty > 100);
    }
}
