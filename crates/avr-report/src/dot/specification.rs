//! A specification as a graph: its states with their data, and the moves between them.

use avr_properties::SpecificationAutomaton;

use super::write::{put, quoted};

/// A specification as DOT. States that may stop have a double frame, silent moves a dashed arrow.
#[must_use]
pub fn specification_dot(automaton: &SpecificationAutomaton) -> String {
    let mut text = String::from("digraph specification {\n");
    put(
        &mut text,
        &format!("  graph [label={}, labelloc=t, fontname=monospace, rankdir=LR];", quoted(&automaton.name)),
    );
    put(&mut text, "  node [fontname=monospace, fontsize=10, shape=box];");
    put(&mut text, "  edge [fontname=monospace, fontsize=9];");
    for (number, state) in automaton.states.iter().enumerate() {
        let data = state.data.as_ref().map_or_else(String::new, |data| format!("\n{}", data.text));
        let frame = if state.may_stop { ", peripheries=2" } else { "" };
        put(&mut text, &format!("  n{number} [label={}{frame}];", quoted(&format!("{}{data}", state.name))));
    }
    for (number, state) in automaton.initial.iter().enumerate() {
        put(&mut text, &format!("  i{number} [shape=point];"));
        put(&mut text, &format!("  i{number} -> n{state};"));
    }
    for (number, state) in automaton.states.iter().enumerate() {
        for it in &state.moves {
            let label = match &it.on {
                Some(on) => format!("label={}", quoted(&on.text)),
                None => "label=\"tau\", style=dashed".to_owned(),
            };
            put(&mut text, &format!("  n{number} -> n{} [{label}];", it.to));
        }
    }
    text.push_str("}\n");
    text
}
