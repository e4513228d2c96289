//! Results as a table for people, legible without colour.

use std::fmt::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Style};

use avr_image::Image;
use avr_verify::{
    Exploration, InvariantsOutcome, PropertyResult, Results, StackBound, TaskStackBound, Unknown, Vacuity, Verdict,
};

use crate::culprit;
use crate::escape::Escaped;
use crate::evidence::add_evidence;
use crate::explanation::ExplanationData;
use crate::fields::{certified, recheck_name, rests_on, verdict_name};
use crate::predicates::predicates;
use crate::report::{Report, Summary, rests_on_model};
use crate::table::{Align, Table};
use crate::wrap::wrapped;

/// The use of escape sequences for colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    #[default]
    Never,
    /// Verdicts are coloured.
    Always,
}

/// The amount of detail for a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The verdict with its evidence or what stands in the way.
    #[default]
    Verdicts,
    /// And what took part in it.
    Methods,
    /// And the values of its subformulas.
    Subformulas,
}

/// A narrower terminal has no room for the columns about the work.
const FULL_WIDTH: usize = 90;
/// Nothing is made narrower than this.
pub(crate) const MIN_WIDTH: usize = 40;
/// The width of the names of properties where all columns have room, and the most that they take.
const MIN_NAME: usize = 40;
const MAX_NAME: usize = 60;
/// The width of a time, with what parts it from the names.
const TIME_WIDTH: usize = 14;

/// The indent of the lines under a row: they begin behind the verdict.
pub(crate) const INDENT: &str = "          ";

impl Report<'_> {
    /// A table with a line for each property, the reasons of those without an answer, what all answers assume, and
    /// the stack bound.
    #[must_use]
    pub fn text(&self, colour: Colour) -> String {
        self.text_with(colour, Detail::Verdicts)
    }

    /// The same with as much detail as is wanted.
    #[must_use]
    pub fn text_with(&self, colour: Colour, detail: Detail) -> String {
        self.made_text(colour, detail, None)
    }

    /// The same with no line wider than so many characters: long ones go on in the next line, and the table leaves out what the
    /// work took where there is no room for it.
    #[must_use]
    pub fn text_within(&self, colour: Colour, detail: Detail, width: usize) -> String {
        let width = width.max(MIN_WIDTH);
        wrapped(&self.made_text(colour, detail, Some(width)), width)
    }

    fn made_text(&self, colour: Colour, detail: Detail, width: Option<usize>) -> String {
        let mut text = self.told_stop().map_or_else(String::new, |stop| format!("{stop}\n"));
        text.push_str(&heading(self.image, self.device));
        text.push('\n');
        text.push_str(&properties(self, colour, detail, width));
        text.push('\n');
        for (number, finding) in self.finding_lines().iter().enumerate() {
            let label = if number == 0 { "findings" } else { "" };
            for (index, said) in finding.iter().enumerate() {
                line(&mut text, if index == 0 { label } else { "" }, &Escaped(said).to_string());
            }
        }
        for assumption in &self.results.assumptions {
            line(&mut text, "assuming", &Escaped(assumption).to_string());
        }
        if let Some(ended) = ended(self.results) {
            line(&mut text, "left out", &ended);
        }
        let properties = &self.results.properties;
        if properties.is_empty() || properties.iter().any(|result| result.kind != "Contract") {
            line(&mut text, "stack", &stack(self.results.stack));
        }
        for task in &self.results.stacks {
            line(&mut text, "", &Escaped(&task_stack(task)).to_string());
        }
        if detail != Detail::Verdicts {
            let outcome = self.results.invariants.iter().flat_map(invariants);
            outcome.enumerate().for_each(|(number, said)| {
                line(&mut text, if number == 0 { "map" } else { "" }, &Escaped(&said).to_string());
            });
        }
        if detail != Detail::Verdicts || self.has_unknown() {
            for (number, alarm) in self.alarm_lines().iter().enumerate() {
                let label = if number == 0 { "alarms" } else { "" };
                for (index, said) in alarm.iter().enumerate() {
                    line(&mut text, if index == 0 { label } else { "" }, &Escaped(said).to_string());
                }
            }
        }
        if let Some((firmware, changes)) = self.told_changes() {
            line(&mut text, "since", &Escaped(&firmware).to_string());
            changes.iter().for_each(|change| text.push_str(&format!("{INDENT}{}\n", Escaped(change))));
        }
        line(&mut text, "summary", &summary(Summary::of(self.results)));
        if let Some(exploration) = &self.results.exploration {
            line(&mut text, "work", &work(exploration));
        }
        line(&mut text, "memory", &format!("{:.1} MiB at most", self.peak_memory_bytes as f64 / f64::from(1 << 20)));
        text
    }
}

