//! Cutting stored unknown bits into cases before a step, as the precision says.

use crate::script::{Scripted, Unknowns};
use avr_machine::{Machine, MachineState, cut_cell, cut_what_is_read};
use three_valued::ByteDomain;
use tvar::LocationPrecision;

/// Cuts the bits that the precision names and, where it splits everything, all that the instruction reads.
pub(crate) fn cut<V: ByteDomain, U: Unknowns<V>>(
    machine: &Machine,
    state: &mut MachineState<V>,
    precision: &LocationPrecision,
    environment: &mut Scripted<'_, U>,
) {
    for (variable, mask) in precision.cases.iter() {
        cut_cell(state, variable.0 as u16, mask as u8, environment);
    }
    if precision.splits_all {
        cut_what_is_read(machine, state, environment);
    }
}

/// Whether the precision names bits of a state that are unknown.
pub(crate) fn is_cut<V: ByteDomain>(state: &MachineState<V>, precision: &LocationPrecision) -> bool {
    precision
        .cases
        .iter()
        .any(|(variable, mask)| state.data.get(variable.0 as u16).bits().unknown_mask() & mask as u8 != 0)
}

/// The cells that a step may have cut into cases, if it read these.
pub(crate) fn cells_cut(precision: &LocationPrecision, read: impl Iterator<Item = u16>) -> impl Iterator<Item = u16> {
    let named = precision.cases.iter().map(|(variable, _)| variable.0 as u16);
    named.chain(read.filter(|_| precision.splits_all))
}
