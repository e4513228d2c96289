//! And-inverter graphs: Boolean functions as nodes that are variables or conjunctions, and literals that are nodes or their
//! complements (Kuehlmann et al., "Robust Boolean reasoning for equivalence checking and functional property verification",
//! 2002).
//!
//! Equal conjunctions are one node (hash-consing), and what two levels tell is folded away. A node stands behind those that it
//! is made of.

use super::bit::SymbolicBit;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

/// A node or its complement, a constant, or [`Literal::OPEN`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Literal(u32);

impl Literal {
    pub(crate) const FALSE: Self = Self(0);
    pub(crate) const TRUE: Self = Self(1);
    /// A bit of which nothing is known, neither its value nor its relation to any other bit. It is its own complement.
    pub(crate) const OPEN: Self = Self(u32::MAX);

    pub(crate) fn constant(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// The value if it is a constant.
    pub(crate) fn known(self) -> Option<bool> {
        match self {
            Self::FALSE => Some(false),
            Self::TRUE => Some(true),
            _ => None,
        }
    }

    pub(crate) fn not(self) -> Self {
        if self == Self::OPEN { self } else { Self(self.0 ^ 1) }
    }

    /// The number of the node; that of the constants is 0. [`Self::OPEN`] has none.
    pub(crate) fn node(self) -> Option<usize> {
        (self != Self::OPEN).then_some((self.0 >> 1) as usize)
    }

    /// True for the complement of a node, and for the constant 1.
    pub(crate) fn is_complement(self) -> bool {
        self.0 & 1 == 1
    }

    fn of_node(node: usize) -> Self {
        Self((node as u32) << 1)
    }

    /// The conjunction where it takes no node.
    pub(crate) fn folded_and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::FALSE, _) | (_, Self::FALSE) => Some(Self::FALSE),
            (Self::TRUE, one) | (one, Self::TRUE) => Some(one),
            (Self::OPEN, _) | (_, Self::OPEN) => Some(Self::OPEN),
            (a, b) if a == b => Some(a),
            (a, b) if a == b.not() => Some(Self::FALSE),
            _ => None,
        }
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.known(), self.node()) {
            (Some(value), _) => write!(f, "{}", u8::from(value)),
            (None, Some(node)) => write!(f, "{}{node}", if self.is_complement() { "!" } else { "" }),
            (None, None) => f.write_str("open"),
        }
    }
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// The constant 0: the first node, and no other.
    Constant,
    /// A variable.
    Variable,
    /// The conjunction of two literals.
    And(Literal, Literal),
}

/// A variable of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub(crate) u32);

/// An and-inverter graph with a limit on its nodes.
///
/// Bits and bytes refer to their graph; those of two graphs must not be mixed.
pub struct Graph {
    nodes: RefCell<Nodes>,
    limit: usize,
}

struct Nodes {
    list: Vec<Node>,
    conjunctions: FxHashMap<(Literal, Literal), Literal>,
    is_full: bool,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("nodes", &self.len()).field("limit", &self.limit).finish()
    }
}

impl Graph {
    /// A graph of at most `limit` nodes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let nodes = Nodes { list: vec![Node::Constant], conjunctions: FxHashMap::default(), is_full: false };
        Self { nodes: RefCell::new(nodes), limit: limit.min(1 << 30) }
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.borrow().list.len()
    }

    /// True if there is nothing but constants.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// True if a node was refused for the limit: some bits are open since then.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.nodes.borrow().is_full
    }

    /// A new variable; an open bit if the graph is full.
    pub(crate) fn add_variable(&self) -> Literal {
        self.add(Node::Variable)
    }

    /// All variables.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + use<> {
        let nodes = self.nodes.borrow();
        let all: Vec<Variable> = (0..)
            .zip(&nodes.list)
            .filter(|(_, node)| **node == Node::Variable)
            .map(|(number, _)| Variable(number))
            .collect();
        all.into_iter()
    }

    /// The variables that some bits depend on.
    #[must_use]
    pub fn support<'g>(&'g self, bits: impl IntoIterator<Item = SymbolicBit<'g>>) -> BTreeSet<Variable> {
        let nodes = self.nodes.borrow();
        let mut open: Vec<usize> = bits.into_iter().filter_map(|bit| bit.literal.node()).collect();
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let mut variables = BTreeSet::new();
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            match nodes.list[node] {
                Node::Constant => {}
                Node::Variable => _ = variables.insert(Variable(node as u32)),
                Node::And(a, b) => open.extend([a, b].into_iter().filter_map(Literal::node)),
            }
        }
        variables
    }

    /// The node of this number.
    pub(crate) fn node(&self, number: usize) -> Node {
        self.nodes.borrow().list[number]
    }

    /// Calls `visit` with the nodes from a number on, in their order.
    pub(crate) fn for_each_from(&self, first: usize, mut visit: impl FnMut(Node)) {
        self.nodes.borrow().list[first.min(self.len())..].iter().for_each(|node| visit(*node));
    }

    /// The conjunction of two literals.
    pub(crate) fn and(&self, a: Literal, b: Literal) -> Literal {
        if let Some(folded) = a.folded_and(b) {
            return folded;
        }
        let (a, b) = (a.min(b), a.max(b));
        if let Some(known) = self.nodes.borrow().conjunctions.get(&(a, b)) {
            return *known;
        }
        if let Some(simpler) = self.simplified(a, b) {
            return simpler;
        }
        let literal = self.add(Node::And(a, b));
        if literal != Literal::OPEN {
            self.nodes.borrow_mut().conjunctions.insert((a, b), literal);
        }
        literal
    }

    fn add(&self, node: Node) -> Literal {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.list.len() >= self.limit {
            nodes.is_full = true;
            return Literal::OPEN;
        }
        nodes.list.push(node);
        Literal::of_node(nodes.list.len() - 1)
    }

    /// The parts of a conjunction.
    pub(crate) fn parts(&self, literal: Literal) -> Option<(Literal, Literal)> {
        match self.node(literal.node()?) {
            Node::And(a, b) if !literal.is_complement() => Some((a, b)),
            _ => None,
        }
    }

    /// What two levels tell of the conjunction of two literals that are neither constants nor alike.
    fn simplified(&self, a: Literal, b: Literal) -> Option<Literal> {
        self.simplified_one(a, b).or_else(|| self.simplified_one(b, a)).or_else(|| self.resolved(a, b))
    }

    /// What the parts of `b` tell of `a` and `b`.
    fn simplified_one(&self, a: Literal, b: Literal) -> Option<Literal> {
        if let Some((x, y)) = self.parts(b) {
            return match () {
                // a & (a & y) = a & y
                () if a == x || a == y => Some(b),
                // a & (!a & y) = 0
                () if a == x.not() || a == y.not() => Some(Literal::FALSE),
                () => None,
            };
        }
        let (x, y) = self.parts(b.not())?;
        match () {
            // a & !(!a & y) = a
            () if a == x.not() || a == y.not() => Some(a),
            // a & !(a & y) = a & !y
            () if a == x => Some(self.and(a, y.not())),
            () if a == y => Some(self.and(a, x.not())),
            () => None,
        }
    }

    /// `!(x & y) & !(x & !y) = !x`
    fn resolved(&self, a: Literal, b: Literal) -> Option<Literal> {
        let ((x, y), (v, w)) = (self.parts(a.not())?, self.parts(b.not())?);
        [(x, y, v, w), (x, y, w, v), (y, x, v, w), (y, x, w, v)]
            .into_iter()
            .find(|(same, one, other_same, other)| same == other_same && *one == other.not())
            .map(|(same, ..)| same.not())
    }
}
