//! The read and write sets of a handler while it is followed.

use super::partial_order::Before;
use crate::transfer::step_accesses::StepAccesses;
use std::collections::BTreeSet;
use tvar::LocationPrecision;

/// The cells that a handler read or wrote, beside its own part of the stack.
#[derive(Debug)]
pub(crate) struct SummaryAccess {
    /// By data address.
    pub(crate) cells: BTreeSet<u16>,
    /// The least value of the stack pointer.
    pub(crate) lowest: u16,
    /// The stack pointer before the handler was entered.
    position: u16,
}

impl SummaryAccess {
    /// The empty sets of a handler that was entered with this stack pointer.
    pub(crate) fn new(position: u16) -> Self {
        Self { cells: BTreeSet::new(), lowest: position, position }
    }

    /// Takes note of a step, which began and ended with these stack pointers, under this precision.
    pub(crate) fn note(
        &mut self,
        steps: &StepAccesses,
        (before, after): (&Before, Option<u16>),
        precision: &LocationPrecision,
    ) {
        let lowest = before.pointer().into_iter().chain(after).min();
        self.lowest = lowest.map_or(self.lowest, |lowest| lowest.min(self.lowest));
        // Cells that are allocated there were written before: SP is not set by transparent handlers.
        let is_own = |cell: u16| lowest.is_some_and(|lowest| lowest < cell) && cell <= self.position;
        let cut = precision.cases.iter().map(|(variable, _)| variable.0 as u16);
        let all = [&steps.read, &steps.written, &steps.perhaps_read, &steps.perhaps_written];
        let touched = all.into_iter().flatten().copied().chain(cut);
        self.cells.extend(touched.filter(|cell| !is_own(*cell)));
    }
}
