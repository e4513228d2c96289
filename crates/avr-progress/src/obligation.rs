//! The obligation of a claim about a head: there is no state that none of its strategies serves.

use crate::faults::{Fault, is_on};
use crate::places::Places;
use crate::rounds::{Arrival, Start, Target, arrival};
use avr_symbolic::{Execution, SymbolicBit, SymbolicState, Term};
use three_valued::BitDomain;

/// The bit that is 1 for a state of an entry, outside of the target, and values of all other variables, if under each of the strategies,
/// whose rounds are given, the execution ends otherwise than in the target or at a head that serves.
///
/// SOUND: executions have no variables in common but those of the state.
pub(crate) fn unserved<'e, 'g: 'e>(
    (places, target): (&Places<'_>, &dyn Target),
    start: &Start<'g>,
    rounds: impl Iterator<Item = &'e Execution<'g>>,
    serves: &dyn Fn(usize, &SymbolicState<'g>) -> SymbolicBit<'g>,
) -> SymbolicBit<'g> {
    let none = start.condition.bit().and(&target.bit(&start.state).not());
    rounds.fold(none, |unserved, round| {
        let served = round.ends.iter().fold(SymbolicBit::ZERO, |any, end| {
            let was_reached = end.kept.not();
            let well = match arrival(places, end) {
                Arrival::Head(to, after) => was_reached.or(&serves(to, after)),
                Arrival::Elsewhere if is_on(Fault::ElsewherePassed) => SymbolicBit::ONE,
                Arrival::Elsewhere => was_reached,
            };
            any.or(&end.condition.bit().and(&well))
        });
        unserved.and(&served.not())
    })
}

/// The bit that is 1 if the second rank is less than the first. Both have as many numbers, of the same widths.
pub(crate) fn falls<'g>(
    before: (&[Term], &SymbolicState<'g>),
    after: (&[Term], &SymbolicState<'g>),
) -> SymbolicBit<'g> {
    falls_or(before, after, SymbolicBit::ZERO)
}

/// The same, or they are equal and another bit is 1.
pub(crate) fn falls_or<'g>(
    (old, before): (&[Term], &SymbolicState<'g>),
    (new, after): (&[Term], &SymbolicState<'g>),
    may_stay: SymbolicBit<'g>,
) -> SymbolicBit<'g> {
    old.iter().zip(new).rev().fold(may_stay, |falls, (old, new)| {
        let (old, new) = (old.symbolic(before), new.symbolic(after));
        if is_on(Fault::RankStays) {
            return old.is_less(&new).not();
        }
        new.is_less(&old).or(&new.is_equal(&old).and(&falls))
    })
}
