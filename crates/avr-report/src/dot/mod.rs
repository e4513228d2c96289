//! The abstract state space as a graph in the DOT language of Graphviz: whole when it is small, else folded to basic
//! blocks or functions.
//!
//! A hyper-edge with one member is an arrow. One with several members goes through a small node: the environment or the
//! program chooses the hyper-edge, and which member is taken is not known.

mod fold;
mod specification;
mod write;

use std::collections::BTreeSet;

use avr_image::{FlashByteAddress, FlashWordAddress, Image};
use avr_machine::device::Device;
use avr_verify::{GraphNode, NodeKind, PropertyResult, StateGraph};
use three_valued::Truth;

use crate::fields::verdict_name;
use crate::names::Names;
use fold::{by_block, by_function};
pub use specification::specification_dot;
use write::{Arrow, Drawing, Look, Vertex};

/// The size of the parts of a state space that are drawn as one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// As much as fits into the largest number of nodes: states, else basic blocks, else functions.
    #[default]
    Auto,
    /// Every state.
    States,
    /// A node for each basic block.
    Blocks,
    /// A node for each function.
    Functions,
}

/// The form of a drawing.
#[derive(Clone, Debug, Default)]
pub struct DotStyle {
    /// The parts that are drawn as one node.
    pub fold: Fold,
    /// The largest number of nodes for [`Fold::Auto`], unless there are more functions.
    pub most: usize,
    /// Flash addresses: only nodes with such an instruction are drawn, and those next to them.
    pub around: Option<BTreeSet<FlashWordAddress>>,
}

/// A state space as DOT, with the names of an image and a device. `result` is that of the property that it is of. The nodes
/// of a function are drawn together.
#[must_use]
pub fn dot(
    graph: &StateGraph,
    result: &PropertyResult,
    (image, device): (&Image, &Device),
    style: &DotStyle,
) -> String {
    let names = Names { image, device };
    let is_near = |pc: u32| style.around.iter().any(|places| places.contains(&FlashByteAddress(pc).word()));
    let cut = |(drawing, groups): (Drawing, Vec<usize>)| match style.around {
        None => drawing,
        Some(_) => {
            let states = graph.nodes.iter().zip(&groups).filter(|(node, _)| node.pc.is_some_and(is_near));
            let wanted: BTreeSet<usize> = states.map(|(_, group)| *group).collect();
            drawing.around(|vertex| wanted.contains(&vertex))
        }
    };
    let drawn = |fold: Fold| match fold {
        Fold::States | Fold::Auto => cut(states(graph, &names)),
        Fold::Blocks => cut(by_block(graph, &names)),
        Fold::Functions => cut(by_function(graph, &names)),
    };
    let drawing = match style.fold {
        Fold::Auto => [Fold::States, Fold::Blocks]
            .into_iter()
            .filter(|fold| *fold != Fold::States || style.around.is_some() || graph.nodes.len() <= style.most)
            .map(drawn)
            .find(|drawing| drawing.vertices.len() <= style.most)
            .unwrap_or_else(|| drawn(Fold::Functions)),
        fold => drawn(fold),
    };
    drawing.dot(&caption(graph, result, &drawing))
}

/// The function of a state that runs.
fn function(node: &GraphNode, names: &Names<'_>) -> Option<String> {
    match node.kind {
        NodeKind::Running | NodeKind::Waiting => names.function(node.pc?),
        NodeKind::Start | NodeKind::Hazard(_) | NodeKind::Limit(_) => None,
    }
}

fn caption(graph: &StateGraph, result: &PropertyResult, drawing: &Drawing) -> String {
    let verdict = verdict_name(&result.verdict).0;
    let marked = match (graph.marked.is_empty(), verdict) {
        (true, _) => "",
        (_, "unknown") => "; red: the path to what stands in the way",
        _ => "; red: the run that shows it",
    };
    format!("{verdict}: {}\n{} states, drawn by {}{marked}", result.name, graph.nodes.len(), drawing.unit)
}

/// Every state as a vertex, and the vertex of each state.
fn states(graph: &StateGraph, names: &Names<'_>) -> (Drawing, Vec<usize>) {
    let mut drawing = Drawing::new("state");
    for (number, node) in graph.nodes.iter().enumerate() {
        let atoms = graph.atoms.iter().zip(&node.labels);
        let atoms = atoms.filter(|_| matches!(node.kind, NodeKind::Running | NodeKind::Waiting));
        let lines = std::iter::once(title(node, names)).chain(atoms.map(|(atom, label)| value(atom, &[*label])));
        drawing.vertices.push(Vertex {
            label: lines.collect::<Vec<_>>().join("\n"),
            look: Look::of(node.kind),
            marked: graph.marked.contains(&(number as u32)),
            function: function(node, names),
        });
    }
    for (number, node) in graph.nodes.iter().enumerate() {
        for members in &node.edges {
            let is_marked = |member: &u32| is_on_path(graph, number as u32, *member);
            drawing.arrows.push(Arrow {
                from: number,
                to: members.iter().map(|member| (*member as usize, is_marked(member))).collect(),
                label: String::new(),
            });
        }
    }
    let numbers = (0..graph.nodes.len()).collect();
    (drawing, numbers)
}

fn is_on_path(graph: &StateGraph, from: u32, to: u32) -> bool {
    graph.marked.windows(2).any(|pair| pair == [from, to])
}

/// The title of a state: the instruction and its place.
fn title(node: &GraphNode, names: &Names<'_>) -> String {
    let Some(pc) = node.pc else { return "initial content".to_owned() };
    let place = [names.function(pc), names.shown_line(pc)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let instruction = names.instruction(pc).unwrap_or_default();
    let what = match node.kind {
        NodeKind::Hazard(hazard) => format!("hazard {}", hazard.kind.name()),
        NodeKind::Limit(limit) => format!("not followed: {limit}"),
        NodeKind::Waiting => format!("{instruction} (not expanded)"),
        NodeKind::Start | NodeKind::Running => instruction,
    };
    let lines = [format!("{pc:#06x} {what}"), place];
    lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// An atom with the labels that it has in some states.
fn value(atom: &str, labels: &[Truth]) -> String {
    let name = |truth: Truth| match truth.known() {
        Some(true) => "1",
        Some(false) => "0",
        None => "X",
    };
    let all = [Truth::False, Truth::True, Truth::Unknown];
    let seen: Vec<&str> = all.into_iter().filter(|truth| labels.contains(truth)).map(name).collect();
    format!("{atom}: {}", seen.join(" or "))
}
