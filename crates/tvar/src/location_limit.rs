//! The per-location state limit.
//!
//! A location that collects more than a few states drops the bits in which they differ: the limited enumeration of
//! Bajkai & Hajdu's explicit/predicate product, bit by bit. What is dropped at a location stays dropped there until
//! refinement brings it back, and that for good.

use crate::abstraction::Abstraction;
use crate::precision::{Place, Precision, Variable};
use crate::system::System;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The number of rounds that a location distinguishes; the states of further ones are limited together.
const MAX_ROUNDS: u32 = 4096;

/// The states of one location.
#[derive(Debug)]
struct LocationStates<T> {
    states: Vec<T>,
    /// The number of new states that arrived.
    arrivals: u32,
}

impl<T> Default for LocationStates<T> {
    fn default() -> Self {
        Self { states: Vec::new(), arrivals: 0 }
    }
}

/// The states that each location has.
#[derive(Debug)]
pub(crate) struct LimitedLocations<S: System + ?Sized> {
    locations: FxHashMap<S::Location, LocationStates<S::State>>,
    /// The number of rounds of each location that are counted on their own.
    rounds: FxHashMap<S::Location, u32>,
    /// The states that a location distinguishes, and the contents of one variable; none where the system says how many.
    most: Option<(usize, usize)>,
}

impl<S: System> Default for LimitedLocations<S> {
    fn default() -> Self {
        Self { locations: FxHashMap::default(), rounds: FxHashMap::default(), most: None }
    }
}

impl<S: Abstraction> LimitedLocations<S> {
    /// The same where each location distinguishes so many states, with so many contents of one variable.
    pub(crate) fn distinguishing(self, most: Option<(usize, usize)>) -> Self {
        Self { most, ..self }
    }

    /// Admits a decayed state to its location, and gives the state itself, or what remains of it when its location
    /// drops bits. The number is that of the states of its location until then, a new one included.
    pub(crate) fn admit(
        &mut self,
        system: &mut S,
        precision: &mut Precision<S::Location>,
        location: S::Location,
        mut state: S::State,
    ) -> (S::State, u32) {
        let location = self.counted(location);
        let by_system = || (system.enumerated().max(1), (system.enumerated() / 2).max(1));
        let most = self.most.unwrap_or_else(by_system);
        let here = self.locations.entry(location).or_default();
        loop {
            if here.states.contains(&state) {
                return (state, here.arrivals);
            }
            if !drop_differences(system, precision, location, (&here.states, most), &state) {
                here.states.push(state.clone());
                here.arrivals += 1;
                return (state, here.arrivals);
            }
            here.decay(system, precision, location);
            state = system.decay(state, &precision.at(&location).step);
        }
    }

    /// The place that had the most states until now, and how many.
    pub(crate) fn most(&self) -> Option<(u32, u64)> {
        let mut arrivals: FxHashMap<u32, u64> = FxHashMap::default();
        for (location, here) in &self.locations {
            if let Some(place) = location.number() {
                *arrivals.entry(place).or_default() += u64::from(here.arrivals);
            }
        }
        arrivals.into_iter().max_by_key(|(place, states)| (*states, std::cmp::Reverse(*place)))
    }

    /// The location under which a state is counted: its own one, or that of all rounds if there are too many.
    fn counted(&mut self, location: S::Location) -> S::Location {
        if self.locations.contains_key(&location) {
            return location;
        }
        let any = location.in_any_round();
        let rounds = self.rounds.entry(any).or_default();
        if *rounds >= MAX_ROUNDS {
            return any;
        }
        *rounds += 1;
        location
    }
}

impl<T: Clone + PartialEq> LocationStates<T> {
    /// Forgets what the location has just dropped.
    fn decay<S: Abstraction<State = T>>(
        &mut self,
        system: &mut S,
        precision: &Precision<S::Location>,
        location: S::Location,
    ) {
        let step = &precision.at(&location).step;
        let mut rest: Vec<T> = Vec::new();
        for state in self.states.drain(..) {
            let state = system.decay(state, step);
            if !rest.contains(&state) {
                rest.push(state);
            }
        }
        self.states = rest;
    }
}

/// Drops the bits in which a new state differs from the others, if they are too many, and says if anything was dropped.
/// Variables in a row are dropped together: a loop that fills an array changes one element after the other. What is
/// dropped for the second time is widened.
fn drop_differences<S: Abstraction>(
    system: &S,
    precision: &mut Precision<S::Location>,
    location: S::Location,
    (crowd, (most, most_contents)): (&[S::State], (usize, usize)),
    state: &S::State,
) -> bool {
    let mut variables = BTreeMap::<_, (u64, Vec<u64>)>::new();
    for other in crowd {
        for difference in system.differences(state, other) {
            let (bits, contents) = variables.entry(difference.variable).or_default();
            *bits |= difference.bits;
            if !contents.contains(&difference.other) {
                contents.push(difference.other);
            }
        }
    }
    let full = crowd.len() >= most;
    let differing: Vec<_> =
        variables.into_iter().map(|(variable, (bits, others))| (variable, bits, others.len())).collect();
    let mut dropped = false;
    for (variable, bits) in too_much(&differing, (full, most_contents), |one, next| system.are_neighbours(one, next)) {
        let before = precision.at(&location).step.dropped(variable);
        let bits = if before == 0 { bits } else { system.widened(variable, before | bits) };
        dropped |= precision.drop_bits(location, variable, bits);
    }
    dropped
}

