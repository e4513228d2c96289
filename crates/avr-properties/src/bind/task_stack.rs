//! The stacks of tasks in an image.

use avr_image::Type;
use avr_isa::DataAddress;
use avr_machine::StackArea;
use mu_calculus::{Expr, ExprKind, Span};

use super::operand::Context;
use super::{Binder, Binding, Fault};
use crate::atom::{AtomKind, AtomTable};
use crate::definitions::Definitions;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::file::PropertyFile;
use crate::task_stack::{MAIN_STACK, TaskStack, unknown_stack};

/// The most stacks of tasks.
const MOST_STACKS: usize = 64;

/// The stacks of tasks, in the order of the property file.
///
/// # Errors
/// If a name means no variable in SRAM that is larger than a return address, or if two stacks overlap.
pub(crate) fn bind_stacks(file: &PropertyFile, binding: &Binding<'_>) -> Result<Vec<StackArea>, PropertyError> {
    let (definitions, mut table) = (Definitions::new(), AtomTable::new());
    let mut binder = Binder::new(&definitions, binding, &mut table);
    let mut areas: Vec<StackArea> = Vec::new();
    for stack in &file.stacks {
        let area = binder.area_of(stack)?;
        let overlaps = |other: &StackArea| area.lowest <= other.highest && other.lowest <= area.highest;
        if areas.iter().any(overlaps) {
            return Err(PropertyErrorKind::Duplicate(stack.name.clone()).at_place(stack.place.clone()));
        }
        if areas.len() == MOST_STACKS {
            let expected = "no more than 64 stacks";
            return Err(PropertyErrorKind::Expected { expected }.at_place(stack.place.clone()));
        }
        areas.push(area);
    }
    Ok(areas)
}

impl Binder<'_> {
    /// `on_stack(S)`: the stack S is in use; `main` is the one at the end of the SRAM.
    pub(super) fn on_stack(&mut self, arguments: &[Expr], span: Span) -> Result<AtomKind, Fault> {
        let [argument] = arguments else {
            return Err((PropertyErrorKind::Expected { expected: "one stack in the parentheses" }, span));
        };
        let name = argument.to_string();
        if name == MAIN_STACK {
            return Ok(AtomKind::OnStack(0));
        }
        let number = (1..).zip(self.stacks).find(|(_, stack)| stack.name == name).map(|(number, _)| number);
        let number = number.ok_or_else(|| (unknown_stack(&name, self.stacks), argument.span))?;
        Ok(AtomKind::OnStack(number))
    }

    /// The area of a stack.
    pub(super) fn area_of(&mut self, stack: &TaskStack) -> Result<StackArea, PropertyError> {
        let bytes = match stack.given {
            Some((lowest, bytes)) => Some((lowest, bytes.into())),
            None => self.bytes_of(&stack.expression).map_err(|(kind, _)| kind.at_place(stack.place.clone()))?,
        };
        let frame = u32::from(self.device.core.pc_bytes);
        let expected = "a variable in SRAM that is larger than a return address";
        let wrong = || PropertyErrorKind::Expected { expected }.at_place(stack.place.clone());
        let (lowest, size) = bytes.filter(|(_, size)| *size > frame).ok_or_else(wrong)?;
        let last = u32::from(lowest.0) + size - 1;
        let highest = u16::try_from(last).ok().map(DataAddress).ok_or_else(wrong)?;
        let sram = self.device.memory.sram_start..=self.device.memory.sram_end;
        match sram.contains(&lowest) && sram.contains(&highest) {
            true => Ok(StackArea { lowest, highest }),
            false => Err(wrong()),
        }
    }

    /// The data address and the size of a variable or of a part of one; none if it is neither or has no size.
    fn bytes_of(&mut self, expression: &Expr) -> Result<Option<(DataAddress, u32)>, Fault> {
        if let ExprKind::Name(name) = &expression.kind {
            let symbol = self.symbol(name, expression.span)?;
            let size = Some(symbol.size).filter(|size| *size > 0);
            return Ok(symbol.place.data().zip(size));
        }
        let Some(part) = self.part(expression, &mut Context::default())? else { return Ok(None) };
        let (Some(address), of) = part.fixed() else { return Ok(None) };
        Ok(match of {
            Type::Array { stride, count: Some(count), .. } => Some((address, stride * count)),
            _ => None,
        })
    }
}
