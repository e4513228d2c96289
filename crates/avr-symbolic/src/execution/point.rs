//! Points of an execution: the states in which paths are, merged where they agree.

use super::moment::Moment;
use super::path_condition::PathCondition;
use super::strategy::{Course, Freedom};
use crate::domain::bit::SymbolicBit;
use crate::domain::byte::SymbolicByte;
use crate::faults::{Fault, is_on};
use avr_isa::DataAddress;
use avr_machine::{Control, Frame, Machine, MachineState};
use three_valued::BitDomain;

/// The part of a path that must agree for a merge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    control: Control,
    frames: Vec<Frame>,
    stack_pointer: Option<DataAddress>,
    course: Course,
    rounds: usize,
}

/// A path, or several that were merged.
#[derive(Clone, Debug)]
pub(super) struct Path<'g> {
    pub(super) state: MachineState<SymbolicByte<'g>>,
    pub(super) condition: PathCondition<'g>,
    pub(super) moment: Moment,
    /// The part of the strategy that is over.
    pub(super) course: Course,
    /// The number of rounds that ended.
    pub(super) rounds: usize,
    pub(super) freedom: Freedom,
    /// The bit that is 1 if all states on the way were as the goal demands.
    pub(super) kept: SymbolicBit<'g>,
    /// The history bits.
    pub(super) history: Vec<SymbolicBit<'g>>,
}

/// What is told of paths at their end, beside the state.
pub(super) struct Told<'g> {
    pub(super) condition: PathCondition<'g>,
    pub(super) freedom: Freedom,
    pub(super) kept: SymbolicBit<'g>,
    pub(super) history: Vec<SymbolicBit<'g>>,
}

impl<'g> Path<'g> {
    pub(super) fn key(&self, machine: &Machine) -> Key {
        Key {
            control: self.state.control,
            frames: self.state.calls.frames().to_vec(),
            stack_pointer: machine.stack_pointer().value_in(&self.state.data),
            course: self.course.clone(),
            rounds: self.rounds,
        }
    }

    /// What is told of it at its end.
    pub(super) fn told(self) -> Told<'g> {
        let Self { condition, freedom, kept, history, .. } = self;
        Told { condition, freedom, kept, history }
    }

    /// Merges another path with the same key into this one.
    ///
    /// SOUND: the condition of no more than one of the paths is 1, so that the selector is exact wherever the merged one is.
    pub(super) fn merge(&mut self, other: &Self) {
        let (condition, selector) = self.condition.merge(&other.condition);
        let selector = if is_on(Fault::SelectorInverted) { selector.not() } else { selector };
        let cells = self.state.data.cells().iter().zip(other.state.data.cells()).zip((0..).map(DataAddress));
        let merged: Vec<(DataAddress, SymbolicByte<'g>)> = cells
            .filter(|((own, others), _)| own != others)
            .map(|((own, others), address)| (address, own.select(&selector, others)))
            .collect();
        merged.into_iter().for_each(|(address, value)| self.state.data.set(address, value));
        self.condition = condition;
        self.freedom = self.freedom.union(other.freedom);
        self.kept = selector.select(&self.kept, &other.kept);
        let history = self.history.iter().zip(&other.history);
        self.history = history.map(|(own, others)| selector.select(own, others)).collect();
    }
}