/// The bits to drop among those that differ, of variables with so many other contents. They are all bits of a row of
/// neighbours of which one has too many contents, and simply all bits at a full location.
fn too_much(
    differing: &[(Variable, u64, usize)],
    (full, most_contents): (bool, usize),
    are_neighbours: impl Fn(Variable, Variable) -> bool,
) -> impl Iterator<Item = (Variable, u64)> {
    let rows = differing.chunk_by(move |(one, ..), (next, ..)| are_neighbours(*one, *next));
    let are_dropped = move |row: &&[(Variable, u64, usize)]| full || row.iter().any(|one| one.2 >= most_contents);
    rows.filter(are_dropped).flatten().map(|(variable, bits, _)| (*variable, *bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abstraction::Difference;
    use crate::hyper_edges::HyperEdges;
    use crate::precision::{LocationPrecision, StepPrecision, Strategy};
    use crate::system::{Blame, Candidate, LookupOf};
    use mu_calculus::AtomId;
    use three_valued::Truth;

    /// A cell of 8 bits as its value and what is known of it.
    type Cell = (u64, u64);

    const CELL: Variable = Variable(0);

    /// The only location.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Here;

    impl Place for Here {}

    /// A system of which only the states of one location matter, so many of which are distinguished; of the second bits that are dropped
    /// it drops all.
    struct Counting(usize);

    impl System for Counting {
        type State = Cell;
        type Location = Here;

        fn initial(&mut self) -> Cell {
            (0, 0xff)
        }

        fn location(&self, _: &Cell) -> Here {
            Here
        }

        fn expand(&mut self, _: &Cell, _: &LocationPrecision, _: &mut HyperEdges<Cell>) {}

        fn decay(&mut self, (value, known): Cell, precision: &StepPrecision) -> Cell {
            let known = known & precision.kept(CELL);
            (value & known, known)
        }

        fn covers(&self, coarse: &Cell, fine: &Cell) -> bool {
            coarse.1 & !fine.1 == 0 && fine.0 & coarse.1 == coarse.0
        }

        fn label(&self, _: &Cell, _: AtomId) -> Truth {
            Truth::Unknown
        }

        fn blame(&mut self, _: &[Cell], _: Blame, _: &LookupOf<'_, Self>) -> Vec<Candidate<Here>> {
            Vec::new()
        }
    }

    impl Abstraction for Counting {
        fn enumerated(&self) -> usize {
            self.0
        }

        fn widened(&self, _: Variable, _: u64) -> u64 {
            0xff
        }

        fn differences(&self, one: &Cell, other: &Cell) -> Vec<Difference> {
            let bits = (one.1 ^ other.1) | (one.0 ^ other.0);
            vec![Difference { variable: CELL, bits, other: other.0 << 8 | other.1 }]
        }
    }

    /// The bits that are dropped after each of some counts arrived, where so many states are distinguished.
    fn dropped_after(enumerated: usize, counts: &[u64]) -> Vec<u64> {
        let (mut limited, mut precision) = (LimitedLocations::<Counting>::default(), Precision::new(Strategy::Default));
        let mut system = Counting(enumerated);
        let mut dropped_after = |count: &u64| {
            let state = system.decay((*count, 0xff), &precision.at(&Here).step);
            limited.admit(&mut system, &mut precision, Here, state);
            precision.at(&Here).step.dropped(CELL)
        };
        counts.iter().map(&mut dropped_after).collect()
    }

    #[test]
    fn what_goes_on_changing_is_widened() {
        let dropped = dropped_after(crate::DEFAULT_ENUMERATED, &[0, 1, 2, 3, 4, 8, 16]);
        assert_eq!(dropped, [0, 0, 0b11, 0b11, 0b11, 0xff, 0xff]);
    }

    #[test]
    fn as_many_states_are_distinguished_as_are_asked_for() {
        assert_eq!(dropped_after(1, &[0, 1, 2]), [0, 0b1, 0xff]);
        assert_eq!(dropped_after(2, &[0, 1, 2]), [0, 0b1, 0xff]);
        assert_eq!(dropped_after(8, &[0, 1, 2, 3, 4]), [0, 0, 0, 0, 0b111]);
        assert_eq!(dropped_after(64, &[0, 1, 2, 3, 4, 5, 6, 7]), [0; 8]);
    }

    #[test]
    fn an_array_is_dropped_when_one_of_its_elements_is() {
        let differing = [(7, 1, 2), (8, 2, 1), (260, 1, 1), (261, 3, 2), (262, 4, 1), (264, 7, 1)];
        let differing = differing.map(|(variable, bits, contents)| (Variable(variable), bits, contents));
        let dropped = |full| {
            let in_ram = |one: Variable, next: Variable| one.0 >= 256 && next.0 == one.0 + 1;
            too_much(&differing, (full, 2), in_ram).map(|(variable, bits)| (variable.0, bits)).collect::<Vec<_>>()
        };
        assert_eq!(dropped(false), [(7, 1), (260, 1), (261, 3), (262, 4)]);
        assert_eq!(dropped(true).len(), differing.len());
    }
}
