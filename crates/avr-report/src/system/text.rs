//! Results for a system as a table for people.

use avr_system::{Basis, Verdict};

use super::{IN_MODEL, SystemReport, verdict_name};
use crate::escape::Escaped;
use crate::text::{Colour, INDENT, MIN_WIDTH, line, style, summary};
use crate::wrap::wrapped;

/// The most moments of a run that the text shows.
const SHOWN: usize = 40;

impl SystemReport<'_> {
    /// A table with a line for each property, the reasons of those without an answer, the runs that violate others, and what all
    /// answers assume.
    #[must_use]
    pub fn text(&self, colour: Colour) -> String {
        let results = &self.results.properties;
        let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
        let (nodes, wires) = (count(self.file.nodes.len(), "node"), count(self.file.wires.len(), "wire"));
        let mut text = format!("{} ({nodes}, {wires})\n\n", Escaped(self.path));
        let names: Vec<String> = results.iter().map(|result| Escaped(&result.name).to_string()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("property".len());
        text.push_str(&format!("verdict   {:width$}  {:>9}\n", "property", "states"));
        for (result, name) in results.iter().zip(&names) {
            let verdict = verdict_name(&result.verdict);
            let shown = match colour {
                Colour::Never => verdict.to_owned(),
                Colour::Always => format!("{style}{verdict}{style:#}", style = style(verdict)),
            };
            let gap = " ".repeat(INDENT.len() - verdict.len());
            text.push_str(&format!("{shown}{gap}{name:width$}  {:>9}\n", result.states));
            match &result.verdict {
                Verdict::Holds => {}
                Verdict::Unknown(reason) => text.push_str(&format!("{INDENT}because {}\n", Escaped(reason))),
                Verdict::Violated(run) => {
                    let lines = self.run_lines(run, SHOWN);
                    lines.iter().for_each(|line| text.push_str(&format!("{INDENT}{}\n", Escaped(line))));
                }
            }
            if result.basis == Some(Basis::Model) {
                text.push_str(&format!("{INDENT}{IN_MODEL}\n"));
            }
        }
        text.push('\n');
        for assumed in self.assumptions {
            line(&mut text, "assuming", &Escaped(assumed).to_string());
        }
        let states = self.results.node_states.iter().enumerate();
        let states: Vec<String> =
            states.map(|(node, states)| format!("{} has {}", self.node(node), count(*states, "state"))).collect();
        line(&mut text, "nodes", &states.join(", "));
        line(&mut text, "summary", &summary(self.summary()));
        text
    }

    /// The same with no line wider than so many characters: long ones go on in the next line.
    #[must_use]
    pub fn text_within(&self, colour: Colour, width: usize) -> String {
        wrapped(&self.text(colour), width.max(MIN_WIDTH))
    }
}
