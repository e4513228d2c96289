//! Building the abstract state space.

use crate::abstraction::{Abstraction, ExpansionOrder};
use crate::hyper_edges::HyperEdges;
use crate::location_limit::LimitedLocations;
use crate::precision::Precision;
use crate::state_space::StateSpace;
use crate::system::{StateKind, System};
use crate::watch::{Phase, Progress, SpaceSize, Watch};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;

/// The number of states that are expanded between two looks at the limits. One expansion may take thousands of steps.
const EXPANSIONS_UNWATCHED: usize = 32;
/// The number of states that are expanded between two questions to the system whether it goes on.
const EXPANSIONS_UNDISCHARGED: usize = 256;
/// The number of expansions after which the bits that locations forget are counted.
const EXPANSIONS_UNCOUNTED: usize = 4_096;
/// The number of further states that are expanded beyond a limit of the engine that is to be refined away soon. The
/// second number says how many times as many as before the limit.
const EXPANSIONS_BEYOND: (usize, usize) = (2_000, 1);

/// An exploration that can be continued.
#[derive(Debug)]
pub struct Explorer<S: System> {
    space: StateSpace<S::State>,
    /// The states of the space by content.
    index: HashTable<u32>,
    /// The states that were not expanded: first by the number of states that their locations had before (the logarithm
    /// to base 2), then by their order.
    waiting: BTreeMap<(u32, ExpansionOrder), VecDeque<u32>>,
    /// The states by location, if locations are limited.
    limited: Option<LimitedLocations<S>>,
    /// The state that each state was replaced by because its location dropped bits since: itself for most.
    replaced_by: Vec<u32>,
    replaced: usize,
    /// The most states that are expanded, because a limit of the engine is to be refined away first.
    enough: usize,
    /// True if the exploration ends soon after a limit of the engine.
    stops_at_limits: bool,
}

impl<S: Abstraction> Explorer<S> {
    /// An exploration that has found only the initial state. With `limited`, locations with too many states drop bits.
    pub fn new(system: &mut S, limited: bool) -> Self {
        let mut explorer = Self::of(StateSpace::empty(), limited);
        let initial = system.initial();
        explorer.intern(initial, (0, ExpansionOrder::default()));
        explorer
    }

    /// Continues an exploration in which locations were not limited.
    #[must_use]
    pub fn resume(space: StateSpace<S::State>) -> Self {
        let mut explorer = Self::of(space, false);
        let space = &explorer.space;
        for (state, number) in space.states.iter().zip(0..) {
            explorer.index.insert_unique(FxBuildHasher.hash_one(state), number, |other| {
                FxBuildHasher.hash_one(&space.states[*other as usize])
            });
        }
        let waiting = (0..space.states.len()).filter(|state| !space.is_expanded(*state));
        explorer.waiting.insert((0, ExpansionOrder::default()), waiting.map(|state| state as u32).collect());
        explorer
    }

    /// The same where the exploration ends soon after it met a limit of the engine.
    #[must_use]
    pub(crate) fn stopping_at_limits(mut self, stops: bool) -> Self {
        self.stops_at_limits = stops;
        self
    }

    /// The same where a limited location distinguishes so many states, with so many contents of one variable; without them, as many as the
    /// system says.
    #[must_use]
    pub(crate) fn distinguishing(mut self, most: Option<(usize, usize)>) -> Self {
        self.limited = self.limited.map(|limited| limited.distinguishing(most));
        self
    }

    fn of(space: StateSpace<S::State>, limited: bool) -> Self {
        let replaced_by = (0..space.states.len() as u32).collect();
        let index = HashTable::with_capacity(space.states.len());
        let limited = limited.then(LimitedLocations::default);
        Self {
            space,
            index,
            waiting: BTreeMap::new(),
            limited,
            replaced_by,
            replaced: 0,
            enough: usize::MAX,
            stops_at_limits: false,
        }
    }

    /// Explores until everything is explored, `budget` states are expanded, or a limit is reached, and gives the space.
    pub fn run(
        mut self,
        system: &mut S,
        precision: &mut Precision<S::Location>,
        budget: usize,
        watch: &dyn Watch,
        progress: &mut Progress,
    ) -> StateSpace<S::State> {
        self.explore(system, precision, budget, watch, progress);
        self.into_space(system)
    }

    /// Explores until everything is explored, `budget` states are expanded, or a limit is reached; it may go on after that.
    pub fn explore(
        &mut self,
        system: &mut S,
        precision: &mut Precision<S::Location>,
        budget: usize,
        watch: &dyn Watch,
        progress: &mut Progress,
    ) {
        let mut edges = HyperEdges::default();
        progress.phase = Phase::Exploring;
        while self.space.expanded < budget.min(self.enough) {
            let Some(state) = self.next() else { break };
            if self.space.expanded.is_multiple_of(EXPANSIONS_UNWATCHED) {
                progress.states = self.space.states.len() - self.replaced;
                progress.steps = system.steps();
                if self.space.expanded.is_multiple_of(EXPANSIONS_UNCOUNTED) {
                    progress.locations = precision.locations();
                    progress.forgotten_bits = precision.forgotten_bits();
                    progress.fullest = self.limited.as_ref().and_then(LimitedLocations::most);
                }
                self.space.exhausted = watch.check(progress);
                if self.space.exhausted.is_some() {
                    break;
                }
            }
            if self.limited.is_some()
                && self.space.expanded.is_multiple_of(EXPANSIONS_UNDISCHARGED)
                && !system.is_discharged()
            {
                break;
            }
            if !self.is_replaced(system, precision, state) {
                self.expand(system, precision, state, &mut edges);
            }
        }
        let size = SpaceSize { states: self.space.states.len() - self.replaced, expanded: self.space.expanded };
        progress.largest = progress.largest.max(size);
    }

