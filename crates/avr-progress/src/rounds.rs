//! Rounds: what strategies lead to from the states of an entry at a head until the next head.

use crate::faults::{Fault, is_on};
use crate::places::Places;
use avr_invariant::{Entry, Map};
use avr_isa::DataAddress;
use avr_machine::Machine;
use avr_symbolic::{
    End, EndKind, Execution, Executor, Goal, Graph, PathCondition, Pattern, Rounds, SymbolicBit, SymbolicByte,
    SymbolicState, Valuation,
};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// The states that are to be reached.
pub trait Target {
    /// A bit that is 1 only if a state is one of them.
    fn bit<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g>;

    /// A bit that is 1 only if a state is none of them.
    fn outside<'g>(&self, _state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        SymbolicBit::ZERO
    }
}

/// The heads at which rounds end.
#[derive(Clone, Copy)]
pub(crate) struct Route<'a> {
    /// The head at which they begin.
    pub(crate) head: usize,
    /// The other heads that they pass.
    pub(crate) passed: &'a BTreeSet<usize>,
}

/// Paths end where they come back to their head so many times, at other heads, and where the target is surely reached.
struct ToHead<'a> {
    places: &'a Places<'a>,
    target: &'a dyn Target,
    route: Route<'a>,
    rounds: usize,
    is_over: &'a dyn Fn() -> bool,
}

impl<'g> Goal<'g> for ToHead<'_> {
    fn is_round(&self, state: &SymbolicState<'g>) -> bool {
        self.places.head_at(state.calls.frames(), state.control.pc) == Some(self.route.head)
    }

    fn is_end(&self, state: &SymbolicState<'g>, rounds: usize) -> bool {
        let at = self.places.head_at(state.calls.frames(), state.control.pc);
        let Route { head: own, passed } = self.route;
        let at_other = at.is_some_and(|head| head != own && !passed.contains(&head));
        at_other || rounds >= self.rounds || self.target.bit(state).known() == Some(true)
    }

    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn is_kept(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let reached = self.target.bit(state);
        match reached.known() {
            _ if is_on(Fault::KeptInverted) => reached,
            None if is_on(Fault::PossibleReached) => SymbolicBit::ZERO,
            _ => reached.not(),
        }
    }
}

/// The states of an entry.
pub(crate) struct Start<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) state: SymbolicState<'g>,
    pub(crate) condition: PathCondition<'g>,
}

/// The end of some paths.
pub(crate) enum Arrival<'e, 'g> {
    /// At a head, in this state.
    Head(usize, &'e SymbolicState<'g>),
    /// Elsewhere: of no use if the target was not reached before.
    Elsewhere,
}

impl<'g> Start<'g> {
    /// Any state of an entry: what a map says of equal cells is left out, so that there may be more of them.
    pub(crate) fn of(machine: &Machine, map: &Map, entry: &Entry, graph: &'g Graph) -> Self {
        let cells: BTreeMap<DataAddress, TvByte> = machine
            .addresses()
            .map(|address| (address, map.store.cell(&entry.state.memory, address)))
            .map(|(address, known)| match is_on(Fault::UnknownIsZero) {
                true => (address, TvByte::constant(known.value())),
                false => (address, known),
            })
            .filter(|(_, known)| *known != TvByte::UNKNOWN)
            .collect();
        let frames = map.calls.frames(entry.place.calls).to_vec();
        let pattern = Pattern { control: entry.place.control.of_hardware(), frames, cells };
        let (state, condition) = pattern.any(machine, graph);
        Self { graph, state, condition }
    }

    /// A single one of the states, as values of the variables say; none if a bit is open.
    pub(crate) fn single(&self, values: &mut Valuation<'g>) -> Option<Self> {
        let mut state = self.state.clone();
        let cells: Vec<SymbolicByte<'g>> = state.data.cells().to_vec();
        for (cell, address) in cells.iter().zip((0..).map(DataAddress)) {
            state.data.set(address, SymbolicByte::constant(values.byte(cell)?));
        }
        Some(Self { graph: self.graph, state, condition: PathCondition::new() })
    }

    /// All paths under a strategy until another head, or so many times this one, which is where it begins.
    pub(crate) fn round(
        &self,
        executor: &Executor<'_>,
        (route, rounds): (Route<'_>, &Rounds),
        (places, target): (&Places<'_>, &dyn Target),
        is_over: &dyn Fn() -> bool,
    ) -> Execution<'g> {
        let goal = ToHead { places, target, route, rounds: rounds.count, is_over };
        executor.execute(self.graph, (self.state.clone(), self.condition.clone()), &rounds.strategy, &goal)
    }
}

/// The place at which paths end.
pub(crate) fn arrival<'e, 'g>(places: &Places<'_>, end: &'e End<'g>) -> Arrival<'e, 'g> {
    let EndKind::Goal(state) = &end.kind else { return Arrival::Elsewhere };
    let head = places.head_at(state.calls.frames(), state.control.pc);
    head.map_or(Arrival::Elsewhere, |head| Arrival::Head(head, state))
}
