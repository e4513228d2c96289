//! Ranks: numbers that fall until a loop is left.

use crate::domain::bit::SymbolicBit;
use crate::domain::word::SymbolicWord;
use crate::execution::run::SymbolicState;
use avr_isa::DataAddress;
use avr_machine::MachineState;
use three_valued::BitDomain;

/// An unsigned number of a fixed width that is computed from cells, modulo 2 to the width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The content of cells, the least significant first.
    Cells(Vec<DataAddress>),
    /// A number and its width in bytes, which are no more than eight.
    Constant(u64, usize),
    /// The first minus the second.
    Difference(Box<Term>, Box<Term>),
}

impl Term {
    /// The first minus the second.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::Difference(Box::new(self), Box::new(other))
    }

    /// The width in bytes; none if parts differ in it, if it is 0, or more than eight.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        let width = match self {
            Self::Cells(cells) => cells.len(),
            Self::Constant(_, width) => *width,
            Self::Difference(a, b) => a.width().filter(|width| b.width() == Some(*width))?,
        };
        (1..=8).contains(&width).then_some(width)
    }

    /// The cells that it is computed from.
    pub fn cells(&self) -> Vec<DataAddress> {
        match self {
            Self::Cells(cells) => cells.clone(),
            Self::Constant(..) => Vec::new(),
            Self::Difference(a, b) => [a.cells(), b.cells()].concat(),
        }
    }

    /// The value in a state. The width must be defined.
    #[must_use]
    pub fn symbolic<'g>(&self, state: &SymbolicState<'g>) -> SymbolicWord<'g> {
        match self {
            Self::Cells(cells) => SymbolicWord::of_bytes(cells.iter().map(|cell| state.data.get(*cell))),
            Self::Constant(value, width) => SymbolicWord::constant(*value, 8 * width),
            Self::Difference(a, b) => a.symbolic(state).wrapping_sub(&b.symbolic(state)),
        }
    }

    /// The value in a concrete state. The width must be defined.
    #[must_use]
    pub fn concrete(&self, state: &MachineState<u8>) -> u64 {
        let value = match self {
            Self::Cells(cells) => {
                cells.iter().rev().fold(0, |value, cell| value << 8 | u64::from(*state.data.get(*cell)))
            }
            Self::Constant(value, _) => *value,
            Self::Difference(a, b) => a.concrete(state).wrapping_sub(b.concrete(state)),
        };
        match self.width() {
            Some(width) if width < 8 => value & ((1 << (8 * width)) - 1),
            _ => value,
        }
    }
}

/// A tuple of numbers in lexicographic order, the first one first: it falls if one of them does and those before it stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank(pub Vec<Term>);

impl Rank {
    /// True if all numbers have a width.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|term| term.width().is_some())
    }

    /// The bit that is 1 if the rank of a state is less than that of another. The rank must be defined.
    pub(super) fn falls<'g>(&self, before: &SymbolicState<'g>, after: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.0.iter().rev().fold(SymbolicBit::ZERO, |falls, term| {
            let (before, after) = (term.symbolic(before), term.symbolic(after));
            after.is_less(&before).or(&after.is_equal(&before).and(&falls))
        })
    }

    /// True if the rank of a concrete state is less than that of another.
    #[must_use]
    pub fn is_less(&self, before: &MachineState<u8>, after: &MachineState<u8>) -> bool {
        let value = |state: &MachineState<u8>| self.0.iter().map(|term| term.concrete(state)).collect::<Vec<_>>();
        value(after) < value(before)
    }
}
