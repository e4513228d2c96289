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
use avr_system::{Basis, Moment, PropertyResult, Repeats, Results, Run, SpecificationMoment, SystemFile, Verdict};

use crate::names::Names;
use crate::report::{ReportOrigin, Summary};

/// The remark on a verdict about the model alone.
const IN_MODEL: &str = "in the model: it rests on a choice that the hardware would determine";

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
        let said = match &result.verdict {
            Verdict::Holds => None,
            Verdict::Unknown(reason) => Some(reason.clone()),
            Verdict::Violated(run) => {
                let claim = unanswered(run).unwrap_or_else(|| self.ends(run));
                Some(format!("run of all nodes, {}: {claim}", steps(run)))
            }
        };
        let in_model = result.basis == Some(Basis::Model);
        said.into_iter().chain(in_model.then(|| IN_MODEL.to_owned())).collect()
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
        let shown = most.min(run.moments.len());
        let remarks = between(run);
        for (index, moment) in run.moments[..shown].iter().enumerate() {
            lines.extend(remarks.iter().filter(|(at, _)| *at == index).map(|(_, text)| text.clone()));
            let who = moment.node.map_or("line", |node| self.node(node));
            lines.push(format!("{who:width$}{}", said(moment)));
        }
        if run.moments.len() > shown {
            lines.push(format!("and {} more; --format json has all", run.moments.len() - shown));
        }
        lines.extend(remarks.into_iter().filter(|(at, _)| *at >= shown).map(|(_, text)| text));
        lines.push(self.ends(run));
        lines
    }
}

/// The name of a basis in reports: as of verdicts about one image.
fn basis_name(basis: Basis) -> &'static str {
    match basis {
        Basis::Hardware => "hardware",
        Basis::Model => "model",
    }
}

/// The steps of all nodes together, and those that repeat.
fn steps(run: &Run) -> String {
    let steps: u64 = run.steps.iter().sum();
    let all = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
    match run.repeats {
        Some(Repeats { steps, .. }) => format!("{all}, the last {steps} for ever"),
        None => all,
    }
}

/// Lines about a run that stand between its moments, each with the number of moments before it: the states of a specification, and what
/// repeats.
fn between(run: &Run) -> Vec<(usize, String)> {
    beside(run).chain(repetition(run)).collect()
}

/// The states of a specification, each with the number of moments before it.
fn beside(run: &Run) -> impl Iterator<Item = (usize, String)> {
    run.specification.iter().map(|SpecificationMoment { moments, events, states }| {
        let states = if states.is_empty() { "no answer".to_owned() } else { states.join(" or ") };
        let after = if events.is_empty() { String::new() } else { format!(" after {}", events.join(" and ")) };
        (*moments, format!("specification{after}: {states}"))
    })
}

/// The claim that a specification has no answer in the end; none if none was asked for.
fn unanswered(run: &Run) -> Option<String> {
    let (last, before) = run.specification.split_last()?;
    let Some(before) = before.last() else {
        return Some("the data of no initial state of the specification are true".to_owned());
    };
    let states = before.states.join(" or ");
    Some(match last.events.as_slice() {
        [] => format!("the data of the specification's state {states} are not true in the end"),
        events => format!("the specification in state {states} cannot answer {}", events.join(" and ")),
    })
}

/// The number of moments before the part that repeats, with a line about it.
fn repetition(run: &Run) -> Option<(usize, String)> {
    let Repeats { moments, steps, .. } = run.repeats?;
    let text = match run.moments.len() == moments {
        true => format!("the last {steps} steps repeat for ever, and nothing happens on a wire"),
        false => format!("from here on the same {steps} steps repeat for ever:"),
    };
    Some((moments, text))
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
