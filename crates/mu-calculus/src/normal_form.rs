//! Positive normal form: negations at the atoms only, CTL as fixed points, every subformula once.
//!
//! The result is a flat, cyclic graph of [`Node`]s. A variable is an edge back to the node of its fixed point, so
//! there are no variable nodes. CTL is translated by the usual fixed points over total transitions (Clarke, Emerson &
//! Sistla): `E[p U q]` is `mu Z. q || (p && <>Z)`, and so on. Negation is pushed inwards by duality; `<->` is
//! `(p && q) || (!p && !q)`, of which sharing keeps the size linear. Path formulas come in as automata
//! ([`automaton`](crate::automaton)).

mod terms;
mod translation;
mod tying;

use thiserror::Error;
use three_valued::fault::{Fault, is_on};

use crate::formula::{FixedPoint, Formula, MAX_DEPTH, Modality, Variable};
use crate::labels::AtomId;
use crate::priority::{Block, order};
pub(crate) use terms::TermId;
use terms::{Term, Terms};
pub(crate) use translation::Translation;
pub(crate) use tying::Tying;

/// A subformula of a [`NormalForm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The operator and the children of a subformula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true` or `false`.
    Constant(bool),
    /// An atom.
    Atom(AtomId),
    /// A negated atom.
    NegatedAtom(AtomId),
    /// Both hold.
    And(NodeId, NodeId),
    /// One holds.
    Or(NodeId, NodeId),
    /// `[]p` or `<>p`.
    Modal(Modality, NodeId),
    /// A fixed point and its body; where the body uses the variable, it refers back to this node.
    Fixed(FixedPoint, NodeId),
}

impl Node {
    /// The subformulas that the value depends on directly, left to right.
    #[must_use]
    pub fn children(&self) -> Children {
        match *self {
            Self::Constant(_) | Self::Atom(_) | Self::NegatedAtom(_) => Children { nodes: [NodeId(0); 2], count: 0 },
            Self::And(p, q) | Self::Or(p, q) => Children { nodes: [p, q], count: 2 },
            Self::Modal(_, p) | Self::Fixed(_, p) => Children { nodes: [p, p], count: 1 },
        }
    }
}

/// At most two subformulas; used as a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    nodes: [NodeId; 2],
    count: usize,
}

impl std::ops::Deref for Children {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        &self.nodes[..self.count]
    }
}

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
    /// if the nesting exceeds [`MAX_DEPTH`] or an automaton its limits.
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

/// The reason why a formula has no normal form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// A variable without a fixed point around it.
    #[error("the variable `{}` is not bound; put `mu {0}.` or `nu {0}.` in front", variable.name)]
    UnboundVariable {
        /// The variable.
        variable: Variable,
    },
    /// A variable under an odd number of negations: no fixed point need exist.
    #[error("the variable `{}` stands under an odd number of negations; negate it twice or not at all", variable.name)]
    NegatedVariable {
        /// The variable.
        variable: Variable,
    },
    /// Nested too deeply.
    #[error("the formula is nested more than {MAX_DEPTH} levels deep; split it into several properties")]
    TooDeep,
    /// An operator of linear time outside of `A[…]` and `E[…]`.
    #[error("`{operator}` speaks of a path; put the formula into A[…] or E[…]")]
    PathFormula {
        /// The operator as it is written.
        operator: String,
    },
    /// A fixed-point variable inside of a path formula, whose automaton has no place for it.
    #[error("the variable `{}` stands in a path formula; only single operators such as A[p U X] may contain one", variable.name)]
    PathVariable {
        /// The variable.
        variable: Variable,
    },
    /// An operator of the past over one of the future.
    #[error("`{operator}` stands below an operator of the past; only operators of the past may")]
    FutureInPast {
        /// The operator of the future as it is written.
        operator: String,
    },
    /// An automaton beyond the limits.
    #[error("the automaton of `A[…]`, `E[…]` or `Ltl` grows too large; split it into several properties")]
    TooLarge,
}
