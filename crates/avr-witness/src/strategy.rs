//! The winning strategy of the solution: the next moves that show a verdict, by the shortest way where that is known.
//!
//! A verdict is a game of the one whom it proves right against an opponent. In a set of subformulas that depend on each
//! other (a *component*), the winner either has to leave within finitely many steps, or may stay for ever. The kind of
//! its fixed points decides which. To leave, he follows [`Ranks`]; to stay, any move that keeps the value will do.

use crate::progress_measure::Ranks;
use mu_calculus::{
    AtomId, Choice, FixedPoint, HyperGraph, Modality, Node, NodeId, NormalForm, Problem, Solution, StateId,
};
use std::cell::OnceCell;
use three_valued::Truth;

/// The local claims of a subformula with a value in a state, by the winner's choices. They say what is true now, and
/// what is claimed of the next states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    /// Atoms and their values.
    pub(crate) atoms: Vec<(AtomId, bool)>,
    /// Modal subformulas whose next state the winner chooses.
    pub(crate) moves: Vec<NodeId>,
    /// Modal subformulas that speak of all next states, each with the largest subformula that it belongs to.
    pub(crate) universal: Vec<(NodeId, NodeId)>,
}

/// The winning condition of a play within a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Play {
    /// The subformula does not depend on itself, or all of its fixed points are of one kind.
    Simple,
    /// Fixed points of both kinds: only the solver's strategy is known to be right.
    Alternating,
}

/// The strategy for one solved formula.
pub(crate) struct Strategy<'a> {
    pub(crate) problem: Problem<'a>,
    solution: &'a Solution,
    /// The number of the component of each node.
    components: Vec<usize>,
    plays: Vec<Play>,
    ranks: Vec<OnceCell<Ranks>>,
}

impl<'a> Strategy<'a> {
    pub(crate) fn new(problem: Problem<'a>, solution: &'a Solution) -> Self {
        let components = components(problem.formula);
        let count = components.iter().copied().max().map_or(0, |last| last + 1);
        let play = |component: usize| play(problem.formula, &components, component);
        let plays = (0..count).map(play).collect();
        Self { problem, solution, plays, ranks: (0..count).map(|_| OnceCell::new()).collect(), components }
    }

