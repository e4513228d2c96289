//! Sets of states: a location with what is known of the cells.

use crate::domain::bit::SymbolicBit;
use crate::domain::byte::SymbolicByte;
use crate::domain::graph::Graph;
use crate::domain::word::SymbolicWord;
use crate::execution::path_condition::PathCondition;
use crate::execution::run::SymbolicState;
use avr_isa::DataAddress;
use avr_machine::{Control, Frame, Machine, MachineState};
use std::collections::BTreeMap;
use three_valued::{BitDomain, ByteDomain, TvByte};

/// All states with this control part and call string whose cells are as said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The part of a state that is always known.
    pub control: Control,
    /// The return addresses on the stack, the oldest first.
    pub frames: Vec<Frame>,
    /// Bits and ranges of cells; the others hold anything.
    pub cells: BTreeMap<DataAddress, TvByte>,
}

impl Pattern {
    /// The states with the location of one, and its stack pointer.
    #[must_use]
    pub fn at<V: ByteDomain>(machine: &Machine, state: &MachineState<V>) -> Self {
        let halves = machine.stack_pointer().cells();
        let cells = halves.filter_map(|half| Some((half, TvByte::constant(state.data.get(half).known()?)))).collect();
        Self { control: state.control.of_hardware(), frames: state.calls.frames().to_vec(), cells }
    }

    /// Any of the states, with a variable for each bit that is not known, and the condition that it is one of them.
    #[must_use]
    pub fn any<'g>(&self, machine: &Machine, graph: &'g Graph) -> (SymbolicState<'g>, PathCondition<'g>) {
        let mut state = SymbolicState::new(machine.cells(), SymbolicByte::constant(0));
        let mut condition = PathCondition::new();
        for address in machine.addresses() {
            let known = self.cells.get(&address).copied().unwrap_or(TvByte::UNKNOWN);
            let value = graph.byte(known.unknown_mask()).or(&SymbolicByte::constant(known.value()));
            condition.assume(is_in(&value, known));
            state.data.set(address, value);
        }
        state.control = self.control;
        self.frames.iter().for_each(|frame| state.calls.push(*frame));
        (state, condition)
    }

    /// True if a state is at the location of the pattern.
    #[must_use]
    pub fn is_at<V: ByteDomain>(&self, state: &MachineState<V>) -> bool {
        state.control.of_hardware() == self.control.of_hardware() && state.calls.frames() == self.frames
    }

    /// The bit that is 1 if a state is one of the pattern.
    #[must_use]
    pub fn holds<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        if !self.is_at(state) {
            return SymbolicBit::ZERO;
        }
        let cells = self.cells.iter().map(|(address, known)| is_in(state.data.get(*address), *known));
        cells.fold(SymbolicBit::ONE, |all, one| all.and(&one))
    }

    /// True if a concrete state is one of the pattern.
    #[must_use]
    pub fn contains(&self, state: &MachineState<u8>) -> bool {
        self.is_at(state) && self.cells.iter().all(|(address, known)| known.contains(*state.data.get(*address)))
    }
}

/// The bit that is 1 if a byte is one that another stands for.
fn is_in<'g>(byte: &SymbolicByte<'g>, known: TvByte) -> SymbolicBit<'g> {
    let (mask, value) = (SymbolicByte::constant(known.known_mask()), SymbolicByte::constant(known.value()));
    let agrees = byte.and(&mask).equals(&value);
    if !known.is_ranged() {
        return agrees;
    }
    let word = |byte: &SymbolicByte<'g>| SymbolicWord::of_bytes([byte]);
    let bound = |value: u8| SymbolicWord::constant(value.into(), 8);
    let (below, above) = (word(byte).is_less(&bound(known.low())), bound(known.high()).is_less(&word(byte)));
    agrees.and(&below.not()).and(&above.not())
}
