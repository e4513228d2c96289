//! The paths between heads: the place where they end, and what is told of all states on the way.

use super::Eventuality;
use crate::faults::{Fault, is_on};
use crate::places::Places;
use crate::rounds::BROKEN;
use avr_machine::Machine;
use avr_symbolic::{Goal, SymbolicBit, SymbolicState};
use std::collections::BTreeSet;
use three_valued::BitDomain;

/// The state of paths at their beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Begins {
    /// Something is awaited already.
    Awaiting,
    /// Nothing is awaited yet.
    Idle,
}

/// Paths end at heads at which no interrupt has just returned; what is awaited is told of all states on the way.
pub(crate) struct Between<'a> {
    pub(crate) places: &'a Places<'a>,
    pub(crate) eventuality: &'a Eventuality<'a>,
    pub(crate) passed: &'a BTreeSet<usize>,
    pub(crate) begins: Begins,
    pub(crate) machine: &'a Machine,
    pub(crate) is_over: &'a dyn Fn() -> bool,
}

impl Between<'_> {
    /// The bit that is 1 unless a state is surely one that is awaited.
    fn is_open<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        self.eventuality.until.bit(state).not()
    }
}

impl<'g> Goal<'g> for Between<'_> {
    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn is_end(&self, state: &SymbolicState<'g>, _: usize) -> bool {
        // Behind a handler at a head nothing has fallen; one instruction of the main program follows.
        let is_settled = !state.control.interrupt_delay;
        let head = self.places.head_at(state.calls.frames(), state.control.pc);
        let ends = head.is_some_and(|head| !self.passed.contains(&head)) && is_settled;
        ends || self.begins == Begins::Awaiting && self.is_open(state).known() == Some(false)
    }

    /// 1 if something is awaited.
    fn is_kept(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match self.begins {
            Begins::Awaiting => self.is_open(state),
            Begins::Idle => self.eventuality.trigger.possibly(state).and(&self.is_open(state)),
        }
    }

    fn keep(&self, awaited: &SymbolicBit<'g>, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let awaited = match self.begins {
            Begins::Awaiting => *awaited,
            Begins::Idle => awaited.or(&self.eventuality.trigger.possibly(state)),
        };
        awaited.and(&self.is_open(state))
    }

    fn history(
        &self,
        before: Option<&[SymbolicBit<'g>]>,
        awaited: &SymbolicBit<'g>,
        state: &SymbolicState<'g>,
    ) -> Vec<SymbolicBit<'g>> {
        let Eventuality { holds, fair, .. } = self.eventuality;
        let was = |index: usize, first: SymbolicBit<'g>| before.map_or(first, |before| before[index]);
        let may_break = match holds {
            Some(holds) if !is_on(Fault::HoldsForgotten) => awaited.and(&holds.bit(state).not()),
            _ => SymbolicBit::ZERO,
        };
        let mut history = vec![was(BROKEN, SymbolicBit::ZERO).or(&may_break)];
        for (number, fairness) in fair.iter().enumerate() {
            history.push(was(stays(number), SymbolicBit::ONE).and(&fairness.stays(self.machine, state)));
            history.push(was(shows(number), SymbolicBit::ZERO).or(&fairness.shows(self.machine, state)));
        }
        history
    }

    fn sleeps_on(&self) -> bool {
        true
    }
}

/// The place of the bit that is 1 if all states were such in which the paths of a kind of fairness stay.
pub(crate) const fn stays(fairness: usize) -> usize {
    1 + 2 * fairness
}

/// The place of the bit that is 1 if a state was such to which they come again and again.
pub(crate) const fn shows(fairness: usize) -> usize {
    2 + 2 * fairness
}
