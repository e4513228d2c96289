//! Predicates as texts, as property files have them where they can.

use avr_machine::{Number, Operand};
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

fn number(number: &Number, is_signed: bool, names: &Names<'_>) -> String {
    let shift = 32 - 8 * number.bytes.len().clamp(1, 4) as u32;
    let expression = || match number.plus {
        0 => bits(&number.bytes, names),
        // What is subtracted is added with what is carried at the end.
        plus if plus << shift >> 31 == 1 => {
            format!("{} - {:#x}", bits(&number.bytes, names), (plus << shift).wrapping_neg() >> shift)
        }
        plus => format!("{} + {plus:#x}", bits(&number.bytes, names)),
    };
    match number.constant() {
        Some(constant) if is_signed => ((constant << shift).cast_signed() >> shift).to_string(),
        Some(constant) => format!("{constant:#x}"),
        None if is_signed => format!("signed({})", expression()),
        None => expression(),
    }
}

/// A number in cells, or some bits of it.
fn bits(bytes: &[Operand], names: &Names<'_>) -> String {
    let is_masked = bytes.iter().any(|byte| matches!(byte, Operand::Masked(..)));
    if !is_masked {
        return cells(bytes, names);
    }
    let mask = bytes.iter().rev().fold(0u32, |all, byte| {
        let own = match byte {
            Operand::Cell(_) | Operand::Constant(_) => 0xff,
            Operand::Masked(_, mask) => *mask,
        };
        all << 8 | u32::from(own)
    });
    let whole: Vec<Operand> = bytes.iter().map(|byte| byte.cell().map_or(*byte, Operand::Cell)).collect();
    format!("({} & {mask:#x})", cells(&whole, names))
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
        Operand::Cell(cell) | Operand::Masked(cell, _) => names.cell(*cell),
        Operand::Constant(value) => format!("{value:#04x}"),
    };
    bytes.iter().rev().map(byte).collect::<Vec<_>>().join(":")
}
