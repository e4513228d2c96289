//! Rounds: what strategies lead to from the states of an entry at a head until the next head.

use crate::faults::{Fault, is_on};
use crate::places::Places;
use crate::possibility::Possibility;
use avr_invariant::{Entry, Map};
use avr_isa::DataAddress;
use avr_machine::{Frame, FrameKind, Machine};
use avr_symbolic::{
    End, EndKind, Execution, Executor, Goal, Graph, PathCondition, Pattern, Rounds, SymbolicBit, SymbolicByte,
    SymbolicState, Valuation,
};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// The place in the history of the bit that is 1 if a state may have been none in which paths are to be until what is to come.
pub(crate) const BROKEN: usize = 0;

/// The heads at which rounds end.
#[derive(Clone, Copy)]
pub(crate) struct Route<'a> {
    /// The head at which they begin, if they begin at one.
    pub(crate) head: Option<usize>,
    /// The other heads that they pass.
    pub(crate) passed: &'a BTreeSet<usize>,
    /// The states of the trigger in which they end.
    pub(crate) at_triggers: AtTriggers,
}

/// The states of the trigger in which rounds end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtTriggers {
    /// In none.
    Never,
    /// In those that surely are some.
    Surely,
    /// In those that may be some.
    Possibly,
}

/// Paths end where they come back to their head so many times, at other heads, where what is to be reached surely is, and perhaps in states
/// of the trigger.
struct ToHead<'a> {
    places: &'a Places<'a>,
    possibility: &'a Possibility<'a>,
    route: Route<'a>,
    rounds: usize,
    is_over: &'a dyn Fn() -> bool,
}

impl<'g> Goal<'g> for ToHead<'_> {
    fn is_round(&self, state: &SymbolicState<'g>) -> bool {
        let at = self.places.head_at(state.calls.frames(), state.control.pc);
        self.route.head.is_some_and(|own| at == Some(own))
    }

    fn is_end(&self, state: &SymbolicState<'g>, rounds: usize) -> bool {
        let at = self.places.head_at(state.calls.frames(), state.control.pc);
        let Route { head: own, passed, at_triggers } = self.route;
        let at_other = at.is_some_and(|head| Some(head) != own && !passed.contains(&head));
        let ends = at_other || rounds >= self.rounds || self.possibility.until.bit(state).known() == Some(true);
        let triggers = || self.possibility.trigger.surely(state).known();
        ends || match at_triggers {
            AtTriggers::Never => false,
            AtTriggers::Surely => triggers() == Some(true),
            AtTriggers::Possibly => triggers() != Some(false),
        }
    }

    fn is_over(&self) -> bool {
        (self.is_over)()
    }

    fn is_kept(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let reached = self.possibility.until.bit(state);
        match reached.known() {
            _ if is_on(Fault::KeptInverted) => reached,
            None if is_on(Fault::PossibleReached) => SymbolicBit::ZERO,
            _ => reached.not(),
        }
    }

    fn history(
        &self,
        before: Option<&[SymbolicBit<'g>]>,
        kept: &SymbolicBit<'g>,
        state: &SymbolicState<'g>,
    ) -> Vec<SymbolicBit<'g>> {
        let was_broken = before.map_or(SymbolicBit::ZERO, |before| before[BROKEN]);
        let is_at_head = self.places.head_at(state.calls.frames(), state.control.pc).is_some();
        let is_looked_at = match () {
            () if is_on(Fault::HoldsForgotten) => false,
            () if is_on(Fault::HoldsAtHeadsOnly) => is_at_head,
            () if is_on(Fault::HoldsInHandlersForgotten) => !is_handled(state.calls.frames()),
            () if is_on(Fault::HoldsAtFirstForgotten) => before.is_some(),
            () if is_on(Fault::HoldsAtLastForgotten) => before.is_none() || !is_at_head,
            () => true,
        };
        let may_break = match is_looked_at {
            true => kept.and(&self.possibility.surely_holds(state).not()),
            false => SymbolicBit::ZERO,
        };
        vec![was_broken.or(&may_break)]
    }
}

/// True if the last of these frames, or one before it, is one of a handler.
fn is_handled(frames: &[Frame]) -> bool {
    frames.iter().any(|frame| matches!(frame.kind, FrameKind::Interrupt(_)))
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

    /// All paths under a strategy until another head, or so many times the one at which it begins.
    pub(crate) fn round(
        &self,
        executor: &Executor<'_>,
        (route, rounds): (Route<'_>, &Rounds),
        (places, possibility): (&Places<'_>, &Possibility<'_>),
        is_over: &dyn Fn() -> bool,
    ) -> Execution<'g> {
        let goal = ToHead { places, possibility, route, rounds: rounds.count, is_over };
        executor.execute(self.graph, (self.state.clone(), self.condition.clone()), &rounds.strategy, &goal)
    }
}

/// The place at which paths end.
pub(crate) fn arrival<'e, 'g>(places: &Places<'_>, end: &'e End<'g>) -> Arrival<'e, 'g> {
    let EndKind::Goal(state) = &end.kind else { return Arrival::Elsewhere };
    let head = places.head_at(state.calls.frames(), state.control.pc);
    head.map_or(Arrival::Elsewhere, |head| Arrival::Head(head, state))
}
