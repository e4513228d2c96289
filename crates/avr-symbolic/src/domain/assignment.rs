//! Values of variables, and what bits are under them.

use super::bit::SymbolicBit;
use super::byte::SymbolicByte;
use super::graph::{Graph, Literal, Node, Variable};
use rustc_hash::FxHashMap;

/// Values of variables; those that are not mentioned are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    values: FxHashMap<Variable, bool>,
}

impl Assignment {
    /// The value of a variable.
    #[must_use]
    pub fn get(&self, variable: Variable) -> bool {
        self.values.get(&variable).copied().unwrap_or(false)
    }

    /// Gives a variable a value.
    pub fn set(&mut self, variable: Variable, value: bool) {
        self.values.insert(variable, value);
    }

    /// Gives the bits of a byte that are variables the values of those of a number.
    pub fn set_byte(&mut self, byte: &SymbolicByte<'_>, value: u8) {
        for (index, bit) in byte.to_bits().iter().enumerate() {
            if let Some(variable) = bit.variable() {
                self.set(variable, value >> index & 1 == 1);
            }
        }
    }
}

/// The values of all nodes of a graph under an assignment, found when they are asked for.
#[derive(Debug)]
pub struct Valuation<'g> {
    graph: &'g Graph,
    assignment: Assignment,
    nodes: Vec<bool>,
}

impl<'g> Valuation<'g> {
    /// The values under an assignment.
    #[must_use]
    pub fn new(graph: &'g Graph, assignment: Assignment) -> Self {
        Self { graph, assignment, nodes: Vec::new() }
    }

    /// The assignment.
    #[must_use]
    pub fn assignment(&self) -> &Assignment {
        &self.assignment
    }

    /// The assignment, without the values.
    pub(crate) fn into_assignment(self) -> Assignment {
        self.assignment
    }

    /// The value of a bit; none if it is open.
    pub fn bit(&mut self, bit: &SymbolicBit<'g>) -> Option<bool> {
        self.literal(bit.literal)
    }

    /// The value of a byte; none if a bit of it is open.
    pub fn byte(&mut self, byte: &SymbolicByte<'g>) -> Option<u8> {
        byte.to_bits().iter().rev().try_fold(0, |value, bit| Some(value << 1 | u8::from(self.bit(bit)?)))
    }

    pub(crate) fn literal(&mut self, literal: Literal) -> Option<bool> {
        let node = literal.node()?;
        if node >= self.nodes.len() {
            self.extend();
        }
        Some(self.nodes[node] != literal.is_complement())
    }

    /// Finds the values of the nodes that the graph has by now.
    fn extend(&mut self) {
        let (nodes, assignment) = (&mut self.nodes, &self.assignment);
        let graph = self.graph;
        graph.for_each_from(nodes.len(), |node| {
            let value = |literal: Literal, nodes: &[bool]| {
                literal.node().is_some_and(|node| nodes[node] != literal.is_complement())
            };
            let found = match node {
                Node::Constant => false,
                Node::Variable => assignment.get(Variable(nodes.len() as u32)),
                Node::And(a, b) => value(a, nodes) && value(b, nodes),
            };
            nodes.push(found);
        });
    }
}
