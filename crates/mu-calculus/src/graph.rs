//! The graph that formulas are evaluated on: states with hyper-edges.
//!
//! A hyper-edge is a non-empty set of successor states. Whoever explores the abstract state chooses the hyper-edge;
//! which member is taken is not known (a must-hyper-transition of a generalised Kripke modal transition structure,
//! Shoham & Grumberg). With singletons only, the graph is the transition relation of a partial Kripke structure.
//!
//! A state without hyper-edges is a *sink*: nothing is known of what comes after. It may only be followed by itself
//! and every atom is unknown there, whatever its label says.

use std::ops::Range;
use std::sync::OnceLock;

use fixedbitset::FixedBitSet;
use thiserror::Error;
use three_valued::fault::{Fault, is_on};

/// A state, counted from 0 in the order in which the builder saw them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub u32);

impl StateId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A graph of states and hyper-edges, immutable, in compressed rows: 4 bytes per state, 8 per hyper-edge and 4 per
/// member, and once more 4 per state and member when it has been walked backwards.
#[derive(Clone, Debug)]
pub struct HyperGraph {
    initial: StateId,
    /// The first hyper-edge of each state; one entry more than states.
    edge_starts: Vec<u32>,
    /// The first member of each hyper-edge; one entry more than hyper-edges.
    member_starts: Vec<u32>,
    members: Vec<StateId>,
    /// The state that each hyper-edge leaves.
    sources: Vec<StateId>,
    sinks: FixedBitSet,
    backwards: OnceLock<Backwards>,
    branching: OnceLock<Branching>,
}

/// The hyper-edges with several members.
#[derive(Clone, Debug)]
struct Branching {
    edges: Vec<u32>,
    /// The index of each of them in `edges`, by hyper-edge; empty if there are none at all.
    index: Vec<u32>,
}

/// The hyper-edges that lead into each state, once per membership.
#[derive(Clone, Debug)]
struct Backwards {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl HyperGraph {
    /// The state in which evaluation starts.
    #[must_use]
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// The number of states, at least 1.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.edge_starts.len() - 1
    }

    /// The number of hyper-edges.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.sources.len()
    }

    /// The number of members of all hyper-edges together.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// All states in order.
    pub fn states(&self) -> impl ExactSizeIterator<Item = StateId> + use<> {
        (0..self.state_count() as u32).map(StateId)
    }

    /// The number of hyper-edges that leave `state`; 0 for a sink.
    ///
    /// # Panics
    /// If there is no such state; so for every method that takes a state.
    #[must_use]
    pub fn degree(&self, state: StateId) -> usize {
        self.edge_range(state).len()
    }

    /// The members of each hyper-edge of `state`, in the order in which the builder got them.
    pub fn edges(&self, state: StateId) -> impl ExactSizeIterator<Item = &[StateId]> {
        self.edge_range(state).map(|edge| self.edge_members(edge))
    }

    /// The members of the hyper-edge of `state` with this index among its hyper-edges.
    ///
    /// # Panics
    /// If the state has no such hyper-edge.
    #[must_use]
    pub fn edge(&self, state: StateId, index: usize) -> &[StateId] {
        let range = self.edge_range(state);
        assert!(index < range.len(), "state {} has {} hyper-edges, not {index}", state.0, range.len());
        self.edge_members(range.start + index as u32)
    }

    /// The members of all hyper-edges of `state`, with repetitions; empty for a sink, which may only stay.
    #[must_use]
    pub fn may(&self, state: StateId) -> &[StateId] {
        let range = self.edge_range(state);
        let start = self.member_starts[range.start as usize] as usize;
        let end = self.member_starts[range.end as usize] as usize;
        let end = if is_on(Fault::LastSuccessorIgnored) && end > start + 1 { end - 1 } else { end };
        &self.members[start..end]
    }

    /// True if `state` has no hyper-edge.
    #[must_use]
    pub fn is_sink(&self, state: StateId) -> bool {
        self.sinks.contains(state.index())
    }

    /// All states without hyper-edges, as a set of indices.
    #[must_use]
    pub fn sinks(&self) -> &FixedBitSet {
        &self.sinks
    }

    /// The numbers of the hyper-edges of `state` among those of all states.
    pub(crate) fn edge_range(&self, state: StateId) -> Range<u32> {
        self.edge_starts[state.index()]..self.edge_starts[state.index() + 1]
    }

    /// The members of a hyper-edge by its number among those of all states.
    pub(crate) fn edge_members(&self, edge: u32) -> &[StateId] {
        let range = self.member_starts[edge as usize]..self.member_starts[edge as usize + 1];
        &self.members[range.start as usize..range.end as usize]
    }

    /// The state that a hyper-edge leaves.
    pub(crate) fn source(&self, edge: u32) -> StateId {
        self.sources[edge as usize]
    }

    /// The hyper-edges into `state`, one entry per membership. The first call costs time linear in the graph.
    pub(crate) fn incoming(&self, state: StateId) -> &[u32] {
        let backwards = self.backwards.get_or_init(|| self.turned());
        let range = backwards.starts[state.index()]..backwards.starts[state.index() + 1];
        &backwards.edges[range.start as usize..range.end as usize]
    }

    /// The hyper-edges with several members, ascending.
    pub(crate) fn branching_edges(&self) -> &[u32] {
        &self.branching().edges
    }

    /// The index in [`Self::branching_edges`] of a hyper-edge with several members.
    pub(crate) fn branching_index(&self, edge: u32) -> u32 {
        self.branching().index[edge as usize]
    }

    fn branching(&self) -> &Branching {
        self.branching.get_or_init(|| {
            let several = |edge: &u32| self.edge_members(*edge).len() > 1;
            let edges: Vec<u32> = (0..self.sources.len() as u32).filter(several).collect();
            let mut index_of = vec![0; if edges.is_empty() { 0 } else { self.sources.len() }];
            for (index, &edge) in edges.iter().enumerate() {
                index_of[edge as usize] = index as u32;
            }
            Branching { edges, index: index_of }
        })
    }

    /// Counting sort of all memberships by member.
    fn turned(&self) -> Backwards {
        let mut starts = vec![0_u32; self.state_count() + 1];
        for member in &self.members {
            starts[member.index() + 1] += 1;
        }
        for state in 1..starts.len() {
            starts[state] += starts[state - 1];
        }
        let mut next = starts.clone();
        let mut edges = vec![0_u32; self.members.len()];
        for edge in 0..self.sources.len() as u32 {
            for member in self.edge_members(edge) {
                let place = &mut next[member.index()];
                edges[*place as usize] = edge;
                *place += 1;
            }
        }
        Backwards { starts, edges }
    }
}

