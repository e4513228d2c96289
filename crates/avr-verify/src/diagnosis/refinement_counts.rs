//! Counts of refinements.

use avr_model::context::Context;
use avr_model::state::{AbstractState, Location};
use rustc_hash::FxHashMap;
use tvar::Place;

/// The number of refinements that were made for causes at each location, whatever the round.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefinementCounts(FxHashMap<Location, usize>);

impl RefinementCounts {
    /// Counts a refinement for a cause at a state.
    pub(crate) fn count(&mut self, context: &Context<'_>, state: &AbstractState) {
        *self.0.entry(context.location(state).in_any_round()).or_insert(0) += 1;
    }

    /// The number of refinements for causes at the location of a state.
    pub(crate) fn at(&self, context: &Context<'_>, state: &AbstractState) -> usize {
        self.0.get(&context.location(state).in_any_round()).copied().unwrap_or(0)
    }
}
