//! Results as one page of HTML that needs nothing else: no network, no other file.
//!
//! The page shows its content without scripts, except for the steppers through runs: those work on data in the page,
//! which are JSON without any character that could end the element that they are in.

mod graph;
mod steps;

use avr_machine::Machine;
use avr_verify::{PropertyResult, Survey, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use crate::escape::{Escaped, escaped_in_json};
use crate::evidence::ports;
use crate::fields::{basis_name, verdict_name};
use crate::listing::Listing;
use crate::names::{Names, routine_name};
use crate::report::{Report, Summary, remarks};
use crate::text;
use steps::Run;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The data that the script works on.
#[derive(Serialize)]
struct Data<'a> {
    /// Address and text of each line of the listing.
    listing: Vec<(Option<u32>, &'a str)>,
    runs: Vec<Run>,
    ports: Vec<JsonPort>,
    /// Data addresses of the halves of SP.
    sp: (u16, Option<u16>),
    /// Data address of SREG.
    sreg: u16,
    /// The first data address of the SRAM.
    sram: u16,
}

#[derive(Serialize)]
struct JsonPort {
    letter: char,
    pins: u16,
    direction: u16,
    output: u16,
}

impl Report<'_> {
    /// The page; `machine` is the one that was verified.
    ///
    /// # Panics
    /// Never: the data consist of strings, numbers and lists.
    #[must_use]
    pub fn html(&self, machine: &Machine) -> String {
        let page = Page {
            report: self,
            machine,
            names: Names { image: self.image, device: machine.device },
            listing: Listing::new(self.image, machine.device),
        };
        page.page().into_string()
    }
}

struct Page<'a> {
    report: &'a Report<'a>,
    machine: &'a Machine,
    names: Names<'a>,
    listing: Listing,
}

