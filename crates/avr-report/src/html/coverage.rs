//! The code that is reached, by file, line and instruction.

use std::collections::{BTreeMap, BTreeSet};

use avr_machine::Machine;
use avr_verify::Evidence;
use maud::{Markup, html};

use super::highlight;
use super::{Page, visible};
use crate::evidence::Lines;
use crate::place::{Source, source_paths};

/// So many bytes of sources are in the page, those with the most code first.
const MAX_SOURCE_BYTES: usize = 250_000;
/// So many ranges of lines that are not reached are named where the source is not in the page.
const MAX_RANGES: usize = 40;

/// The origin of what is known about code being reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The proof followed every path.
    WholeProof,
    /// The proof did not come to its end.
    PartOfProof,
    /// Nothing but the runs.
    Runs,
}

/// A line of a source with code: its instructions, and how many of them are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LineCode {
    instructions: usize,
    reached: usize,
}

/// A source with code.
pub(super) struct File {
    pub(super) path: String,
    lines: BTreeMap<u32, LineCode>,
    /// The text, if it is in the page.
    text: Option<String>,
}

/// The code that is reached.
pub(super) struct Coverage {
    pub(super) files: Vec<File>,
    reached: BTreeSet<u32>,
    /// The number of instructions of the image, and of those that are reached.
    instructions: usize,
    covered: usize,
    origin: Origin,
}

impl Coverage {
    pub(super) fn new(page: &Page<'_>) -> Self {
        let (reached, origin) = reached(page);
        let code: BTreeSet<u32> =
            page.listing.rows().filter_map(|(_, address, is_code)| address.filter(|_| is_code)).collect();
        let mut files: BTreeMap<String, BTreeMap<u32, LineCode>> =
            source_paths(page.report.image).into_iter().map(|path| (path, BTreeMap::new())).collect();
        for pc in &code {
            let Some(source) = Source::at(page.report.image, *pc) else { continue };
            let line = files.entry(source.file).or_default().entry(source.line).or_default();
            line.instructions += 1;
            line.reached += usize::from(reached.contains(pc));
        }
        let files = files.into_iter().map(|(path, lines)| File { path, lines, text: None });
        let covered = code.intersection(&reached).count();
        let mut all = Self { files: files.collect(), reached, instructions: code.len(), covered, origin };
        all.add_sources(page);
        all
    }

    /// Adds the sources that were found, as far as they have room. A text that lacks lines of which there is code is another one.
    fn add_sources(&mut self, page: &Page<'_>) {
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(self.files[*index].lines.len()));
        let mut room = MAX_SOURCE_BYTES;
        for index in order {
            let file = &mut self.files[index];
            let Some(source) = page.report.origin.sources.iter().find(|source| source.path == file.path) else {
                continue;
            };
            let last = file.lines.keys().next_back().copied().unwrap_or(0) as usize;
            if source.text.len() <= room && source.text.lines().count() >= last {
                room -= source.text.len();
                file.text = Some(source.text.clone());
            }
        }
    }

    /// The index of the file of a flash byte address, and the line.
    pub(super) fn place(&self, page: &Page<'_>, pc: u32) -> Option<(usize, u32)> {
        let source = Source::at(page.report.image, pc)?;
        let index = self.files.iter().position(|file| file.path == source.file)?;
        Some((index, source.line))
    }

    /// The percentage of all instructions, and what it means.
    pub(super) fn tile(&self) -> (String, &'static str) {
        let of = match self.origin {
            Origin::WholeProof => "of the code is reached",
            Origin::PartOfProof => "of the code was explored",
            Origin::Runs => "of the code is in runs",
        };
        (percent(self.covered, self.instructions), of)
    }

    pub(super) fn section(&self, page: &Page<'_>) -> Markup {
        let meaning = match self.origin {
            Origin::WholeProof => {
                "The proof followed every path: the rest is never reached, in any run. What the proof reaches may be more than what \
                 runs reach."
            }
            Origin::PartOfProof => {
                "The proof did not follow every path, so the rest may be reached as well. What it reached may be more than what runs \
                 reach."
            }
            Origin::Runs => {
                "No proof says what is reached. This is what the runs of this page reach; the rest may be reached as well."
            }
        };
        html! {
            section #coverage {
                h2 { "Coverage" }
                p {
                    b { (percent(self.covered, self.instructions)) } " of the code: " (self.covered) " of " (self.instructions)
                    " instructions. " (meaning)
                }
                @if !self.files.is_empty() {
                    p.controls { label { input #gaps type="checkbox"; " only files and lines that are not reached" } }
                    @for (file, index) in self.files.iter().zip(0..) { (file.markup(index)) }
                }
                details #listing {
                    summary { "Machine code" span.muted { " with what is reached" } }
                    p.controls {
                        label { "Search " input #find type="search" placeholder="function, address, instruction"; }
                        " " span #found.muted aria-live="polite" {}
                    }
                    pre #code.code { @for (line, _, _) in page.listing.rows() { (line) "\n" } }
                }
            }
        }
    }

    /// For each line of the listing: 0 for no instruction, 1 for one that is reached, 2 for another.
    pub(super) fn marks(&self, page: &Page<'_>) -> String {
        let mark = |(_, address, is_code): (&str, Option<u32>, bool)| match address.filter(|_| is_code) {
            None => '0',
            Some(address) if self.reached.contains(&address) => '1',
            Some(_) => '2',
        };
        page.listing.rows().map(mark).collect()
    }
}

