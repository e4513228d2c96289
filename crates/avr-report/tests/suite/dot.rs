//! State spaces as DOT: the whole text of a small one, folded ones, and that hostile names stay inside of their strings.

use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_machine::{Hazard, HazardKind};
use avr_report::{DotStyle, Fold, dot};
use avr_verify::{Basis, GraphNode, NodeKind, PropertyResult, StateGraph, Statistics, Verdict};
use expect_test::{Expect, expect};
use layout::gv::DotParser;
use three_valued::Truth;

/// `nop; nop; sbrc r1,0; nop; rjmp .-2`, then a word that is no instruction.
fn image() -> Image {
    let hex = b":0C000000000000001 0FC0000FFCFFFFF1C\n:00000001FF\n";
    let hex: Vec<u8> = hex.iter().copied().filter(|byte| *byte != b' ').collect();
    Image::parse("program.hex", &hex, &LoadOptions::new(0x8000, 0x400)).expect("the image is valid")
}

fn node(kind: NodeKind, pc: Option<u32>, labels: &[Truth], edges: &[&[u32]]) -> GraphNode {
    let edges = edges.iter().map(|edge| edge.to_vec()).collect();
    GraphNode { kind, pc, interrupts: 0, labels: labels.to_vec(), edges }
}

/// The dummy, two instructions in a row, a branch on a stored bit, the way that it skips, the loop, and a hazard.
fn graph() -> StateGraph {
    use NodeKind::{Running, Start, Waiting};
    use Truth::{False, True, Unknown};
    let hazard = NodeKind::Hazard(Hazard { kind: HazardKind::ReservedOpcode, address: None });
    StateGraph {
        property: 0,
        atoms: vec!["x == \"1\"\\".to_owned()],
        nodes: vec![
            node(Start, None, &[Unknown], &[&[1]]),
            node(Running, Some(0), &[False], &[&[2]]),
            node(Running, Some(2), &[False], &[&[3]]),
            node(Running, Some(4), &[Unknown], &[&[4, 5]]),
            node(Running, Some(6), &[True], &[&[5]]),
            node(Running, Some(8), &[False], &[&[5], &[6]]),
            node(hazard, Some(10), &[Unknown], &[]),
            node(Waiting, Some(8), &[True], &[]),
        ],
        marked: vec![0, 1, 2, 3, 5, 6],
    }
}

fn drawn(graph: &StateGraph, fold: Fold, most: usize) -> String {
    styled(graph, &image(), &DotStyle { fold, most, around: None })
}

fn styled(graph: &StateGraph, image: &Image, style: &DotStyle) -> String {
    let result = PropertyResult {
        name: "hostile \x1b[2J \"quoted\\\" }".to_owned(),
        kind: "Formula".to_owned(),
        formula: String::new(),
        verdict: Verdict::Violated,
        detail: None,
        evidence: None,
        evidence_missing: None,
        vacuous: None,
        explanation: None,
        notes: Vec::new(),
        promises: Vec::new(),
        basis: Basis::Hardware,
        methods: Vec::new(),
        predicates: Vec::new(),
        recheck: None,
        statistics: Statistics::default(),
    };
    let device = Device::named("atmega328p").expect("the device exists");
    let text = dot(graph, &result, (image, device), style);
    if let Err(error) = DotParser::new(&text).process() {
        panic!("{error}\n{text}");
    }
    text
}

/// Expects a drawing: nodes and edges after a head that says what is drawn.
#[track_caller]
fn check(fold: Fold, most: usize, what: &str, expected: Expect) {
    let text = drawn(&graph(), fold, most);
    let head = format!(
        r#"digraph states {{
  graph [label="violated: hostile \\u{{1b}}[2J \"quoted\\\" }}\n8 states, drawn by {what}; red: the run that shows it", labelloc=t, fontname=monospace, newrank=true];
  node [fontname=monospace, fontsize=10];
  edge [fontname=monospace, fontsize=9];
"#
    );
    expected.assert_eq(text.strip_prefix(&head).unwrap_or(&text));
}

