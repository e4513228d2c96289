//! Predicates that a property file names: two numbers that are compared, of which states keep the outcome where they keep no values.

use avr_isa::{DataAddress, Register};
use avr_machine::{Comparison as Numbers, Number, Operand};
use mu_calculus::{BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, Formula, parse_predicate};

use super::operand::Context;
use super::{Binder, Binding, Fault};
use crate::atom::{Atom, AtomKind, AtomTable, Compare};
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::expression::Expression;
use crate::file::PropertyFile;

/// The most bytes of a number.
const MOST_BYTES: usize = 4;
/// The most comparisons that a property file may name.
const MOST_NAMED: usize = 32;

/// An order of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first one is less than the second.
    Less,
    /// They are equal.
    Equal,
    /// The first one is greater than the second.
    Greater,
}

/// The comparison of two numbers that an atom is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComparedNumbers {
    /// The numbers.
    pub numbers: Numbers,
    /// The order that is asked for.
    pub order: Order,
    /// True if the atom is true where this is not their order.
    pub is_negated: bool,
    /// True if they are compared with a sign.
    pub is_signed: bool,
}

impl Atom {
    /// The numbers that the atom compares; none if it is anything but a comparison of two numbers of one to four bytes, which are
    /// cells, some bits of cells, or constants.
    #[must_use]
    pub fn compared_numbers(&self) -> Option<ComparedNumbers> {
        match self.kind() {
            // A single bit is known where the predicate is.
            AtomKind::CellEquals { address, mask, equals } if mask.count_ones() > 1 => Some(ComparedNumbers {
                numbers: Numbers {
                    left: Number::of(vec![Operand::Cell(*address).masked(*mask)]),
                    right: Number::of(vec![Operand::Constant(*equals)]),
                },
                order: Order::Equal,
                is_negated: false,
                is_signed: false,
            }),
            AtomKind::Compare(compare) => compare.compared_numbers(),
            _ => None,
        }
    }
}

impl Compare {
    fn compared_numbers(&self) -> Option<ComparedNumbers> {
        let (numbers, is_signed) = numbers(&self.left, &self.right)?;
        let (order, is_negated) = order(self.operator);
        Some(ComparedNumbers { numbers, order, is_negated, is_signed })
    }
}

/// The order that an operator asks for, and whether it is true where this is not the order.
fn order(operator: ComparisonOperator) -> (Order, bool) {
    match operator {
        ComparisonOperator::Equal => (Order::Equal, false),
        ComparisonOperator::NotEqual => (Order::Equal, true),
        ComparisonOperator::Less => (Order::Less, false),
        ComparisonOperator::GreaterOrEqual => (Order::Less, true),
        ComparisonOperator::Greater => (Order::Greater, false),
        ComparisonOperator::LessOrEqual => (Order::Greater, true),
    }
}

/// One side of a comparison.
enum Side {
    /// A number in cells, or some bits of it, and whether it has a sign.
    Number(Vec<Operand>, bool),
    Constant(i128),
}

fn side(expression: &Expression) -> Option<Side> {
    match expression {
        Expression::Signed(inner, _) => cells(inner).map(|number| Side::Number(number, true)),
        Expression::Binary(BinaryOperator::And, one, other) => {
            let (number, mask) = match (&**one, &**other) {
                (Expression::Constant(mask), number) | (number, Expression::Constant(mask)) => (cells(number)?, *mask),
                _ => return None,
            };
            let masks = mask.to_le_bytes();
            Some(Side::Number(number.iter().zip(masks).map(|(byte, mask)| byte.masked(mask)).collect(), false))
        }
        Expression::Constant(constant) => Some(Side::Constant(*constant)),
        _ => cells(expression).map(|number| Side::Number(number, false)),
    }
}

/// The bytes of a number in cells.
fn cells(expression: &Expression) -> Option<Vec<Operand>> {
    match expression {
        Expression::Cells(cells) if cells.len() <= MOST_BYTES => {
            Some(cells.iter().map(|cell| Operand::Cell(*cell)).collect())
        }
        _ => None,
    }
}

/// Two numbers of as many bytes, and whether they are compared with a sign.
fn numbers(left: &Expression, right: &Expression) -> Option<(Numbers, bool)> {
    let (left, right, is_signed) = match (side(left)?, side(right)?) {
        (Side::Number(mut left, false), Side::Number(mut right, false)) => {
            let bytes = left.len().max(right.len());
            [&mut left, &mut right].into_iter().for_each(|number| number.resize(bytes, Operand::Constant(0)));
            (left, right, false)
        }
        (Side::Number(left, true), Side::Number(right, true)) if left.len() == right.len() => (left, right, true),
        (Side::Number(left, is_signed), Side::Constant(constant)) => {
            let right = bytes(constant, left.len(), is_signed)?;
            (left, right, is_signed)
        }
        (Side::Constant(constant), Side::Number(right, is_signed)) => {
            (bytes(constant, right.len(), is_signed)?, right, is_signed)
        }
        (Side::Number(..), Side::Number(..)) | (Side::Constant(_), Side::Constant(_)) => return None,
    };
    Some((Numbers { left: Number::of(left), right: Number::of(right) }, is_signed))
}

/// The bytes of a constant beside a number of so many bytes, the lowest first; none if no such number is it.
fn bytes(constant: i128, count: usize, is_signed: bool) -> Option<Vec<Operand>> {
    let all = 1i128 << (8 * count);
    let range = if is_signed { -all / 2..all / 2 } else { 0..all };
    let bytes = constant.to_le_bytes();
    range.contains(&constant).then(|| bytes[..count].iter().map(|byte| Operand::Constant(*byte)).collect())
}

