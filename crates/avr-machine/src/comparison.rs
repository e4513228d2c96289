//! Comparisons of numbers of several bytes.

use avr_isa::DataAddress;

/// A byte of a number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    /// The content of a register or of a cell of SRAM.
    Cell(DataAddress),
    /// Some bits of such a cell, given as a mask; the other bits are 0.
    Masked(DataAddress, u8),
    /// A constant.
    Constant(u8),
}

impl Operand {
    /// Some bits of a byte, given as a mask.
    #[must_use]
    pub fn masked(self, mask: u8) -> Self {
        let of_cell = |cell: DataAddress, mask: u8| match mask {
            0 => Self::Constant(0),
            0xff => Self::Cell(cell),
            _ => Self::Masked(cell, mask),
        };
        match self {
            Self::Cell(cell) => of_cell(cell, mask),
            Self::Masked(cell, own) => of_cell(cell, own & mask),
            Self::Constant(value) => Self::Constant(value & mask),
        }
    }

    /// The cell that it is of.
    #[must_use]
    pub fn cell(&self) -> Option<DataAddress> {
        match self {
            Self::Cell(cell) | Self::Masked(cell, _) => Some(*cell),
            Self::Constant(_) => None,
        }
    }
}

/// A number of one to four bytes, to which a constant is added; what is carried at the end is lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number {
    /// The bytes, the lowest first.
    pub bytes: Vec<Operand>,
    /// The constant: less than the number of numbers of so many bytes.
    pub plus: u32,
}

impl Number {
    /// The number that some bytes are, the lowest first.
    #[must_use]
    pub fn of(bytes: Vec<Operand>) -> Self {
        Self { bytes, plus: 0 }
    }

    /// The number that it is if it is a constant.
    #[must_use]
    pub fn constant(&self) -> Option<u32> {
        let bytes = (self.plus == 0).then_some(&self.bytes)?;
        bytes.iter().rev().try_fold(0, |number, byte| match byte {
            Operand::Constant(value) => Some(number << 8 | u32::from(*value)),
            Operand::Cell(_) | Operand::Masked(..) => None,
        })
    }
}

/// The comparison of two numbers of as many bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// The first number.
    pub left: Number,
    /// The second number.
    pub right: Number,
}