/// Builds a [`HyperGraph`] state by state: first the state, then its hyper-edges, then the next state.
///
/// ```
/// use mu_calculus::{GraphBuilder, StateId};
/// let mut builder = GraphBuilder::new();
/// let start = builder.state();
/// builder.edge([StateId(1)]);
/// builder.edge([StateId(0), StateId(1)]);
/// let sink = builder.state();
/// let graph = builder.finish(start)?;
/// assert_eq!(graph.edge(start, 1), [start, sink]);
/// assert!(graph.is_sink(sink));
/// # Ok::<(), mu_calculus::GraphError>(())
/// ```
#[derive(Clone, Debug)]
pub struct GraphBuilder {
    edge_starts: Vec<u32>,
    member_starts: Vec<u32>,
    members: Vec<StateId>,
    sources: Vec<StateId>,
}

impl GraphBuilder {
    /// A builder without states.
    #[must_use]
    pub fn new() -> Self {
        Self { edge_starts: Vec::new(), member_starts: vec![0], members: Vec::new(), sources: Vec::new() }
    }

    /// Adds the next state and returns its number.
    pub fn state(&mut self) -> StateId {
        let state = StateId(self.edge_starts.len() as u32);
        self.edge_starts.push(self.sources.len() as u32);
        state
    }

    /// Adds a hyper-edge to the last state and returns its index among the hyper-edges of that state. Members may be
    /// states that are added later.
    ///
    /// # Panics
    /// If there is no state yet.
    pub fn edge(&mut self, members: impl IntoIterator<Item = StateId>) -> usize {
        let first = *self.edge_starts.last().expect("a hyper-edge needs a state that it leaves");
        self.members.extend(members);
        self.member_starts.push(self.members.len() as u32);
        self.sources.push(StateId(self.edge_starts.len() as u32 - 1));
        self.sources.len() - 1 - first as usize
    }

    /// The finished graph.
    ///
    /// # Errors
    /// If a hyper-edge is empty, a member or the initial state does not exist, or 32-bit numbers do not suffice.
    pub fn finish(mut self, initial: StateId) -> Result<HyperGraph, GraphError> {
        let states = self.edge_starts.len();
        let largest = states.max(self.sources.len()).max(self.members.len());
        if largest >= u32::MAX as usize {
            return Err(GraphError::TooLarge { states, members: self.members.len() });
        }
        if initial.index() >= states {
            return Err(GraphError::NoSuchState { state: initial.0, states });
        }
        self.edge_starts.push(self.sources.len() as u32);
        self.check_edges(states)?;
        let sinks = (0..states).filter(|&state| self.edge_starts[state] == self.edge_starts[state + 1]).collect();
        Ok(HyperGraph {
            initial,
            sinks: with_length(sinks, states),
            edge_starts: self.edge_starts,
            member_starts: self.member_starts,
            members: self.members,
            sources: self.sources,
            backwards: OnceLock::new(),
            branching: OnceLock::new(),
        })
    }

    fn check_edges(&self, states: usize) -> Result<(), GraphError> {
        if let Some(edge) = self.member_starts.windows(2).position(|pair| pair[0] == pair[1]) {
            return Err(GraphError::EmptyEdge { state: self.sources[edge].0 });
        }
        match self.members.iter().find(|member| member.index() >= states) {
            Some(member) => Err(GraphError::NoSuchState { state: member.0, states }),
            None => Ok(()),
        }
    }
}

impl Default for GraphBuilder {
    fn default() -> Self {
        Self::new()
    }
}

fn with_length(mut set: FixedBitSet, length: usize) -> FixedBitSet {
    set.grow(length);
    set
}

/// The reason why a graph could not be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A hyper-edge without members: no step at all is no step that the system can take.
    #[error("state {state} has a hyper-edge without members; leave it out, or give the state none to make it a sink")]
    EmptyEdge {
        /// The state that the hyper-edge leaves.
        state: u32,
    },
    /// A state that was never added.
    #[error("state {state} does not exist, the graph has {states}; add every state before finishing")]
    NoSuchState {
        /// The number that was used.
        state: u32,
        /// The number of states.
        states: usize,
    },
    /// More states, hyper-edges or members than 32 bits can number.
    #[error("a graph with {states} states and {members} hyper-edge members exceeds 32-bit numbers")]
    TooLarge {
        /// The number of states.
        states: usize,
        /// The number of members.
        members: usize,
    },
}
