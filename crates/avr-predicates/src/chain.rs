//! Chains of numbers, each of which is at most the next: what predicates of several terms say together.

use crate::faults::{Fault, is_on};
use crate::number::NumberSet;
use crate::order::{EQUAL, GREATER, LESS, SIGNED_GREATER, SIGNED_LESS};
use crate::term::{Term, constant};
use crate::told_by::ToldBy;
use avr_machine::Number;
use three_valued::TvByte;

/// A chain from one number to another.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    /// True if the first number is less than the last.
    pub(crate) is_strict: bool,
    /// The predicates that say so.
    pub(crate) by: ToldBy,
}

/// A chain from a number to another one, each at most the next, with or without a sign: a strict one if there is one.
pub(crate) fn chain(
    terms: &[Term],
    known: &dyn Fn(usize) -> TvByte,
    (from, to): (&Number, &Number),
    has_sign: bool,
) -> Option<Chain> {
    let mut reached = vec![(from.clone(), Chain { is_strict: false, by: ToldBy::new() })];
    let mut next = 0;
    while let Some((number, chain)) = reached.get(next).cloned() {
        next += 1;
        for (index, term) in terms.iter().enumerate() {
            for (one, other, is_swapped) in [(&term.left, &term.right, false), (&term.right, &term.left, true)] {
                let Some((is_strict, mask)) = at_most(known(index), is_swapped, has_sign).filter(|_| *one == number)
                else {
                    continue;
                };
                let mut by = chain.by.clone();
                *by.entry(index).or_default() |= mask;
                add(&mut reached, other.clone(), Chain { is_strict: chain.is_strict || is_strict, by });
            }
        }
        // Constants are in their order.
        let Some(value) = constant(&number) else { continue };
        let constants =
            terms.iter().flat_map(|term| [&term.left, &term.right]).chain([to]).cloned().collect::<Vec<_>>();
        for other in constants.into_iter().filter(|other| other.bytes.len() == number.bytes.len()) {
            let Some(greater) = constant(&other) else { continue };
            let signed = |value| if has_sign { NumberSet::all(number.bytes.len()).with_sign(value) } else { value };
            if signed(value) <= signed(greater) && other != number {
                add(&mut reached, other, Chain { is_strict: true, by: chain.by.clone() });
            }
        }
    }
    reached.into_iter().filter(|(number, _)| number == to).map(|(_, chain)| chain).max_by_key(|chain| chain.is_strict)
}

/// Adds the end of a chain, unless there is one to it that says as much.
fn add(reached: &mut Vec<(Number, Chain)>, number: Number, chain: Chain) {
    if !reached.iter().any(|(one, other)| *one == number && (other.is_strict || !chain.is_strict)) {
        reached.push((number, chain));
    }
}

/// The predicate of a term that says that its first number is at most the second one, or, swapped, the second the first one; and whether
/// it is less.
fn at_most(known: TvByte, is_swapped: bool, has_sign: bool) -> Option<(bool, u8)> {
    let (less, greater) = if has_sign { (SIGNED_LESS, SIGNED_GREATER) } else { (LESS, GREATER) };
    let (less, greater) = if is_swapped { (greater, less) } else { (less, greater) };
    let is_true = |predicate: u8| known.value() & known.known_mask() & predicate != 0;
    let is_false = |predicate: u8| known.known_mask() & !known.value() & predicate != 0;
    if is_true(less) {
        Some((true, less))
    } else if is_true(EQUAL) {
        Some((is_on(Fault::OrderIsStrict), EQUAL))
    } else if is_false(greater) {
        Some((is_on(Fault::OrderIsStrict), greater))
    } else {
        None
    }
}
