//! Results as workflow commands of GitHub Actions, which become annotations.

use std::fmt::Write;

use avr_verify::{PropertyResult, Verdict};

use crate::escape::{github_message, github_property};
use crate::fields::verdict_name;
use crate::place::{self, Source};
use crate::report::{Report, Summary, remarks, statement};
use crate::text;

impl Report<'_> {
    /// A workflow command for each property that is violated (an error), unknown (a warning) or holds vacuously (a
    /// notice), at the source line where the run ends. One more has the summary.
    #[must_use]
    pub fn github(&self) -> String {
        let mut commands = String::new();
        for result in &self.results.properties {
            if let Some(level) = level(result) {
                self.annotate(&mut commands, level, result);
            }
        }
        for (finding, lines) in self.results.findings.iter().zip(self.finding_lines()) {
            if finding.allowed.is_none() {
                let level = if finding.is_fault() { "error" } else { "warning" };
                let title = format!("title={}", github_property(finding.kind.name()));
                let place = Source::at(self.image, finding.pc).map_or_else(String::new, |Source { file, line }| {
                    format!("file={},line={line},", github_property(&file))
                });
                put(&mut commands, level, &format!("{place}{title}"), &lines);
            }
        }
        if let Some(changes) = self.changes().filter(|changes| !changes.regressions().is_empty()) {
            let worse: Vec<String> = changes.sentences().into_iter().filter(|one| one.starts_with("worse: ")).collect();
            put(&mut commands, "error", "title=worse than before", &worse);
        }
        let summary = format!(
            "{}: {}; stack: {}",
            self.image.name,
            text::summary(Summary::of(self.results)),
            text::stack(self.results.stack)
        );
        put(&mut commands, "notice", "title=avr-tvar", &[summary]);
        commands
    }

    fn annotate(&self, commands: &mut String, level: &str, result: &PropertyResult) {
        let source = place::address(result).and_then(|pc| Source::at(self.image, pc));
        let verdict = verdict_name(&result.verdict).0;
        let mut properties = format!("title={}", github_property(&format!("{verdict}: {}", result.name)));
        if let Some(Source { file, line }) = source {
            properties = format!("file={},line={line},{properties}", github_property(&file));
        }
        let lines = [vec![format!("{}: {}", self.image.name, statement(result))], remarks(result)].concat();
        put(commands, level, &properties, &lines);
    }
}

/// The level of the annotation of a result; none if there is nothing to do about it.
fn level(result: &PropertyResult) -> Option<&'static str> {
    match result.verdict {
        Verdict::Violated => Some("error"),
        Verdict::Unknown(_) => Some("warning"),
        Verdict::Holds => result.vacuous.is_some().then_some("notice"),
    }
}

/// Adds a workflow command with lines of a message.
pub(crate) fn put(commands: &mut String, level: &str, properties: &str, lines: &[String]) {
    let lines: Vec<String> = lines.iter().map(|line| github_message(line)).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(commands, "::{level} {properties}::{}", lines.join("%0A"));
}