    pub(crate) fn formula(&self) -> &'a NormalForm {
        self.problem.formula
    }

    pub(crate) fn graph(&self) -> &'a HyperGraph {
        self.problem.graph
    }

    pub(crate) fn truth(&self, state: StateId, node: NodeId) -> Truth {
        self.solution.truth(state, node)
    }

    /// True if the winner chooses the next state at a modal subformula with this value.
    pub(crate) fn is_move(&self, node: NodeId, value: Truth) -> bool {
        let wanted = if value.is_true() { Modality::Diamond } else { Modality::Box };
        matches!(self.formula().node(node), Node::Modal(modality, _) if modality == wanted)
    }

    /// True if the winner chooses among the two parts of a subformula with this value.
    fn chooses_part(&self, node: NodeId, value: Truth) -> bool {
        match self.formula().node(node) {
            Node::Or(..) => value.is_true(),
            Node::And(..) => value.is_false(),
            _ => false,
        }
    }

    pub(crate) fn component(&self, node: NodeId) -> usize {
        self.components[node.index()]
    }

    /// The local claims of a decided subformula in a state.
    pub(crate) fn local(&self, state: StateId, node: NodeId) -> Local {
        let mut local = Local::default();
        let mut seen = Vec::new();
        self.collect(state, node, node, &mut seen, &mut local);
        local
    }

    /// `whole` is the subformula by which the component of `node` was entered.
    fn collect(&self, state: StateId, node: NodeId, whole: NodeId, seen: &mut Vec<NodeId>, local: &mut Local) {
        if seen.contains(&node) {
            return;
        }
        seen.push(node);
        let value = self.truth(state, node);
        let whole = if self.component(node) == self.component(whole) { whole } else { node };
        match self.formula().node(node) {
            Node::Constant(_) => {}
            Node::Atom(atom) => local.atoms.push((atom, value.is_true())),
            Node::NegatedAtom(atom) => local.atoms.push((atom, value.is_false())),
            Node::Modal(..) if self.is_move(node, value) => local.moves.push(node),
            Node::Modal(..) => local.universal.push((node, whole)),
            Node::Fixed(_, body) => self.collect(state, body, whole, seen, local),
            Node::And(left, right) | Node::Or(left, right) if self.chooses_part(node, value) => {
                let part = self.part(state, node, [left, right]);
                self.collect(state, part, whole, seen, local);
            }
            Node::And(left, right) | Node::Or(left, right) => {
                self.collect(state, left, whole, seen, local);
                self.collect(state, right, whole, seen, local);
            }
        }
    }

    /// The part that the winner chooses.
    fn part(&self, state: StateId, node: NodeId, parts: [NodeId; 2]) -> NodeId {
        let value = self.truth(state, node);
        let proves = |part: &NodeId| self.truth(state, *part) == value;
        let by_solution = || match self.solution.choice(&self.problem, state, node) {
            Some(Choice::Child(child)) => child,
            _ => *parts.iter().find(|part| proves(part)).unwrap_or(&parts[0]),
        };
        if self.plays[self.component(node)] == Play::Alternating {
            return by_solution();
        }
        // Leaving a component for what is won there as well is never worse, and shortest.
        let outside = parts.iter().filter(|part| proves(part) && self.component(**part) != self.component(node));
        if let Some(part) = outside.min_by_key(|part| self.size(**part)) {
            return *part;
        }
        let ranked = parts.iter().filter(|part| proves(part) && self.rank(state, **part, node).is_some());
        ranked.min_by_key(|part| self.rank(state, **part, node)).copied().unwrap_or_else(by_solution)
    }

    /// 0 for what speaks of the present state only.
    fn size(&self, node: NodeId) -> usize {
        let mut seen = vec![node];
        let mut next = 0;
        while let Some(node) = seen.get(next).copied() {
            next += 1;
            for child in self.formula().node(node).children().iter() {
                if !seen.contains(child) {
                    seen.push(*child);
                }
            }
        }
        seen.iter().filter(|node| matches!(self.formula().node(**node), Node::Modal(..))).count()
    }

    /// The most steps in which the winner leaves the component of `of` from a pair, if he can; 0 if it is outside.
    pub(crate) fn rank(&self, state: StateId, node: NodeId, of: NodeId) -> Option<u32> {
        let component = self.component(of);
        if self.component(node) != component {
            return Some(0);
        }
        if self.plays[component] == Play::Alternating {
            return None;
        }
        self.ranks[component].get_or_init(|| Ranks::new(self, component)).get(state, node)
    }

    /// The move along which one run goes on: one within the component of `node` if there is. Of several it is the one
    /// by which the winner does not win for ever, so that the run shows why he wins.
    pub(crate) fn main_move(&self, node: NodeId, moves: &[NodeId]) -> Option<NodeId> {
        let preference = |modal: &&NodeId| {
            let inside = self.component(**modal) == self.component(node);
            (!inside, self.is_won_by_staying(**modal))
        };
        moves.iter().min_by_key(preference).copied()
    }

    /// True if a play that passes the fixed point behind a modal subformula for ever is won by the winner of a move.
    fn is_won_by_staying(&self, modal: NodeId) -> bool {
        let formula = self.formula();
        let Node::Modal(modality, child) = formula.node(modal) else { return false };
        matches!(
            (modality, formula.node(child)),
            (Modality::Diamond, Node::Fixed(FixedPoint::Greatest, _))
                | (Modality::Box, Node::Fixed(FixedPoint::Least, _))
        )
    }

    /// The hyper-edge that the winner takes at a modal subformula, as its members; all members where the opponent moves.
    pub(crate) fn members(&self, state: StateId, node: NodeId) -> Vec<StateId> {
        let Node::Modal(_, child) = self.formula().node(node) else { return Vec::new() };
        let value = self.truth(state, node);
        if !self.is_move(node, value) {
            return self.graph().may(state).to_vec();
        }
        if self.rank(state, node, node).is_some() {
            let worst = |edge: &&[StateId]| edge.iter().map(|member| self.worst(*member, child, node, value)).max();
            if let Some(edge) = self.graph().edges(state).min_by_key(worst) {
                return edge.to_vec();
            }
        }
        match self.solution.choice(&self.problem, state, node) {
            Some(Choice::Edge(edge)) => self.graph().edge(state, edge).to_vec(),
            _ => Vec::new(),
        }
    }

    /// True if arriving in a state keeps what a modal subformula claims, as far as the subformula depends on itself in a
    /// simple way.
    pub(crate) fn is_kept(&self, from: StateId, node: NodeId, to: StateId) -> bool {
        let Node::Modal(_, child) = self.formula().node(node) else { return false };
        self.plays[self.component(node)] == Play::Simple && self.truth(to, child) == self.truth(from, node)
    }

    /// True if arriving in a state brings the winner nearer to his aim at a modal subformula.
    pub(crate) fn is_progress(&self, from: StateId, node: NodeId, to: StateId, chosen: &[StateId]) -> bool {
        let Node::Modal(_, child) = self.formula().node(node) else { return false };
        let value = self.truth(from, node);
        if self.truth(to, child) != value {
            return false;
        }
        if self.plays[self.component(node)] == Play::Alternating {
            return chosen.contains(&to);
        }
        match (self.rank(from, node, node), self.rank(to, child, node)) {
            // From 0 every way out is as good: the component is left by this step.
            (Some(before), Some(after)) => after < before || self.component(child) != self.component(node),
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    /// The rank of a pair with this value; the greatest number where there is none.
    fn worst(&self, state: StateId, node: NodeId, of: NodeId, value: Truth) -> u32 {
        let rank = if self.truth(state, node) == value { self.rank(state, node, of) } else { None };
        rank.unwrap_or(u32::MAX)
    }
}

/// The components of the nodes of a formula: two nodes share one if each depends on the other.
fn components(formula: &NormalForm) -> Vec<usize> {
    let count = formula.node_count();
    let reached: Vec<Vec<bool>> = (0..count).map(|from| reachable(formula, NodeId(from as u32))).collect();
    let first = |node: usize| (0..count).find(|other| *other == node || reached[node][*other] && reached[*other][node]);
    (0..count).map(|node| first(node).unwrap_or(node)).collect()
}

/// The nodes that a node depends on by at least one step.
fn reachable(formula: &NormalForm, from: NodeId) -> Vec<bool> {
    let mut reached = vec![false; formula.node_count()];
    let mut waiting: Vec<NodeId> = formula.node(from).children().to_vec();
    while let Some(node) = waiting.pop() {
        if !std::mem::replace(&mut reached[node.index()], true) {
            waiting.extend(formula.node(node).children().iter());
        }
    }
    reached
}

fn play(formula: &NormalForm, components: &[usize], component: usize) -> Play {
    let fixed = formula.nodes().iter().zip(components).filter(|(_, of)| **of == component);
    let mut kinds = fixed.filter_map(|(node, _)| match node {
        Node::Fixed(kind, _) => Some(*kind),
        _ => None,
    });
    match kinds.next() {
        Some(first) if kinds.any(|kind| kind != first) => Play::Alternating,
        _ => Play::Simple,
    }
}
