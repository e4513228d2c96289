//! Weakest preconditions: what a term was before cells were written that copies and sums relate to others.

use avr_isa::{DataAddress, Register};
use avr_machine::{Comparison, Copies, Number, Operand};

use crate::term::{Term, constant};

/// The comparison that a term was before some cells were written, if copies tell all bytes of its numbers that were, and each number was in a
/// row of cells; none if they tell nothing of them, or if its numbers were the same.
///
/// Of a register and a constant there is none: what registers hold is compared for many reasons, and where it comes from memory the
/// comparison is one of memory.
pub(crate) fn precondition(
    term: &Term,
    copies: Copies,
    is_written: &dyn Fn(DataAddress) -> bool,
) -> Option<Comparison> {
    if constant(&term.right).is_some() && term.cells().all(|cell| Register::at(cell).is_some()) {
        return None;
    }
    let [left, right] = [&term.left, &term.right].map(|number| number_before(number, copies, is_written));
    let (left, right) = (left?, right?);
    let is_other = left.bytes != right.bytes && (left != term.left || right != term.right);
    (is_other && is_row(&left) && is_row(&right)).then_some(Comparison { left, right })
}

/// True if the bytes of a number that are no constants are in cells in a row.
fn is_row(number: &Number) -> bool {
    let cells = number.bytes.iter().zip(0u16..).filter_map(|(byte, index)| Some(byte.cell()?.wrapping_sub(index)));
    let first: Vec<DataAddress> = cells.collect();
    first.windows(2).all(|pair| pair[0] == pair[1])
}

fn number_before(number: &Number, copies: Copies, is_written: &dyn Fn(DataAddress) -> bool) -> Option<Number> {
    if !number.bytes.iter().filter_map(Operand::cell).any(is_written) {
        return Some(number.clone());
    }
    if let Some(sum) = sum_before(number, copies, is_written) {
        return Some(sum);
    }
    let before = |operand: &Operand| {
        let Some(cell) = operand.cell() else { return Some(*operand) };
        // Memory outlives registers.
        let other = copies.same_as(cell).into_iter().filter(|one| *one != cell && !is_written(*one)).max();
        let masked = || copies.masked_as(cell).filter(|(from, _)| !is_written(*from));
        let copied = other.map(Operand::Cell).or_else(|| masked().map(|(from, mask)| Operand::Masked(from, mask)));
        match operand {
            Operand::Masked(_, mask) => copied.map(|copied| copied.masked(*mask)),
            _ => copied,
        }
    };
    Some(Number { bytes: number.bytes.iter().map(before).collect::<Option<_>>()?, plus: number.plus })
}

/// The sum that a number is, if it was copied from the registers that hold one.
fn sum_before(number: &Number, copies: Copies, is_written: &dyn Fn(DataAddress) -> bool) -> Option<Number> {
    let sum = copies.sum().number().filter(|_| !copies.sum().cells().iter().any(|cell| is_written(*cell)))?;
    let registers: Vec<DataAddress> = copies.sum().registers().collect();
    // Registers hold sums of what is added up, one behind the other.
    let is_copy = |(operand, register): (&Operand, &DataAddress)| match operand {
        Operand::Cell(cell) => Register::at(*cell).is_none() && copies.same_as(*cell).contains(register),
        Operand::Masked(..) | Operand::Constant(_) => false,
    };
    let is_sum = registers.len() == number.bytes.len() && number.bytes.iter().zip(&registers).all(is_copy);
    let most = 1u64 << (8 * registers.len());
    is_sum.then(|| Number { plus: ((u64::from(sum.plus) + u64::from(number.plus)) % most) as u32, ..sum })
}
