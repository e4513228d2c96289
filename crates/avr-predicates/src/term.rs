//! Terms: pairs of numbers that are compared.

use crate::number::NumberSet;
use crate::order::{EQUAL, compare, told};
use avr_isa::DataAddress;
use avr_machine::{Comparison, Operand};
use three_valued::{ByteDomain, Truth, TvByte};

/// Two numbers of as many bytes, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// The first number.
    pub left: Vec<Operand>,
    /// The second number.
    pub right: Vec<Operand>,
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
        self.left.iter().chain(&self.right).filter_map(|operand| match operand {
            Operand::Cell(cell) => Some(*cell),
            Operand::Constant(_) => None,
        })
    }

    /// The predicates of two numbers, of which `byte` gives the cells, as far as the bytes tell them.
    #[must_use]
    pub fn evaluate(&self, byte: &dyn Fn(DataAddress) -> TvByte) -> TvByte {
        let [left, right] = [&self.left, &self.right].map(|side| bytes(side, byte));
        let differs = left.iter().zip(&right).any(|(one, other)| one.equals(other) == Truth::False);
        let both = compare(&NumberSet::of(&left), &NumberSet::of(&right));
        if differs { told(both, EQUAL, false) } else { both }
    }
}

/// The bytes of a number.
pub(crate) fn bytes(side: &[Operand], byte: &dyn Fn(DataAddress) -> TvByte) -> Vec<TvByte> {
    let value = |operand: &Operand| match operand {
        Operand::Cell(cell) => byte(*cell),
        Operand::Constant(value) => TvByte::constant(*value),
    };
    side.iter().map(value).collect()
}

/// The number that constant bytes are.
pub(crate) fn constant(bytes: &[Operand]) -> Option<i64> {
    bytes.iter().rev().try_fold(0, |number, byte| match byte {
        Operand::Constant(value) => Some(number << 8 | i64::from(*value)),
        Operand::Cell(_) => None,
    })
}
