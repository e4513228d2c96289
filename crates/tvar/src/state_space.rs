//! The abstract state space.

use crate::system::{StateKind, System};
use crate::watch::Exhausted;
use mu_calculus::{AtomId, GraphBuilder, HyperGraph, Labels, StateId};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Hyper-edges with each member once, in the order in which they come first.
fn without_repetition(mut edges: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let mut seen = FxHashSet::default();
    for edge in edges.iter_mut().filter(|edge| edge.len() > 1) {
        seen.clear();
        edge.retain(|member| seen.insert(*member));
    }
    edges
}

/// The hyper-edges of a state, as positions of the first and one behind the last.
type EdgeRange = (u32, u32);

/// A state without hyper-edges so far.
const NOT_EXPANDED: EdgeRange = (u32::MAX, u32::MAX);

/// An explored state space.
#[derive(Clone, Debug)]
pub struct StateSpace<T> {
    /// The states, numbered in the order of their discovery; the initial state is the first.
    pub states: Vec<T>,
    /// The limit that was hit before everything was explored. States that were not expanded are sinks.
    pub exhausted: Option<Exhausted>,
    /// The number of states that were expanded.
    pub expanded: usize,
    /// The hyper-edges of each state in `edge_ends`.
    ranges: Vec<EdgeRange>,
    /// Ends of the members of each hyper-edge in `members`.
    edge_ends: Vec<u32>,
    members: Vec<u32>,
    /// The hyper-edges of states with abstracted choices, when those are left open.
    open: BTreeMap<u32, Vec<Vec<u32>>>,
    hazards: Vec<u32>,
    /// The ends of paths that formulas can speak of.
    ends: Vec<u32>,
    /// The sinks that mark an engine limit.
    limits: Vec<u32>,
}

