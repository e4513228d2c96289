//! Results for a system as one page of HTML that needs nothing else: no network, no other file, and no script.

use std::ops::Range;

use avr_system::{Basis, Moment, MomentKind, PropertyResult, Run, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{IN_MODEL, SystemReport, between, steps, verdict_name};
use crate::escape::Escaped;
use crate::html::{outcome, plural, shortened};

const STYLE: &[&str] = &[
    include_str!("../html/style/page.css"),
    include_str!("../html/style/system.css"),
    include_str!("../html/style/print.css"),
];

/// So many of the first and of the last moments of a run are on the page.
const MAX_MOMENTS: usize = 500;

impl SystemReport<'_> {
    /// The page.
    #[must_use]
    pub fn html(&self) -> String {
        let name = self.path.rsplit(['/', '\\']).next().unwrap_or(self.path);
        let summary = self.summary();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // Nothing may be loaded or run, whatever is in the page.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                    link rel="icon" href="data:,";
                    title { "avr-tvar: " (visible(self.path)) }
                    style { @for part in STYLE { (PreEscaped(part)) } }
                }
                body {
                    header.top {
                        span.brand { "avr-tvar" }
                        nav aria-label="sections" { a href="#properties" { "Properties" } a href="#basis" { "Basis" } }
                    }
                    main {
                        section #summary {
                            p.kind { "Verification report of a system" }
                            h1 { (visible(name)) }
                            p.lead { (outcome(summary)) }
                            ul.tiles {
                                @for (name, count) in [("violated", summary.violated), ("unknown", summary.unknown), ("holds", summary.holds)] {
                                    li { div class=(if count > 0 { format!("tile {name}") } else { "tile".to_owned() }) {
                                        b { (count) } span { (if count == 1 { name } else { plural(name) }) }
                                    } }
                                }
                            }
                            (self.facts())
                        }
                        section #properties {
                            h2 { "Properties" }
                            ol.properties {
                                @for (number, result) in self.results.properties.iter().enumerate() {
                                    li { a href=(format!("#property-{number}")) {
                                        (verdict(result)) " " span { (visible(&result.name)) }
                                    } }
                                }
                            }
                            div.detail {
                                @for (number, result) in self.results.properties.iter().enumerate() {
                                    (self.property(number, result))
                                }
                            }
                        }
                        (self.basis())
                    }
                    footer { "Made by avr-tvar " (self.origin.tool) ". This page is complete in itself and loads nothing." }
                }
            }
        };
        page.into_string()
    }

    fn facts(&self) -> Markup {
        let origin = self.origin;
        html! {
            dl.facts {
                dt { "System" } dd { (visible(self.path)) }
                @for (entry, node) in self.file.nodes.iter().zip(self.nodes) {
                    dt { "Node " (visible(&entry.name.text)) } dd { (visible(&node.image.name)) " " span.muted { (node.device.name) } }
                }
                @if !origin.date.is_empty() { dt { "Date" } dd { (visible(origin.date)) } }
                @if !origin.tool.is_empty() {
                    dt { "Tool" } dd { "avr-tvar " span title=(visible(origin.tool)) { (shortened(&visible(origin.tool))) } }
                }
                @if !origin.command.is_empty() { dt.whole { "Command" } dd.whole { code { (visible(origin.command)) } } }
            }
            details.text {
                summary { "The system file" }
                pre.code { @for line in self.text.lines() { (visible(&line.replace('\t', "    "))) "\n" } }
            }
        }
    }

    fn property(&self, number: usize, result: &PropertyResult) -> Markup {
        html! {
            article id=(format!("property-{number}")) class=(verdict_name(&result.verdict)) {
                h3 { (visible(&result.name)) }
                p.verdict-line {
                    (verdict(result)) " "
                    span.muted { (result.states) " states of the system; line " (self.line_of(number)) " of the system file" }
                }
                @match &result.verdict {
                    Verdict::Holds => {}
                    Verdict::Unknown(reason) => ul.said { li { (visible(reason)) } },
                    Verdict::Violated(run) => (self.run_table(run)),
                }
                @if result.basis == Some(Basis::Model) { ul.said { li { (IN_MODEL) } } }
            }
        }
    }

    /// A run with a column for each node.
    fn run_table(&self, run: &Run) -> Markup {
        let all = run.moments.len();
        let left_out = all.saturating_sub(2 * MAX_MOMENTS);
        let (first, last) = if left_out == 0 { (all, all) } else { (MAX_MOMENTS, all - MAX_MOMENTS) };
        let columns = self.nodes.len();
        html! {
            div.nodes tabindex="0" role="group" aria-label="run of all nodes" {
                table {
                    caption { "Run of all nodes, " (steps(run)) ", replayed. Marked: what happens on a wire." }
                    thead { tr {
                        th scope="col" { span.hidden { "number" } }
                        @for entry in &self.file.nodes { th scope="col" { (visible(&entry.name.text)) } }
                    } }
                    tbody {
                        @for (moment, number) in run.moments[..first].iter().zip(1..) {
                            (self.between(run, number - 1..number)) (self.row(moment, number))
                        }
                        @if left_out > 0 {
                            tr { td {} td colspan=(columns) { (left_out) " moments are left out; --format json has all" } }
                            (self.between(run, first..last))
                        }
                        @for (moment, number) in run.moments[last..].iter().zip(last + 1..) {
                            (self.between(run, number - 1..number)) (self.row(moment, number))
                        }
                        (self.between(run, all..all + 1))
                    }
                    tfoot { tr {
                        th scope="row" { "end" }
                        @for (place, steps) in run.last.iter().zip(&run.steps) {
                            td { (visible(&place.text)) span.place { "after " (steps) " steps" } }
                        }
                    } }
                }
            }
        }
    }

    /// Rows about what stands before one of these moments: the states of a specification, and the part that repeats.
    fn between(&self, run: &Run, moments: Range<usize>) -> Markup {
        html! {
            @for (at, text) in between(run) {
                @if moments.contains(&at) { tr.between { td {} td colspan=(self.nodes.len()) { (visible(&text)) } } }
            }
        }
    }

    /// A moment in the column of its node, or across the columns of the ends of its line.
    fn row(&self, moment: &Moment, number: usize) -> Markup {
        let (first, last) = match (moment.kind, moment.node) {
            (MomentKind::Line { from, to }, _) => (from.min(to), from.max(to)),
            (_, node) => (node.unwrap_or_default(), node.unwrap_or_default()),
        };
        let columns = last - first + 1;
        let after = self.nodes.len().saturating_sub(last + 1);
        let kind = match moment.kind {
            MomentKind::Input => "",
            MomentKind::Pin | MomentKind::Character => "wire",
            MomentKind::Line { .. } => "wire line",
        };
        html! {
            tr {
                th scope="row" { (number) }
                @for _ in 0..first { td {} }
                td class=(kind) colspan=[(columns > 1).then_some(columns)] {
                    @if let MomentKind::Line { from, to } = moment.kind { (if from < to { "→ " } else { "← " }) }
                    (visible(&moment.text))
                    @if let Some(place) = self.place_of(moment) { span.place { (visible(&place)) } }
                }
                @for _ in 0..after { td {} }
            }
        }
    }

    /// The step, the instruction and the source line of a moment.
    fn place_of(&self, moment: &Moment) -> Option<String> {
        let (node, pc) = (moment.node?, moment.pc?);
        let names = self.names(node)?;
        let mut parts = vec![format!("step {}, {pc:#06x}", moment.step)];
        parts.extend(names.instruction(pc));
        parts.extend(names.function(pc).map(|function| format!("in {function}")));
        parts.extend(names.shown_line(pc));
        Some(parts.join(", "))
    }

    fn basis(&self) -> Markup {
        html! {
            section #basis {
                h2 { "What it rests on" }
                p { "Verdicts are about every order of the steps of nodes, every input that no wire supplies, and every content of uninitialised memory." }
                ul {
                    @for assumption in self.assumptions { li { "assuming " (visible(assumption)) } }
                    @for (entry, states) in self.file.nodes.iter().zip(&self.results.node_states) {
                        li { (visible(&entry.name.text)) " has " (states) " states" }
                    }
                }
                @if !self.origin.inputs.is_empty() {
                    h3 { "Files" }
                    ul { @for input in self.origin.inputs {
                        li { (input.role) ": " (visible(&input.path)) ", " (input.bytes) " bytes " code.hash { (input.sha256) } }
                    } }
                }
            }
        }
    }
}

fn verdict(result: &PropertyResult) -> Markup {
    let name = verdict_name(&result.verdict);
    html! { span class=(format!("verdict {name}")) { (name) } }
}

fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