/// The outcome of looking for invariants of the whole program: a line, or one for each reason why nothing follows from them.
fn invariants(outcome: &InvariantsOutcome) -> Vec<String> {
    match outcome.states {
        Some(states) if outcome.open.is_empty() => {
            vec![format!("{states} states, one or more for each place of the program")]
        }
        _ => outcome.open.iter().map(|reason| format!("says nothing: {reason}")).collect(),
    }
}

/// The paths that no property speaks of, if any.
pub(crate) fn ended(results: &Results) -> Option<String> {
    let places = |count: usize| if count == 1 { "1 instruction".to_owned() } else { format!("{count} instructions") };
    let ended = results.ended_paths.iter().map(|(kind, at)| format!("{kind} at {}", places(at.len())));
    let ended = ended.collect::<Vec<_>>().join(", ");
    (!ended.is_empty()).then(|| format!("paths that end in {ended}"))
}

/// The warnings of the loader with what can be done about them, for the error output. Empty when there are none.
#[must_use]
pub fn warnings(image: &Image) -> String {
    let mut text = String::new();
    for warning in &image.warnings {
        let message = format!("warning: {}: {warning}", image.name);
        text.push_str(&format!("{}\n", Escaped(&message)));
        if let Some(hint) = warning.hint() {
            text.push_str(&format!("  hint: {hint}\n"));
        }
    }
    text
}

pub(crate) fn heading(image: &Image, device: &str) -> String {
    format!("{} ({} for {device})\n", Escaped(&image.name), image.format.name())
}

/// A line of the foot, its content aligned with the names in the table.
pub(crate) fn line(text: &mut String, title: &str, content: &str) {
    text.push_str(&format!("{title:<width$}{content}\n", width = INDENT.len()));
}

/// The rows of the table, the head first, each as one or more lines.
fn table(results: &Results, width: Option<usize>) -> Vec<Vec<String>> {
    let verdict = ("verdict", Align::Left);
    let property = ("property", Align::Wrapped);
    let time = ("time", Align::Right);
    if let Some(width) = width.filter(|width| *width < FULL_WIDTH) {
        let mut table = Table::new([verdict, property, time]).with_widest(width - INDENT.len() - TIME_WIDTH);
        for result in &results.properties {
            let [verdict, name, _, _, time] = row(result);
            table.add([verdict, name, time]);
        }
        return table.rows().collect();
    }
    let mut table = Table::new([verdict, property, ("states", Align::Right), ("refinements", Align::Right), time]);
    if let Some(width) = width {
        table = table.with_widest(MAX_NAME.min(width - FULL_WIDTH + MIN_NAME));
    }
    for result in &results.properties {
        table.add(row(result));
    }
    table.rows().collect()
}

fn properties(report: &Report<'_>, colour: Colour, detail: Detail, width: Option<usize>) -> String {
    let results = report.results;
    let mut rows = table(results, width).into_iter();
    let head = rows.next().unwrap_or_default().join("\n");
    let mut text = head + "\n";
    let mut told = Causes::default();
    for (lines, result) in rows.zip(&results.properties) {
        add_row(&mut text, &lines, result, colour);
        match told.same_as(result) {
            Some(other) => text.push_str(&format!("{INDENT}because of the same as '{}'\n", Escaped(other))),
            None => add_reason(&mut text, result, report),
        }
        add_remarks(&mut text, result);
        if let Some(evidence) = &result.evidence {
            add_evidence(&mut text, INDENT, evidence, report.subject());
        }
        if detail != Detail::Verdicts && !matches!(result.verdict, Verdict::Unknown(_)) {
            text.push_str(&format!("{INDENT}rests on {}\n", rests_on_text(result)));
            let needed = report.names().map_or_else(Vec::new, |names| predicates(result, &names));
            if !needed.is_empty() {
                text.push_str(&format!("{INDENT}by the predicates {}\n", Escaped(&needed.join(", "))));
            }
        }
        if detail == Detail::Subformulas {
            add_explanation(&mut text, result, report);
        }
    }
    text
}

/// The reductions and domains that took part in a verdict, as a list.
pub(crate) fn rests_on_text(result: &PropertyResult) -> String {
    let names = rests_on(result);
    let names = if names.is_empty() { "three-valued bits, with nothing left out".to_owned() } else { names.join(", ") };
    match certified(result) {
        Some(false) => format!("{names}; not certified"),
        Some(true) | None => names,
    }
}

