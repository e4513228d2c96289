//! Comparisons become atoms; the usual ones get a form that is quick to evaluate.

use avr_isa::{DataAddress, FlashByteAddress};
use mu_calculus::{
    BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, Expr, ExprKind, Formula, Span, parse_predicate,
};

use super::operand::Context;
use super::{Binder, Fault, Literal};
use crate::atom::{AtomKind, Compare};
use crate::error::PropertyErrorKind;
use crate::expression::{Expression, Scope};
use crate::main_entry::main_entry;
use crate::start_error::StartError;
use crate::state_atoms::{HAZARD, IN_APPLICATION, IN_STARTUP};
use crate::task_stack::ON_STACK;

impl Binder<'_> {
    pub(super) fn comparison(&mut self, comparison: &Comparison, text: &str) -> Result<Literal, Fault> {
        let (kind, negated) = match &comparison.kind {
            ComparisonKind::Compare(operator, left, right) => {
                self.compare((*operator, left, right), (comparison.span, &shown(comparison, text)))?
            }
            ComparisonKind::Member(element, set) => (self.member(element, set)?, false),
            ComparisonKind::Bare(expression) => (self.bare(expression)?, false),
        };
        let shown = if negated { shown(&opposite(comparison), text) } else { shown(comparison, text) };
        Ok(Literal { atom: self.atom(&shown, kind), negated })
    }

    /// The atom, and whether the comparison is its negation.
    fn compare(
        &mut self,
        (operator, left, right): (ComparisonOperator, &Expr, &Expr),
        (span, text): (Span, &str),
    ) -> Result<(AtomKind, bool), Fault> {
        let mut context = Context::default();
        let bound = Compare {
            operator,
            left: self.expression(left, u128::MAX, &mut context)?.expression,
            right: self.expression(right, u128::MAX, &mut context)?.expression,
        };
        if context.event.is_none() {
            self.check_program_counter(&bound, left, right)?;
        }
        let is_constant = self.check_undecided(&bound, text).map_err(|kind| (kind, span))?;
        if let Some(event) = context.event {
            return Ok((AtomKind::Event(event, Some(bound)), false));
        }
        if is_constant {
            self.always_true.push(text.to_owned());
        }
        Ok(simplest(bound))
    }

    /// Refuses a comparison that is true in no state, and tells of one that is true in every state; true for one of the latter in the
    /// property's own text. What comes from a definition, and what compares numbers only, is told of and not refused.
    fn check_undecided(&mut self, compare: &Compare, text: &str) -> Result<bool, PropertyErrorKind> {
        let Some(value) = compare.evaluate(Scope::any_state()).known() else { return Ok(false) };
        let are_numbers = [&compare.left, &compare.right].iter().all(|side| matches!(side, Expression::Constant(_)));
        if !value && !self.in_definition && !are_numbers {
            let (range, signed) = (range(compare), lacks_sign(compare));
            return Err(PropertyErrorKind::NeverTrue { comparison: text.to_owned(), range, signed });
        }
        let place = if self.in_definition { " (in a definition)" } else { "" };
        let always = if value { "always" } else { "never" };
        self.notes.push(format!("`{text}`{place} is {always} true, whatever the state"));
        Ok(value && !self.in_definition)
    }

    /// Refuses to compare the program counter for equality with what it cannot be.
    fn check_program_counter(&self, compare: &Compare, left: &Expr, right: &Expr) -> Result<(), Fault> {
        let (constant, span) = match (&compare.left, &compare.right) {
            (Expression::Pc, Expression::Constant(constant)) => (*constant, right.span),
            (Expression::Constant(constant), Expression::Pc) => (*constant, left.span),
            _ => return Ok(()),
        };
        let equality = matches!(compare.operator, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
        self.check_instruction_address(constant, span, equality)
    }

    /// Refuses a constant that is no address of an instruction, where it must be one.
    pub(super) fn check_instruction_address(&self, address: i128, span: Span, must: bool) -> Result<(), Fault> {
        let in_flash = |address: &u32| *address < self.device.memory.flash_bytes;
        let possible = u32::try_from(address).ok().filter(in_flash);
        let possible = possible.is_some_and(|address| FlashByteAddress(address).is_word_aligned());
        match must && !possible {
            true => Err((PropertyErrorKind::BadProgramCounter(u64::try_from(address).unwrap_or(u64::MAX)), span)),
            false => Ok(()),
        }
    }

    /// `pc in f`.
    fn member(&mut self, element: &Expr, set: &Expr) -> Result<AtomKind, Fault> {
        if !matches!(&element.kind, ExprKind::Name(name) if !name.quoted && name.text == "pc") {
            return Err((PropertyErrorKind::Expected { expected: "`pc` in front of `in`" }, element.span));
        }
        let ExprKind::Name(name) = &set.kind else {
            return Err((PropertyErrorKind::Expected { expected: "the name of a function after `in`" }, set.span));
        };
        Ok(AtomKind::PcIn(self.function(name, set.span)?))
    }

    /// An atom without a comparison.
    fn bare(&mut self, expression: &Expr) -> Result<AtomKind, Fault> {
        match &expression.kind {
            ExprKind::Name(name) if !name.quoted && name.text == IN_APPLICATION => {
                self.check_unshadowed(name, "a condition of the language", expression.span)?;
                self.in_application().map_err(|kind| (kind, expression.span))
            }
            ExprKind::Name(name) if !name.quoted => match state_atom(&name.text) {
                Some(kind) => {
                    if kind == AtomKind::InStartup && main_entry(self.image, self.device).is_none() {
                        return Err((PropertyErrorKind::NoMain, expression.span));
                    }
                    self.check_unshadowed(name, "a condition of the language", expression.span)?;
                    Ok(kind)
                }
                None => self.bare_number(expression),
            },
            ExprKind::Field(..) => match self.expression(expression, u128::MAX, &mut Context::default())?.expression {
                Expression::Bit { address, bit } => Ok(bit_equals(address, bit, true)),
                _ => Err(not_a_condition(expression)),
            },
            ExprKind::Call(name, arguments) if name.text == "enabled" => self.enabled(arguments, expression.span),
            ExprKind::Call(name, arguments) if name.text == ON_STACK => self.on_stack(arguments, expression.span),
            ExprKind::Call(name, arguments) => {
                let event = self.event(name, arguments, expression.span)?;
                Ok(AtomKind::Event(event, None))
            }
            _ => Err(not_a_condition(expression)),
        }
    }

    /// `in_application`: the program counter is below the boot section.
    fn in_application(&self) -> Result<AtomKind, PropertyErrorKind> {
        let boot = self.boot_start.ok_or(PropertyErrorKind::Start(StartError::NoBootSection))?;
        let (left, right) = (Expression::Pc, Expression::Constant(boot.into()));
        Ok(AtomKind::Compare(Compare { operator: ComparisonOperator::Less, left, right }))
    }

    /// A name that stands where a condition must: unknown, or a number.
    fn bare_number(&mut self, expression: &Expr) -> Result<AtomKind, Fault> {
        self.expression(expression, 0, &mut Context::default())?;
        Err(not_a_condition(expression))
    }
}

