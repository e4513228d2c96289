//! Comparisons of numbers of several bytes.

use avr_isa::DataAddress;

/// A byte of a number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// The content of a register or of a cell of SRAM.
    Cell(DataAddress),
    /// A constant.
    Constant(u8),
}

/// The comparison of two numbers of one to four bytes each, the lowest byte first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// The bytes of the first number.
    pub left: Vec<Operand>,
    /// The bytes of the second number, as many.
    pub right: Vec<Operand>,
}