impl Page<'_> {
    fn page(&self) -> Markup {
        let Report { image, results, .. } = self.report;
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width";
                    // Nothing may be loaded, whatever is in the page.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                    link rel="icon" href="data:,";
                    title { "avr-tvar: " (visible(&image.name)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    nav {
                        a href="#verdicts" { "Verdicts" } a href="#runs" { "Runs" } a href="#stack" { "Stack" }
                        a href="#graph" { "Graph" } a href="#coverage" { "Coverage" } a href="#basis" { "Assumptions" }
                    }
                    h1 { (visible(&image.name)) }
                    @if let Some(stop) = self.report.told_stop() { p { (stop) } }
                    p {
                        (image.format.name()) " for " (self.report.device) ": " (text::summary(Summary::of(results)))
                        br; span.mono { "sha256 " (image.sha256) }
                    }
                    (self.verdicts()) (self.findings()) (self.runs()) (self.stack())
                    @if let Some(survey) = &results.survey {
                        (graph::graph(&self.names, survey)) (self.coverage(survey))
                    }
                    (self.basis())
                    script type="application/json" id="data" { (PreEscaped(self.data())) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }

    fn verdicts(&self) -> Markup {
        html! {
            h2 #verdicts { "Verdicts" }
            table {
                thead { tr {
                    th { "verdict" } th { "property" } th.number { "states" } th.number { "refinements" } th.number { "time" }
                } }
                tbody {
                    @for (result, number) in self.report.results.properties.iter().zip(0..) { (self.verdict(result, number)) }
                }
            }
        }
    }

    fn findings(&self) -> Markup {
        let findings = self.report.finding_lines();
        html! {
            @if !findings.is_empty() {
                h2 #findings { "Findings" }
                @for finding in &findings {
                    p { @for (line, index) in finding.iter().zip(0..) { @if index > 0 { br; } (visible(line)) } }
                }
            }
        }
    }

    fn verdict(&self, result: &PropertyResult, number: usize) -> Markup {
        let (verdict, statistics) = (verdict_name(&result.verdict).0, &result.statistics);
        html! {
            tr {
                td class=(format!("verdict {verdict}")) { (verdict) }
                td {
                    @if result.evidence.is_some() {
                        a href=(format!("#run-{number}")) { (visible(&result.name)) }
                    } @else { (visible(&result.name)) }
                    @if result.formula != result.name { br; code { (visible(&result.formula)) } }
                    @for remark in remarks(result) { br; span.remark { (visible(&remark)) } }
                }
                td.number { (statistics.states) }
                td.number { (statistics.refinements) }
                td.number { (text::duration(statistics.time)) }
            }
        }
    }

    /// The results that have a run, with their numbers.
    fn shown(&self) -> impl Iterator<Item = (&PropertyResult, usize)> {
        self.report.results.properties.iter().zip(0..).filter(|(result, _)| result.evidence.is_some())
    }

    fn runs(&self) -> Markup {
        html! {
            h2 #runs { "Runs" }
            @if self.shown().next().is_none() { p { "No verdict is shown by a run." } }
            @for ((result, number), run) in self.shown().zip(0usize..) { (self.run(result, number, run)) }
        }
    }

    fn run(&self, result: &PropertyResult, number: usize, run: usize) -> Markup {
        let evidence = result.evidence.iter();
        html! {
            section.run id=(format!("run-{number}")) data-run=(run) tabindex="0" {
                h3 {
                    (visible(&result.name)) " "
                    span class=(verdict_name(&result.verdict).0) { (verdict_name(&result.verdict).0) }
                }
                @for evidence in evidence {
                    p {
                        (evidence.steps) " steps, " (evidence.cycles) " cycles"
                        @if evidence.replayed { ", replayed" } @else { ", NOT CONFIRMED by the replay" }
                        ": " (visible(&evidence.claim))
                        @for proved in &evidence.proved { br; span.remark { "by proof: " (visible(proved)) } }
                        @if let Some(next) = &evidence.continuation {
                            br; span.remark { "from a state in which the loop is left: " (visible(&next.run.claim)) }
                        }
                    }
                }
                p.controls {
                    button type="button" data-move="first" { "|<" } button type="button" data-move="back" { "<" }
                    button type="button" data-move="next" { ">" } button type="button" data-move="last" { ">|" }
                    " " input type="range" min="0" value="0" data-part="slider" aria-label="step";
                    " after " span data-part="position" {} " steps"
                }
                p.mono { span data-part="done" {} br; "next: " span data-part="next" {} " " span.remark data-part="line" {} }
                div.panes {
                    div { div.code.mono data-part="code" {} }
                    div {
                        div.registers.mono data-part="registers" {}
                        p.mono data-part="ports" {}
                        div.code.mono data-part="memory" {}
                    }
                }
                p.remark data-part="still" {}
                svg data-part="waves" width="100%" role="img" aria-label="levels of the pins" {}
            }
        }
    }

    fn stack(&self) -> Markup {
        let results = self.report.results;
        let sram = self.machine.sram();
        let start = self.report.image.static_data_end().unwrap_or(sram.start);
        let room = sram.end.offset_from(start).unwrap_or_default().into();
        html! {
            h2 #stack { "Stack" }
            p { (text::stack(results.stack)) ", of " (room) " bytes" }
            @if let Some(survey) = &results.survey {
                (graph::stack_chart(&self.names, survey, room))
                table {
                    thead { tr { th.number { "own" } th.number { "total" } th { "routine" } th { "called by" } } }
                    tbody { @for (routine, usage) in &survey.routines { tr {
                        td.number { (usage.own) }
                        td.number { (usage.total) }
                        td { (visible(&routine_name(&self.names, *routine))) }
                        td {
                            @for (caller, index) in usage.callers.iter().zip(0..) {
                                @if index > 0 { ", " } (visible(&routine_name(&self.names, *caller)))
                            }
                        }
                    } } }
                }
            }
        }
    }

    fn coverage(&self, survey: &Survey) -> Markup {
        let rows: Vec<_> = self.listing.rows().collect();
        let listed = rows.iter().filter(|(_, _, is_code)| *is_code).count();
        let reached = |address: Option<u32>| address.is_some_and(|address| survey.instructions.contains_key(&address));
        let covered = rows.iter().filter(|(_, address, is_code)| *is_code && reached(*address)).count();
        let never = if survey.complete { "never reached, in any run" } else { "not reached by what was explored" };
        html! {
            h2 #coverage { "Coverage" }
            p { (covered) " of " (listed) " instructions are reached in the proof; the others are " (never)
                ". What is reached in the proof may be more than what is reached in a run." }
            pre.code {
                @for (text, address, is_code) in rows {
                    div class=(match (is_code, reached(address)) {
                        (false, _) => "plain",
                        (true, true) => "reached",
                        (true, false) => "never",
                    }) { (text) }
                }
            }
        }
    }

    fn basis(&self) -> Markup {
        let results = self.report.results;
        let device = self.machine.device;
        html! {
            h2 #basis { "Assumptions and models" }
            p { "Verdicts are about every input, every content of uninitialised memory and every timing of interrupts." }
            @if let Some((firmware, changes)) = self.report.told_changes() {
                h3 { "Changes since " (visible(&firmware)) }
                ul { @for change in changes { li { (visible(&change)) } } }
            }
            ul {
                @for assumption in &results.assumptions { li { "assuming " (visible(assumption)) } }
                @if let Some(ended) = text::ended(results) { li { "left out: " (ended) } }
                @if results.assumptions.is_empty() { li { "nothing else is assumed" } }
                li {
                    "the model of " (device.name) ": " (device.interrupts.len()) " interrupts, SRAM up to "
                    (format!("{:#06x}", device.memory.sram_end))
                }
                @for result in &results.properties {
                    li {
                        (visible(&result.name)) ": "
                        @if matches!(result.verdict, Verdict::Unknown(_)) { "unknown" }
                        @else { (basis_name(result.basis)) "; rests on " (text::rests_on_text(result)) }
                    }
                }
                @for warning in &self.report.image.warnings { li { (visible(&warning.to_string())) } }
            }
        }
    }

    /// The data of the script, without characters that mean something in HTML.
    fn data(&self) -> String {
        let runs = self.shown().filter_map(|(result, _)| result.evidence.as_ref());
        let port = |(letter, port): (char, crate::evidence::Port)| JsonPort {
            letter,
            pins: port.pins.0,
            direction: port.direction.0,
            output: port.output.0,
        };
        let data = Data {
            listing: self.listing.rows().map(|(text, address, _)| (address, text)).collect(),
            runs: runs.map(|evidence| Run::new(evidence, &self.names, self.machine)).collect(),
            ports: ports(self.machine.device).into_iter().map(port).collect(),
            sp: (self.machine.stack_pointer().low.0, self.machine.stack_pointer().high.map(|high| high.0)),
            sreg: self.machine.status_address().0,
            sram: self.machine.sram().start.0,
        };
        let text = serde_json::to_string(&data).expect("strings, numbers and lists can be written");
        escaped_in_json(&text).replace('<', r"\u003c").replace('>', r"\u003e").replace('&', r"\u0026")
    }
}

fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
