//! The splits and cuts in the steps from states, for checkers that take these steps again.

use avr_certificate::Advice;
use avr_isa::DataAddress;
use rustc_hash::FxHashMap;
use tvar::{BitMasks, LocationPrecision};

use super::choices::INITIAL_INPUTS;
use crate::state::AbstractState;
use crate::state::cell_variable::cell_of;

/// The bits that were distinguished in the step from each state. Those of all of its steps count together, because more
/// of them only make the outcomes of a step more precise.
#[derive(Debug, Default)]
pub struct RecordedSplits {
    /// States that are not here took steps in which nothing was distinguished.
    by_state: FxHashMap<AbstractState, Told>,
}

#[derive(Clone, Debug, Default)]
struct Told {
    inputs: BitMasks,
    cases: BitMasks,
    all: bool,
}

impl RecordedSplits {
    /// Takes note of the precision of a step.
    pub fn note(&mut self, state: &AbstractState, precision: &LocationPrecision) {
        if precision.inputs.is_empty() && precision.cases.is_empty() && !precision.splits_all {
            return;
        }
        let told = self.by_state.entry(*state).or_default();
        told.all |= precision.splits_all;
        for (all, new) in [(&mut told.inputs, &precision.inputs), (&mut told.cases, &precision.cases)] {
            for (variable, bits) in new.iter() {
                all.add(variable, bits);
            }
        }
    }

    /// The advice for the step from a state.
    pub fn of(&self, state: &AbstractState) -> Advice {
        let Some(told) = self.by_state.get(state) else { return Advice::default() };
        let mut advice = Advice { all: told.all, ..Advice::default() };
        for (variable, bits) in told.inputs.iter() {
            match variable.0.checked_sub(INITIAL_INPUTS) {
                Some(cell) => advice.initial.push((DataAddress(cell as u16), bits as u8)),
                None => advice.inputs.push((cell_of(variable), bits as u8)),
            }
        }
        advice.cases = told.cases.iter().map(|(variable, bits)| (cell_of(variable), bits as u8)).collect();
        advice
    }
}
