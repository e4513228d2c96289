//! Predicates as texts, as property files have them where they can.

use avr_machine::Operand;
use avr_verify::{PredicateOrder, PropertyResult, UsedPredicate, Verdict};

use crate::names::Names;
use crate::variables::number_at;

/// The predicates that a verdict needs, as texts.
pub(crate) fn predicates(result: &PropertyResult, names: &Names<'_>) -> Vec<String> {
    match result.verdict {
        Verdict::Unknown(_) => Vec::new(),
        Verdict::Holds | Verdict::Violated => result.predicates.iter().map(|used| text(used, names)).collect(),
    }
}

fn text(used: &UsedPredicate, names: &Names<'_>) -> String {
    let is_signed = matches!(used.order, PredicateOrder::SignedLess | PredicateOrder::SignedGreater);
    let operator = match (used.order, used.is_negated) {
        (PredicateOrder::Equal, false) => "==",
        (PredicateOrder::Equal, true) => "!=",
        (PredicateOrder::Less | PredicateOrder::SignedLess, false) => "<",
        (PredicateOrder::Less | PredicateOrder::SignedLess, true) => ">=",
        (PredicateOrder::Greater | PredicateOrder::SignedGreater, false) => ">",
        (PredicateOrder::Greater | PredicateOrder::SignedGreater, true) => "<=",
    };
    let [left, right] = [&used.term.left, &used.term.right].map(|side| number(side, is_signed, names));
    let other = used.or.as_ref().map_or_else(String::new, |other| format!(" || {}", text(other, names)));
    format!("{left} {operator} {right}{other}")
}

/// A number of which the lowest byte comes first.
fn number(bytes: &[Operand], is_signed: bool, names: &Names<'_>) -> String {
    let constant = bytes.iter().rev().try_fold(0u32, |all, byte| match byte {
        Operand::Constant(value) => Some(all << 8 | u32::from(*value)),
        Operand::Cell(_) => None,
    });
    let shift = 32 - 8 * bytes.len().clamp(1, 4) as u32;
    match constant {
        Some(constant) if is_signed => ((constant << shift).cast_signed() >> shift).to_string(),
        Some(constant) => format!("{constant:#x}"),
        None if is_signed => format!("signed({})", cells(bytes, names)),
        None => cells(bytes, names),
    }
}

/// A number in cells: the variable that it is, or its bytes, the highest first.
fn cells(bytes: &[Operand], names: &Names<'_>) -> String {
    let kept = bytes.iter().rposition(|byte| *byte != Operand::Constant(0)).map_or(1, |last| last + 1);
    let bytes = &bytes[..kept];
    if let [Operand::Cell(first), rest @ ..] = bytes
        && let Some(variable) = number_at(names, *first)
        && variable.start == *first
        && variable.bytes as usize == bytes.len()
        && rest.iter().zip(1..).all(|(byte, index)| *byte == Operand::Cell(first.wrapping_add(index)))
    {
        return variable.name;
    }
    if let [Operand::Cell(first), Operand::Cell(second)] = bytes
        && *second == first.wrapping_add(1)
        && names.cell(*first).starts_with("mem[")
    {
        return format!("mem16[{first:#06x}]");
    }
    let byte = |byte: &Operand| match byte {
        Operand::Cell(cell) => names.cell(*cell),
        Operand::Constant(value) => format!("{value:#04x}"),
    };
    bytes.iter().rev().map(byte).collect::<Vec<_>>().join(":")
}
