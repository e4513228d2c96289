//! Expressions: names become addresses, and nothing may grow beyond what the arithmetic holds.

use avr_isa::DataAddress;
use mu_calculus::{BinaryOperator, Expr, ExprKind, Field, Name, Span, UnaryOperator};

use super::assumption::{input_bits, zero_bits};
use super::name::Meaning;
use super::{Binder, Fault, Subject};
use crate::error::PropertyErrorKind;
use crate::expression::{Expression, Scope, apply};
use crate::nearest::nearest;
use crate::value::Value;
use crate::view::Event;

/// The context that the parts of one comparison share.
#[derive(Default)]
pub(super) struct Context {
    /// The event whose value is compared.
    pub(super) event: Option<Event>,
    /// True if this is an address inside of `mem[…]`, where a label without a size stands for its address.
    inside_address: bool,
}

/// A bound expression with what it may be in any state.
pub(super) struct Operand {
    pub(super) expression: Expression,
    range: Value,
}

impl Operand {
    /// Its value, where that does not depend on the state.
    pub(super) fn known(&self) -> Option<i128> {
        self.range.known()
    }
}

impl Binder<'_> {
    /// Binds an expression of which the bits in `demanded` matter.
    pub(super) fn expression(&mut self, e: &Expr, demanded: u128, context: &mut Context) -> Result<Operand, Fault> {
        if let Some(part) = self.part(e, context)? {
            let value = self.part_value(part, demanded, e.span)?;
            return Ok(self.operand(value));
        }
        match &e.kind {
            ExprKind::Integer(value) => Ok(self.operand(Expression::Constant(i128::from(*value)))),
            ExprKind::Name(name) => {
                if let Some(address) = self.data_label(name).filter(|_| context.inside_address) {
                    return Ok(self.operand(Expression::Constant(address.0.into())));
                }
                let meaning = self.meaning(name, e.span)?;
                let signed = self.is_signed_variable(name);
                let value = self.value_of(meaning, name, demanded, e.span)?;
                let width = value.width().filter(|_| signed);
                let value = width.map(|width| Expression::Signed(Box::new(value.clone()), width)).unwrap_or(value);
                Ok(self.operand(value))
            }
            ExprKind::Field(name, field) => {
                let expression = self.bit(name, field, e.span)?;
                Ok(self.operand(expression))
            }
            ExprKind::Index(name, index) => self.element(name, index, demanded, e.span, context),
            ExprKind::Member(..) | ExprKind::Element(..) => {
                let expected = "a member of a structure or an element of an array";
                Err((PropertyErrorKind::Expected { expected }, e.span))
            }
            ExprKind::Call(name, arguments) => {
                let expression = self.event_value(name, arguments, e.span, context)?;
                Ok(self.operand(expression))
            }
            ExprKind::Signed(inner) => self.signed(inner, context),
            ExprKind::Unary(operator, inner) => self.unary(*operator, inner, context),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, e.span, context),
        }
    }

    /// True for a variable whose type is a signed integer.
    fn is_signed_variable(&self, name: &Name) -> bool {
        let scalar = || self.image.symbols.find(&name.text).ok()?.scalar?.signed;
        (name.quoted || !self.is_of_device(name)) && scalar() == Some(true)
    }

    fn operand(&self, expression: Expression) -> Operand {
        let range = expression.evaluate(Scope::any_state());
        Operand { expression, range }
    }

    fn value_of(&self, meaning: Meaning, name: &Name, demanded: u128, span: Span) -> Result<Expression, Fault> {
        match meaning {
            Meaning::Pc => Ok(Expression::Pc),
            Meaning::Number(value) => Ok(Expression::Constant(value)),
            Meaning::Cells(addresses) => self.cells(&addresses, &name.text, demanded, span),
        }
    }

    /// Cells as a little-endian number, if they hold state where it matters.
    pub(super) fn cells(
        &self,
        addresses: &[DataAddress],
        name: &str,
        demanded: u128,
        span: Span,
    ) -> Result<Expression, Fault> {
        for (&address, shift) in addresses.iter().zip((0..).step_by(8)) {
            if address > self.map.end && self.subject != Subject::Starts {
                return Err((PropertyErrorKind::NoMemory { address: address.0.into(), end: self.map.end }, span));
            }
            if self.device.is_io_area(address) && self.device.register_at(address).is_none() {
                return Err((PropertyErrorKind::NoRegister(address.0.into()), span));
            }
            self.check_bits(address, (demanded >> shift) as u8, name).map_err(|kind| (kind, span))?;
        }
        Ok(Expression::Cells(addresses.into()))
    }

    /// Refuses bits of a cell that are not what the expression speaks of.
    fn check_bits(&self, address: DataAddress, demanded: u8, name: &str) -> Result<(), PropertyErrorKind> {
        let register = self.device.register_at(address);
        let accepted = match self.subject {
            Subject::States => !self.map.hidden(address),
            Subject::Starts => 0xff,
            Subject::Inputs => register.map_or(0, |register| input_bits(register) | zero_bits(register)),
        };
        let foreign = demanded & !accepted;
        if foreign == 0 {
            return Ok(());
        }
        let bit_name = |bit: u8| register.and_then(|register| register.bits[usize::from(bit)].name);
        let bits = (0..8u8).filter(|bit| foreign >> bit & 1 == 1);
        let bits: Vec<String> = bits.map(|bit| bit_name(bit).map_or(bit.to_string(), str::to_owned)).collect();
        let bits = if foreign == 0xff { "every bit".to_owned() } else { bits.join(", ") };
        let named = self.device.register(name).is_some() || self.device.pair(name).is_some();
        let register_name = if named { name } else { register.map_or(name, |register| register.name) }.to_owned();
        let maskable = register.is_some_and(|register| register.kinds.plain != 0);
        Err(match self.subject {
            Subject::States | Subject::Starts => {
                PropertyErrorKind::NotState { register: register_name, bits, maskable }
            }
            Subject::Inputs => PropertyErrorKind::NotInput { register: register_name, bits },
        })
    }

    /// `PORTB.3`, `SREG.Z`, `TCCR0B.CS00`, `flags.7`.
    fn bit(&mut self, name: &Name, field: &Field, span: Span) -> Result<Expression, Fault> {
        let Meaning::Cells(addresses) = self.meaning(name, span)? else {
            return Err((PropertyErrorKind::Expected { expected: "a register or variable in front of the dot" }, span));
        };
        let number = match field {
            Field::Number(number) => usize::try_from(*number).ok(),
            Field::Name(bit) => self.named_bit(name, bit).map(usize::from),
        };
        let place = number.and_then(|number| Some((*addresses.get(number / 8)?, (number % 8) as u8)));
        let Some((address, bit)) = place else { return Err((self.unknown_bit(name, field, &addresses), span)) };
        self.cells(&[address], &name.text, 1 << bit, span)?;
        Ok(Expression::Bit { address, bit })
    }

    fn named_bit(&self, register: &Name, bit: &str) -> Option<u8> {
        (!register.quoted).then(|| self.device.bit(&register.text, bit)).flatten().map(|place| place.bit)
    }

    fn unknown_bit(&self, name: &Name, field: &Field, addresses: &[DataAddress]) -> PropertyErrorKind {
        let bit = match field {
            Field::Number(number) => number.to_string(),
            Field::Name(bit) => bit.clone(),
        };
        let register = self.device.register(&name.text);
        let bits: Vec<&str> =
            register.into_iter().flat_map(|register| &register.bits).filter_map(|bit| bit.name).collect();
        let near = match field {
            Field::Name(_) if !bits.is_empty() => {
                let near = nearest(&bit, bits.iter().copied());
                if near.is_empty() { bits.into_iter().map(str::to_owned).collect() } else { near }
            }
            _ => vec![format!("{0}.0 to {0}.{1}", name.text, 8 * addresses.len() - 1)],
        };
        PropertyErrorKind::UnknownBit { register: name.text.clone(), bit, nearest: near }
    }

    /// `mem[a]`, `mem16[a]`, `buffer[i]`.
    fn element(
        &mut self,
        name: &Name,
        index: &Expr,
        demanded: u128,
        span: Span,
        context: &mut Context,
    ) -> Result<Operand, Fault> {
        let (base, bytes, size) = self.indexed(name, span)?;
        let outside = std::mem::replace(&mut context.inside_address, base.is_none());
        let index_operand = self.expression(index, u128::MAX, context);
        context.inside_address = outside;
        let index_operand = index_operand?;
        if let Some(constant) = index_operand.range.known() {
            let number = u64::try_from(constant).unwrap_or(u64::MAX);
            if let Some(size) = size.filter(|size| number >= u64::from(*size)) {
                let name = name.text.clone();
                return Err((PropertyErrorKind::NoByte { name, size, index: number }, index.span));
            }
            let first = number.saturating_add(base.unwrap_or_default().0.into());
            let addresses = self.consecutive(first, bytes).map_err(|kind| (kind, index.span))?;
            let expression = self.cells(&addresses, &name.text, demanded, span)?;
            return Ok(self.operand(expression));
        }
        let base = Expression::Constant(base.unwrap_or_default().0.into());
        let index = index_operand.expression;
        let address = Box::new(Expression::Binary(BinaryOperator::Add, Box::new(index.clone()), Box::new(base)));
        let value = Expression::Memory { address, bytes, map: self.map.clone() };
        let element = |count| Expression::Element { index: Box::new(index), count, value: Box::new(value.clone()) };
        Ok(self.operand(size.map(element).unwrap_or(value)))
    }

    /// Addresses from the first on, as far as 16 bits go.
    pub(super) fn consecutive(&self, first: u64, bytes: u8) -> Result<Vec<DataAddress>, PropertyErrorKind> {
        let last = first.saturating_add(u64::from(bytes) - 1);
        match (u16::try_from(first), u16::try_from(last)) {
            (Ok(first), Ok(last)) => Ok(DataAddress(first).through(DataAddress(last)).collect()),
            _ => Err(PropertyErrorKind::NoMemory { address: last, end: self.map.end }),
        }
    }

    fn signed(&mut self, inner: &Expr, context: &mut Context) -> Result<Operand, Fault> {
        let operand = self.expression(inner, u128::MAX, context)?.expression;
        match operand.width() {
            Some(width) => Ok(self.operand(Expression::Signed(Box::new(operand), width))),
            None => {
                let expected = "one register, variable or memory cell in signed(…), which has a width of its own";
                Err((PropertyErrorKind::Expected { expected }, inner.span))
            }
        }
    }

    fn unary(&mut self, operator: UnaryOperator, inner: &Expr, context: &mut Context) -> Result<Operand, Fault> {
        let Operand { expression, range } = self.expression(inner, u128::MAX, context)?;
        Ok(match operator {
            UnaryOperator::Negate => {
                folded(Operand { expression: Expression::Negate(Box::new(expression)), range: range.negate() })
            }
            UnaryOperator::Complement => {
                folded(Operand { expression: Expression::Complement(Box::new(expression)), range: range.complement() })
            }
        })
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        span: Span,
        context: &mut Context,
    ) -> Result<Operand, Fault> {
        let mask = |other: &Expr| match (operator, &other.kind) {
            (BinaryOperator::And, ExprKind::Integer(mask)) => u128::from(*mask),
            _ => u128::MAX,
        };
        let first = self.expression(left, mask(right), context)?;
        let second = self.expression(right, mask(left), context)?;
        if !stays_small(operator, first.range, second.range) {
            return Err((PropertyErrorKind::TooLarge, span));
        }
        let range = apply(operator, first.range, second.range);
        let expression = Expression::Binary(operator, Box::new(first.expression), Box::new(second.expression));
        Ok(folded(Operand { expression, range }))
    }
}