/// The addresses that are reached: by the proof, or by the runs where there is none.
fn reached(page: &Page<'_>) -> (BTreeSet<u32>, Origin) {
    match &page.report.results.survey {
        Some(survey) => {
            let origin = if survey.complete { Origin::WholeProof } else { Origin::PartOfProof };
            (survey.instructions.keys().copied().collect(), origin)
        }
        None => {
            let mut all = BTreeSet::new();
            for evidence in page.shown.iter().filter_map(|result| result.evidence.as_ref()) {
                reach(&mut all, page.machine, (evidence, Lines::new(page.machine, evidence)));
            }
            (all, Origin::Runs)
        }
    }
}

/// Adds the flash byte addresses of a run, and of those behind and beside it.
fn reach(all: &mut BTreeSet<u32>, machine: &Machine, (evidence, mut lines): (&Evidence, Lines<'_>)) {
    while let Some((line, _)) = lines.next() {
        all.insert(line.pc);
    }
    for branch in &evidence.branches {
        reach(all, machine, (branch, Lines::new(machine, branch)));
    }
    if let Some(continuation) = &evidence.continuation {
        reach(all, machine, (&continuation.run, Lines::behind(machine, continuation, lines.state())));
    }
}

impl File {
    /// The number of lines with code, and of those that are reached.
    fn counts(&self) -> (usize, usize) {
        (self.lines.len(), self.lines.values().filter(|line| line.reached > 0).count())
    }

    fn markup(&self, index: usize) -> Markup {
        let (all, reached) = self.counts();
        html! {
            details.file id=(format!("file-{index}")) data-complete=(reached == all) {
                summary {
                    span.path { (visible(&self.path)) }
                    span.bar aria-hidden="true" { span style=(format!("width:{}", percent(reached, all))) {} }
                    span.number { (percent(reached, all)) } span.muted.number { (reached) " of " (all) " lines" }
                }
                @match &self.text {
                    Some(text) => div.source { @for (line, number) in highlight::lines(text).iter().zip(1..) {
                        (self.line(number, line))
                    } },
                    None => p.muted { (self.without_text()) },
                }
            }
        }
    }

    fn line(&self, number: u32, pieces: &[(highlight::Token, String)]) -> Markup {
        let class = match self.lines.get(&number) {
            None => "l",
            Some(line) if line.reached == 0 => "l miss",
            Some(line) if line.reached < line.instructions => "l part",
            Some(_) => "l hit",
        };
        html! {
            div class=(class) {
                i { (number) }
                code { @for (token, text) in pieces { @match token.class() {
                    Some(class) => span class=(class) { (visible(text)) },
                    None => (visible(text)),
                } } }
            }
        }
    }

    fn without_text(&self) -> String {
        let missing = self.lines.iter().filter(|(_, line)| line.reached == 0).map(|(number, _)| *number);
        let ranges = ranges(missing, &self.lines.keys().copied().collect());
        let more = if ranges.len() > MAX_RANGES { ", …" } else { "" };
        let named = ranges[..ranges.len().min(MAX_RANGES)].join(", ");
        match ranges.len() {
            0 => "The source is not in this page. Every line with code is reached.".to_owned(),
            _ => format!("The source is not in this page. Lines that are not reached: {named}{more}."),
        }
    }
}

/// Numbers as ranges, over numbers that have no code.
fn ranges(numbers: impl Iterator<Item = u32>, code: &BTreeSet<u32>) -> Vec<String> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match all.last_mut() {
            Some((_, last)) if code.range(*last + 1..number).next().is_none() => *last = number,
            _ => all.push((number, number)),
        }
    }
    let text = |(first, last): (u32, u32)| if first == last { first.to_string() } else { format!("{first}–{last}") };
    all.into_iter().map(text).collect()
}

/// A part of a whole, rounded down so that 100 % is everything.
pub(super) fn percent(part: usize, whole: usize) -> String {
    (part * 100).checked_div(whole).map_or_else(|| "–".to_owned(), |percent| format!("{percent}%"))
}

#[cfg(test)]
mod tests {
    use super::{percent, ranges};
    use std::collections::BTreeSet;

    #[test]
    fn lines_without_code_do_not_end_a_range() {
        let code = BTreeSet::from([1, 2, 5, 6, 9]);
        let check = |missing: &[u32], expected: &[&str]| assert_eq!(ranges(missing.iter().copied(), &code), expected);
        check(&[1, 2, 5], &["1–5"]);
        check(&[1, 5, 9], &["1", "5", "9"]);
        check(&[2, 5, 6, 9], &["2–9"]);
        check(&[], &[]);
    }

    #[test]
    fn only_everything_is_100_percent() {
        assert_eq!(percent(999, 1000), "99%");
        assert_eq!(percent(1000, 1000), "100%");
        assert_eq!(percent(0, 0), "–");
    }
}
