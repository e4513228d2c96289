//! The predicates of two numbers as bits, and what they say of each other.

use crate::faults::{Fault, is_on};
use crate::number::NumberSet;
use avr_machine::flag;
use three_valued::TvByte;

/// The bit of the number of a comparison that tells that its operands are those of the term in the other order.
pub(crate) const SWAPPED: u8 = 0x80;

/// The first number is less than the second.
pub(crate) const LESS: u8 = 1 << 0;
/// The numbers are equal.
pub(crate) const EQUAL: u8 = 1 << 1;
/// The first number is greater than the second.
pub(crate) const GREATER: u8 = 1 << 2;
/// The first number is less than the second, both with a sign.
pub(crate) const SIGNED_LESS: u8 = 1 << 3;
/// The first number is greater than the second, both with a sign.
pub(crate) const SIGNED_GREATER: u8 = 1 << 4;

/// The predicates of which exactly one is true.
pub(crate) const ORDERS: [u8; 2] = [LESS | EQUAL | GREATER, SIGNED_LESS | EQUAL | SIGNED_GREATER];

/// The order of two numbers that a predicate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PredicateOrder {
    /// The numbers are equal.
    Equal,
    /// The first one is less.
    Less,
    /// The first one is greater.
    Greater,
    /// The first one is less, both with a sign.
    SignedLess,
    /// The first one is greater, both with a sign.
    SignedGreater,
}

impl PredicateOrder {
    /// True if a bit is one of a predicate.
    pub(crate) fn has(predicate: u8) -> bool {
        Self::ALL.iter().any(|(_, bit)| *bit == predicate)
    }

    /// The predicate that a bit is.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn of(predicate: u8) -> Self {
        let found = Self::ALL.iter().find(|(_, bit)| *bit == predicate);
        found.map(|(order, _)| *order).expect("it is the bit of a predicate")
    }

    /// Each predicate with its bit. What is known to be true of the first ones says most.
    pub const ALL: [(Self, u8); 5] = [
        (Self::Equal, EQUAL),
        (Self::Less, LESS),
        (Self::Greater, GREATER),
        (Self::SignedLess, SIGNED_LESS),
        (Self::SignedGreater, SIGNED_GREATER),
    ];
}

/// The predicates of two numbers that are in two sets.
pub(crate) fn compare(left: &NumberSet, right: &NumberSet) -> TvByte {
    let [unsigned, signed] = left.bounds();
    let [other, other_signed] = right.bounds();
    let mut all = TvByte::UNKNOWN;
    for ((least, most), (other_least, other_most), less, greater) in
        [(unsigned, other, LESS, GREATER), (signed, other_signed, SIGNED_LESS, SIGNED_GREATER)]
    {
        if most < other_least {
            all = told(all, less, true);
        } else if least > other_most {
            all = told(all, greater, true);
        }
        if least >= other_most {
            all = told(all, less, false);
        }
        if most <= other_least {
            all = told(all, greater, false);
        }
    }
    if other.0 == other.1 && left.excludes(other.0) || unsigned.0 == unsigned.1 && right.excludes(unsigned.0) {
        all = told(all, EQUAL, false);
    }
    all
}

/// The predicates of a term where one of them is known as well, and all that follows.
pub(crate) fn told(before: TvByte, predicate: u8, value: bool) -> TvByte {
    let mut known = before.known_mask() | predicate;
    let mut values = before.value() & !predicate | if value { predicate } else { 0 };
    loop {
        let (known_before, values_before) = (known, values);
        for order in ORDERS {
            if values & known & order != 0 {
                known |= order;
            } else if (order & !known).count_ones() == 1 {
                values |= order & !known;
                known |= order;
            }
        }
        if (known, values) == (known_before, values_before) {
            return TvByte::new(values & known, known);
        }
    }
}

/// The bit of the predicate that says most of what is known of a term; none if nothing is known.
pub(crate) fn telling(known: TvByte) -> u8 {
    let bits = || PredicateOrder::ALL.into_iter().map(|(_, bit)| bit & known.known_mask());
    let is_true = bits().find(|bit| known.value() & bit != 0);
    is_true.or_else(|| bits().find(|bit| *bit != 0)).unwrap_or(0)
}

/// The predicate that a flag is after a comparison of this number.
pub(crate) fn predicate(number: u8, flag: u8) -> Option<u8> {
    let is_swapped = number & SWAPPED != 0 && !is_on(Fault::OrderLost);
    match (flag, is_swapped) {
        (flag::C, false) => Some(LESS),
        (flag::C, true) => Some(GREATER),
        (flag::Z, _) => Some(EQUAL),
        (flag::S, false) => Some(SIGNED_LESS),
        (flag::S, true) => Some(SIGNED_GREATER),
        _ => None,
    }
}

impl NumberSet {
    /// Those for which a predicate about a constant has a value.
    pub(crate) fn told(self, number: i64, predicate: u8, value: bool) -> Self {
        let signed = self.with_sign(number);
        let end = i64::from(is_on(Fault::BoundsOffByOne));
        match (predicate, value) {
            (LESS, true) => self.within(i64::MIN, number - 1 - end),
            (LESS, false) => self.within(number, i64::MAX),
            (GREATER, true) => self.within(number + 1, i64::MAX),
            (GREATER, false) => self.within(i64::MIN, number),
            (SIGNED_LESS, true) => self.within_signed(i64::MIN, signed - 1),
            (SIGNED_LESS, false) => self.within_signed(signed, i64::MAX),
            (SIGNED_GREATER, true) => self.within_signed(signed + 1, i64::MAX),
            (SIGNED_GREATER, false) => self.within_signed(i64::MIN, signed),
            (_, true) => self.within(number, number),
            (_, false) => self.without(number),
        }
    }
}
