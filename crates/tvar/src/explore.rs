//! Building the abstract state space.

use crate::precision::Precision;
use crate::system::{HyperEdges, System};
use crate::watch::{Exhausted, Phase, Progress, Watch};
use hashbrown::HashTable;
use mu_calculus::{AtomId, GraphBuilder, HyperGraph, Labels, StateId};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

/// An explored state space.
#[derive(Clone, Debug)]
pub struct StateSpace<T> {
    /// The states, numbered in the order of their discovery; the initial state is the first.
    pub states: Vec<T>,
    /// The limit that was hit before everything was explored. States that were not expanded are sinks.
    pub exhausted: Option<Exhausted>,
    /// How many of the states, from the first on, were expanded.
    pub expanded: usize,
    /// Ends of the hyper-edges of each expanded state in `edges`.
    state_ends: Vec<u32>,
    /// Ends of the members of each hyper-edge in `members`.
    edge_ends: Vec<u32>,
    members: Vec<u32>,
    /// The hyper-edges of states with abstracted choices, when those are left open.
    open: BTreeMap<u32, Vec<Vec<u32>>>,
    hazards: Vec<u32>,
    /// Whether a sink that marks an engine limit was reached.
    limits: Vec<u32>,
}

/// An exploration that can be continued.
#[derive(Debug)]
pub struct Explorer<T> {
    space: StateSpace<T>,
    /// The states of the space by content.
    index: HashTable<u32>,
}

impl<T: Clone + Eq + Hash> Explorer<T> {
    /// An exploration that has found only the initial state.
    pub fn new<S: System<State = T>>(system: &mut S) -> Self {
        let mut explorer = Self { space: StateSpace::empty(), index: HashTable::new() };
        explorer.intern(system.initial());
        explorer
    }

    /// Continues an exploration.
    #[must_use]
    pub fn resume(space: StateSpace<T>) -> Self {
        let mut index = HashTable::with_capacity(space.states.len());
        for (state, number) in space.states.iter().zip(0..) {
            index.insert_unique(FxBuildHasher.hash_one(state), number, |other| {
                FxBuildHasher.hash_one(&space.states[*other as usize])
            });
        }
        Self { space, index }
    }

    /// Explores until everything is explored, `budget` states are found, or a limit is reached, and gives the space.
    pub fn run<S: System<State = T>>(
        mut self,
        system: &mut S,
        precision: &Precision<S::Location>,
        budget: usize,
        watch: &dyn Watch,
        progress: &mut Progress,
    ) -> StateSpace<T> {
        let mut edges = HyperEdges::default();
        progress.phase = Phase::Exploring;
        while self.space.expanded < self.space.states.len().min(budget) {
            if self.space.expanded.is_multiple_of(256) {
                progress.states = self.space.states.len();
                self.space.exhausted = watch.check(progress);
                if self.space.exhausted.is_some() {
                    break;
                }
            }
            self.expand_next(system, precision, &mut edges);
        }
        self.space.find_sinks(system);
        self.space
    }

    /// The number of a state, which is new if it was not there yet.
    fn intern(&mut self, state: T) -> u32 {
        let hash = FxBuildHasher.hash_one(&state);
        let states = &mut self.space.states;
        let found = self.index.find(hash, |index| states[*index as usize] == state).copied();
        if let Some(index) = found {
            return index;
        }
        let index = states.len() as u32;
        states.push(state);
        self.index.insert_unique(hash, index, |index| FxBuildHasher.hash_one(&states[*index as usize]));
        index
    }

    fn expand_next<S: System<State = T>>(
        &mut self,
        system: &mut S,
        precision: &Precision<S::Location>,
        edges: &mut HyperEdges<T>,
    ) {
        let state = self.space.states[self.space.expanded].clone();
        let first = self.space.members.len();
        edges.clear();
        system.expand(&state, precision.at(&system.location(&state)), edges);
        for edge in edges.iter() {
            for member in edge {
                let arrived = arrive(system, precision, member.clone());
                let number = self.intern(arrived);
                self.space.members.push(number);
            }
            self.space.edge_ends.push(self.space.members.len() as u32);
        }
        if !edges.open().is_empty() {
            let members = &self.space.members[first..];
            let open = edges.open().iter().map(|edge| edge.iter().map(|index| members[*index]).collect()).collect();
            self.space.open.insert(self.space.expanded as u32, open);
        }
        self.space.state_ends.push(self.space.edge_ends.len() as u32);
        self.space.expanded += 1;
    }
}