/// A constant where every part is one.
fn folded(operand: Operand) -> Operand {
    let mut constant = true;
    let count = &mut |part: &Expression| {
        constant &= !matches!(
            part,
            Expression::Pc
                | Expression::Cells(_)
                | Expression::Bit { .. }
                | Expression::Memory { .. }
                | Expression::EventValue
        );
    };
    operand.expression.for_each(count);
    match operand.range.known().filter(|_| constant) {
        Some(value) => Operand { expression: Expression::Constant(value), range: operand.range },
        None => operand,
    }
}

/// True if the result of the operation on all values in the ranges stays below [`Value::LIMIT`].
///
/// SOUND: the value domain computes modulo 2^128 and saturates; with this, neither ever shows.
fn stays_small(operator: BinaryOperator, left: Value, right: Value) -> bool {
    let small = |bound: Option<i128>| bound.is_some_and(|bound| bound.unsigned_abs() < Value::LIMIT);
    let ((left_min, left_max), (right_min, right_max)) = (left.range(), right.range());
    match operator {
        BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor => true,
        BinaryOperator::Add => small(left_min.checked_add(right_min)) && small(left_max.checked_add(right_max)),
        BinaryOperator::Subtract => small(left_min.checked_sub(right_max)) && small(left_max.checked_sub(right_min)),
        BinaryOperator::ShiftRight => right_min >= 0,
        BinaryOperator::ShiftLeft => {
            let power = u32::try_from(right_max).ok().filter(|count| right_min >= 0 && *count <= 120);
            power
                .is_some_and(|count| small(left_min.checked_mul(1 << count)) && small(left_max.checked_mul(1 << count)))
        }
    }
}