/// The atom that a name is without more.
fn state_atom(name: &str) -> Option<AtomKind> {
    Some(match name {
        "in_interrupt" => AtomKind::InInterrupt,
        "sp_torn" => AtomKind::StackPointerTorn,
        "sleeping" => AtomKind::Sleeping,
        IN_STARTUP => AtomKind::InStartup,
        HAZARD => AtomKind::Hazard,
        _ => return None,
    })
}

/// The values of both sides of a comparison, as far as they depend on the state.
fn range(compare: &Compare) -> String {
    let sides = [(&compare.left, "left"), (&compare.right, "right")];
    let open = sides.into_iter().filter(|(side, _)| !matches!(side, Expression::Constant(_)));
    let told = open.map(|(side, name)| {
        let value = side.evaluate(Scope::any_state());
        let (min, max) = value.range();
        let bits = value.possible_ones();
        // A mask says more than a range that it does not fill.
        match min == 0 && (bits & (bits + 1)) != 0 {
            true => format!("the {name} side has no bits but {bits:#x}"),
            false => format!("the {name} side is from {min} to {max}"),
        }
    });
    told.collect::<Vec<_>>().join(", ")
}

/// True where one side is negative, and the other has a width and is never.
fn lacks_sign(compare: &Compare) -> bool {
    let range = |side: &Expression| side.evaluate(Scope::any_state()).range();
    let lacks =
        |side: &Expression, other: &Expression| side.width().is_some() && range(side).0 >= 0 && range(other).1 < 0;
    lacks(&compare.left, &compare.right) || lacks(&compare.right, &compare.left)
}

fn not_a_condition(expression: &Expr) -> Fault {
    (
        PropertyErrorKind::Expected { expected: "a condition; this is a number: compare it, as in `… == 0`" },
        expression.span,
    )
}

