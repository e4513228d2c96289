//! State spaces folded to basic blocks and to functions.

use std::collections::{BTreeMap, BTreeSet};

use avr_verify::{GraphNode, NodeKind, StateGraph};
use three_valued::Truth;

use super::write::{Arrow, Drawing, Look, Vertex};
use super::{is_on_path, title, value};
use crate::names::Names;

/// A set of states that is drawn as one vertex, in the order of the drawing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// The dummy state.
    Start,
    /// The basic block that begins at this flash byte address.
    Block(u32),
    /// The function of this name, or the place at this address where none is known.
    Function(String),
    /// A sink with this title.
    Sink(String),
}

/// A vertex for each basic block: instructions that follow each other and nothing else, interrupts apart.
pub(super) fn by_block(graph: &StateGraph, names: &Names<'_>) -> (Drawing, Vec<usize>) {
    let blocks = Blocks::of(graph, names);
    let group = |node: &GraphNode| match (node.kind, node.pc) {
        (NodeKind::Start, _) | (_, None) => Group::Start,
        (NodeKind::Hazard(_) | NodeKind::Limit(_), _) => Group::Sink(title(node, names)),
        (NodeKind::Running | NodeKind::Waiting, Some(pc)) => Group::Block(blocks.leader(pc)),
    };
    let label = |group: &Group| match group {
        Group::Block(leader) => (blocks.label(*leader, names), names.function(*leader)),
        other => (name(other), None),
    };
    // A block that leads to its own beginning is a loop.
    let inner =
        |from: &GraphNode, to: &GraphNode| group(from) == group(to) && to.pc != to.pc.map(|pc| blocks.leader(pc));
    folded(graph, "basic block", (&group, &inner), &label)
}

/// A vertex for each function.
pub(super) fn by_function(graph: &StateGraph, names: &Names<'_>) -> (Drawing, Vec<usize>) {
    let group = |node: &GraphNode| match (node.kind, node.pc) {
        (NodeKind::Start, _) | (_, None) => Group::Start,
        (NodeKind::Hazard(_) | NodeKind::Limit(_), _) => Group::Sink(title(node, names)),
        (NodeKind::Running | NodeKind::Waiting, Some(pc)) => {
            Group::Function(names.function(pc).unwrap_or_else(|| "code without a name".to_owned()))
        }
    };
    folded(graph, "function", (&group, &|from, to| group(from) == group(to)), &|group| (name(group), None))
}

fn name(group: &Group) -> String {
    match group {
        Group::Start => "initial content".to_owned(),
        Group::Block(leader) => format!("{leader:#06x}"),
        Group::Function(name) | Group::Sink(name) => name.clone(),
    }
}

/// The drawing of the states of one group.
#[derive(Default)]
struct Member {
    states: usize,
    marked: bool,
    waiting: bool,
    look: Option<Look>,
    labels: Vec<BTreeSet<Truth>>,
}

/// The drawing of all edges from one group to another.
#[derive(Default)]
struct Between {
    edges: usize,
    marked: bool,
    /// True if a hyper-edge with several members is among them.
    several: bool,
}

/// The group of a state.
type Grouping<'a> = &'a dyn Fn(&GraphNode) -> Group;
/// The label of a group, and the function that it is drawn in.
type Label<'a> = &'a dyn Fn(&Group) -> (String, Option<String>);
/// True for steps that are not drawn, because they stay inside of a vertex.
type Inner<'a> = &'a dyn Fn(&GraphNode, &GraphNode) -> bool;

fn folded(
    graph: &StateGraph,
    unit: &'static str,
    (group, is_inner): (Grouping<'_>, Inner<'_>),
    label: Label<'_>,
) -> (Drawing, Vec<usize>) {
    let groups: Vec<Group> = graph.nodes.iter().map(group).collect();
    let mut members: BTreeMap<&Group, Member> = BTreeMap::new();
    let mut between: BTreeMap<(&Group, &Group), Between> = BTreeMap::new();
    for (number, (node, group)) in graph.nodes.iter().zip(&groups).enumerate() {
        let member = members.entry(group).or_default();
        member.states += 1;
        member.marked |= graph.marked.contains(&(number as u32));
        member.waiting |= node.kind == NodeKind::Waiting;
        member.look.get_or_insert(Look::of(node.kind));
        member.labels.resize(graph.atoms.len(), BTreeSet::new());
        member.labels.iter_mut().zip(&node.labels).for_each(|(seen, label)| _ = seen.insert(*label));
        for edge in &node.edges {
            for to in edge.iter().filter(|to| !is_inner(node, &graph.nodes[**to as usize])) {
                let arrow = between.entry((group, &groups[*to as usize])).or_default();
                arrow.edges += 1;
                arrow.marked |= is_on_path(graph, number as u32, *to);
                arrow.several |= edge.len() > 1;
            }
        }
    }
    let numbers: BTreeMap<&Group, usize> = members.keys().copied().zip(0..).collect();
    let vertices = groups.iter().map(|group| numbers[group]).collect();
    (drawing(graph, unit, &members, &between, label), vertices)
}