#[test]
fn a_small_space_is_drawn_state_by_state() {
    check(
        Fold::Auto,
        10,
        "state",
        expect![[r##"
              n0 [label="initial content", shape=circle, color="#c00000", penwidth=2];
              n1 [label="0x0000 nop\nx == \"1\"\\: 0", shape=box, color="#c00000", penwidth=2];
              n2 [label="0x0002 nop\nx == \"1\"\\: 0", shape=box, color="#c00000", penwidth=2];
              n3 [label="0x0004 sbrc r1, 0\nx == \"1\"\\: X", shape=box, color="#c00000", penwidth=2];
              n4 [label="0x0006 nop\nx == \"1\"\\: 1", shape=box];
              n5 [label="0x0008 rjmp .-2\nx == \"1\"\\: 0", shape=box, color="#c00000", penwidth=2];
              n6 [label="0x000a hazard reserved-opcode", shape=octagon, style=filled, fillcolor="#ffd0d0", color="#c00000", penwidth=2];
              n7 [label="0x0008 rjmp .-2 (not expanded)\nx == \"1\"\\: 1", shape=box, style=dashed];
              n0 -> n1 [color="#c00000", penwidth=2];
              n1 -> n2 [color="#c00000", penwidth=2];
              n2 -> n3 [color="#c00000", penwidth=2];
              h3 [shape=point, width=0.08, color="#c00000", penwidth=2];
              n3 -> h3 [arrowhead=none, color="#c00000", penwidth=2];
              h3 -> n4 [style=dashed];
              h3 -> n5 [style=dashed, color="#c00000", penwidth=2];
              n4 -> n5;
              n5 -> n5;
              n5 -> n6 [color="#c00000", penwidth=2];
            }
        "##]],
    );
}

#[test]
fn basic_blocks_end_where_ways_part_or_meet() {
    check(
        Fold::Auto,
        7,
        "basic block",
        expect![[r##"
              n0 [label="initial content", shape=circle, color="#c00000", penwidth=2];
              n1 [label="0x0000 nop\n0x0002 nop\n0x0004 sbrc r1, 0\n3 states\nx == \"1\"\\: 0 or X", shape=box, color="#c00000", penwidth=2];
              n2 [label="0x0006 nop\n1 state\nx == \"1\"\\: 1", shape=box];
              n3 [label="0x0008 rjmp .-2\n2 states\nx == \"1\"\\: 0 or 1", shape=box, style=dashed, color="#c00000", penwidth=2];
              n4 [label="0x000a hazard reserved-opcode", shape=octagon, style=filled, fillcolor="#ffd0d0", color="#c00000", penwidth=2];
              n0 -> n1 [color="#c00000", penwidth=2];
              n1 -> n2 [label="some of several"];
              n1 -> n3 [label="some of several", color="#c00000", penwidth=2];
              n2 -> n3;
              n3 -> n3;
              n3 -> n4 [color="#c00000", penwidth=2];
            }
        "##]],
    );
}

#[test]
fn functions_are_drawn_when_blocks_are_too_many() {
    check(
        Fold::Auto,
        1,
        "function",
        expect![[r##"
              n0 [label="initial content", shape=circle, color="#c00000", penwidth=2];
              n1 [label="code without a name\n6 states\nx == \"1\"\\: 0 or 1 or X", shape=box, style=dashed, color="#c00000", penwidth=2];
              n2 [label="0x000a hazard reserved-opcode", shape=octagon, style=filled, fillcolor="#ffd0d0", color="#c00000", penwidth=2];
              n0 -> n1 [color="#c00000", penwidth=2];
              n1 -> n2 [color="#c00000", penwidth=2];
            }
        "##]],
    );
    assert_eq!(drawn(&graph(), Fold::Functions, 100), drawn(&graph(), Fold::Auto, 1));
}

#[test]
fn an_interrupt_does_not_end_a_block_and_returns_begin_none() {
    let mut graph = graph();
    // The handler is the way that was skipped: entered from the second instruction, it returns to the third.
    graph.nodes[2].edges.push(vec![4]);
    graph.nodes[4] = GraphNode { interrupts: 1, ..node(NodeKind::Running, Some(6), &[Truth::True], &[&[3]]) };
    graph.nodes[3].edges = vec![vec![5]];
    let text = drawn(&graph, Fold::Blocks, 0);
    assert!(text.contains("0x0000 nop\\n0x0002 nop\\n0x0004 sbrc r1, 0\\n"), "{text}");
}

#[test]
fn only_what_is_near_a_place_is_drawn() {
    let around = |pc: u32| Some([avr_image::FlashByteAddress(pc).word()].into());
    let text = styled(&graph(), &image(), &DotStyle { fold: Fold::States, most: 0, around: around(2) });
    let labels = ["0x0000 nop", "0x0002 nop", "0x0004 sbrc r1, 0"];
    assert!(labels.iter().all(|label| text.contains(label)), "{text}");
    assert!(!text.contains("0x0006") && !text.contains("initial content"), "{text}");
    assert_eq!(text.matches(" -> ").count(), 2, "{text}");
    // A hyper-edge is drawn as far as its members are near.
    let text = styled(&graph(), &image(), &DotStyle { fold: Fold::States, most: 0, around: around(6) });
    assert!(text.contains("0x0004 sbrc") && text.contains("0x0008 rjmp .-2\\nx == \\\"1\\\"\\\\: 0"), "{text}");
    let nothing = styled(&graph(), &image(), &DotStyle { fold: Fold::Auto, most: 9, around: around(0x100) });
    assert!(!nothing.contains("n0 "), "{nothing}");
}

#[test]
fn nodes_of_a_function_are_drawn_together() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/branch/branch.Og.elf");
    let image = Image::load(path, &LoadOptions::new(0x8000, 0x400)).expect("a sample");
    let main = image.symbols.find("main").expect("it has symbols").place.flash().expect("code is in flash").0;
    let mut graph = graph();
    for node in graph.nodes.iter_mut().filter(|node| node.kind == NodeKind::Running) {
        node.pc = node.pc.map(|pc| if pc < 4 { pc } else { main + pc - 4 });
    }
    for fold in [Fold::States, Fold::Blocks] {
        let text = styled(&graph, &image, &DotStyle { fold, most: 0, around: None });
        let (_, cluster) = text.split_once("subgraph cluster_").expect("functions are clusters");
        let clusters: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("label=")).collect();
        assert!(clusters.iter().any(|line| line.contains("label=\"main\"")), "{text}");
        let own = cluster.split("  }\n").find(|part| part.contains("label=\"main\"")).expect("main has one");
        assert!(own.contains(&format!("{:#06x}", main + 2)), "{own}");
    }
    let text = styled(&graph, &image, &DotStyle { fold: Fold::Functions, most: 0, around: None });
    assert!(!text.contains("subgraph"), "{text}");
}
