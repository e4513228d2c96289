//! Vertices and arrows in the DOT language.

use std::fmt::Write;

use avr_verify::NodeKind;

use crate::escape::Escaped;

/// The colour of what lies on the path that is told of.
const MARK: &str = "color=\"#c00000\", penwidth=2";

/// The style of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Start,
    Ordinary,
    Waiting,
    Hazard,
    Limit,
}

impl Look {
    pub(super) fn of(kind: NodeKind) -> Self {
        match kind {
            NodeKind::Start => Self::Start,
            NodeKind::Running => Self::Ordinary,
            NodeKind::Waiting => Self::Waiting,
            NodeKind::Hazard(_) => Self::Hazard,
            NodeKind::Limit(_) => Self::Limit,
        }
    }

    fn attributes(self) -> &'static str {
        match self {
            Self::Start => "shape=circle",
            Self::Ordinary => "shape=box",
            Self::Waiting => "shape=box, style=dashed",
            Self::Hazard => "shape=octagon, style=filled, fillcolor=\"#ffd0d0\"",
            Self::Limit => "shape=hexagon, style=filled, fillcolor=\"#ffe8b0\"",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vertex {
    pub(super) label: String,
    pub(super) look: Look,
    pub(super) marked: bool,
}

/// An arrow to one vertex, or a hyper-edge to several, each with whether it is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) to: Vec<(usize, bool)>,
    pub(super) label: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Drawing {
    /// The word for the parts that a vertex stands for.
    pub(super) unit: &'static str,
    pub(super) vertices: Vec<Vertex>,
    pub(super) arrows: Vec<Arrow>,
}

impl Drawing {
    pub(super) fn new(unit: &'static str) -> Self {
        Self { unit, vertices: Vec::new(), arrows: Vec::new() }
    }

    /// The drawing with a caption as a directed graph.
    pub(super) fn dot(&self, caption: &str) -> String {
        let mut text = String::from("digraph states {\n");
        put(&mut text, &format!("  graph [label={}, labelloc=t, fontname=monospace];", quoted(caption)));
        put(&mut text, "  node [fontname=monospace, fontsize=10];");
        put(&mut text, "  edge [fontname=monospace, fontsize=9];");
        for (number, vertex) in self.vertices.iter().enumerate() {
            let mark = if vertex.marked { format!(", {MARK}") } else { String::new() };
            let (label, look) = (quoted(&vertex.label), vertex.look.attributes());
            put(&mut text, &format!("  n{number} [label={label}, {look}{mark}];"));
        }
        for (number, arrow) in self.arrows.iter().enumerate() {
            add_arrow(&mut text, number, arrow);
        }
        text.push_str("}\n");
        text
    }
}

fn add_arrow(text: &mut String, number: usize, arrow: &Arrow) {
    let label = if arrow.label.is_empty() { String::new() } else { format!("label={}", quoted(&arrow.label)) };
    let attributes = |marked: bool, others: &str| {
        let all = [others, if marked { MARK } else { "" }];
        let all: Vec<&str> = all.into_iter().filter(|one| !one.is_empty()).collect();
        if all.is_empty() { String::new() } else { format!(" [{}]", all.join(", ")) }
    };
    if let [(to, marked)] = arrow.to.as_slice() {
        put(text, &format!("  n{} -> n{to}{};", arrow.from, attributes(*marked, &label)));
        return;
    }
    let marked = arrow.to.iter().any(|(_, marked)| *marked);
    put(
        text,
        &format!("  h{number} [shape=point, width=0.08{}];", if marked { format!(", {MARK}") } else { String::new() }),
    );
    let others = ["arrowhead=none", &label].into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join(", ");
    put(text, &format!("  n{} -> h{number}{};", arrow.from, attributes(marked, &others)));
    for (to, marked) in &arrow.to {
        put(text, &format!("  h{number} -> n{to}{};", attributes(*marked, "style=dashed")));
    }
}

/// A text as a quoted string of the DOT language, with line ends as such.
fn quoted(text: &str) -> String {
    let lines = text.split('\n').map(|line| Escaped(line).to_string().replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", lines.collect::<Vec<_>>().join("\\n"))
}

fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
