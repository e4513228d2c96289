//! Sentences to be proved, as games: a formula in normal form, or the negation of one.

use mu_calculus::{FixedPoint, Modality, Node, NodeId, NormalForm};

/// A closed formula whose nodes are numbered from 0.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    pub(crate) nodes: Vec<Node>,
    /// The priority of each fixed point: of those that an infinite play passes again and again the largest decides, and even
    /// ones win.
    pub(crate) priorities: Vec<Option<u32>>,
    pub(crate) root: u32,
}

impl Sentence {
    /// The formula itself.
    pub(crate) fn new(formula: &NormalForm) -> Self {
        let nodes = formula.nodes().to_vec();
        let priorities = (0..nodes.len() as u32).map(|node| formula.priority(NodeId(node))).collect();
        Self { nodes, priorities, root: formula.root().0 }
    }

    /// Its negation: every part is replaced by its dual.
    pub(crate) fn negated(self) -> Self {
        Self {
            nodes: self.nodes.into_iter().map(dual).collect(),
            priorities: self.priorities.into_iter().map(|priority| priority.map(|priority| priority + 1)).collect(),
            root: self.root,
        }
    }
}

fn dual(node: Node) -> Node {
    match node {
        Node::Constant(value) => Node::Constant(!value),
        Node::Atom(atom) => Node::NegatedAtom(atom),
        Node::NegatedAtom(atom) => Node::Atom(atom),
        Node::And(p, q) => Node::Or(p, q),
        Node::Or(p, q) => Node::And(p, q),
        Node::Modal(Modality::Box, p) => Node::Modal(Modality::Diamond, p),
        Node::Modal(Modality::Diamond, p) => Node::Modal(Modality::Box, p),
        Node::Fixed(FixedPoint::Least, p) => Node::Fixed(FixedPoint::Greatest, p),
        Node::Fixed(FixedPoint::Greatest, p) => Node::Fixed(FixedPoint::Least, p),
    }
}
