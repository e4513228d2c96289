//! The obligations of claims about heads at which something is awaited.

use super::between::{Begins, shows, stays};
use super::{Awaits, Eventuality};
use crate::faults::{Fault, is_on};
use crate::obligation::falls_or;
use crate::places::Places;
use crate::rounds::{Arrival, BROKEN, Start, arrival};
use crate::trigger::Trigger;
use avr_symbolic::{End, Execution, Strategy, SymbolicBit, SymbolicState, Term};
use three_valued::BitDomain;

impl Eventuality<'_> {
    /// The bit that is 1 only if a state at a head is one in which something may be awaited.
    pub(crate) fn may_be_awaited<'g>(&self, at: Option<Awaits>, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match at {
            None if is_on(Fault::AwaitedForgotten) => SymbolicBit::ONE,
            None => SymbolicBit::ZERO,
            Some(Awaits::Any) => SymbolicBit::ONE,
            Some(Awaits::Triggering) => self.trigger.surely(state),
        }
    }

    /// The bit that is 1 for the states of an entry in which something may be awaited and has not come.
    pub(crate) fn is_open<'g>(&self, at: Awaits, start: &Start<'g>) -> SymbolicBit<'g> {
        let open = self.until.bit(&start.state).not();
        let may_trigger = match (at, self.trigger) {
            (Awaits::Triggering, Trigger::When(states)) => states.outside(&start.state).not(),
            _ => SymbolicBit::ONE,
        };
        start.condition.bit().and(&open).and(&may_trigger)
    }
}

/// The strategy of paths that follow all that is possible.
pub(crate) fn followed() -> Strategy {
    if is_on(Fault::InterruptsForgotten) { Strategy::entering(&[]) } else { Strategy::anything() }
}

/// The end of paths at a head at which something may be awaited.
pub(crate) struct OfArrival<'g> {
    pub(crate) head: usize,
    /// The bit that is 1 if a path ends there and something is awaited.
    pub(crate) awaited: SymbolicBit<'g>,
    pub(crate) state: SymbolicState<'g>,
}

/// The ends at heads of the paths of a round for which a bit is 1.
pub(crate) fn arrivals<'g>(places: &Places<'_>, round: &Execution<'g>, begins: &SymbolicBit<'g>) -> Vec<OfArrival<'g>> {
    let of_end = |end: &End<'g>| match arrival(places, end) {
        Arrival::Head(head, state) => {
            let awaited = end.condition.bit().and(&end.kept).and(begins);
            Some(OfArrival { head, awaited, state: state.clone() })
        }
        Arrival::Elsewhere => None,
    };
    round.ends.iter().filter_map(of_end).collect()
}

/// The bit that is 1 if an end of paths is a good one: nothing was broken, and nothing is awaited, or an arrival at a head does.
pub(crate) fn ends_well<'g>(
    (places, begins): (&Places<'_>, Begins),
    end: &End<'g>,
    arrives: impl Fn(usize, &SymbolicState<'g>) -> SymbolicBit<'g>,
) -> SymbolicBit<'g> {
    let comes = match arrival(places, end) {
        _ if is_on(Fault::ElsewherePassed) => SymbolicBit::ONE,
        Arrival::Head(to, state) => end.kept.not().or(&arrives(to, state)),
        Arrival::Elsewhere if begins == Begins::Awaiting => end.kept.not(),
        // SOUND: behind such an end something may be awaited that is not yet.
        Arrival::Elsewhere => SymbolicBit::ZERO,
    };
    comes.and(&end.history[BROKEN].not())
}

/// The bit that is 1 if paths to an end are as those that are left out by fairness, by its place: all states and some state are.
pub(crate) fn is_quiet<'g>(end: &End<'g>, fair: usize) -> SymbolicBit<'g> {
    end.history[stays(fair)].and(&end.history[shows(fair)])
}

/// The bit that is 1 if the second rank is less than the first, or the same on such paths.
pub(crate) fn falls_or_is_quiet<'g>(
    before: (&[Term], &SymbolicState<'g>),
    after: (&[Term], &SymbolicState<'g>),
    (fair, end): (Option<usize>, &End<'g>),
) -> SymbolicBit<'g> {
    falls_or(before, after, fair.map_or(SymbolicBit::ZERO, |fair| is_quiet(end, fair)))
}
