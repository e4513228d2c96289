//! Possibilities: from some states a run comes to something, through states in which something holds.

use crate::claim::Region;
use crate::faults::{Fault, is_on};
use crate::target::Target;
use crate::trigger::Trigger;
use avr_symbolic::{SymbolicBit, SymbolicState};
use three_valued::BitDomain;

/// The claim that from each state of the trigger some run comes to something: `E[holds U until]`, or `EF until`.
#[derive(Clone, Copy)]
pub struct Possibility<'a> {
    /// The states from which it is possible.
    pub trigger: Trigger<'a>,
    /// The states in which the run is until then, if it is to be in such.
    pub holds: Option<&'a dyn Target>,
    /// The states to which it comes.
    pub until: &'a dyn Target,
}

impl<'a> Possibility<'a> {
    /// `AG EF until`.
    #[must_use]
    pub fn everywhere(until: &'a dyn Target) -> Self {
        Self { trigger: Trigger::Everywhere, holds: None, until }
    }

    /// The bit that is 1 unless a state is surely one to which runs are to come.
    pub(crate) fn is_open<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.until.bit(state).not()
    }

    /// The bit that is 1 only if a state is surely one in which runs may be until then.
    pub(crate) fn surely_holds<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.holds.map_or(SymbolicBit::ONE, |holds| holds.bit(state))
    }

    /// The bit that is 0 only if a state is none of a region at a head.
    pub(crate) fn possibly_in<'g>(&self, region: Region, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let may_hold = self.holds.map_or(SymbolicBit::ONE, |holds| holds.outside(state).not());
        match region {
            Region::All => may_hold,
            Region::Triggering => may_hold.and(&self.trigger.possibly(state)),
        }
    }

    /// The bit that is 1 only if a state is one of a region at a head, where what is to hold does.
    pub(crate) fn surely_in<'g>(&self, region: Region, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match region {
            Region::All => SymbolicBit::ONE,
            Region::Triggering if is_on(Fault::RegionForgotten) => SymbolicBit::ONE,
            Region::Triggering => self.trigger.surely(state),
        }
    }
}