fn row(result: &PropertyResult) -> [String; 5] {
    let statistics = &result.statistics;
    [
        // Wide enough that every table has the same columns.
        format!("{:<8}", verdict_name(&result.verdict).0),
        result.name.clone(),
        statistics.states.to_string(),
        statistics.refinements.to_string(),
        duration(statistics.time),
    ]
}

fn add_row(text: &mut String, lines: &[String], result: &PropertyResult, colour: Colour) {
    let (verdict, _) = verdict_name(&result.verdict);
    for (index, line) in lines.iter().enumerate() {
        match line.strip_prefix(verdict).filter(|_| index == 0 && colour == Colour::Always) {
            Some(rest) => {
                let style = style(verdict);
                text.push_str(&format!("{style}{verdict}{style:#}{rest}\n"));
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
}

/// Adds the reason of a verdict, and what stands in the way of one.
fn add_reason(text: &mut String, result: &PropertyResult, report: &Report<'_>) {
    let (_, reason) = verdict_name(&result.verdict);
    if let Some(reason) = reason.or(result.detail.as_deref()) {
        text.push_str(&format!("{INDENT}because {}\n", Escaped(reason)));
    }
    add_culprit(text, result, report);
}

/// The causes of unknown verdicts that were told, each with the name of the property.
#[derive(Default)]
struct Causes<'a> {
    told: Vec<(&'a Unknown, &'a str)>,
}

impl<'a> Causes<'a> {
    /// The property of which the same cause was told; else it is told now.
    fn same_as(&mut self, result: &'a PropertyResult) -> Option<&'a str> {
        let Verdict::Unknown(unknown) = &result.verdict else { return None };
        let same = self.told.iter().find(|(told, _)| is_same(told, unknown)).map(|(_, name)| *name);
        if same.is_none() {
            self.told.push((unknown, &result.name));
        }
        same
    }
}

/// True if two verdicts are unknown for one cause: the same explosion of states, or the same in every respect.
fn is_same(one: &Unknown, other: &Unknown) -> bool {
    let explosion = |unknown: &'_ Unknown| unknown.culprit.as_ref().and_then(|culprit| culprit.explosion.clone());
    match (explosion(one), explosion(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other && one.culprit.is_some(),
    }
}

/// Adds what is to be said beside the verdict.
fn add_remarks(text: &mut String, result: &PropertyResult) {
    if let Some(missing) = &result.evidence_missing {
        text.push_str(&format!("{INDENT}by proof, without a run that shows it: {}\n", Escaped(missing)));
    }
    if let Some(Vacuity { subformula, replaced_by, .. }) = &result.vacuous {
        let subformula = Escaped(subformula);
        text.push_str(&format!("{INDENT}vacuous: it holds as well with '{subformula}' replaced by {replaced_by}\n"));
    }
    if let Some(cycle) = result.evidence.as_ref().and_then(|evidence| evidence.confirmed) {
        text.push_str(&format!("{INDENT}confirmed: simavr comes to it by itself, after {cycle} cycles\n"));
    }
    if let Some(recheck) = result.recheck {
        text.push_str(&format!("{INDENT}decided again with nothing left out: {}\n", recheck_name(recheck)));
    }
    for note in &result.notes {
        text.push_str(&format!("{INDENT}note: {}\n", Escaped(note)));
    }
    for promise in &result.promises {
        text.push_str(&format!("{INDENT}promised: {}\n", Escaped(promise)));
    }
    if rests_on_model(result) {
        text.push_str(&format!("{INDENT}in the model: it rests on a choice that the hardware would determine\n"));
    }
}

/// The first lines about a property whose explanation follows.
#[must_use]
pub fn explained_heading(verdict: &str, name: &str, formula: &str) -> String {
    let (verdict, name) = (Escaped(verdict).to_string(), Escaped(name));
    let formula = if formula == name.0 { String::new() } else { format!("  {}\n", Escaped(formula)) };
    format!("{verdict:<9} {name}\n{formula}")
}

/// The values of the subformulas.
fn add_explanation(text: &mut String, result: &PropertyResult, report: &Report<'_>) {
    let explanation = result.explanation.as_ref();
    match explanation.and_then(|explanation| ExplanationData::new(explanation, report.image, report.device)) {
        Some(explanation) => text.push_str(&explanation.text(INDENT)),
        None => text.push_str(&format!("{INDENT}no explanation: a limit left no time for it\n")),
    }
}

/// Adds the cause of an unknown verdict.
fn add_culprit(text: &mut String, result: &PropertyResult, report: &Report<'_>) {
    let Verdict::Unknown(unknown) = &result.verdict else { return };
    let lines = unknown.culprit.as_ref().map(|culprit| culprit::lines(culprit, report.image, report.device));
    for line in lines.into_iter().flatten() {
        text.push_str(&format!("{INDENT}{}\n", Escaped(&line)));
    }
}

/// The style of a verdict.
pub(crate) fn style(verdict: &str) -> Style {
    let colour = match verdict {
        "holds" => AnsiColor::Green,
        "violated" => AnsiColor::Red,
        _ => AnsiColor::Yellow,
    };
    colour.on_default().bold()
}

pub(crate) fn stack(bound: StackBound) -> String {
    let bytes = |count: u32| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
    match (bound.lower, bound.upper) {
        (Some(lower), Some(upper)) if lower == upper => format!("{} at most, and some run needs them", bytes(upper)),
        (Some(lower), Some(upper)) => format!("{} at most; some run needs {}", bytes(upper), bytes(lower)),
        (None, Some(upper)) => format!("{} at most", bytes(upper)),
        (Some(lower), None) => format!("no upper bound found; some run needs {}", bytes(lower)),
        (None, None) => "no bound found".to_owned(),
    }
}

/// The bound of the stack of a task.
pub(crate) fn task_stack(task: &TaskStackBound) -> String {
    format!("{} of {} bytes: {}", task.symbol, task.room, stack(task.bound))
}

/// The speed of the exploration, and the memory of one state.
fn work(exploration: &Exploration) -> String {
    let Exploration { steps, repeated, reused, .. } = exploration;
    let mut text = format!("{steps} steps");
    if *repeated > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, " ({repeated} repeated)");
    }
    if *reused > 0 {
        let _ = write!(text, ", {reused} more used again");
    }
    if let Some(rate) = exploration.steps_per_second() {
        let _ = write!(text, ", {rate:.0} steps/s");
    }
    if let Some(bytes) = exploration.stored.and_then(|stored| stored.bytes_per_state()) {
        let _ = write!(text, ", {bytes:.0} bytes/state");
    }
    text
}

pub(crate) fn summary(summary: Summary) -> String {
    let Summary { holds, violated, unknown } = summary;
    let mut text = format!("{holds} {}", if holds == 1 { "holds" } else { "hold" });
    // Writing to a string cannot fail.
    let _ = write!(text, ", {violated} violated, {unknown} unknown");
    text
}

/// A duration with three digits at least: `0.42 ms`, `12.3 s`, `3 min 04 s`.
pub(crate) fn duration(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    match time.as_secs() {
        0 if milliseconds < 10.0 => format!("{milliseconds:.2} ms"),
        0 => format!("{milliseconds:.0} ms"),
        1..10 => format!("{:.2} s", time.as_secs_f64()),
        10..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, stack, work};
    use avr_verify::{Exploration, StackBound, Stored};
    use std::time::Duration;

    #[test]
    fn durations_have_suitable_units() {
        let check = |microseconds, expected: &str| assert_eq!(duration(Duration::from_micros(microseconds)), expected);
        check(0, "0.00 ms");
        check(420, "0.42 ms");
        check(34_400, "34 ms");
        check(1_234_000, "1.23 s");
        check(12_340_000, "12.3 s");
        check(184_000_000, "3 min 04 s");
    }

    #[test]
    fn work_is_told_as_far_as_it_is_known() {
        let check = |seconds, stored, expected: &str| {
            let exploration =
                Exploration { steps: 3000, repeated: 0, reused: 0, time: Duration::from_secs(seconds), stored };
            assert_eq!(work(&exploration), expected);
        };
        check(2, Some(Stored { states: 10, bytes: 846 }), "3000 steps, 1500 steps/s, 85 bytes/state");
        check(2, None, "3000 steps, 1500 steps/s");
        check(0, Some(Stored { states: 0, bytes: 0 }), "3000 steps");
        let exploration = Exploration { steps: 9, repeated: 2, reused: 4, time: Duration::ZERO, stored: None };
        assert_eq!(work(&exploration), "9 steps (2 repeated), 4 more used again");
    }

    #[test]
    fn stack_bounds_say_what_is_known() {
        let check = |lower, upper, expected: &str| assert_eq!(stack(StackBound { lower, upper }), expected);
        check(Some(2), Some(2), "2 bytes at most, and some run needs them");
        check(Some(1), Some(4), "4 bytes at most; some run needs 1 byte");
        check(None, Some(4), "4 bytes at most");
        check(Some(4), None, "no upper bound found; some run needs 4 bytes");
        check(None, None, "no bound found");
    }
}
