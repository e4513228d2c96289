//! Parts of variables: members of structures and elements of arrays, by the types that debug information tells.

use avr_image::{Scalar, Type};
use avr_isa::DataAddress;
use mu_calculus::{BinaryOperator, Expr, ExprKind, Field, Name, Span};

use super::operand::Context;
use super::{Binder, Fault};
use crate::error::PropertyErrorKind;
use crate::expression::{Expression, Scope};
use crate::nearest::nearest;

/// A part of a variable.
pub(super) struct Part {
    /// Its data address.
    address: Expression,
    of: Type,
    /// The indices on the way to it that depend on the state, each with the number of elements.
    indices: Vec<(Expression, u32)>,
    /// Its text in messages.
    name: String,
}

impl Part {
    /// The data address, if it does not depend on the state, and the type.
    pub(super) fn fixed(&self) -> (Option<DataAddress>, &Type) {
        let address = self.address.evaluate(Scope::any_state()).known().filter(|_| self.indices.is_empty());
        (address.and_then(|address| u16::try_from(address).ok()).map(DataAddress), &self.of)
    }
}

impl Binder<'_> {
    /// The part of a variable that an expression names; none if it is something else.
    pub(super) fn part(&mut self, e: &Expr, context: &mut Context) -> Result<Option<Part>, Fault> {
        match &e.kind {
            ExprKind::Field(name, Field::Name(member)) => match self.variable(name) {
                Some(part) if matches!(part.of, Type::Struct(_)) => self.part_member(part, member, e.span).map(Some),
                _ => Ok(None),
            },
            ExprKind::Index(name, index) => match self.variable(name) {
                Some(part) if matches!(part.of, Type::Array { .. }) => {
                    self.part_element(part, index, e.span, context).map(Some)
                }
                _ => Ok(None),
            },
            ExprKind::Member(inner, Field::Name(member)) => {
                let part = self.part_of(inner, context)?;
                self.part_member(part, member, e.span).map(Some)
            }
            ExprKind::Element(inner, index) => {
                let part = self.part_of(inner, context)?;
                self.part_element(part, index, e.span, context).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The part in front of a dot or a bracket.
    fn part_of(&mut self, e: &Expr, context: &mut Context) -> Result<Part, Fault> {
        let expected = "a variable whose type the ELF file tells (compile with -g -gdwarf-4)";
        self.part(e, context)?.ok_or((PropertyErrorKind::Expected { expected }, e.span))
    }

    /// A variable in the data memory whose type is known.
    fn variable(&self, name: &Name) -> Option<Part> {
        if !name.quoted && self.is_of_device(name) {
            return None;
        }
        let symbol = self.image.symbols.find(&name.text).ok()?;
        let address = symbol.place.data()?;
        let of = symbol.of.clone()?;
        let address = Expression::Constant(address.0.into());
        Some(Part { address, of, indices: Vec::new(), name: name.text.clone() })
    }

    fn part_member(&self, part: Part, member: &str, span: Span) -> Result<Part, Fault> {
        let name = format!("{}.{member}", part.name);
        let Some((offset, of)) = part.of.member(member) else {
            let members = part.of.member_names();
            let near = nearest(member, members.iter().copied());
            let near = if near.is_empty() { members.into_iter().map(str::to_owned).collect() } else { near };
            let kind =
                PropertyErrorKind::UnknownMember { variable: part.name, member: member.to_owned(), nearest: near };
            return Err((kind, span));
        };
        let address = plus(part.address, Expression::Constant(offset.into()));
        Ok(Part { address, of: of.clone(), indices: part.indices, name })
    }

    fn part_element(&mut self, part: Part, index: &Expr, span: Span, context: &mut Context) -> Result<Part, Fault> {
        let Type::Array { element, stride, count } = &part.of else {
            let problem = "is no array".to_owned();
            let instead = "an index in brackets selects an element of an array".to_owned();
            return Err((PropertyErrorKind::NotAValue { name: part.name, problem, instead }, span));
        };
        let bound = self.expression(index, u128::MAX, context)?;
        let mut indices = part.indices.clone();
        if let Some(constant) = bound.known() {
            let number = u64::try_from(constant).unwrap_or(u64::MAX);
            if let Some(count) = count.filter(|count| number >= u64::from(*count)) {
                return Err((PropertyErrorKind::NoElement { name: part.name, count, index: number }, index.span));
            }
        } else {
            let expected = "a constant index: the number of elements of this array is not known";
            let count = count.ok_or((PropertyErrorKind::Expected { expected }, index.span))?;
            indices.push((bound.expression.clone(), count));
        }
        let address = plus(part.address, times(bound.expression, *stride));
        let name = format!("{}[…]", part.name);
        Ok(Part { address, of: (**element).clone(), indices, name })
    }

    /// The number that a part holds.
    pub(super) fn part_value(&mut self, part: Part, demanded: u128, span: Span) -> Result<Expression, Fault> {
        let refuse = |problem: &str, instead: String| {
            Err((PropertyErrorKind::NotAValue { name: part.name.clone(), problem: problem.to_owned(), instead }, span))
        };
        let Scalar { bytes, signed } = match &part.of {
            Type::Scalar(scalar) => *scalar,
            Type::Struct(_) => {
                return refuse("is a whole structure", format!("its members: {}", part.of.member_names().join(", ")));
            }
            Type::Array { .. } => {
                return refuse("is a whole array", "an index in brackets selects an element".to_owned());
            }
            Type::Other => return refuse("is no integer", "mem[…] and mem16[…] are what lies there".to_owned()),
        };
        let value = match part.address.evaluate(Scope::any_state()).known().filter(|_| part.indices.is_empty()) {
            Some(address) => {
                let first = u64::try_from(address).unwrap_or(u64::MAX);
                let addresses = self.consecutive(first, bytes).map_err(|kind| (kind, span))?;
                self.cells(&addresses, &part.name, demanded, span)?
            }
            None => Expression::Memory { address: Box::new(part.address), bytes, map: self.map.clone() },
        };
        let wrap =
            |value, (index, count)| Expression::Element { index: Box::new(index), count, value: Box::new(value) };
        let value = part.indices.into_iter().fold(value, wrap);
        Ok(if signed == Some(true) { Expression::Signed(Box::new(value), 8 * u32::from(bytes)) } else { value })
    }
}

/// The sum; a number where both are.
fn plus(left: Expression, right: Expression) -> Expression {
    match (&left, &right) {
        (Expression::Constant(left), Expression::Constant(right)) => Expression::Constant(left + right),
        (_, Expression::Constant(0)) => left,
        _ => Expression::Binary(BinaryOperator::Add, Box::new(left), Box::new(right)),
    }
}

/// The product with a number, as a sum of shifts.
fn times(factor: Expression, by: u32) -> Expression {
    if let Expression::Constant(factor) = factor {
        return Expression::Constant(factor * i128::from(by));
    }
    let shifted = |bit: u32| match bit {
        0 => factor.clone(),
        _ => {
            let count = Expression::Constant(bit.into());
            Expression::Binary(BinaryOperator::ShiftLeft, Box::new(factor.clone()), Box::new(count))
        }
    };
    let terms = (0..u32::BITS).filter(|bit| by >> bit & 1 == 1).map(shifted);
    terms.reduce(plus).unwrap_or(Expression::Constant(0))
}
