//! The states from which something is awaited, or is to be possible.

use crate::faults::{Fault, is_on};
use crate::target::Target;
use avr_symbolic::{SymbolicBit, SymbolicState};
use three_valued::BitDomain;

/// The states from which something is awaited, or is to be possible.
#[derive(Clone, Copy)]
pub enum Trigger<'a> {
    /// Those after power-on.
    Start,
    /// All.
    Everywhere,
    /// Those of a set.
    When(&'a dyn Target),
}

impl Trigger<'_> {
    /// The bit that is 1 only if a state is one of them, whether or not it is one after power-on.
    pub(crate) fn surely<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match self {
            Self::Start => SymbolicBit::ZERO,
            Self::Everywhere => SymbolicBit::ONE,
            Self::When(states) => states.bit(state),
        }
    }

    /// The bit that is 0 only if a state is none of them, or one after power-on.
    pub(crate) fn possibly<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match self {
            Self::Start => SymbolicBit::ZERO,
            Self::Everywhere => SymbolicBit::ONE,
            Self::When(_) if is_on(Fault::TriggerForgotten) => SymbolicBit::ZERO,
            Self::When(states) => states.outside(state).not(),
        }
    }
}
