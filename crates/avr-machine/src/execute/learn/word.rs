//! Cases of a word that is compared with a constant in one instruction.
//!
//! The low byte is cut into cases first, and then, in each of them, the high byte.

use super::{Case, cases_beside, cases_of_one};
use crate::execute::flags::flag;
use three_valued::{ByteDomain, Sum, Truth, TvByte};

/// An instruction whose flags tell how a word compares with a constant.
#[derive(Clone, Copy, Debug)]
pub(super) enum WordComparison {
    /// SBIW of a constant.
    Subtract(u8),
    /// ADIW of a constant.
    Add(u8),
    /// OR of two registers: Z is that of the word they are.
    Or,
}

impl WordComparison {
    /// The operation on the low byte.
    fn low(self, byte: TvByte) -> Sum<TvByte> {
        match self {
            Self::Subtract(k) => byte.subtract(&TvByte::constant(k), &Truth::False),
            Self::Add(k) => byte.add(&TvByte::constant(k), &Truth::False),
            Self::Or => byte.subtract(&TvByte::ZERO, &Truth::False),
        }
    }

    /// The operation on the high byte, with what the low one carries or borrows.
    fn high(self, byte: TvByte, carry: Truth) -> Sum<TvByte> {
        match self {
            Self::Add(_) => byte.add(&TvByte::ZERO, &carry),
            Self::Subtract(_) | Self::Or => byte.subtract(&TvByte::ZERO, &carry),
        }
    }

    /// A flag after the operation on a low and a high byte.
    fn flag(self, flag: u8, [low, high]: [TvByte; 2]) -> Truth {
        let low = self.low(low);
        let high = flag_of(flag, &self.high(high, low.carries.bit(7)));
        if flag == flag::Z { low.zero & high } else { high }
    }

    /// The cases of a low and a high byte for which a flag is open; with `sides`, a byte that is not equal to that of the
    /// constant is below or above it. None if nothing is learned.
    pub(super) fn cases(self, flag: u8, operands: [TvByte; 2], sides: bool) -> Option<Vec<Case>> {
        // Other flags of OR are not those of a word.
        let is_told = flag == flag::Z || !matches!(self, Self::Or);
        if !is_told || self.flag(flag, operands) != Truth::Unknown {
            return None;
        }
        let [low, high] = operands;
        let cases_of = |byte, outcome: &dyn Fn(TvByte) -> Truth| cases_of_byte(byte, outcome, sides && flag == flag::Z);
        // Of equal words both bytes are equal; everything else depends on what the low byte carries. A case may hold other
        // values besides, which have another outcome: what it stands for are those with its own.
        let low_outcome = |byte: TvByte| {
            let sum = self.low(byte);
            if flag == flag::Z { sum.zero } else { sum.carries.bit(7) }
        };
        let mut all: Vec<Case> = Vec::new();
        for (low, outcome) in cases_of(low, &low_outcome)? {
            if flag == flag::Z && !outcome {
                all.push(Case { operands: [low, high], outcome });
                continue;
            }
            let carry = if flag == flag::Z { self.low(low).carries.bit(7) } else { Truth::from(outcome) };
            for (high, outcome) in cases_of(high, &|high| flag_of(flag, &self.high(high, carry)))? {
                all.push(Case { operands: [low, high], outcome });
            }
        }
        let covers = |one: &Case, other: &Case| {
            let mut operands = one.operands.iter().zip(other.operands);
            one.outcome == other.outcome && operands.all(|(one, other)| one.covers(other))
        };
        let is_needed = |case: &&Case| !all.iter().any(|other| other != *case && covers(other, case));
        let needed: Vec<Case> = all.iter().filter(is_needed).copied().collect();
        needed.iter().any(|case| case.operands != operands).then_some(needed)
    }
}

/// A flag after the operation on the high byte, as if the low one were 0 after it.
fn flag_of(flag: u8, sum: &Sum<TvByte>) -> Truth {
    match flag {
        flag::C => sum.carries.bit(7),
        flag::Z => sum.zero,
        flag::N => sum.value.bit(7),
        flag::V => sum.overflow,
        _ => sum.negative,
    }
}

