//! Results as one page of HTML that needs nothing else: no network, no other file.
//!
//! The page shows its content without scripts, except for the stepper through runs, the machine code's marks and the timing diagram:
//! those work on data in the page, which are JSON without any character that could end the element that they are in.

mod blocks;
mod coverage;
mod fold;
mod graph;
mod highlight;
mod properties;
mod run;
mod stack;

use std::collections::{BTreeMap, BTreeSet};

use avr_machine::Machine;
use avr_verify::{PropertyResult, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use crate::escape::{Escaped, escaped_in_json};
use crate::evidence::{ports, streams};
use crate::fields::basis_name;
use crate::listing::Listing;
use crate::names::Names;
use crate::report::{Report, Summary};
use crate::text;
use coverage::Coverage;
use run::Run;

const STYLE: &[&str] =
    &[include_str!("style/page.css"), include_str!("style/run.css"), include_str!("style/print.css")];
const SCRIPT: &[&str] = &[
    include_str!("script/tools.js"),
    include_str!("script/run.js"),
    include_str!("script/panes.js"),
    include_str!("script/timing.js"),
    include_str!("script/page.js"),
];

/// So many characters of a digest are shown at first sight.
const MAX_DIGEST: usize = 18;

/// The data that the script works on.
#[derive(Serialize)]
struct Data {
    /// Instructions by flash byte address: text, the index of the file and the line or 0, and the index of the function.
    code: BTreeMap<u32, (String, Option<usize>, u32, Option<usize>)>,
    functions: Vec<String>,
    /// For each line of the machine code: 1 where its instruction is reached, 2 where it is not, 0 where there is none.
    marks: String,
    runs: Vec<Run>,
    ports: Vec<JsonPort>,
    /// Data addresses of the halves of SP.
    sp: (u16, Option<u16>),
    /// Data address of SREG.
    sreg: u16,
    /// The first data address of the SRAM.
    sram: u16,
    /// Registers from which data come: name, data address, that of the high byte where there is one.
    streams: Vec<(&'static str, u16, Option<u16>)>,
    /// The clock in hertz.
    clock: Option<u64>,
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
        let findings: Vec<PropertyResult> = self.finding_runs().into_iter().map(|(_, result)| result).collect();
        let with_run = self.results.properties.iter().chain(&findings).filter(|result| result.evidence.is_some());
        let page = Page {
            report: self,
            machine,
            names: Names { image: self.image, device: machine.device },
            listing: Listing::new(self.image, machine.device),
            shown: with_run.collect(),
            findings: &findings,
        };
        page.page().into_string()
    }
}

struct Page<'a> {
    report: &'a Report<'a>,
    machine: &'a Machine,
    names: Names<'a>,
    listing: Listing,
    /// The results that have a run: those of properties, then those of findings.
    shown: Vec<&'a PropertyResult>,
    findings: &'a [PropertyResult],
}

