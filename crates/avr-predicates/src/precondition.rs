//! Weakest preconditions: what a term was before cells were written that copies and sums relate to others.

use avr_isa::DataAddress;
use avr_machine::{Comparison, Copies, Number, Operand};

use crate::term::Term;

/// The comparison that a term was before some cells were written, if copies tell all bytes of its numbers that were; none if they tell
/// nothing of them, or if its numbers were the same.
pub(crate) fn precondition(
    term: &Term,
    copies: Copies,
    is_written: &dyn Fn(DataAddress) -> bool,
) -> Option<Comparison> {
    let [left, right] = [&term.left, &term.right].map(|number| number_before(number, copies, is_written));
    let (left, right) = (left?, right?);
    (left != right && (left != term.left || right != term.right)).then_some(Comparison { left, right })
}

/// True if copies relate all bytes of the numbers of a term of which cells were written.
pub(crate) fn is_linked(term: &Term, copies: Copies, is_written: &dyn Fn(DataAddress) -> bool) -> bool {
    let is_bound = |cell: DataAddress| {
        let same = copies.same_as(cell);
        same.len() > 1 || copies.masked_as(cell).is_some() || same.iter().any(|one| is_of_sum(*one, copies))
    };
    [&term.left, &term.right].into_iter().all(|number| {
        let cells = || number.bytes.iter().filter_map(Operand::cell);
        !cells().any(is_written) || cells().all(is_bound)
    })
}

fn is_of_sum(cell: DataAddress, copies: Copies) -> bool {
    copies.sum().number().is_some() && copies.sum().registers().any(|register| register == cell)
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
    let is_copy = |(operand, register): (&Operand, &DataAddress)| match operand {
        Operand::Cell(cell) => copies.same_as(*cell).contains(register),
        Operand::Masked(..) | Operand::Constant(_) => false,
    };
    let is_sum = registers.len() == number.bytes.len() && number.bytes.iter().zip(&registers).all(is_copy);
    let most = 1u64 << (8 * registers.len());
    is_sum.then(|| Number { plus: ((u64::from(sum.plus) + u64::from(number.plus)) % most) as u32, ..sum })
}