impl<T> StateSpace<T> {
    pub(crate) fn empty() -> Self {
        Self {
            states: Vec::new(),
            exhausted: None,
            expanded: 0,
            ranges: Vec::new(),
            edge_ends: Vec::new(),
            members: Vec::new(),
            open: BTreeMap::new(),
            hazards: Vec::new(),
            ends: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// Adds a state that is not expanded and gives its number.
    pub(crate) fn add(&mut self, state: T) -> u32 {
        self.states.push(state);
        self.ranges.push(NOT_EXPANDED);
        self.states.len() as u32 - 1
    }

    /// Sets the hyper-edges of a state, each a list of members. With them come those that remain when abstracted
    /// choices are left open, each a list of positions among all members. A member that is there more than once is kept
    /// once. An edge with an `unsure` member, by rising position, gets the state itself as a member.
    pub(crate) fn set_edges(&mut self, state: u32, mut edges: Vec<Vec<u32>>, open: &[Vec<usize>], unsure: &[usize]) {
        let first = self.edge_ends.len() as u32;
        // SOUND: that the state may stay as it is adds nothing to what may be reached from it. An edge that may lead back to
        // its own state shows nothing to be reached.
        let is_unsure = |position: &usize| unsure.binary_search(position).is_ok();
        if !open.is_empty() {
            let members: Vec<u32> = edges.iter().flatten().copied().collect();
            let numbered = |edge: &Vec<usize>| {
                let itself = edge.iter().any(is_unsure).then_some(state);
                edge.iter().map(|index| members[*index]).chain(itself).collect()
            };
            self.open.insert(state, without_repetition(open.iter().map(numbered).collect()));
        }
        let mut position = 0;
        for edge in &mut edges {
            let positions = position..position + edge.len();
            position = positions.end;
            if positions.into_iter().any(|position| is_unsure(&position)) {
                edge.push(state);
            }
        }
        for edge in without_repetition(edges) {
            self.members.extend(edge);
            self.edge_ends.push(self.members.len() as u32);
        }
        self.ranges[state as usize] = (first, self.edge_ends.len() as u32);
        self.expanded += 1;
    }

    /// True if a state was expanded.
    #[must_use]
    pub fn is_expanded(&self, state: usize) -> bool {
        self.ranges[state] != NOT_EXPANDED
    }

    /// True if every state that was found was expanded.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.expanded == self.states.len()
    }

    pub(crate) fn find_sinks<S: System<State = T>>(&mut self, system: &S) {
        [&mut self.hazards, &mut self.ends, &mut self.limits].into_iter().for_each(Vec::clear);
        for (state, id) in self.states.iter().zip(0u32..) {
            match system.kind(state) {
                StateKind::Ordinary => {}
                StateKind::Hazard => self.hazards.push(id),
                StateKind::End => self.ends.push(id),
                StateKind::Limit => self.limits.push(id),
            }
        }
    }

    /// The space with every state replaced by what `stands_for` says and without the states that were replaced.
    ///
    /// SOUND: a state may be replaced by one that covers it.
    pub(crate) fn merged(self, stands_for: &dyn Fn(u32) -> u32) -> Self {
        let mut new = Self { exhausted: self.exhausted, ..Self::empty() };
        let mut numbers = vec![u32::MAX; self.states.len()];
        let mut old_ranges = Vec::new();
        for ((state, old), range) in self.states.into_iter().zip(0u32..).zip(&self.ranges) {
            if stands_for(old) == old {
                numbers[old as usize] = new.add(state);
                old_ranges.push((old, *range));
            }
        }
        let renumber = |member: &u32| numbers[stands_for(*member) as usize];
        for (old, range) in old_ranges {
            if range == NOT_EXPANDED {
                continue;
            }
            let number = numbers[old as usize];
            for edge in range.0..range.1 {
                let members = members_of(&self.edge_ends, &self.members, edge as usize);
                new.members.extend(members.iter().map(renumber));
                new.edge_ends.push(new.members.len() as u32);
            }
            let end = new.edge_ends.len() as u32;
            new.ranges[number as usize] = (end - (range.1 - range.0), end);
            new.expanded += 1;
            if let Some(open) = self.open.get(&old) {
                let open = open.iter().map(|edge| edge.iter().map(renumber).collect()).collect();
                new.open.insert(number, open);
            }
        }
        new
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

    /// The ends of paths that formulas can speak of.
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The sinks that mark engine limits.
    #[must_use]
    pub fn limits(&self) -> &[u32] {
        &self.limits
    }

    /// True if every path was followed: no state waits in the worklist, and no sink marks a limit of the engine.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_finished() && self.limits.is_empty()
    }

    /// The hyper-edges of a state, each as its members; none if it was not expanded.
    pub fn edges(&self, state: usize) -> impl Iterator<Item = &[u32]> {
        let (first, end) = if self.is_expanded(state) { self.ranges[state] } else { (0, 0) };
        (first..end).map(|edge| members_of(&self.edge_ends, &self.members, edge as usize))
    }

    /// True if some state has choices that the model abstracts.
    #[must_use]
    pub fn has_abstracted_choices(&self) -> bool {
        !self.open.is_empty()
    }

    /// The space as a graph for model checking. The ends of paths are states that are never left. With `hazards_last`,
    /// hazard sinks are such states too, so that a formula can speak of them.
    ///
    /// # Panics
    /// If the members exceed 32 bits, which memory limits exclude.
    #[must_use]
    pub fn graph(&self, hazards_last: bool) -> HyperGraph {
        self.graph_of(hazards_last, &BTreeMap::new())
    }

    /// The same graph with the choices that the model abstracts left open: neither player makes them, they are not
    /// known.
    #[must_use]
    pub fn open_graph(&self, hazards_last: bool) -> HyperGraph {
        self.graph_of(hazards_last, &self.open)
    }

    fn graph_of(&self, hazards_last: bool, replaced: &BTreeMap<u32, Vec<Vec<u32>>>) -> HyperGraph {
        let mut builder = GraphBuilder::new();
        let hazards: &[u32] = if hazards_last { &self.hazards } else { &[] };
        let is_last = |state: u32| hazards.binary_search(&state).is_ok() || self.ends.binary_search(&state).is_ok();
        for state in 0..self.states.len() {
            let id = builder.state();
            if is_last(state as u32) {
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

fn members_of<'a>(edge_ends: &[u32], members: &'a [u32], edge: usize) -> &'a [u32] {
    let start = if edge == 0 { 0 } else { edge_ends[edge - 1] as usize };
    &members[start..edge_ends[edge] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edges of a state with three successors, some of which the system may not come to.
    fn edges_with(unsure: &[usize]) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
        let mut space = StateSpace::empty();
        let state = space.add('a');
        let (b, c, d) = (space.add('b'), space.add('c'), space.add('d'));
        space.set_edges(state, vec![vec![b, c], vec![d]], &[vec![0, 2], vec![1]], unsure);
        let sorted = |edges: Vec<Vec<u32>>| {
            let mut edges: Vec<_> = edges.into_iter().map(|mut edge| (edge.sort_unstable(), edge).1).collect();
            edges.sort();
            edges
        };
        (sorted(space.edges(0).map(<[u32]>::to_vec).collect()), sorted(space.open[&state].clone()))
    }

    #[test]
    fn an_edge_with_an_unsure_member_may_stay() {
        assert_eq!(edges_with(&[]), (vec![vec![1, 2], vec![3]], vec![vec![1, 3], vec![2]]));
        assert_eq!(edges_with(&[1]), (vec![vec![0, 1, 2], vec![3]], vec![vec![0, 2], vec![1, 3]]));
        assert_eq!(edges_with(&[0, 2]), (vec![vec![0, 1, 2], vec![0, 3]], vec![vec![0, 1, 3], vec![2]]));
    }
}
