//! Symbolic bits.

use super::graph::{Graph, Literal, Node, Variable};
use std::fmt;
use three_valued::{BitDomain, Truth};

/// A bit as a Boolean function of variables, by a literal of a graph.
///
/// All operations are exact, unless the graph is full or an operand is open: then the result is open as well, and nothing is known
/// of it, not even that it is equal to itself. Two equal bits are the same function or both open.
#[derive(Clone, Copy)]
pub struct SymbolicBit<'g> {
    /// The graph; it may be missing where the literal is a constant or open.
    pub(crate) graph: Option<&'g Graph>,
    pub(crate) literal: Literal,
}

/// The graph of two operands.
///
/// # Panics
/// If they have two.
pub(crate) fn common<'g>(a: Option<&'g Graph>, b: Option<&'g Graph>) -> Option<&'g Graph> {
    if let (Some(a), Some(b)) = (a, b) {
        assert!(std::ptr::eq(a, b), "bits of two graphs");
    }
    a.or(b)
}

/// The conjunction of two literals of a graph, which is there if neither is a constant.
pub(crate) fn conjunction(graph: Option<&Graph>, a: Literal, b: Literal) -> Literal {
    // SOUND: without a graph nothing is claimed.
    a.folded_and(b).or_else(|| graph.map(|graph| graph.and(a, b))).unwrap_or(Literal::OPEN)
}

impl Graph {
    /// A new variable; an open bit if the graph is full.
    pub fn variable(&self) -> SymbolicBit<'_> {
        SymbolicBit::new(self, self.add_variable())
    }
}

impl<'g> SymbolicBit<'g> {
    /// The constant 0.
    pub const ZERO: Self = Self { graph: None, literal: Literal::FALSE };
    /// The constant 1.
    pub const ONE: Self = Self { graph: None, literal: Literal::TRUE };
    /// A bit of which nothing is known, neither its value nor its relation to any other bit.
    pub const OPEN: Self = Self { graph: None, literal: Literal::OPEN };

    pub(crate) fn new(graph: &'g Graph, literal: Literal) -> Self {
        Self { graph: Some(graph), literal }
    }

    /// True if nothing is known of the bit.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.literal == Literal::OPEN
    }

    /// The variable, if the bit is just that.
    #[must_use]
    pub fn variable(&self) -> Option<Variable> {
        let node = self.literal.node().filter(|_| !self.literal.is_complement())?;
        let is_variable = self.graph.is_some_and(|graph| graph.node(node) == Node::Variable);
        is_variable.then_some(Variable(node as u32))
    }

    /// `then` where this bit is 1, else `otherwise`.
    #[must_use]
    pub fn select(&self, then: &Self, otherwise: &Self) -> Self {
        if then == otherwise {
            return *then;
        }
        self.and(then).or(&self.not().and(otherwise))
    }

    /// The bit that is 1 if this one implies another.
    #[must_use]
    pub fn implies(&self, other: &Self) -> Self {
        self.not().or(other)
    }

    /// The bit that is 1 if this one and another are equal.
    #[must_use]
    pub fn equals(&self, other: &Self) -> Self {
        self.xor(other).not()
    }
}

impl PartialEq for SymbolicBit<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.literal == other.literal
    }
}

impl Eq for SymbolicBit<'_> {}

impl fmt::Debug for SymbolicBit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.literal.fmt(f)
    }
}

impl BitDomain for SymbolicBit<'_> {
    fn constant(value: bool) -> Self {
        Self { graph: None, literal: Literal::constant(value) }
    }

    fn truth(&self) -> Truth {
        self.literal.known().map_or(Truth::Unknown, Truth::from)
    }

    fn not(&self) -> Self {
        Self { literal: self.literal.not(), ..*self }
    }

    fn and(&self, other: &Self) -> Self {
        let graph = common(self.graph, other.graph);
        Self { graph, literal: conjunction(graph, self.literal, other.literal) }
    }

    fn or(&self, other: &Self) -> Self {
        self.not().and(&other.not()).not()
    }

    fn xor(&self, other: &Self) -> Self {
        self.and(&other.not()).or(&self.not().and(other))
    }
}
