//! Progress measures: the most steps after which the winner has left a component, whatever the opponent does.

use crate::strategy::Strategy;
use mu_calculus::{HyperGraph, Node, NodeId, StateId};
use std::collections::VecDeque;
use three_valued::Truth;

const NONE: u32 = u32::MAX;

/// The ranks of all pairs of a state and a node of one component: the attractor of what lies outside of it.
#[derive(Debug)]
pub(crate) struct Ranks {
    /// The place of each node of the formula among those of the component.
    places: Vec<Option<usize>>,
    /// Place by place, state by state.
    ranks: Vec<Vec<u32>>,
}

impl Ranks {
    pub(crate) fn new(strategy: &Strategy<'_>, component: usize) -> Self {
        let nodes: Vec<NodeId> = (0..strategy.formula().node_count() as u32).map(NodeId).collect();
        let inside: Vec<NodeId> = nodes.iter().copied().filter(|node| strategy.component(*node) == component).collect();
        let places = nodes.iter().map(|node| inside.iter().position(|other| other == node)).collect();
        let states = strategy.graph().state_count();
        let mut search = Search {
            strategy,
            incoming: Incoming::new(strategy.graph()),
            found: Self { places, ranks: vec![vec![NONE; states]; inside.len()] },
            open_members: vec![Vec::new(); inside.len()],
            nodes: inside,
            now: VecDeque::new(),
            next: VecDeque::new(),
        };
        search.start();
        search.run();
        search.found
    }

    pub(crate) fn get(&self, state: StateId, node: NodeId) -> Option<u32> {
        let place = self.places[node.index()]?;
        Some(self.ranks[place][state.index()]).filter(|rank| *rank != NONE)
    }
}

/// Breadth-first search backwards, in the order of ranks.
struct Search<'a, 'b> {
    strategy: &'a Strategy<'b>,
    incoming: Incoming,
    found: Ranks,
    nodes: Vec<NodeId>,
    /// The number of members of each hyper-edge that have no rank yet, for modal nodes.
    open_members: Vec<Vec<u32>>,
    /// Pairs of the present rank and of the next.
    now: VecDeque<(StateId, NodeId)>,
    next: VecDeque<(StateId, NodeId)>,
}

impl Search<'_, '_> {
    fn start(&mut self) {
        for place in 0..self.nodes.len() {
            let node = self.nodes[place];
            if let Node::Modal(..) = self.strategy.formula().node(node) {
                self.open_members[place] = self.incoming.sizes.clone();
            }
            for state in self.strategy.graph().states() {
                match self.starts_with(state, node) {
                    Some(0) => self.now.push_back((state, node)),
                    Some(_) => self.next.push_back((state, node)),
                    None => {}
                }
            }
        }
    }

    fn is_inside(&self, node: NodeId) -> bool {
        self.found.places[node.index()].is_some()
    }

    /// The rank of a pair that leaves the component at once.
    fn starts_with(&self, state: StateId, node: NodeId) -> Option<u32> {
        let value = self.strategy.truth(state, node);
        if value.is_unknown() {
            return None;
        }
        let proves = |part: NodeId| self.strategy.truth(state, part) == value;
        let leaves = |part: NodeId| !self.is_inside(part) && proves(part);
        match self.strategy.formula().node(node) {
            Node::Constant(_) | Node::Atom(_) | Node::NegatedAtom(_) => Some(0),
            Node::Modal(_, _) if !self.strategy.is_move(node, value) => Some(0),
            Node::Modal(_, child) => (!self.is_inside(child)).then_some(1),
            Node::Fixed(_, body) => leaves(body).then_some(0),
            Node::And(left, right) | Node::Or(left, right) => match chooses(self.strategy, node, value) {
                true => (leaves(left) || leaves(right)).then_some(0),
                false => (leaves(left) && leaves(right)).then_some(0),
            },
        }
    }

    fn run(&mut self) {
        let mut rank = 0;
        while !(self.now.is_empty() && self.next.is_empty()) {
            while let Some((state, node)) = self.now.pop_front() {
                self.settle(state, node, rank);
            }
            std::mem::swap(&mut self.now, &mut self.next);
            rank += 1;
        }
    }

    fn settle(&mut self, state: StateId, node: NodeId, rank: u32) {
        let Some(place) = self.found.places[node.index()] else { return };
        if self.found.ranks[place][state.index()] != NONE {
            return;
        }
        self.found.ranks[place][state.index()] = rank;
        for place in 0..self.nodes.len() {
            let parent = self.nodes[place];
            if !self.strategy.formula().node(parent).children().contains(&node) {
                continue;
            }
            match self.strategy.formula().node(parent) {
                Node::Modal(..) => self.reach_backwards(place, state, node),
                _ => self.reach_parent(parent, state, node),
            }
        }
    }

    /// A node in the same state whose part has a rank now.
    fn reach_parent(&mut self, parent: NodeId, state: StateId, part: NodeId) {
        let value = self.strategy.truth(state, parent);
        if value.is_unknown() || self.strategy.truth(state, part) != value {
            return;
        }
        let has_rank = |child: &NodeId| !self.is_inside(*child) || self.found.get(state, *child).is_some();
        let children = self.strategy.formula().node(parent).children();
        if chooses(self.strategy, parent, value) || children.iter().all(has_rank) {
            self.now.push_back((state, parent));
        }
    }

    /// The states before, by hyper-edges all of whose members have ranks now.
    fn reach_backwards(&mut self, place: usize, state: StateId, child: NodeId) {
        let parent = self.nodes[place];
        let value = self.strategy.truth(state, child);
        for edge in self.incoming.of(state) {
            let (source, open) = (self.incoming.sources[*edge as usize], &mut self.open_members[place][*edge as usize]);
            // A member counts for the value that it has; one edge is never complete for both.
            if self.strategy.truth(source, parent) != value || !self.strategy.is_move(parent, value) {
                continue;
            }
            *open -= 1;
            if *open == 0 {
                self.next.push_back((source, parent));
            }
        }
    }
}

/// True if the winner chooses the part.
fn chooses(strategy: &Strategy<'_>, node: NodeId, value: Truth) -> bool {
    match strategy.formula().node(node) {
        Node::Or(..) => value.is_true(),
        Node::And(..) => value.is_false(),
        _ => false,
    }
}

/// The hyper-edges that lead into each state, once per membership.
struct Incoming {
    starts: Vec<u32>,
    edges: Vec<u32>,
    sources: Vec<StateId>,
    /// The number of members of each hyper-edge.
    sizes: Vec<u32>,
}

impl Incoming {
    fn new(graph: &HyperGraph) -> Self {
        let mut starts = vec![0u32; graph.state_count() + 1];
        let (mut sources, mut sizes) = (Vec::new(), Vec::new());
        for state in graph.states() {
            for edge in graph.edges(state) {
                sources.push(state);
                sizes.push(edge.len() as u32);
                edge.iter().for_each(|member| starts[member.index() + 1] += 1);
            }
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut edges = vec![0u32; graph.member_count()];
        let all = graph.states().flat_map(|state| graph.edges(state));
        for (edge, members) in (0u32..).zip(all) {
            for member in members {
                let place = &mut next[member.index()];
                edges[*place as usize] = edge;
                *place += 1;
            }
        }
        Self { starts, edges, sources, sizes }
    }

    fn of(&self, state: StateId) -> &[u32] {
        &self.edges[self.starts[state.index()] as usize..self.starts[state.index() + 1] as usize]
    }
}
