//! Events and interrupts: `write(PORTB)`, `read(PINC)`, `call(f)`, `return(f)`, `interrupt(V)`, `enabled(V)`.

use std::ops::Range;

use avr_isa::DataAddress;
use avr_machine::device::Interrupt;
use mu_calculus::{Expr, ExprKind, Name, Span};

use super::name::Meaning;
use super::operand::Context;
use super::{Binder, Fault};
use crate::atom::AtomKind;
use crate::entry::Entry;
use crate::error::PropertyErrorKind;
use crate::expression::Expression;
use crate::nearest::nearest;
use crate::task_stack::ON_STACK;
use crate::view::Event;

const NAMES: [&str; 7] = ["write", "read", "call", "return", "interrupt", "enabled", ON_STACK];

impl Binder<'_> {
    /// An event without its value.
    pub(super) fn event(&mut self, name: &Name, arguments: &[Expr], span: Span) -> Result<Event, Fault> {
        let [argument] = arguments else {
            return Err((PropertyErrorKind::Expected { expected: "one name in the parentheses" }, span));
        };
        match name.text.as_str() {
            "write" => Ok(Event::Write(self.accessed(argument)?)),
            "read" => Ok(Event::Read(self.accessed(argument)?)),
            "call" => Ok(Event::Call(self.call_target(argument)?)),
            "return" => match &argument.kind {
                ExprKind::Name(function) => Ok(Event::Return(self.function(function, argument.span)?)),
                _ => Err((PropertyErrorKind::Expected { expected: "the name of a function" }, argument.span)),
            },
            "interrupt" => Ok(Event::Interrupt(self.interrupt(argument)?.number)),
            other => {
                let nearest = nearest(other, NAMES);
                Err((
                    PropertyErrorKind::UnknownName {
                        name: other.to_owned(),
                        nearest,
                        no_symbols: false,
                        elsewhere: None,
                    },
                    span,
                ))
            }
        }
    }

    /// The value of an event of one byte, inside of a comparison.
    pub(super) fn event_value(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        context: &mut Context,
    ) -> Result<Expression, Fault> {
        if name.text == "enabled" {
            return Err((PropertyErrorKind::Expected { expected: "a number; enabled(…) is a condition" }, span));
        }
        let event = self.event(name, arguments, span)?;
        if !matches!(&event, Event::Read(cells) | Event::Write(cells) if cells.end.offset_from(cells.start) == Some(1))
        {
            let expected =
                "the event of one byte, which has a value: name a register, or a cell as in write(mem[0x100])";
            return Err((PropertyErrorKind::Expected { expected }, span));
        }
        if context.event.as_ref().is_some_and(|other| *other != event) {
            return Err((PropertyErrorKind::Expected { expected: "one event in a comparison" }, span));
        }
        context.event = Some(event);
        Ok(Expression::EventValue)
    }

    /// `enabled(V)`: the bit that enables the interrupt V by itself is 1, whatever the I flag.
    pub(super) fn enabled(&mut self, arguments: &[Expr], span: Span) -> Result<AtomKind, Fault> {
        let [argument] = arguments else {
            return Err((PropertyErrorKind::Expected { expected: "one interrupt in the parentheses" }, span));
        };
        let enable = self.interrupt(argument)?.enable;
        Ok(AtomKind::CellEquals { address: enable.address, mask: enable.mask(), equals: enable.mask() })
    }

    fn interrupt(&self, argument: &Expr) -> Result<&Interrupt, Fault> {
        let ExprKind::Name(name) = &argument.kind else {
            return Err((PropertyErrorKind::Expected { expected: "the name of an interrupt" }, argument.span));
        };
        self.device.interrupt(&name.text).ok_or_else(|| {
            let nearest = nearest(&name.text, self.device.interrupts.iter().map(|interrupt| interrupt.name));
            let kind = match self.device.interrupts.is_empty() {
                true => PropertyErrorKind::Expected { expected: "a device with interrupts; this one has none" },
                false => PropertyErrorKind::UnknownName {
                    name: name.text.clone(),
                    nearest,
                    no_symbols: false,
                    elsewhere: None,
                },
            };
            (kind, argument.span)
        })
    }

    /// The cells of a register, variable or `mem[a]`. What instructions change without a store has no such events.
    fn accessed(&mut self, argument: &Expr) -> Result<Range<DataAddress>, Fault> {
        let expected = "a register of the device, a variable or mem[…] with a constant address";
        let wrong = || (PropertyErrorKind::Expected { expected }, argument.span);
        let addresses = match &argument.kind {
            ExprKind::Name(name) => match self.meaning(name, argument.span)? {
                Meaning::Cells(addresses) => addresses,
                _ => return Err(wrong()),
            },
            ExprKind::Index(..) | ExprKind::Field(..) | ExprKind::Member(..) | ExprKind::Element(..) => {
                let value = self.expression(argument, 0, &mut Context::default())?.expression;
                match unsigned(value) {
                    Expression::Cells(addresses) => addresses.into_vec(),
                    _ => return Err(wrong()),
                }
            }
            _ => return Err(wrong()),
        };
        let first = *addresses.iter().min().ok_or_else(wrong)?;
        let end = first.checked_add(addresses.len() as u16).ok_or_else(wrong)?;
        let consecutive = addresses.iter().all(|address| (first..end).contains(address));
        if first < DataAddress::IO || !consecutive { Err(wrong()) } else { Ok(first..end) }
    }

    fn call_target(&mut self, argument: &Expr) -> Result<Entry, Fault> {
        let target = self.expression(argument, u128::MAX, &mut Context::default())?.expression;
        let Expression::Constant(address) = target else {
            return Err((PropertyErrorKind::Expected { expected: "the name or address of a function" }, argument.span));
        };
        self.check_instruction_address(address, argument.span, true)?;
        let address =
            u32::try_from(address).map_err(|_| (PropertyErrorKind::BadProgramCounter(u64::MAX), argument.span))?;
        Ok(self.entry(address))
    }
}

/// What an expression reads, without its sign.
fn unsigned(expression: Expression) -> Expression {
    match expression {
        Expression::Signed(inner, _) => *inner,
        other => other,
    }
}
