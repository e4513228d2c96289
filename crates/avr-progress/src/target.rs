//! Sets of states.

use avr_symbolic::{SymbolicBit, SymbolicState};

/// A set of states, such as those that are to be reached.
pub trait Target {
    /// A bit that is 1 only if a state is one of them.
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g>;

    /// A bit that is 1 only if a state is none of them.
    fn outside<'g>(&self, _state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        SymbolicBit::ZERO
    }
}
