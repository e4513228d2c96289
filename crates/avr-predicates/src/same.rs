//! Numbers that are the same because one was computed from the other.

use crate::faults::{Fault, is_on};
use avr_isa::DataAddress;
use avr_machine::{Copies, Number, Operand};

/// True if two numbers are the same because each byte of one was copied from the other, or holds bits of it.
pub(crate) fn is_same_number(one: &Number, other: &Number, copies: Copies) -> bool {
    let mut bytes = one.bytes.iter().zip(&other.bytes);
    one.plus == other.plus
        && one.bytes.len() == other.bytes.len()
        && bytes.all(|(one, other)| is_same(one, other, copies))
}

/// True if a number was copied from registers that hold another one, which is a sum.
pub(crate) fn is_sum(number: &Number, sum: &Number, copies: Copies) -> bool {
    let held = copies.sum().number();
    let is_held = held.is_some_and(|held| held.bytes == sum.bytes && (held.plus == sum.plus || is_on(Fault::AnySum)));
    let registers = Number::of(copies.sum().registers().map(Operand::Cell).collect());
    is_held && is_same_number(number, &registers, copies)
}

/// True if two bytes are the same because one was copied from the other, or holds bits of it.
fn is_same(one: &Operand, other: &Operand, copies: Copies) -> bool {
    use Operand::{Cell, Constant, Masked};
    let are_copies = |one: &DataAddress, other: &DataAddress| copies.same_as(*one).contains(other);
    match (one, other) {
        (Cell(one), Cell(other)) => are_copies(one, other),
        (Masked(one, mask), Masked(other, bits)) => {
            (mask == bits || is_on(Fault::MaskIgnored)) && are_copies(one, other)
        }
        (Cell(whole), Masked(cell, mask)) | (Masked(cell, mask), Cell(whole)) => {
            copies.masked_as(*whole).is_some_and(|(from, bits)| bits == *mask && are_copies(&from, cell))
        }
        (Constant(_), _) | (_, Constant(_)) => one == other,
    }
}
