//! Two-valued systems that a three-valued graph stands for.

use mu_calculus::{AtomId, HyperGraph, Labels, StateId};
use three_valued::Truth;

use crate::random::{self, ATOMS, Edges};
use avr_testkit::Random;

/// A two-valued system, and the state of the graph that covers each of its states.
pub struct Concrete {
    pub edges: Edges,
    pub labels: Labels,
    pub covered_by: Vec<StateId>,
}

impl Concrete {
    pub fn graph(&self) -> HyperGraph {
        random::graph(&self.edges)
    }

    /// One state for each combination of the labels that are unknown, and every step that may be.
    pub fn largest(graph: &HyperGraph, labels: &Labels) -> Self {
        let mut copies = Vec::new();
        for state in graph.states() {
            for combination in 0..1_u32 << ATOMS {
                let fits = |atom: u32| match label(graph, labels, atom, state) {
                    Truth::Unknown => true,
                    truth => truth == Truth::from(combination >> atom & 1 == 1),
                };
                if (0..ATOMS).all(fits) {
                    copies.push((state, combination));
                }
            }
        }
        Self::new(copies, |state, _, numbers| {
            let may = if graph.is_sink(state) { vec![state] } else { graph.may(state).to_vec() };
            may.iter().flat_map(|member| numbers(*member)).collect()
        })
    }

    /// A few states for each state of the graph, with labels that fit, and some of the steps that may be: at least one
    /// out of every hyper-edge.
    pub fn random(graph: &HyperGraph, labels: &Labels, random: &mut Random) -> Self {
        let mut copies = Vec::new();
        for state in graph.states() {
            for _ in 0..1 + random.below(2) {
                let value = |atom: u32, random: &mut Random| match label(graph, labels, atom, state) {
                    Truth::Unknown => random.chance(50),
                    truth => truth.is_true(),
                };
                copies.push((state, (0..ATOMS).map(|atom| u32::from(value(atom, random)) << atom).sum()));
            }
        }
        Self::new(copies, |state, _, numbers| {
            let edges: Vec<Vec<StateId>> =
                if graph.is_sink(state) { vec![vec![state]] } else { graph.edges(state).map(<[_]>::to_vec).collect() };
            let mut next = Vec::new();
            for edge in edges {
                let targets: Vec<u32> = edge.iter().flat_map(|member| numbers(*member)).collect();
                next.push(random.pick(&targets));
                next.extend(targets.iter().filter(|_| random.chance(20)));
            }
            next
        })
    }

    fn new(
        copies: Vec<(StateId, u32)>,
        mut successors: impl FnMut(StateId, u32, &dyn Fn(StateId) -> Vec<u32>) -> Vec<u32>,
    ) -> Self {
        let numbers = |state: StateId| (0..).zip(&copies).filter(|(_, copy)| copy.0 == state).map(|(n, _)| n).collect();
        let edges: Edges = copies
            .iter()
            .map(|(state, values)| {
                let mut next = successors(*state, *values, &numbers);
                next.sort_unstable();
                next.dedup();
                next.into_iter().map(|next| vec![next]).collect()
            })
            .collect();
        let mut labels = Labels::new(ATOMS as usize, copies.len());
        for (number, (_, values)) in copies.iter().enumerate() {
            for atom in 0..ATOMS {
                labels.set(AtomId(atom), StateId(number as u32), Truth::from(values >> atom & 1 == 1));
            }
        }
        Self { edges, labels, covered_by: copies.into_iter().map(|(state, _)| state).collect() }
    }
}

fn label(graph: &HyperGraph, labels: &Labels, atom: u32, state: StateId) -> Truth {
    if graph.is_sink(state) { Truth::Unknown } else { labels.get(AtomId(atom), state) }
}
