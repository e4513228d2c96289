//! Terms: pairs of numbers that are compared.

use crate::faults::{Fault, is_on};
use crate::number::NumberSet;
use crate::order::{EQUAL, compare, told};
use avr_isa::DataAddress;
use avr_machine::{Comparison, Number, Operand};
use three_valued::{ByteDomain, Truth, TvByte};

/// Two numbers of as many bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term {
    /// The first number.
    pub left: Number,
    /// The second number.
    pub right: Number,
}

impl Term {
    /// The term of a comparison, and whether its operands change places: constants come last, and else what has the lower
    /// address comes first.
    pub(crate) fn of(comparison: &Comparison) -> (Self, bool) {
        let (left, right) = (comparison.left.clone(), comparison.right.clone());
        let is_swapped = constant(&left).is_some() || constant(&right).is_none() && right < left;
        if is_swapped { (Self { left: right, right: left }, true) } else { (Self { left, right }, false) }
    }

    /// The cells that the term speaks of.
    pub fn cells(&self) -> impl Iterator<Item = DataAddress> + '_ {
        self.left.bytes.iter().chain(&self.right.bytes).filter_map(Operand::cell)
    }

    /// The predicates of two numbers, of which `byte` gives the cells, as far as the bytes tell them.
    #[must_use]
    pub fn evaluate(&self, byte: &dyn Fn(DataAddress) -> TvByte) -> TvByte {
        let [left, right] = [&self.left, &self.right].map(|number| bytes(&number.bytes, byte));
        let differ = || left.iter().zip(&right).any(|(one, other)| one.equals(other) == Truth::False);
        let both = compare(&values(&self.left, byte), &values(&self.right, byte));
        // Equal numbers to which the same is added are equal.
        if self.left.plus == self.right.plus && differ() { told(both, EQUAL, false) } else { both }
    }
}

/// The numbers that a number may be in a state of which `byte` gives the cells.
pub(crate) fn values(number: &Number, byte: &dyn Fn(DataAddress) -> TvByte) -> NumberSet {
    let set = NumberSet::of(&bytes(&number.bytes, byte));
    if number.plus == 0 || is_on(Fault::NothingAdded) { set } else { set.minus(-i64::from(number.plus)) }
}

/// The bytes of a number.
fn bytes(side: &[Operand], byte: &dyn Fn(DataAddress) -> TvByte) -> Vec<TvByte> {
    let value = |operand: &Operand| match operand {
        Operand::Cell(cell) => byte(*cell),
        Operand::Masked(cell, _) if is_on(Fault::MaskLost) => byte(*cell),
        Operand::Masked(cell, mask) => byte(*cell).and(&TvByte::constant(*mask)),
        Operand::Constant(value) => TvByte::constant(*value),
    };
    side.iter().map(value).collect()
}

/// The number that a constant is.
pub(crate) fn constant(number: &Number) -> Option<i64> {
    number.constant().map(i64::from)
}
