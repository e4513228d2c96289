//! Truth values and winning strategies: the results of the solver.

use fixedbitset::FixedBitSet;
use three_valued::Truth;

use crate::formula::Modality;
use crate::graph::StateId;
use crate::node::{Node, NodeId};
use crate::problem::Problem;

/// The three-valued value of every subformula in every state, with the strategies that prove the decided ones.
///
/// The methods that take a [`Problem`] must get the one that was solved.
#[derive(Clone, Debug)]
pub struct Solution {
    root: NodeId,
    initial: StateId,
    /// The game for "certainly true": won where the value is true.
    pub(crate) definite: Outcome,
    /// The game for "not certainly false": lost where the value is false.
    pub(crate) possible: Outcome,
}

/// The outcome of one of the two games: the nodes that the player who wants the formula true wins, and the recorded
/// moves of the player whom a decided value proves right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Per node the set of states.
    pub(crate) won: Vec<FixedBitSet>,
    /// Per node the moves, where winning is not enough to know one.
    pub(crate) moves: Vec<Moves>,
}

/// The moves of a positional strategy at one node.
#[derive(Clone, Debug, Default)]
pub(crate) enum Moves {
    /// Every move that stays among the won nodes will do.
    #[default]
    Any,
    /// The states where the second of two subformulas is to be chosen.
    Child(FixedBitSet),
    /// Per state the number of the hyper-edge, among those of all states.
    Edge(Vec<u32>),
}

/// A move of a winning strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Go on with this subformula in the same state.
    Child(NodeId),
    /// Take the hyper-edge with this index among those of the state. The opponent chooses the member.
    Edge(usize),
}

impl Solution {
    pub(crate) fn new(problem: &Problem<'_>, definite: Outcome, possible: Outcome) -> Self {
        Self { root: problem.formula.root(), initial: problem.graph.initial(), definite, possible }
    }

    /// The value of the whole formula in the initial state.
    #[must_use]
    pub fn verdict(&self) -> Truth {
        self.truth(self.initial, self.root)
    }

    /// The value of a subformula in a state.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn truth(&self, state: StateId, node: NodeId) -> Truth {
        if self.definite.won[node.index()].contains(state.index()) {
            Truth::True
        } else if self.possible.won[node.index()].contains(state.index()) {
            Truth::Unknown
        } else {
            Truth::False
        }
    }

    /// The move of the winning strategy at a decided node, or `None` where the value is unknown or there is nothing
    /// to choose for the winner.
    ///
    /// If the value is true, the winner chooses at `p || q` and `<>p`; if it is false, at `p && q` and `[]p`.
    /// Everywhere else the opponent moves, and every move of his leads to a node with the same value: at `[]p` (true)
    /// or `<>p` (false) to any member of any hyper-edge or, from a sink, to the sink itself. Follow the choices, and
    /// the largest priority passed infinitely often is even on a play from a true node, odd from a false one.
    ///
    /// # Panics
    /// If there is no such node or state, or `problem` is not the one that was solved.
    #[must_use]
    pub fn choice(&self, problem: &Problem<'_>, state: StateId, node: NodeId) -> Option<Choice> {
        let truth = self.truth(state, node);
        let moves = match truth {
            Truth::True => &self.definite.moves[node.index()],
            Truth::False => &self.possible.moves[node.index()],
            Truth::Unknown => return None,
        };
        match (problem.formula.node(node), truth) {
            (Node::Or(p, q), Truth::True) | (Node::And(p, q), Truth::False) => {
                Some(Choice::Child(self.chosen_child(moves, state, [p, q], truth)))
            }
            (Node::Modal(Modality::Diamond, p), Truth::True) | (Node::Modal(Modality::Box, p), Truth::False) => {
                self.chosen_edge(problem, moves, state, p, truth).map(Choice::Edge)
            }
            _ => None,
        }
    }

    fn chosen_child(&self, moves: &Moves, state: StateId, children: [NodeId; 2], truth: Truth) -> NodeId {
        let second = match moves {
            Moves::Child(second) => second.contains(state.index()),
            _ => self.truth(state, children[0]) != truth,
        };
        children[usize::from(second)]
    }

    fn chosen_edge(
        &self,
        problem: &Problem<'_>,
        moves: &Moves,
        state: StateId,
        child: NodeId,
        truth: Truth,
    ) -> Option<usize> {
        match moves {
            Moves::Edge(edges) => Some((edges[state.index()] - problem.graph.edge_range(state).start) as usize),
            _ => problem
                .graph
                .edges(state)
                .position(|members| members.iter().all(|&member| self.truth(member, child) == truth)),
        }
    }
}