/// The atom as the user wrote it, in `text`, where that is possible, with its own notation of numbers.
fn shown(comparison: &Comparison, text: &str) -> String {
    let part = |e: &Expr| text.get(e.span.range()).unwrap_or_default();
    let written = match &comparison.kind {
        ComparisonKind::Compare(operator, left, right) => format!("{} {operator} {}", part(left), part(right)),
        ComparisonKind::Member(element, set) => format!("{} in {}", part(element), part(set)),
        ComparisonKind::Bare(expression) => part(expression).to_owned(),
    };
    // Spans leave out parentheses, so that what they cut out may be something else.
    match parse_predicate(&written) {
        Ok(Formula::Atom(parsed)) if parsed == *comparison => written,
        _ => comparison.to_string(),
    }
}

/// The comparison with `==` for `!=`.
fn opposite(comparison: &Comparison) -> Comparison {
    match &comparison.kind {
        ComparisonKind::Compare(ComparisonOperator::NotEqual, left, right) => Comparison {
            kind: ComparisonKind::Compare(ComparisonOperator::Equal, left.clone(), right.clone()),
            span: comparison.span,
        },
        _ => comparison.clone(),
    }
}

/// `!=` as the negation of `==`, and the quick forms of `==`.
fn simplest(mut compare: Compare) -> (AtomKind, bool) {
    let negated = compare.operator == ComparisonOperator::NotEqual;
    if negated {
        compare.operator = ComparisonOperator::Equal;
    }
    let compare = without_sign(compare);
    let kind = quick_form(&compare).unwrap_or(AtomKind::Compare(compare));
    (kind, negated)
}

/// The same comparison for equality with a number, of a signed operand as an unsigned one.
fn without_sign(compare: Compare) -> Compare {
    match (&compare.left, &compare.right) {
        (Expression::Signed(operand, width), Expression::Constant(constant))
            if compare.operator == ComparisonOperator::Equal
                && matches!(**operand, Expression::Cells(_))
                // SOUND: a number that the operand cannot be may have the bits of one that it can.
                && compare.left.evaluate(Scope::any_state()).contains(*constant) =>
        {
            let constant = constant & ((1 << width) - 1);
            Compare { left: (**operand).clone(), right: Expression::Constant(constant), ..compare }
        }
        _ => compare,
    }
}

fn quick_form(compare: &Compare) -> Option<AtomKind> {
    if compare.operator != ComparisonOperator::Equal {
        return constant_form(compare);
    }
    let (operand, constant) = match (&compare.left, &compare.right) {
        (operand, Expression::Constant(constant)) | (Expression::Constant(constant), operand) => (operand, *constant),
        _ => return None,
    };
    match operand {
        Expression::Constant(_) => constant_form(compare),
        Expression::Pc => u32::try_from(constant).ok().map(AtomKind::PcEquals),
        Expression::Bit { address, bit } if matches!(constant, 0 | 1) => {
            Some(bit_equals(*address, *bit, constant == 1))
        }
        _ => {
            let (address, mask) = masked_cell(operand)?;
            // A constant with other bits can never be equal: it is left to the general form.
            let equals = u8::try_from(constant).ok().filter(|equals| equals & !mask == 0)?;
            Some(AtomKind::CellEquals { address, mask, equals })
        }
    }
}

/// A comparison of two constants.
fn constant_form(compare: &Compare) -> Option<AtomKind> {
    let (Expression::Constant(_), Expression::Constant(_)) = (&compare.left, &compare.right) else { return None };
    compare.evaluate(Scope::any_state()).known().map(AtomKind::Constant)
}

/// A cell, or a cell under a mask.
fn masked_cell(expression: &Expression) -> Option<(DataAddress, u8)> {
    match expression {
        Expression::Cells(addresses) if addresses.len() == 1 => Some((addresses[0], 0xff)),
        Expression::Binary(BinaryOperator::And, left, right) => {
            let (cell, mask) = match (&**left, &**right) {
                (cell, Expression::Constant(mask)) | (Expression::Constant(mask), cell) => (cell, *mask),
                _ => return None,
            };
            let (address, inner) = masked_cell(cell)?;
            Some((address, inner & (mask & 0xff) as u8))
        }
        _ => None,
    }
}

fn bit_equals(address: DataAddress, bit: u8, one: bool) -> AtomKind {
    let mask = 1 << bit;
    AtomKind::CellEquals { address, mask, equals: if one { mask } else { 0 } }
}
