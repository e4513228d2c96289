//! Results for a system as workflow commands of GitHub Actions, at the properties in the system file.

use avr_system::Verdict;

use super::{SystemReport, statement, verdict_name};
use crate::escape::github_property;
use crate::github::put;
use crate::text;

impl SystemReport<'_> {
    /// A workflow command for each property that is violated (an error) or unknown (a warning). One more has the summary.
    #[must_use]
    pub fn github(&self) -> String {
        let mut commands = String::new();
        for (number, result) in self.results.properties.iter().enumerate() {
            let level = match result.verdict {
                Verdict::Violated(_) => "error",
                Verdict::Unknown(_) => "warning",
                Verdict::Holds => continue,
            };
            let title = github_property(&format!("{}: {}", verdict_name(&result.verdict), result.name));
            let place = format!("file={},line={}", github_property(self.path), self.line_of(number));
            let lines = [vec![format!("{}: {}", self.path, statement(result))], self.remarks(result)].concat();
            put(&mut commands, level, &format!("{place},title={title}"), &lines);
        }
        let summary = format!("{}: {}", self.path, text::summary(self.summary()));
        put(&mut commands, "notice", "title=avr-tvar", &[summary]);
        commands
    }
}