impl<T: Clone + Eq + Hash> StateSpace<T> {
    /// Explores all states that a system can reach under a precision, or as many as the limits allow.
    pub fn explore<S: System<State = T>>(
        system: &mut S,
        precision: &Precision<S::Location>,
        watch: &dyn Watch,
        progress: &mut Progress,
    ) -> Self {
        Explorer::new(system).run(system, precision, usize::MAX, watch, progress)
    }

    fn empty() -> Self {
        Self {
            states: Vec::new(),
            exhausted: None,
            expanded: 0,
            state_ends: Vec::new(),
            edge_ends: Vec::new(),
            members: Vec::new(),
            open: BTreeMap::new(),
            hazards: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// Whether every state that was found was expanded.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.expanded == self.states.len()
    }

    fn find_sinks<S: System<State = T>>(&mut self, system: &S) {
        let all = || self.states.iter().zip(0u32..);
        self.hazards = all().filter(|(state, _)| system.is_hazard(state)).map(|(_, id)| id).collect();
        self.limits = all().filter(|(state, _)| system.is_limit(state)).map(|(_, id)| id).collect();
    }

    /// The number of transitions: members of hyper-edges.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.members.len()
    }

    /// The hazard sinks.
    #[must_use]
    pub fn hazards(&self) -> &[u32] {
        &self.hazards
    }

    /// The sinks that mark engine limits.
    #[must_use]
    pub fn limits(&self) -> &[u32] {
        &self.limits
    }

    /// Whether every path was followed: no state waits and no sink marks something the engine could not follow.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_finished() && self.limits.is_empty()
    }

    /// The hyper-edges of an expanded state, each as its members.
    pub fn edges(&self, state: usize) -> impl Iterator<Item = &[u32]> {
        let end = |index: usize| self.state_ends.get(index).map_or(self.edge_ends.len(), |end| *end as usize);
        let range =
            if state < self.expanded { (if state == 0 { 0 } else { end(state - 1) })..end(state) } else { 0..0 };
        range.map(|edge| {
            let start = if edge == 0 { 0 } else { self.edge_ends[edge - 1] as usize };
            &self.members[start..self.edge_ends[edge] as usize]
        })
    }

    /// Whether some state has choices that the model abstracts.
    #[must_use]
    pub fn has_abstracted_choices(&self) -> bool {
        !self.open.is_empty()
    }

    /// The space as a graph for model checking. With `hazards_last`, hazard sinks become ordinary states that are never
    /// left, so that a formula can speak of them.
    ///
    /// # Panics
    /// When the members exceed 32 bits, which memory limits exclude.
    #[must_use]
    pub fn graph(&self, hazards_last: bool) -> HyperGraph {
        self.graph_of(hazards_last, &BTreeMap::new())
    }

    /// The same graph with the choices that the model abstracts left open: nobody makes them, they are not known.
    #[must_use]
    pub fn open_graph(&self, hazards_last: bool) -> HyperGraph {
        self.graph_of(hazards_last, &self.open)
    }

    fn graph_of(&self, hazards_last: bool, replaced: &BTreeMap<u32, Vec<Vec<u32>>>) -> HyperGraph {
        let mut builder = GraphBuilder::new();
        let mut hazards = self.hazards.iter().copied().peekable();
        for state in 0..self.states.len() {
            let id = builder.state();
            let hazard = hazards.next_if(|hazard| *hazard as usize == state).is_some();
            if hazard && hazards_last {
                builder.edge([id]);
            }
            match replaced.get(&(state as u32)) {
                Some(edges) => edges.iter().for_each(|edge| {
                    builder.edge(edge.iter().map(|member| StateId(*member)));
                }),
                None => self.edges(state).for_each(|edge| {
                    builder.edge(edge.iter().map(|member| StateId(*member)));
                }),
            }
        }
        builder.finish(StateId(0)).expect("members are states of this space")
    }

    /// The labels of the atoms from 0 to `atoms` in every state, as `label` gives them.
    pub fn labels(&self, atoms: usize, label: impl Fn(&T, AtomId) -> three_valued::Truth) -> Labels {
        let mut labels = Labels::new(atoms, self.states.len());
        for atom in (0..atoms as u32).map(AtomId) {
            for (state, id) in self.states.iter().zip(0..) {
                labels.set(atom, StateId(id), label(state, atom));
            }
        }
        labels
    }
}

/// What becomes of a state when it arrives at its location.
pub fn arrive<S: System>(system: &mut S, precision: &Precision<S::Location>, state: S::State) -> S::State {
    let step = &precision.at(&system.location(&state)).step;
    if step.keeps_all() { state } else { system.decay(state, step) }
}
