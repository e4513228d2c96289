//! Cells as variables of the precision.

use avr_isa::DataAddress;
use tvar::Variable;

/// The variable that stands for a cell.
#[inline]
#[must_use]
pub const fn variable_of(cell: DataAddress) -> Variable {
    Variable(cell.0 as u32)
}

/// The cell that a variable stands for.
#[inline]
#[must_use]
pub const fn cell_of(variable: Variable) -> DataAddress {
    DataAddress(variable.0 as u16)
}