/// The cases of a byte in which an outcome is known; with `sides`, those below and above the value that is equal to something.
fn cases_of_byte(byte: TvByte, outcome: &dyn Fn(TvByte) -> Truth, sides: bool) -> Option<Vec<(TvByte, bool)>> {
    if let Some(outcome) = outcome(byte).known() {
        return Some(vec![(byte, outcome)]);
    }
    let beside = if sides { cases_beside(byte, outcome) } else { None };
    beside.or_else(|| cases_of_one(byte, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of a comparison of a concrete word, as the data sheet defines them; none where it leaves them as they are.
    fn flag_of_word(comparison: WordComparison, flag: u8, word: u16) -> Option<bool> {
        let (result, carry, overflow) = match comparison {
            WordComparison::Subtract(k) => {
                let result = word.wrapping_sub(k.into());
                (result, word < k.into(), word >> 15 == 1 && result >> 15 == 0)
            }
            WordComparison::Add(k) => {
                let result = word.wrapping_add(k.into());
                (result, result < word, word >> 15 == 0 && result >> 15 == 1)
            }
            WordComparison::Or => return (flag == flag::Z).then_some(word == 0),
        };
        let negative = result >> 15 == 1;
        Some(match flag {
            flag::C => carry,
            flag::Z => result == 0,
            flag::N => negative,
            flag::V => overflow,
            _ => negative != overflow,
        })
    }

    fn range(low: u8, high: u8) -> TvByte {
        TvByte::UNKNOWN.within(low, high).expect("the range is not empty")
    }

    #[test]
    fn cases_of_a_word_cover_all_its_values() {
        let bytes = [
            TvByte::UNKNOWN,
            range(0, 4),
            range(3, 70),
            range(190, 255),
            TvByte::new(0x10, 0x33),
            TvByte::new(0x80, 0x80),
            TvByte::ZERO,
            TvByte::constant(255),
        ];
        let constants = [0, 1, 4, 16, 63];
        let add = constants.map(WordComparison::Add);
        let comparisons = constants.map(WordComparison::Subtract).into_iter().chain(add).chain([WordComparison::Or]);
        let mut learned = 0;
        for comparison in comparisons {
            for operands in bytes.iter().flat_map(|low| bytes.map(|high| [*low, high])) {
                for (flag, sides) in (flag::C..=flag::S).flat_map(|flag| [(flag, false), (flag, true)]) {
                    let Some(cases) = comparison.cases(flag, operands, sides) else { continue };
                    learned += 1;
                    let every = |byte: TvByte| -> Vec<u8> {
                        let near = |value: u8| {
                            value.is_multiple_of(5) || value.wrapping_add(66) < 132 && value.is_multiple_of(2)
                        };
                        let ends = |value: u8| value.wrapping_add(3) < 6 || [0x7f, 0x80, 16, 63].contains(&value);
                        byte.concretisations().filter(|value| near(*value) || ends(*value)).collect()
                    };
                    for (low, high) in every(operands[0])
                        .into_iter()
                        .flat_map(|low| every(operands[1]).into_iter().map(move |high| (low, high)))
                    {
                        let outcome = flag_of_word(comparison, flag, u16::from_le_bytes([low, high]));
                        let of = |case: &&Case| case.operands[0].contains(low) && case.operands[1].contains(high);
                        assert!(
                            cases.iter().filter(of).any(|case| Some(case.outcome) == outcome),
                            "{high:#x}:{low:#x} of {operands:?} in {comparison:?}, flag {flag}: {cases:?}"
                        );
                    }
                    assert!(
                        cases.iter().all(|case| operands.iter().zip(case.operands).all(|(all, one)| all.covers(one)))
                    );
                }
            }
        }
        assert!(learned > 1_000, "{learned}");
    }

    #[test]
    fn an_unknown_word_has_few_cases() {
        let unknown = [TvByte::UNKNOWN; 2];
        let case = |low, high, outcome| Case { operands: [low, high], outcome };
        let (one, zero) = (TvByte::constant(17), TvByte::ZERO);
        assert_eq!(
            WordComparison::Subtract(17).cases(flag::C, unknown, false),
            Some(vec![
                case(range(17, 255), TvByte::UNKNOWN, false),
                case(range(0, 16), range(1, 255), false),
                case(range(0, 16), zero, true),
            ])
        );
        assert_eq!(
            WordComparison::Subtract(17).cases(flag::Z, unknown, false),
            Some(vec![case(TvByte::UNKNOWN, TvByte::UNKNOWN, false), case(one, zero, true)])
        );
        assert_eq!(
            WordComparison::Add(1).cases(flag::Z, unknown, true),
            Some(vec![
                case(range(0, 254), TvByte::UNKNOWN, false),
                case(TvByte::constant(255), range(0, 254), false),
                case(TvByte::constant(255), TvByte::constant(255), true),
            ])
        );
    }
}
