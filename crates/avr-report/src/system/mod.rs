//! Results for systems of several nodes, in the formats that results for one image have.

mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;

use avr_image::Image;
use avr_machine::device::Device;
use avr_system::{Moment, PropertyResult, Results, Run, SystemFile, Verdict};

use crate::names::Names;
use crate::report::{ReportOrigin, Summary};

/// The firmware of a node.
#[derive(Clone, Copy, Debug)]
pub struct SystemNode<'a> {
    /// The image.
    pub image: &'a Image,
    /// The device.
    pub device: &'a Device,
}

/// The results for one system, ready to be rendered.
#[derive(Clone, Copy, Debug)]
pub struct SystemReport<'a> {
    /// The path of the system file, as it was given.
    pub path: &'a str,
    /// The content of the system file.
    pub text: &'a str,
    /// The system that it describes.
    pub file: &'a SystemFile,
    /// The firmware of each node, in the order of the file.
    pub nodes: &'a [SystemNode<'a>],
    /// The assumptions about wires, as sentences without full stops.
    pub assumptions: &'a [String],
    /// The answers, in the order of the properties of the file.
    pub results: &'a Results,
    /// The program and the files that the answers come from.
    pub origin: ReportOrigin<'a>,
}

impl<'a> SystemReport<'a> {
    fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for result in &self.results.properties {
            match result.verdict {
                Verdict::Holds => summary.holds += 1,
                Verdict::Violated(_) => summary.violated += 1,
                Verdict::Unknown(_) => summary.unknown += 1,
            }
        }
        summary
    }

    /// The name of a node.
    fn node(&self, number: usize) -> &'a str {
        self.file.nodes.get(number).map_or("", |node| &node.name.text)
    }

    /// The names in the firmware of a node.
    fn names(&self, node: usize) -> Option<Names<'a>> {
        self.nodes.get(node).map(|SystemNode { image, device }| Names { image, device })
    }

    /// The line of a byte of the system file, and its character there, both counted from 1.
    fn position(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    /// The line of the system file that a property begins in, counted from 1.
    fn line_of(&self, property: usize) -> usize {
        self.file.properties.get(property).map_or(1, |entry| self.position(entry.span.start).0)
    }

    /// The remarks on a result beside its verdict, as sentences without full stops.
    fn remarks(&self, result: &PropertyResult) -> Vec<String> {
        match &result.verdict {
            Verdict::Holds => Vec::new(),
            Verdict::Unknown(reason) => vec![reason.clone()],
            Verdict::Violated(run) => vec![format!("run of all nodes, {}: {}", steps(run), self.ends(run))],
        }
    }

    /// The places of all nodes at the end of a run.
    fn ends(&self, run: &Run) -> String {
        let places = run.last.iter().enumerate();
        let places: Vec<String> =
            places.map(|(node, place)| format!("{} is {}", self.node(node), place.text)).collect();
        format!("in the end {}", places.join(", "))
    }

    /// A run as lines of text without line ends, with at most so many moments.
    fn run_lines(&self, run: &Run, most: usize) -> Vec<String> {
        let width = self.file.nodes.iter().map(|node| node.name.text.len()).max().unwrap_or(0).max("line".len());
        let mut lines = vec![format!("run of all nodes, {}, replayed:", steps(run))];
        lines.extend(run.moments.iter().take(most).map(|moment| {
            let who = moment.node.map_or("line", |node| self.node(node));
            format!("{who:width$}{}", said(moment))
        }));
        if run.moments.len() > most {
            lines.push(format!("and {} more; --format json has all", run.moments.len() - most));
        }
        lines.push(self.ends(run));
        lines
    }
}

/// The steps of all nodes together.
fn steps(run: &Run) -> String {
    let steps: u64 = run.steps.iter().sum();
    if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") }
}

/// The text of a moment with the address of its instruction.
fn said(moment: &Moment) -> String {
    let at = moment.pc.map_or_else(String::new, |pc| format!(" at {pc:#06x}"));
    format!("{at} {}", moment.text)
}

/// The name of a verdict.
fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The verdict as a sentence without a full stop.
fn statement(result: &PropertyResult) -> String {
    let verdict = match result.verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "is violated",
        Verdict::Unknown(_) => "is unknown",
    };
    format!("'{}' {verdict}", result.name)
}
