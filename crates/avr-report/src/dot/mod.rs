//! The abstract state space as a graph in the DOT language of Graphviz: whole when it is small, else folded to basic
//! blocks or functions.
//!
//! A hyper-edge with one member is an arrow. One with several members goes through a small node: the environment or the
//! program chooses the hyper-edge, and which member is taken is not known.

mod fold;
mod write;

use avr_image::Image;
use avr_machine::device::Device;
use avr_verify::{GraphNode, NodeKind, PropertyResult, StateGraph};
use three_valued::Truth;

use crate::fields::verdict_name;
use crate::names::Names;
use fold::{by_block, by_function};
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

/// A state space as DOT, with the names of an image and a device. `result` is that of the property that it is of.
/// With [`Fold::Auto`] there are at most `most` nodes, unless there are more functions.
#[must_use]
pub fn dot(
    graph: &StateGraph,
    result: &PropertyResult,
    (image, device): (&Image, &Device),
    (fold, most): (Fold, usize),
) -> String {
    let names = Names { image, device };
    let drawing = match fold {
        Fold::States => states(graph, &names),
        Fold::Blocks => by_block(graph, &names),
        Fold::Functions => by_function(graph, &names),
        Fold::Auto if graph.nodes.len() <= most => states(graph, &names),
        Fold::Auto => Some(by_block(graph, &names))
            .filter(|drawing| drawing.vertices.len() <= most)
            .unwrap_or_else(|| by_function(graph, &names)),
    };
    drawing.dot(&caption(graph, result, &drawing))
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

/// Every state as a vertex.
fn states(graph: &StateGraph, names: &Names<'_>) -> Drawing {
    let mut drawing = Drawing::new("state");
    for (number, node) in graph.nodes.iter().enumerate() {
        let atoms = graph.atoms.iter().zip(&node.labels);
        let atoms = atoms.filter(|_| matches!(node.kind, NodeKind::Running | NodeKind::Waiting));
        let lines = std::iter::once(title(node, names)).chain(atoms.map(|(atom, label)| value(atom, &[*label])));
        drawing.vertices.push(Vertex {
            label: lines.collect::<Vec<_>>().join("\n"),
            look: Look::of(node.kind),
            marked: graph.marked.contains(&(number as u32)),
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
    drawing
}

fn is_on_path(graph: &StateGraph, from: u32, to: u32) -> bool {
    graph.marked.windows(2).any(|pair| pair == [from, to])
}

/// The title of a state: the instruction and its place.
fn title(node: &GraphNode, names: &Names<'_>) -> String {
    let Some(pc) = node.pc else { return "initial content".to_owned() };
    let place = [names.function(pc), names.source_line(pc)].into_iter().flatten().collect::<Vec<_>>().join(" ");
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
