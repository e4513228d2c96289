//! The nodes of a normal form.

use crate::formula::{FixedPoint, Modality};
use crate::labels::AtomId;

/// A subformula of a [`NormalForm`](crate::NormalForm).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The form of a subformula.
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
