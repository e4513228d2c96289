//! Results for a system as Markdown, for the summaries of jobs and for comments.

use avr_system::Verdict;

use super::{SystemReport, verdict_name};
use crate::escape::{Escaped, markdown};
use crate::markdown::{folded_run, sign};
use crate::text;

/// The most moments of a run that the page shows.
const SHOWN: usize = 400;

impl SystemReport<'_> {
    /// A heading, a table of all properties in their order, what everything assumes, and the runs that show violations, folded.
    #[must_use]
    pub fn markdown(&self) -> String {
        let nodes = self.file.nodes.iter().zip(self.nodes);
        let nodes =
            nodes.map(|(entry, node)| format!("{} on {}", markdown(&entry.name.text), markdown(node.device.name)));
        let nodes = nodes.collect::<Vec<_>>().join(", ");
        let mut page = format!("### avr-tvar: {} ({nodes})\n\n", markdown(self.path));
        page.push_str(&format!("{}\n\n", text::summary(self.summary())));
        page.push_str("| verdict | property | remarks |\n|---|---|---|\n");
        for result in &self.results.properties {
            let remarks: Vec<String> = self.remarks(result).iter().map(|remark| markdown(remark)).collect();
            let verdict = verdict_name(&result.verdict);
            let (sign, name) = (sign(verdict), markdown(&result.name));
            page.push_str(&format!("| {sign} {verdict} | {name} | {} |\n", remarks.join("<br>")));
        }
        for assumption in self.assumptions {
            page.push_str(&format!("\nAssuming {}\n", markdown(assumption)));
        }
        for result in &self.results.properties {
            let Verdict::Violated(run) = &result.verdict else { continue };
            let lines = self.run_lines(run, SHOWN);
            let lines: String = lines.iter().map(|line| format!("{}\n", Escaped(line))).collect();
            page.push_str(&folded_run(&result.name, &lines));
        }
        page
    }
}