impl Page<'_> {
    fn page(&self) -> Markup {
        let Report { image, results, .. } = self.report;
        let coverage = Coverage::new(self);
        let survey = results.survey.as_ref().filter(|survey| !survey.instructions.is_empty());
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    // Nothing may be loaded, whatever is in the page.
                    meta http-equiv="Content-Security-Policy"
                        content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
                    link rel="icon" href="data:,";
                    title { "avr-tvar: " (visible(&image.name)) }
                    style { @for part in STYLE { (PreEscaped(part)) } }
                }
                body {
                    header.top {
                        span.brand { "avr-tvar" }
                        nav aria-label="sections" {
                            a href="#properties" { "Properties" } a href="#stack" { "Stack" } a href="#coverage" { "Coverage" }
                            @if survey.is_some() { a href="#graph" { "States" } }
                            a href="#basis" { "Basis" }
                        }
                    }
                    main {
                        (self.head(&coverage)) (self.properties()) (self.stack()) (coverage.section(self))
                        @if let Some(survey) = survey { (self.graph(survey)) }
                        (self.basis())
                    }
                    footer { "Made by avr-tvar " (self.report.origin.tool) ". This page is complete in itself and loads nothing." }
                    script type="application/json" id="data" { (PreEscaped(self.data(&coverage))) }
                    script { @for part in SCRIPT { (PreEscaped(part)) } }
                }
            }
        }
    }

    /// The outcome in a few words and numbers, and what it was made from.
    fn head(&self, coverage: &Coverage) -> Markup {
        let Report { image, results, .. } = self.report;
        let summary = Summary::of(results);
        let (stack, of_stack) = self.stack_tile();
        let (share, of_code) = coverage.tile();
        html! {
            section #summary {
                p.kind { "Verification report" }
                h1 { (visible(image.name.rsplit(['/', '\\']).next().unwrap_or(&image.name))) }
                p.lead { (outcome(summary)) }
                @if let Some(stop) = self.report.told_stop() { p.note { (stop) } }
                ul.tiles {
                    @for (name, count) in [("violated", summary.violated), ("unknown", summary.unknown), ("holds", summary.holds)] {
                        li { button type="button" class=(format!("tile {name}")) data-filter=(name) aria-pressed="false" disabled[count == 0] {
                            b { (count) } span { (if count == 1 { name } else { plural(name) }) }
                        } }
                    }
                    li { a.tile href="#stack" { b { (stack) } span { (of_stack) } } }
                    li { a.tile href="#coverage" { b { (share) } span { (of_code) } } }
                }
                (self.facts())
            }
        }
    }

    fn facts(&self) -> Markup {
        let Report { image, origin, .. } = self.report;
        let properties = origin.inputs.iter().find(|input| input.role == "properties");
        html! {
            dl.facts {
                dt { "Firmware" } dd { (visible(&image.name)) " " span.muted { (image.format.name()) } }
                dt { "Device" } dd {
                    (self.report.device)
                    @if let Some(hertz) = origin.clock_hz { " at " (frequency(hertz)) }
                }
                dt { "SHA-256" } dd { code title=(image.sha256) { (shortened(&image.sha256)) } }
                @if !origin.date.is_empty() { dt { "Date" } dd { (visible(origin.date)) } }
                @if !origin.tool.is_empty() {
                    dt { "Tool" } dd { "avr-tvar " span title=(visible(origin.tool)) { (shortened(&visible(origin.tool))) } }
                }
                @if let Some(file) = properties { dt { "Properties" } dd { (visible(&file.path)) } }
                @if !origin.command.is_empty() { dt.whole { "Command" } dd.whole { code { (visible(origin.command)) } } }
            }
            @if !origin.properties.is_empty() {
                details.text {
                    summary { "The property file" }
                    pre.code { @for line in origin.properties.lines() { (visible(&line.replace('\t', "    "))) "\n" } }
                }
            }
        }
    }

    fn basis(&self) -> Markup {
        let results = self.report.results;
        let device = self.machine.device;
        html! {
            section #basis {
                h2 { "What it rests on" }
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
                            @for promise in &result.promises { "; promised: " (visible(promise)) }
                        }
                    }
                    @for warning in &self.report.image.warnings { li { (visible(&warning.to_string())) } }
                }
                @if !self.report.origin.inputs.is_empty() {
                    h3 { "Files" }
                    ul { @for input in self.report.origin.inputs {
                        li { (input.role) ": " (visible(&input.path)) ", " (input.bytes) " bytes " code.hash { (input.sha256) } }
                    } }
                }
            }
        }
    }

    /// The data of the script, without characters that mean something in HTML.
    fn data(&self, coverage: &Coverage) -> String {
        let shown = || self.shown.iter().filter_map(|result| result.evidence.as_ref());
        let limit = run::limit(shown().map(run::count).sum());
        let runs: Vec<Run> =
            shown().flat_map(|evidence| Run::all(evidence, &self.names, self.machine, limit)).collect();
        let port = |(letter, port): (char, crate::evidence::Port)| JsonPort {
            letter,
            pins: port.pins.0,
            direction: port.direction.0,
            output: port.output.0,
        };
        let mut functions = Vec::new();
        let places: BTreeSet<u32> = runs.iter().flat_map(Run::places).copied().collect();
        let code = places.into_iter().map(|pc| (pc, self.code(coverage, &mut functions, pc))).collect();
        let data = Data {
            code,
            functions,
            marks: coverage.marks(self),
            runs,
            ports: ports(self.machine.device).into_iter().map(port).collect(),
            sp: (self.machine.stack_pointer().low.0, self.machine.stack_pointer().high.map(|high| high.0)),
            sreg: self.machine.status_address().0,
            sram: self.machine.sram().start.0,
            streams: streams(self.machine.device)
                .into_iter()
                .map(|(name, low, high)| (name, low.0, high.map(|high| high.0)))
                .collect(),
            clock: self.report.origin.clock_hz,
        };
        let text = serde_json::to_string(&data).expect("strings, numbers and lists can be written");
        escaped_in_json(&text).replace('<', r"\u003c").replace('>', r"\u003e").replace('&', r"\u0026")
    }

    /// The name of a function, of a handler by its interrupt.
    fn function(&self, name: &str) -> String {
        let vector = name.strip_prefix("__vector_").and_then(|number| number.parse::<u8>().ok());
        let known = vector.and_then(|vector| self.machine.device.interrupts.iter().find(|one| one.number == vector));
        known.map_or_else(|| visible(name), |interrupt| format!("{} handler", interrupt.name))
    }

    /// The instruction at a flash byte address, with its place and function.
    fn code(
        &self,
        coverage: &Coverage,
        functions: &mut Vec<String>,
        pc: u32,
    ) -> (String, Option<usize>, u32, Option<usize>) {
        let text = visible(&self.names.instruction(pc).unwrap_or_else(|| "no instruction".to_owned()));
        let place = coverage.place(self, pc);
        let function = self.names.function(pc).map(|name| {
            let name = self.function(&name);
            functions.iter().position(|known| *known == name).unwrap_or_else(|| {
                functions.push(name);
                functions.len() - 1
            })
        });
        (text, place.map(|(file, _)| file), place.map_or(0, |(_, line)| line), function)
    }
}

/// The beginning of a long digest.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_DIGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The outcome as a sentence.
pub(crate) fn outcome(summary: Summary) -> String {
    let Summary { holds, violated, unknown } = summary;
    let all = holds + violated + unknown;
    let properties = |count: usize| if count == 1 { "property".to_owned() } else { "properties".to_owned() };
    match (violated, unknown) {
        (0, 0) if all == 1 => "The property holds.".to_owned(),
        (0, 0) => format!("All {all} properties hold."),
        (0, _) => format!("{unknown} of {all} {} could not be decided; none is violated.", properties(all)),
        (1, _) => format!("1 of {all} {} is violated.", properties(all)),
        _ => format!("{violated} of {all} {} are violated.", properties(all)),
    }
}

/// The verdict of several properties.
pub(crate) fn plural(verdict: &str) -> &str {
    if verdict == "holds" { "hold" } else { verdict }
}

/// A frequency with its unit.
fn frequency(hertz: u64) -> String {
    match hertz {
        0..1_000 => format!("{hertz} Hz"),
        1_000..1_000_000 => format!("{} kHz", hertz as f64 / 1e3),
        _ => format!("{} MHz", hertz as f64 / 1e6),
    }
}

fn visible(text: &str) -> String {
    Escaped(text).to_string()
}
