//! Facts about bits, and what follows from them without search.

use super::graph::{Graph, Literal, Node};
use rustc_hash::FxHashMap;

/// The most nodes that are looked at for one question.
const MOST_NODES: usize = 512;

/// Values of nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    values: FxHashMap<usize, bool>,
}

impl Facts {
    /// Takes note that a literal is 1, and the parts of conjunctions with it.
    pub(crate) fn add(&mut self, graph: &Graph, literal: Literal) {
        let mut open = vec![literal];
        while let Some(literal) = open.pop() {
            let Some(node) = literal.node() else { continue };
            if self.values.insert(node, !literal.is_complement()).is_none()
                && let Some((a, b)) = graph.parts(literal)
            {
                open.extend([a, b]);
            }
        }
    }

    /// The value of a literal as far as it follows, part by part.
    pub(crate) fn value(&self, graph: &Graph, literal: Literal) -> Option<bool> {
        let mut seen = FxHashMap::default();
        let mut left = MOST_NODES;
        self.value_within(graph, literal, &mut seen, &mut left)
    }

    fn value_within(
        &self,
        graph: &Graph,
        literal: Literal,
        seen: &mut FxHashMap<usize, Option<bool>>,
        left: &mut usize,
    ) -> Option<bool> {
        if let Some(known) = literal.known() {
            return Some(known);
        }
        let node = literal.node()?;
        let value = match self.values.get(&node) {
            Some(value) => Some(*value),
            None => match seen.get(&node) {
                Some(value) => *value,
                None => {
                    *left = left.checked_sub(1)?;
                    let value = self.conjunction(graph, node, seen, left);
                    seen.insert(node, value);
                    value
                }
            },
        };
        value.map(|value| value != literal.is_complement())
    }

    fn conjunction(
        &self,
        graph: &Graph,
        node: usize,
        seen: &mut FxHashMap<usize, Option<bool>>,
        left: &mut usize,
    ) -> Option<bool> {
        let Node::And(a, b) = graph.node(node) else { return None };
        let first = self.value_within(graph, a, seen, left);
        if first == Some(false) {
            return first;
        }
        match (first, self.value_within(graph, b, seen, left)) {
            (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }
}