    /// The number of states that were expanded.
    #[must_use]
    pub fn expanded(&self) -> usize {
        self.space.expanded
    }

    /// The space so far, in which states that were replaced are still there.
    #[must_use]
    pub fn space(&self) -> &StateSpace<S::State> {
        &self.space
    }

    /// The space that was explored.
    #[must_use]
    pub fn into_space(self, system: &S) -> StateSpace<S::State> {
        let mut space = self.space;
        if self.replaced > 0 {
            let replaced_by = self.replaced_by;
            space = space.merged(&|state| last(&replaced_by, state));
        }
        space.find_sinks(system);
        space
    }

    /// The state that is to be expanded next.
    fn next(&mut self) -> Option<u32> {
        let mut first = self.waiting.first_entry()?;
        let state = first.get_mut().pop_front();
        if first.get().is_empty() {
            first.remove();
        }
        state
    }

    /// The number of a state, which is new if it was not there yet and then waits.
    fn intern(&mut self, state: S::State, order: (u32, ExpansionOrder)) -> u32 {
        let hash = FxBuildHasher.hash_one(&state);
        let states = &self.space.states;
        if let Some(index) = self.index.find(hash, |index| states[*index as usize] == state) {
            return last(&self.replaced_by, *index);
        }
        let number = self.space.add(state);
        let states = &self.space.states;
        self.index.insert_unique(hash, number, |index| FxBuildHasher.hash_one(&states[*index as usize]));
        self.replaced_by.push(number);
        self.waiting.entry(order).or_default().push_back(number);
        number
    }

    /// The number of the state that remains of a state when it arrives.
    fn arrived(&mut self, system: &mut S, precision: &mut Precision<S::Location>, state: S::State) -> u32 {
        let state = arrive(system, precision, state);
        if self.stops_at_limits && self.enough == usize::MAX && system.kind(&state) == StateKind::Limit {
            let (more, times) = EXPANSIONS_BEYOND;
            self.enough = self.space.expanded * (times + 1) + more;
        }
        let Some(limited) = &mut self.limited else {
            // Without limits states are expanded as they are found, so that the nearest causes are found first.
            return self.intern(state, (0, ExpansionOrder::default()));
        };
        // A location that has many states will drop some bits in which they differ: the others go first. Only powers of
        // two count, so that the order decides between two locations with a few states.
        let (location, order) = (system.location(&state), system.order(&state));
        let (state, before) = limited.admit(system, precision, location, state);
        self.intern(state, (before.ilog2(), order))
    }

    /// True if a state of the worklist is replaced by what is left of it after its location dropped bits.
    fn is_replaced(&mut self, system: &mut S, precision: &mut Precision<S::Location>, number: u32) -> bool {
        if self.limited.is_none() {
            return false;
        }
        let state = self.space.states[number as usize].clone();
        let rest = arrive(system, precision, state.clone());
        if rest == state {
            return false;
        }
        let rest = self.arrived(system, precision, rest);
        // SOUND: what is left of a state covers it.
        self.replaced_by[number as usize] = rest;
        self.replaced += 1;
        true
    }

    fn expand(
        &mut self,
        system: &mut S,
        precision: &mut Precision<S::Location>,
        number: u32,
        edges: &mut HyperEdges<S::State>,
    ) {
        let state = self.space.states[number as usize].clone();
        edges.clear();
        system.advance(&state, precision, edges);
        let mut numbered = Vec::with_capacity(edges.len());
        for edge in edges.iter() {
            numbered.push(edge.iter().map(|member| self.arrived(system, precision, member.clone())).collect());
        }
        self.space.set_edges(number, numbered, edges.open(), edges.unsure());
    }
}

/// The state that replaces a state in the end.
fn last(replaced_by: &[u32], mut state: u32) -> u32 {
    while replaced_by[state as usize] != state {
        state = replaced_by[state as usize];
    }
    state
}

impl<T: Clone + Eq + std::hash::Hash> StateSpace<T> {
    /// Explores all states that a system can reach under a precision, or as many as the limits allow.
    pub fn explore<S: Abstraction<State = T>>(
        system: &mut S,
        precision: &Precision<S::Location>,
        watch: &dyn Watch,
        progress: &mut Progress,
    ) -> Self {
        let explorer = Explorer::new(system, false);
        explorer.run(system, &mut precision.clone(), usize::MAX, watch, progress)
    }
}

/// The state that remains of a state when it arrives at its location.
pub fn arrive<S: System>(system: &mut S, precision: &Precision<S::Location>, state: S::State) -> S::State {
    let step = &precision.at(&system.location(&state)).step;
    if step.keeps_all() { state } else { system.decay(state, step) }
}
