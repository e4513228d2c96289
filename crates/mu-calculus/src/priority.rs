//! Evaluation order and priorities of the nodes of a normal form, from the dependencies between them.
//!
//! The nodes are decomposed into strongly connected components. A fixed point only needs a priority against the fixed
//! points of its own component, so `AG EF p` has two independent ones and is alternation-free. Within a component the
//! outermost fixed point gets the least priority of its parity (least: odd, greatest: even) that is no less than any
//! inside, and what remains without it is decomposed again. The largest priority on a cycle is thus that of the
//! outermost fixed point on it (Niwiński's alternation depth, by dependency instead of nesting). The fixed points of an
//! automaton come with the priorities of its transitions.

use rustc_hash::FxHashMap;

use crate::cancel::Ticker;
use crate::components::{Components, Successor, Successors, Tarjan};
use crate::formula::FixedPoint;
use crate::node::{Node, NodeId};

/// Nodes that depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The nodes in ascending order.
    pub(crate) nodes: Vec<NodeId>,
    /// True if a node depends on itself: the block needs a fixed-point computation.
    pub(crate) recursive: bool,
}

/// The blocks of a normal form, each after those that it depends on, and the priorities of the fixed points.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) blocks: Vec<Block>,
    pub(crate) priorities: Vec<u32>,
}

/// Orders `nodes` and assigns priorities. Fixed points must be numbered before those that they enclose, or have a
/// priority in `given`, which then all fixed points of their block have.
pub(crate) fn order(nodes: &[Node], given: &FxHashMap<NodeId, u32>) -> Order {
    let mut assignment =
        Assignment { nodes, region: vec![0; nodes.len()], regions: 0, priorities: vec![0; nodes.len()] };
    let all: Vec<u32> = (0..nodes.len() as u32).collect();
    let mut blocks = Vec::new();
    for component in assignment.decompose(&all).iter() {
        let recursive = assignment.is_recursive(component);
        if recursive && !assignment.take_given(component, given) {
            assignment.prioritise(component);
        }
        let mut members: Vec<NodeId> = component.iter().copied().map(NodeId).collect();
        members.sort_unstable();
        blocks.push(Block { nodes: members, recursive });
    }
    Order { blocks, priorities: assignment.priorities }
}

struct Assignment<'a> {
    nodes: &'a [Node],
    /// The part of the graph that each node was last put into.
    region: Vec<u32>,
    regions: u32,
    priorities: Vec<u32>,
}

impl Assignment<'_> {
    fn decompose(&mut self, vertices: &[u32]) -> Components {
        self.regions += 1;
        for &vertex in vertices {
            self.region[vertex as usize] = self.regions;
        }
        let part = Part { nodes: self.nodes, region: &self.region, number: self.regions };
        let never = || false;
        Tarjan::new(self.nodes.len())
            .decompose(&part, vertices, &mut Ticker::new(&never))
            .expect("a decomposition that is never cancelled succeeds")
    }

    fn is_recursive(&self, component: &[u32]) -> bool {
        component.len() > 1 || self.nodes[component[0] as usize].children().contains(&NodeId(component[0]))
    }

    /// Assigns the priorities that were given in a component; whether there were any.
    fn take_given(&mut self, component: &[u32], given: &FxHashMap<NodeId, u32>) -> bool {
        let mut any = false;
        for &vertex in component {
            if let Some(&priority) = given.get(&NodeId(vertex)) {
                self.priorities[vertex as usize] = priority;
                any = true;
            }
        }
        any
    }

    /// Assigns the priorities in a component that depends on itself; returns the largest.
    fn prioritise(&mut self, component: &[u32]) -> u32 {
        let outermost = *component
            .iter()
            .filter(|&&vertex| matches!(self.nodes[vertex as usize], Node::Fixed(..)))
            .min()
            .expect("every cycle of a normal form passes through a fixed point");
        let rest: Vec<u32> = component.iter().copied().filter(|&vertex| vertex != outermost).collect();
        let mut largest = 0;
        for inner in self.decompose(&rest).iter() {
            if self.is_recursive(inner) {
                largest = largest.max(self.prioritise(inner));
            }
        }
        let least = matches!(self.nodes[outermost as usize], Node::Fixed(FixedPoint::Least, _));
        let priority = if (largest % 2 == 1) == least { largest } else { largest + 1 };
        self.priorities[outermost as usize] = priority;
        priority
    }
}

/// The nodes of one region.
struct Part<'a> {
    nodes: &'a [Node],
    region: &'a [u32],
    number: u32,
}

impl Successors for Part<'_> {
    fn successor(&self, vertex: u32, position: u32) -> Successor {
        match self.nodes[vertex as usize].children().get(position as usize) {
            Some(child) if self.region[child.index()] == self.number => Successor::To(child.0),
            Some(_) => Successor::Skip,
            None => Successor::End,
        }
    }
}
