//! Vertices and arrows in the DOT language.

use std::collections::{BTreeMap, BTreeSet};
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
    /// The function that it belongs to.
    pub(super) function: Option<String>,
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
        // Without a ranking of its own Graphviz gives up on some drawings with frames.
        put(&mut text, &format!("  graph [label={}, labelloc=t, fontname=monospace, newrank=true];", quoted(caption)));
        put(&mut text, "  node [fontname=monospace, fontsize=10];");
        put(&mut text, "  edge [fontname=monospace, fontsize=9];");
        let functions: BTreeSet<&str> = self.vertices.iter().filter_map(|vertex| vertex.function.as_deref()).collect();
        for (number, function) in functions.iter().enumerate() {
            put(&mut text, &format!("  subgraph cluster_{number} {{"));
            put(&mut text, &format!("    label={}; style=rounded; color=\"#a0a0a0\";", quoted(function)));
            self.add_vertices(&mut text, "    ", Some(function));
            put(&mut text, "  }");
        }
        self.add_vertices(&mut text, "  ", None);
        for (number, arrow) in self.arrows.iter().enumerate() {
            add_arrow(&mut text, number, arrow);
        }
        text.push_str("}\n");
        text
    }
}

impl Drawing {
    /// The vertices of a function, or those of none.
    fn add_vertices(&self, text: &mut String, indent: &str, function: Option<&str>) {
        for (number, vertex) in self.vertices.iter().enumerate().filter(|(_, it)| it.function.as_deref() == function) {
            let mark = if vertex.marked { format!(", {MARK}") } else { String::new() };
            let (label, look) = (quoted(&vertex.label), vertex.look.attributes());
            put(text, &format!("{indent}n{number} [label={label}, {look}{mark}];"));
        }
    }

    /// The part near some vertices: those, and the ones that an arrow connects with them.
    pub(super) fn around(self, is_wanted: impl Fn(usize) -> bool) -> Self {
        let mut near: BTreeSet<usize> = (0..self.vertices.len()).filter(|number| is_wanted(*number)).collect();
        for arrow in &self.arrows {
            let touches = is_wanted(arrow.from) || arrow.to.iter().any(|(to, _)| is_wanted(*to));
            if touches {
                near.insert(arrow.from);
                near.extend(arrow.to.iter().map(|(to, _)| *to));
            }
        }
        let numbers: BTreeMap<usize, usize> = near.iter().copied().zip(0..).collect();
        let arrow = |arrow: Arrow| {
            let to = arrow.to.iter().filter_map(|(to, marked)| Some((*numbers.get(to)?, *marked))).collect::<Vec<_>>();
            let from = *numbers.get(&arrow.from)?;
            (!to.is_empty()).then_some(Arrow { from, to, label: arrow.label })
        };
        let is_near = |number: &usize| near.contains(number);
        let vertices = self.vertices.into_iter().enumerate().filter(|(number, _)| is_near(number));
        Self {
            unit: self.unit,
            vertices: vertices.map(|(_, vertex)| vertex).collect(),
            arrows: self.arrows.into_iter().filter_map(arrow).collect(),
        }
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
pub(super) fn quoted(text: &str) -> String {
    let lines = text.split('\n').map(|line| Escaped(line).to_string().replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", lines.collect::<Vec<_>>().join("\\n"))
}

pub(super) fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}
