//! The read and write sets of a handler while it is followed.

use super::partial_order::Before;
use crate::state::cell_variable::cell_of;
use crate::transfer::step_accesses::StepAccesses;
use avr_isa::DataAddress;
use std::collections::BTreeSet;
use tvar::LocationPrecision;

/// The cells that a handler read or wrote, beside its own part of the stack.
#[derive(Clone, Debug)]
pub(crate) struct SummaryAccess {
    /// By data address.
    pub(crate) cells: BTreeSet<DataAddress>,
    /// The least value of the stack pointer.
    pub(crate) lowest: DataAddress,
    /// The stack pointer before the handler was entered.
    position: DataAddress,
}

impl SummaryAccess {
    /// The empty sets of a handler that was entered with this stack pointer.
    pub(crate) fn new(position: DataAddress) -> Self {
        Self { cells: BTreeSet::new(), lowest: position, position }
    }

    /// Takes note of a step, which began and ended with these stack pointers, under this precision.
    pub(crate) fn note(
        &mut self,
        steps: &StepAccesses,
        (before, after): (&Before, Option<DataAddress>),
        precision: &LocationPrecision,
    ) {
        let lowest = before.pointer().into_iter().chain(after).min();
        self.lowest = lowest.map_or(self.lowest, |lowest| lowest.min(self.lowest));
        // Cells that are allocated there were written before: SP is not set by transparent handlers.
        let is_own = |cell: DataAddress| lowest.is_some_and(|lowest| lowest < cell) && cell <= self.position;
        let cut = precision.cases.iter().map(|(variable, _)| cell_of(variable));
        let all = [&steps.read, &steps.written, &steps.perhaps_read, &steps.perhaps_written];
        let touched = all.into_iter().flatten().copied().chain(cut);
        self.cells.extend(touched.filter(|cell| !is_own(*cell)));
    }
}
