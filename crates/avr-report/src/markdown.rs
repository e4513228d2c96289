//! Results as Markdown, for the summaries of jobs and for comments.

use std::fmt::Write;

use avr_verify::{PropertyResult, Verdict};

use crate::escape::{markdown, markdown_block};
use crate::evidence::add_evidence;
use crate::fields::verdict_name;
use crate::report::{Report, Summary, remarks};
use crate::text;

impl Report<'_> {
    /// A heading, a table of all properties in their order, the stack bound, what everything assumes, and the runs
    /// that show violations, folded.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!("### avr-tvar: {} ({})\n\n", markdown(&self.image.name), markdown(self.device));
        if let Some(stop) = self.told_stop() {
            put(&mut page, format_args!("{}\n\n", markdown(&stop)));
        }
        put(&mut page, format_args!("{}\n\n", text::summary(Summary::of(self.results))));
        page.push_str("| verdict | property | remarks |\n|---|---|---|\n");
        for result in &self.results.properties {
            let remarks: Vec<String> = remarks(result).iter().map(|remark| markdown(remark)).collect();
            let verdict = verdict_name(&result.verdict).0;
            let verdict = format!("{} {verdict}", sign(verdict));
            put(&mut page, format_args!("| {verdict} | {} | {} |\n", markdown(&result.name), remarks.join("<br>")));
        }
        for finding in self.finding_lines() {
            let said: Vec<String> = finding.iter().map(|line| markdown(line)).collect();
            put(&mut page, format_args!("\nFinding: {}\n", said.join(". ")));
        }
        for alarm in self.alarm_lines().iter().filter(|_| self.has_unknown()) {
            let said: Vec<String> = alarm.iter().map(|line| markdown(line)).collect();
            put(&mut page, format_args!("\nAlarm: {}\n", said.join(". ")));
        }
        put(&mut page, format_args!("\nStack: {}\n", text::stack(self.results.stack)));
        for assumption in &self.results.assumptions {
            put(&mut page, format_args!("\nAssuming {}\n", markdown(assumption)));
        }
        if let Some(ended) = text::ended(self.results) {
            put(&mut page, format_args!("\nLeft out: {ended}\n"));
        }
        if let Some((firmware, changes)) = self.told_changes() {
            put(&mut page, format_args!("\nSince {}:\n\n", markdown(&firmware)));
            changes.iter().for_each(|change| put(&mut page, format_args!("- {}\n", markdown(change))));
        }
        self.results.properties.iter().for_each(|result| self.add_run(&mut page, result));
        page
    }

    fn add_run(&self, page: &mut String, result: &PropertyResult) {
        let Some(evidence) = result.evidence.as_ref().filter(|_| result.verdict == Verdict::Violated) else { return };
        let mut run = String::new();
        add_evidence(&mut run, "", evidence, self.subject());
        page.push_str(&folded_run(&result.name, &run));
    }
}

/// The sign of a verdict.
pub(crate) fn sign(verdict: &str) -> char {
    match verdict {
        "holds" => '✅',
        "violated" => '❌',
        _ => '❓',
    }
}

/// A run, folded under the name of the property that it violates.
pub(crate) fn folded_run(name: &str, run: &str) -> String {
    // A summary is HTML, in which Markdown means nothing; the escapes of Markdown would be seen.
    let name = maud::html! { (crate::escape::Escaped(name).to_string()) }.into_string();
    let block = markdown_block(run);
    format!("\n<details><summary>The run that violates {name}</summary>\n\n{block}\n</details>\n")
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = page.write_fmt(text);
}
