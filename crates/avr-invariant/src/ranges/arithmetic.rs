//! Arithmetic of instructions on one byte, or two, of a number.

use crate::faults::{Fault, is_on};
use crate::intervals::{Interval, greatest, hull, meet};

/// The sign with which an operand counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A sum.
    Plus,
    /// A difference.
    Minus,
}

/// A sum or difference of some bytes of a number and an operand, with the carry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    pub(super) sign: Sign,
    /// The operand.
    pub(super) operand: (u32, u32),
    /// The position of the lowest byte that changes.
    pub(super) lowest: usize,
    /// The number of bytes that change.
    pub(super) width: usize,
    /// True if the carry counts as well.
    pub(super) has_carry: bool,
}

impl Shift {
    /// The range of a number of so many bytes after the operation, for each value of the carry behind it.
    ///
    /// SOUND: of bytes d that become d' = d + k + c - 256^w c', or d - k - c + 256^w c', each stands in the number with the weight of its position.
    pub(super) fn of(&self, when: [Interval; 2], bytes: usize) -> [Interval; 2] {
        let weight = 1_i64 << (8 * self.lowest);
        let carried = weight << (8 * self.width);
        let most = i64::from(greatest(bytes));
        let (least_operand, most_operand) = (i64::from(self.operand.0), i64::from(self.operand.1));
        let after = |carry_behind: i64, carry: usize| {
            let (low, high) = when[carry]?;
            let (low, high) = (i64::from(low), i64::from(high));
            let carry = if self.has_carry { carry as i64 } else { 0 };
            let (low, high) = match self.sign {
                Sign::Plus => {
                    let over = carried * carry_behind;
                    (low + weight * (least_operand + carry) - over, high + weight * (most_operand + carry) - over)
                }
                Sign::Minus => {
                    let over = carried * carry_behind;
                    (low - weight * (most_operand + carry) + over, high - weight * (least_operand + carry) + over)
                }
            };
            let (low, high) = (low.max(0), high.min(most));
            (low <= high).then_some((low as u32, high as u32))
        };
        [0, 1].map(|behind| hull(after(behind, 0), after(behind, 1)))
    }
}

/// The part of a byte's range from a number on.
fn from(byte: (u32, u32), least: u32) -> Interval {
    meet(Some(byte), Some((least, u32::MAX)))
}

/// The part of a byte's range up to a number; none if that is below 0.
fn up_to(byte: (u32, u32), most: Option<u32>) -> Interval {
    meet(Some(byte), Some((0, most?)))
}

/// The ranges of the left byte of a comparison for each value of the carry behind it, where the carry before it is known.
///
/// SOUND: the carry is 1 where left < right + carry.
pub(super) fn left(left: (u32, u32), right: (u32, u32), carry: u32) -> [Interval; 2] {
    [from(left, right.0 + carry), up_to(left, (right.1 + carry).checked_sub(1))]
}

/// The same of the right byte.
pub(super) fn right(left: (u32, u32), right: (u32, u32), carry: u32) -> [Interval; 2] {
    [up_to(right, left.1.checked_sub(carry)), from(right, (left.0 + 1).saturating_sub(carry))]
}

/// A number with a byte more, given the ranges of the number below and of that byte.
pub(super) fn above(below: Interval, byte: Interval, bytes: usize) -> Interval {
    let ((low, high), (byte_low, byte_high)) = (below?, byte?);
    Some((byte_low << (8 * bytes) | low, byte_high << (8 * bytes) | high))
}

/// The ranges of quotient and remainder, for a divisor that is not 0.
///
/// SOUND: the quotient grows with the dividend and falls with the divisor; the remainder is less than the divisor, and not more than the dividend.
pub(super) fn divided(dividend: (u32, u32), divisor: (u32, u32)) -> Option<(Interval, Interval)> {
    let least = if is_on(Fault::GreatestDivisor) { divisor.1 } else { divisor.0 };
    let below = divisor.1.checked_sub(1)?;
    let quotient = (dividend.0 / divisor.1, dividend.1.checked_div(least)?);
    Some((Some(quotient), Some((0, dividend.1.min(below)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use avr_testkit::Random;

    /// A random range of which a number is part.
    fn around(number: u32, most: u32, random: &mut Random) -> Interval {
        let low = number - random.below(u64::from(number.min(300)) + 1) as u32;
        Some((low, number + random.below(u64::from((most - number).min(300)) + 1) as u32))
    }

    fn contains(range: Interval, number: u32) -> bool {
        range.is_some_and(|(low, high)| (low..=high).contains(&number))
    }

    #[test]
    fn sums_and_differences_of_bytes_are_in_their_ranges() {
        let mut random = Random::new(3);
        for _ in 0..200_000 {
            let bytes = 1 + random.below(4) as usize;
            let width = 1 + random.below(bytes.min(2) as u64) as usize;
            let lowest = random.below((bytes - width) as u64 + 1) as usize;
            let number = random.bits() as u32 & greatest(bytes) & random.pick(&[u32::MAX, 0x3ff, 0x1ffff]);
            let operand = random.below(if width == 1 { 256 } else { 64 }) as u32;
            let (carry, has_carry) = (random.below(2) as u32, random.below(2) == 0);
            let sign = random.pick(&[Sign::Plus, Sign::Minus]);
            let part = number >> (8 * lowest) & greatest(width);
            let used = i64::from(operand) + if has_carry { i64::from(carry) } else { 0 };
            let result = i64::from(part) + if sign == Sign::Plus { used } else { -used };
            let carry_behind = usize::from(result != i64::from(result as u32 & greatest(width)));
            let others = number & !(greatest(width) << (8 * lowest));
            let after = others | (result as u32 & greatest(width)) << (8 * lowest);
            let mut when = [around(random.bits() as u32 & greatest(bytes), greatest(bytes), &mut random); 2];
            when[carry as usize] = around(number, greatest(bytes), &mut random);
            if !has_carry {
                when = [hull(when[0], when[1]); 2];
            }
            let most = if width == 1 { 255 } else { 63 };
            let operand = around(operand, most, &mut random).expect("it is not empty");
            let shift = Shift { sign, operand, lowest, width, has_carry };
            let found = shift.of(when, bytes);
            assert!(contains(found[carry_behind], after), "{shift:?} {number:#x} {when:x?} {found:x?}");
        }
    }

    #[test]
    fn bytes_that_were_compared_are_in_their_ranges() {
        let mut random = Random::new(5);
        let mut narrowed = 0;
        for _ in 0..100_000 {
            let [one, other] = [random.below(256) as u32, random.below(256) as u32];
            let carry = random.below(2) as u32;
            let [a, b] = [one, other].map(|byte| around(byte, 255, &mut random).expect("it is not empty"));
            let behind = usize::from(one < other + carry);
            let [of_left, of_right] = [left(a, b, carry)[behind], right(a, b, carry)[behind]];
            assert!(contains(of_left, one) && contains(of_right, other), "{one} {other} {carry} {a:?} {b:?}");
            narrowed += usize::from(of_left != Some(a));
        }
        assert!(narrowed > 1_000, "{narrowed} are narrowed");
        assert_eq!(left((0, 255), (3, 3), 0), [Some((3, 255)), Some((0, 2))]);
        assert_eq!(left((0, 255), (0, 0), 0), [Some((0, 255)), None]);
        assert_eq!(right((3, 3), (0, 255), 1), [Some((0, 2)), Some((3, 255))]);
        assert_eq!(above(Some((5, 9)), Some((1, 3)), 1), Some((0x105, 0x309)));
    }
}
