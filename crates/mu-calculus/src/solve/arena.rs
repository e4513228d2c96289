//! The parity game of one recursive block, never written out: vertices are numbers, moves are computed.
//!
//! There is a vertex for each (node of the block, state). If one player picks the hyper-edge at a node and the other
//! the member, there is one more for each hyper-edge with several members.

use fixedbitset::FixedBitSet;

use crate::formula::Modality;
use crate::graph::{HyperGraph, StateId};
use crate::node::{Node, NodeId};
use crate::problem::Problem;
use crate::solve::{Game, SolveError};

/// The two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Player {
    /// Wants the formula to be true; wins if the largest priority met for ever is even.
    Proponent,
    /// Wants it to be false.
    Opponent,
}

impl Player {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Proponent => Self::Opponent,
            Self::Opponent => Self::Proponent,
        }
    }

    /// Whom a priority favours.
    pub(crate) fn of_priority(priority: u32) -> Self {
        if priority.is_multiple_of(2) { Self::Proponent } else { Self::Opponent }
    }
}

/// The role of a node of the block in the game. Nodes of the block are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// A fixed point; the play goes on with its body.
    Fixed { child: u32, priority: u32 },
    /// `&&` or `||`; a subformula outside of the block is `None` here and part of the decided vertices.
    Binary { owner: Player, children: [Option<u32>; 2] },
    /// A modality at which one player picks any member of any hyper-edge; a sink is followed by itself.
    Flat { owner: Player, child: u32 },
    /// A modality at which `owner` picks the hyper-edge and the other player the member.
    Mixed { owner: Player, child: u32, edge_vertices: u32 },
}

/// The vertices and moves of the game.
#[derive(Debug)]
pub(crate) struct Arena<'a> {
    pub(crate) graph: &'a HyperGraph,
    states: u32,
    roles: Vec<Role>,
    /// The nodes of the block that have the node as a subformula.
    parents: Vec<Vec<u32>>,
    /// The nodes with role `Mixed`, in the order of their hyper-edge vertices.
    mixed: Vec<u32>,
    vertices: u32,
}

/// A vertex taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Vertex {
    /// A node of the block in a state.
    Node(u32, StateId),
    /// A hyper-edge below a node with role `Mixed`.
    Edge(u32, u32),
}

impl<'a> Arena<'a> {
    pub(crate) fn new(problem: &Problem<'a>, game: Game, block: &[NodeId]) -> Result<Self, SolveError> {
        let graph = problem.graph;
        let too_large = SolveError::TooLarge { states: graph.state_count(), nodes: block.len() };
        let node_vertices = block.len() * graph.state_count();
        let branching = graph.branching_edges().len();
        let mut arena = Self {
            graph,
            states: graph.state_count() as u32,
            roles: Vec::with_capacity(block.len()),
            parents: vec![Vec::new(); block.len()],
            mixed: Vec::new(),
            vertices: 0,
        };
        for &node in block {
            let edge_vertices = node_vertices + arena.mixed.len() * branching;
            let role = arena.role(problem, game, block, node, edge_vertices as u32);
            arena.add(role);
        }
        let vertices = node_vertices + arena.mixed.len() * branching;
        arena.vertices = u32::try_from(vertices).ok().filter(|&count| count < u32::MAX).ok_or(too_large)?;
        Ok(arena)
    }

