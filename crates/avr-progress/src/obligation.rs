//! The obligation of a claim: there is no state that none of its strategies serves.

use crate::claim::Region;
use crate::faults::{Fault, is_on};
use crate::places::Places;
use crate::possibility::Possibility;
use crate::rounds::{Arrival, BROKEN, Start, arrival};
use avr_symbolic::{End, Execution, SymbolicBit, SymbolicState, Term};
use three_valued::BitDomain;

/// The bit that is 1 for the states of an entry that a claim about a region must serve.
///
/// SOUND: claims say nothing of states in which what is to hold does not; whatever leads to a head leads to one in which it does.
pub(crate) fn must_be_served<'g>(possibility: &Possibility<'_>, start: &Start<'g>, region: Region) -> SymbolicBit<'g> {
    let open = possibility.is_open(&start.state).and(&possibility.possibly_in(region, &start.state));
    start.condition.bit().and(&open)
}

/// The bit that is 1 if one of these states, and values of all other variables, are such that under each of the strategies, whose rounds
/// are given, the execution ends in a way that is not good.
///
/// SOUND: executions have no variables in common but those of the state.
pub(crate) fn unserved<'e, 'g: 'e>(
    states: SymbolicBit<'g>,
    rounds: impl Iterator<Item = &'e Execution<'g>>,
    well: &dyn Fn(&End<'g>) -> SymbolicBit<'g>,
) -> SymbolicBit<'g> {
    rounds.fold(states, |unserved, round| unserved.and(&served(round, well).not()))
}

/// The bit that is 1 if a path that ends well is taken.
pub(crate) fn served<'g>(round: &Execution<'g>, well: impl Fn(&End<'g>) -> SymbolicBit<'g>) -> SymbolicBit<'g> {
    round.ends.iter().fold(SymbolicBit::ZERO, |any, end| any.or(&end.condition.bit().and(&well(end))))
}

/// The bits of which one is 1 if no path that ends well is taken: for each end that its paths are taken and end otherwise, and that no path is.
pub(crate) fn unserved_ends<'g>(
    round: &Execution<'g>,
    well: impl Fn(&End<'g>) -> SymbolicBit<'g>,
) -> Vec<SymbolicBit<'g>> {
    let of_end = |end: &End<'g>| end.condition.bit().and(&well(end).not());
    let none = round.ends.iter().fold(SymbolicBit::ONE, |none, end| none.and(&end.condition.bit().not()));
    round.ends.iter().map(of_end).chain([none]).collect()
}

/// The bit that is 1 if an end of paths is a good one: what is to be reached was, or a head is that serves; and what is to hold did.
pub(crate) fn ends_well<'g>(
    places: &Places<'_>,
    end: &End<'g>,
    serves: &dyn Fn(usize, &SymbolicState<'g>) -> SymbolicBit<'g>,
) -> SymbolicBit<'g> {
    let was_reached = end.kept.not();
    let comes = match arrival(places, end) {
        Arrival::Head(to, after) => was_reached.or(&serves(to, after)),
        Arrival::Elsewhere if is_on(Fault::ElsewherePassed) => SymbolicBit::ONE,
        Arrival::Elsewhere => was_reached,
    };
    comes.and(&end.history[BROKEN].not())
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