fn drawing(
    graph: &StateGraph,
    unit: &'static str,
    members: &BTreeMap<&Group, Member>,
    between: &BTreeMap<(&Group, &Group), Between>,
    label: Label<'_>,
) -> Drawing {
    let numbers: BTreeMap<&Group, usize> = members.keys().copied().zip(0..).collect();
    let vertex = |(group, member): (&&Group, &Member)| {
        let is_code = matches!(group, Group::Block(_) | Group::Function(_));
        let count = format!("{} state{}", member.states, if member.states == 1 { "" } else { "s" });
        let atoms = graph.atoms.iter().zip(&member.labels).filter(|_| is_code);
        let atoms = atoms.map(|(atom, seen)| value(atom, &seen.iter().copied().collect::<Vec<_>>()));
        let (title, function) = label(group);
        let lines: Vec<String> = std::iter::once(title).chain(is_code.then_some(count)).chain(atoms).collect();
        let look = if member.waiting { Look::Waiting } else { member.look.unwrap_or(Look::Ordinary) };
        Vertex { label: lines.join("\n"), look, marked: member.marked, function }
    };
    let arrow = |((from, to), between): (&(&Group, &Group), &Between)| {
        let count = if between.edges == 1 { String::new() } else { format!("{} edges", between.edges) };
        let label = if between.several { format!("{count} some of several").trim().to_owned() } else { count };
        Arrow { from: numbers[from], to: vec![(numbers[to], between.marked)], label }
    };
    Drawing { unit, vertices: members.iter().map(vertex).collect(), arrows: between.iter().map(arrow).collect() }
}

/// The instructions that were reached, in basic blocks.
struct Blocks {
    /// The first instruction of the block of each instruction.
    leaders: BTreeMap<u32, u32>,
}

impl Blocks {
    fn of(graph: &StateGraph, names: &Names<'_>) -> Self {
        let code = |node: &GraphNode| match node.kind {
            NodeKind::Running | NodeKind::Waiting => node.pc,
            NodeKind::Start | NodeKind::Hazard(_) | NodeKind::Limit(_) => None,
        };
        let mut successors: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let mut predecessors: BTreeMap<u32, BTreeSet<Option<u32>>> = BTreeMap::new();
        for node in &graph.nodes {
            let from = code(node);
            if let Some(pc) = from {
                successors.entry(pc).or_default();
            }
            for member in node.edges.iter().flatten() {
                let to = &graph.nodes[*member as usize];
                // An interrupt may come anywhere; it begins a block, and does not end the one that it interrupts.
                let (interrupted, returns) = (to.interrupts > node.interrupts, to.interrupts < node.interrupts);
                let Some(next) = code(to).filter(|_| !returns) else { continue };
                // A block is one of its function.
                let is_inside = |pc: &u32| !interrupted && names.function(*pc) == names.function(next);
                predecessors.entry(next).or_default().insert(from.filter(is_inside));
                if let Some(pc) = from.filter(|_| !interrupted) {
                    successors.entry(pc).or_default().insert(next);
                }
            }
        }
        let mut leaders = BTreeMap::new();
        for pc in successors.keys() {
            leaders.insert(*pc, first(*pc, &successors, &predecessors));
        }
        Self { leaders }
    }

    fn leader(&self, pc: u32) -> u32 {
        self.leaders.get(&pc).copied().unwrap_or(pc)
    }

    /// The instructions of a block, of long ones the first and the last.
    fn label(&self, leader: u32, names: &Names<'_>) -> String {
        let inside: Vec<u32> = self.leaders.iter().filter(|(_, first)| **first == leader).map(|(pc, _)| *pc).collect();
        let line = |pc: &u32| format!("{pc:#06x} {}", names.instruction(*pc).unwrap_or_default());
        let head = [names.function(leader), names.shown_line(leader)].into_iter().flatten().collect::<Vec<_>>();
        let head = (!head.is_empty()).then(|| head.join(" "));
        let code = match inside.as_slice() {
            [first, .., last] if inside.len() > 4 => {
                vec![line(first), format!("... {} more", inside.len() - 2), line(last)]
            }
            few => few.iter().map(line).collect(),
        };
        head.into_iter().chain(code).collect::<Vec<_>>().join("\n")
    }
}

/// The first instruction of the block of an instruction: back along single successors and predecessors.
fn first(
    pc: u32,
    successors: &BTreeMap<u32, BTreeSet<u32>>,
    predecessors: &BTreeMap<u32, BTreeSet<Option<u32>>>,
) -> u32 {
    let before = |pc: u32| {
        let only = predecessors.get(&pc).filter(|all| all.len() == 1)?.first().copied()??;
        (successors.get(&only)?.len() == 1).then_some(only)
    };
    let mut here = pc;
    while let Some(previous) = before(here) {
        // A loop of nothing but single successors has no beginning: the lowest address stands for it.
        if previous == pc {
            return lowest(pc, successors);
        }
        here = previous;
    }
    here
}

/// The lowest address on a loop of single successors.
fn lowest(pc: u32, successors: &BTreeMap<u32, BTreeSet<u32>>) -> u32 {
    let (mut here, mut lowest) = (pc, pc);
    loop {
        here = successors.get(&here).and_then(|next| next.first().copied()).unwrap_or(pc);
        lowest = lowest.min(here);
        if here == pc {
            return lowest;
        }
    }
}