    fn role(&self, problem: &Problem<'a>, game: Game, block: &[NodeId], node: NodeId, edge_vertices: u32) -> Role {
        let inside = |child: NodeId| block.binary_search(&child).ok().map(|index| index as u32);
        let only = |child: NodeId| inside(child).expect("a node of a recursive block has a child in it");
        match problem.formula.node(node) {
            Node::Or(p, q) => Role::Binary { owner: Player::Proponent, children: [inside(p), inside(q)] },
            Node::And(p, q) => Role::Binary { owner: Player::Opponent, children: [inside(p), inside(q)] },
            Node::Fixed(_, body) => {
                Role::Fixed { child: only(body), priority: problem.formula.priority(node).unwrap_or(0) }
            }
            Node::Modal(modality, child) => {
                let child = only(child);
                let owner = match modality {
                    Modality::Diamond => Player::Proponent,
                    Modality::Box => Player::Opponent,
                };
                // The opponent picks members in the game for "certainly true", the proponent in the other.
                let picks_members = if game == Game::Definite { Player::Opponent } else { Player::Proponent };
                if owner == picks_members {
                    Role::Flat { owner, child }
                } else {
                    Role::Mixed { owner, child, edge_vertices }
                }
            }
            Node::Constant(_) | Node::Atom(_) | Node::NegatedAtom(_) => {
                unreachable!("a node without children is in no recursive block")
            }
        }
    }

    fn add(&mut self, role: Role) {
        let node = self.roles.len() as u32;
        let children = match role {
            Role::Binary { children, .. } => children,
            Role::Fixed { child, .. } | Role::Flat { child, .. } | Role::Mixed { child, .. } => [Some(child), None],
        };
        for child in children.into_iter().flatten() {
            self.parents[child as usize].push(node);
        }
        if matches!(role, Role::Mixed { .. }) {
            self.mixed.push(node);
        }
        self.roles.push(role);
    }

    /// The number of vertices.
    pub(crate) fn vertex_count(&self) -> u32 {
        self.vertices
    }

    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    pub(crate) fn role_of(&self, node: u32) -> Role {
        self.roles[node as usize]
    }

    /// The vertex of a node of the block in a state.
    pub(crate) fn vertex(&self, node: u32, state: StateId) -> u32 {
        node * self.states + state.0
    }

    pub(crate) fn decode(&self, vertex: u32) -> Vertex {
        let node = vertex / self.states;
        if (node as usize) < self.roles.len() {
            return Vertex::Node(node, StateId(vertex % self.states));
        }
        let branching = self.graph.branching_edges();
        let offset = vertex as usize - self.roles.len() * self.states as usize;
        Vertex::Edge(self.mixed[offset / branching.len()], branching[offset % branching.len()])
    }

    /// Who moves at a vertex, `None` if there is but one move.
    pub(crate) fn owner(&self, vertex: u32) -> Option<Player> {
        match self.decode(vertex) {
            Vertex::Node(node, _) => match self.role_of(node) {
                Role::Fixed { .. } => None,
                Role::Binary { owner, .. } | Role::Flat { owner, .. } | Role::Mixed { owner, .. } => Some(owner),
            },
            Vertex::Edge(node, _) => match self.role_of(node) {
                Role::Mixed { owner, .. } => Some(owner.other()),
                _ => None,
            },
        }
    }

    /// The priority of a vertex, if it has one.
    pub(crate) fn priority(&self, vertex: u32) -> Option<u32> {
        match self.roles.get((vertex / self.states) as usize) {
            Some(Role::Fixed { priority, .. }) => Some(*priority),
            _ => None,
        }
    }

    /// The move at `position`, `None` if there are fewer.
    pub(crate) fn successor(&self, vertex: u32, position: u32) -> Option<u32> {
        let position = position as usize;
        let (child, state) = match self.decode(vertex) {
            Vertex::Edge(node, edge) => {
                let Role::Mixed { child, .. } = self.role_of(node) else { return None };
                (child, self.graph.edge_members(edge).get(position).copied()?)
            }
            Vertex::Node(node, state) => match self.role_of(node) {
                Role::Fixed { child, .. } => (child, (position == 0).then_some(state)?),
                Role::Binary { children, .. } => (children.into_iter().flatten().nth(position)?, state),
                Role::Flat { child, .. } if self.graph.is_sink(state) => (child, (position == 0).then_some(state)?),
                Role::Flat { child, .. } => (child, self.graph.may(state).get(position).copied()?),
                Role::Mixed { child, edge_vertices, .. } => {
                    let edge = self.graph.edge_range(state).nth(position)?;
                    return Some(self.edge_target(child, edge_vertices, edge));
                }
            },
        };
        Some(self.vertex(child, state))
    }

