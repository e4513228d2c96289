//! Positive normal form: negations at the atoms only, CTL as fixed points, every subformula once.
//!
//! The result is a flat, cyclic graph of [`Node`]s. A variable is an edge back to the node of its fixed point, so
//! there are no variable nodes. CTL is translated by the usual fixed points over total transitions (Clarke, Emerson &
//! Sistla): `E[p U q]` is `mu Z. q || (p && <>Z)`, and so on. Negation is pushed inwards by duality; `<->` is
//! `(p && q) || (!p && !q)`, of which sharing keeps the size linear. Path formulas come in as automata
//! ([`automaton`]).

mod automaton;
mod error;
mod terms;
mod translation;
mod tying;

use std::collections::BTreeSet;
use three_valued::fault::{Fault, is_on};

use crate::formula::Formula;
use crate::labels::AtomId;
use crate::node::{Node, NodeId};
use crate::priority::{Block, order};
pub use error::TranslateError;
use translation::Translation;
use tying::Tying;

/// A closed formula in positive normal form, ready for [`Problem::solve`](crate::Problem::solve).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalForm {
    nodes: Vec<Node>,
    root: NodeId,
    priorities: Vec<u32>,
    blocks: Vec<Block>,
}

impl NormalForm {
    /// Translates a formula.
    ///
    /// # Errors
    /// If a variable is unbound or stands under an odd number of negations, if a path formula stands where it cannot, or
    /// if the nesting exceeds [`MAX_DEPTH`](crate::MAX_DEPTH) or an automaton its limits.
    pub fn new(formula: &Formula<AtomId>) -> Result<Self, TranslateError> {
        let mut translation = Translation::default();
        let term = translation.term(formula, true, 0)?;
        if let Some(variable) = formula.negated_variable() {
            return Err(TranslateError::NegatedVariable { variable: variable.clone() });
        }
        let mut graph = Tying::new(&translation.terms, &translation.automata);
        let root = graph.node(term, &mut Vec::new());
        let nodes = graph.nodes;
        let order = order(&nodes, &graph.priorities);
        Ok(Self { nodes, root, priorities: order.priorities, blocks: order.blocks })
    }

    /// The node of the whole formula.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The number of different subformulas.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The operator and the children of a subformula.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// All nodes; a [`NodeId`] is an index into them.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The atoms that occur, ascending, each once.
    #[must_use]
    pub fn atoms(&self) -> Vec<AtomId> {
        let mut atoms: Vec<AtomId> = self
            .nodes
            .iter()
            .filter_map(|node| match node {
                Node::Atom(atom) | Node::NegatedAtom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// The subformula that is the same as another formula, if there is one.
    #[must_use]
    pub fn find(&self, other: &Self) -> Option<NodeId> {
        (0..).map(NodeId).take(self.nodes.len()).find(|node| self.is_same(*node, other))
    }

    /// True if a subformula is the same as another formula.
    fn is_same(&self, node: NodeId, other: &Self) -> bool {
        let mut waiting = vec![(node, other.root)];
        let mut seen = BTreeSet::new();
        while let Some((one, two)) = waiting.pop() {
            if !seen.insert((one.index(), two.index())) {
                continue;
            }
            let (mine, its) = (self.node(one), other.node(two));
            let is_same = match (mine, its) {
                (Node::Modal(mine, _), Node::Modal(its, _)) => mine == its,
                (Node::Fixed(mine, _), Node::Fixed(its, _)) => mine == its,
                (Node::And(..), Node::And(..)) | (Node::Or(..), Node::Or(..)) => true,
                _ => mine == its,
            };
            if !is_same {
                return false;
            }
            waiting.extend(mine.children().iter().copied().zip(its.children().iter().copied()));
        }
        true
    }

    /// The priority of a fixed point among those that it depends on and that depend on it: odd for least ones, even
    /// for greatest. Of what an infinite play passes infinitely often, the largest decides: even wins.
    #[must_use]
    pub fn priority(&self, id: NodeId) -> Option<u32> {
        matches!(self.node(id), Node::Fixed(..))
            .then(|| self.priorities[id.index()] + u32::from(is_on(Fault::LeastIsGreatest)))
    }

    /// The largest number of fixed points of changing kind that depend on each other: 0 without recursion, 1 if
    /// alternation-free.
    #[must_use]
    pub fn alternation_depth(&self) -> u32 {
        self.blocks.iter().filter(|block| block.recursive).map(|block| self.levels(block)).max().unwrap_or(0)
    }

    fn levels(&self, block: &Block) -> u32 {
        let priorities = || block.nodes.iter().filter_map(|&node| self.priority(node));
        1 + priorities().max().unwrap_or(0) - priorities().min().unwrap_or(0)
    }

    /// The blocks of nodes that depend on each other, each after those that it depends on.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}