/// The predicates that a property file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedPredicates {
    /// The comparisons that they consist of.
    pub comparisons: Vec<Numbers>,
    /// Boolean combinations of two comparisons, as disjunctions of them or of their negations: each is a combination or the negation of one.
    pub combinations: Vec<[ComparedNumbers; 2]>,
}

/// Binds the predicates of a property file.
///
/// # Errors
/// If a text is no comparison, or no Boolean combination of comparisons, of two numbers of up to four bytes in registers or SRAM,
/// or if there are too many.
pub fn bind_predicates(file: &PropertyFile, binding: &Binding<'_>) -> Result<NamedPredicates, PropertyError> {
    let mut all = NamedPredicates::default();
    for (text, place) in &file.predicates {
        let bound = bound(text, binding).map_err(|error| error.of_property("predicates", Some(place)))?;
        all.comparisons.extend(bound.comparisons);
        all.combinations.extend(bound.combinations);
        if all.comparisons.len() > MOST_NAMED {
            let expected = "at most 32 comparisons in all predicates together";
            return Err(PropertyErrorKind::Expected { expected }.at_place(place.clone()));
        }
    }
    Ok(all)
}

fn bound(text: &str, binding: &Binding<'_>) -> Result<NamedPredicates, PropertyError> {
    let parsed = parse_predicate(text).map_err(|error| PropertyErrorKind::Formula(error.kind).at(error.span, text))?;
    let (definitions, mut table) = (Definitions::new(), AtomTable::new());
    let mut binder = Binder::new(&definitions, binding, &mut table);
    let mut compared = |comparison: &Comparison| {
        let one = binder.compared(comparison);
        one.map_err(|(kind, span)| kind.at(span, text))
    };
    let mut comparisons = Vec::new();
    for comparison in parsed.atoms() {
        comparisons.push(compared(comparison)?.numbers);
    }
    let mut combinations = Vec::new();
    for parts in disjunctions(&parsed, false) {
        let [one, other] = parts.map(|(comparison, is_negated)| {
            compared(comparison).map(|one| ComparedNumbers { is_negated: one.is_negated != is_negated, ..one })
        });
        combinations.push([one?, other?]);
    }
    Ok(NamedPredicates { comparisons, combinations })
}

/// A comparison, and whether it is negated.
type Literal<'a> = (&'a Comparison, bool);

/// Disjunctions of two comparisons, or of negations of such, that tell the truth of a formula or of its negation: one for a disjunction
/// or a conjunction, two for an equivalence, none for any other formula.
fn disjunctions(formula: &Formula<Comparison>, is_negated: bool) -> Vec<[Literal<'_>; 2]> {
    fn literal(formula: &Formula<Comparison>, is_negated: bool) -> Option<Literal<'_>> {
        match formula {
            Formula::Atom(comparison) => Some((comparison, is_negated)),
            Formula::Not(inner) => literal(inner, !is_negated),
            _ => None,
        }
    }
    let (parts, negated): (_, &[[bool; 2]]) = match formula {
        Formula::Not(inner) => return disjunctions(inner, !is_negated),
        Formula::Or(parts) | Formula::And(parts) => {
            let [one, other] = parts.as_slice() else { return Vec::new() };
            ([one, other], if matches!(formula, Formula::And(_)) { &[[true, true]] } else { &[[false, false]] })
        }
        Formula::Implies(one, other) => ([&**one, other], &[[true, false]]),
        Formula::Iff(one, other) if is_negated => ([&**one, other], &[[false, false], [true, true]]),
        Formula::Iff(one, other) => ([&**one, other], &[[true, false], [false, true]]),
        _ => return Vec::new(),
    };
    let either = |[one, other]: &[bool; 2]| Some([literal(parts[0], *one)?, literal(parts[1], *other)?]);
    negated.iter().filter_map(either).collect()
}

impl Binder<'_> {
    fn compared(&mut self, comparison: &Comparison) -> Result<ComparedNumbers, Fault> {
        let ComparisonKind::Compare(operator, left, right) = &comparison.kind else {
            let expected = "a comparison of two numbers, as in `rx_word == 0x1234`";
            return Err((PropertyErrorKind::Expected { expected }, comparison.span));
        };
        let mut sides = Vec::new();
        for side in [left, right] {
            let bound = self.expression(side, u128::MAX, &mut Context::default())?.expression;
            let is_number = match self::side(&bound) {
                Some(Side::Number(bytes, _)) => bytes.iter().filter_map(Operand::cell).all(|cell| self.is_kept(cell)),
                Some(Side::Constant(_)) => true,
                None => false,
            };
            if !is_number {
                let expected = "a constant, or a number of up to four bytes in registers or SRAM, or bits of one as in `(rx_word & 0x0ff0)`";
                return Err((PropertyErrorKind::Expected { expected }, side.span));
            }
            sides.push(bound);
        }
        let expected =
            "two numbers that can be equal, not two constants; `signed` of both or none, then of as many bytes";
        let found = numbers(&sides[0], &sides[1]);
        let (numbers, is_signed) = found.ok_or((PropertyErrorKind::Expected { expected }, comparison.span))?;
        let (order, is_negated) = order(*operator);
        Ok(ComparedNumbers { numbers, order, is_negated, is_signed })
    }

    /// True if nothing but the program changes a cell: it is a register or one of SRAM.
    fn is_kept(&self, cell: DataAddress) -> bool {
        let memory = &self.device.memory;
        Register::at(cell).is_some() || (memory.sram_start..=memory.sram_end).contains(&cell)
    }
}