    /// The target of the move that picks a hyper-edge: its vertex, or directly its only member.
    fn edge_target(&self, child: u32, edge_vertices: u32, edge: u32) -> u32 {
        match self.graph.edge_members(edge) {
            [member] => self.vertex(child, *member),
            _ => edge_vertices + self.graph.branching_index(edge),
        }
    }

    /// Calls `visit` with every vertex that has a move to `vertex`, possibly several times. The second argument is the
    /// hyper-edge that the owner of that vertex picks for it, if any.
    pub(crate) fn predecessors(&self, vertex: u32, visit: &mut impl FnMut(u32, Option<u32>)) {
        match self.decode(vertex) {
            Vertex::Edge(node, edge) => visit(self.vertex(node, self.graph.source(edge)), Some(edge)),
            Vertex::Node(node, state) => {
                for &parent in &self.parents[node as usize] {
                    self.predecessors_of_node(parent, state, visit);
                }
            }
        }
    }

    fn predecessors_of_node(&self, parent: u32, state: StateId, visit: &mut impl FnMut(u32, Option<u32>)) {
        match self.role_of(parent) {
            Role::Fixed { .. } | Role::Binary { .. } => visit(self.vertex(parent, state), None),
            Role::Flat { .. } => {
                for &edge in self.graph.incoming(state) {
                    visit(self.vertex(parent, self.graph.source(edge)), None);
                }
                if self.graph.is_sink(state) {
                    visit(self.vertex(parent, state), None);
                }
            }
            Role::Mixed { edge_vertices, .. } => {
                for &edge in self.graph.incoming(state) {
                    if self.graph.edge_members(edge).len() == 1 {
                        visit(self.vertex(parent, self.graph.source(edge)), Some(edge));
                    } else {
                        visit(edge_vertices + self.graph.branching_index(edge), None);
                    }
                }
            }
        }
    }

    /// The vertices that are decided by what lies outside of the block, with the winner. At `&&` and `||` they have the
    /// position of the subformula that decides.
    pub(crate) fn exits(
        &self,
        problem: &Problem<'_>,
        block: &[NodeId],
        won: &[FixedBitSet],
        visit: &mut impl FnMut(u32, Player, Option<usize>),
    ) {
        for (node, role) in self.roles.iter().enumerate() {
            match *role {
                Role::Binary { owner, children } => {
                    let outside = problem.formula.node(block[node]).children();
                    for (position, child) in outside.iter().enumerate() {
                        if children[position].is_none() {
                            let wins = |state: usize| won[child.index()].contains(state);
                            self.states_where(|state| wins(state) == (owner == Player::Proponent))
                                .for_each(|state| visit(self.vertex(node as u32, state), owner, Some(position)));
                        }
                    }
                }
                // A sink has no hyper-edge for the owner to pick.
                Role::Mixed { owner, .. } => self
                    .states_where(|state| self.graph.sinks().contains(state))
                    .for_each(|state| visit(self.vertex(node as u32, state), owner.other(), None)),
                Role::Fixed { .. } | Role::Flat { .. } => {}
            }
        }
    }

    fn states_where(&self, condition: impl Fn(usize) -> bool) -> impl Iterator<Item = StateId> {
        self.graph.states().filter(move |state| condition(state.index()))
    }

    /// The player whom all priorities favour, if they favour the same one.
    pub(crate) fn favoured(&self) -> Option<Player> {
        let mut players = self.roles.iter().filter_map(|role| match role {
            Role::Fixed { priority, .. } => Some(Player::of_priority(*priority)),
            _ => None,
        });
        let first = players.next()?;
        players.all(|player| player == first).then_some(first)
    }
}
