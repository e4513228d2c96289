//! The report of a batch, in the order of the manifest.

use avr_report::{Escaped, json_text};
use serde::Serialize;
use serde_json::Value;

use super::manifest::Run;
use super::outcome::{Failure, Outcome, Totals};

/// The name and version of the format.
const SCHEMA: &str = "avr-tvar/batch/1";

#[derive(Serialize)]
struct Batch<'a> {
    schema: &'static str,
    runs: Vec<Entry<'a>>,
    summary: Totals,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    exit_code: u8,
    report: Option<&'a Value>,
    error: Option<&'a Failure>,
}

/// A run with what came of it.
pub(super) type Finished<'a> = (&'a Run, &'a Outcome);

/// One JSON object over several lines, with a line end.
pub(super) fn json(finished: &[Finished<'_>]) -> String {
    let entry = |(run, outcome): &Finished<'_>| match outcome {
        Outcome::Reported { report, code } => (run.name.clone(), *code, Some(report.clone()), None),
        Outcome::Failed(failure) => (run.name.clone(), failure.code, None, Some(failure.clone())),
    };
    let entries: Vec<_> = finished.iter().map(entry).collect();
    let runs = entries
        .iter()
        .map(|(name, exit_code, report, error)| Entry {
            name,
            exit_code: *exit_code,
            report: report.as_ref(),
            error: error.as_ref(),
        })
        .collect();
    let batch = Batch { schema: SCHEMA, runs, summary: totals(finished) };
    json_text(&batch)
}

/// A table with a block for each run.
pub(super) fn text(finished: &[Finished<'_>]) -> String {
    let mut text = String::new();
    for (run, outcome) in finished {
        text.push_str(&format!("{}\n", Escaped(&run.name)));
        match outcome {
            Outcome::Reported { .. } => {
                outcome.results().iter().for_each(|result| text.push_str(&line(result)));
                if Totals::of([*outcome]).denied_runs > 0 {
                    text.push_str("  denied    a property holds vacuously, or less is proved than before\n");
                }
            }
            Outcome::Failed(failure) => {
                let mut lines = failure.message.lines();
                let first = lines.next().unwrap_or_default();
                let place = lines.next().and_then(|line| line.trim_start().strip_prefix("--> "));
                let first = place.map_or_else(|| first.to_owned(), |place| format!("{first} ({place})"));
                text.push_str(&format!("  failed    {}\n", Escaped(&first)));
            }
        }
    }
    let Totals { holds, violated, unknown, failed_runs, denied_runs, .. } = totals(finished);
    let runs = finished.len();
    text.push_str(&format!(
        "\nsummary   {holds} {}, {violated} violated, {unknown} unknown in {runs} run{}, {failed_runs} failed{}\n",
        if holds == 1 { "holds" } else { "hold" },
        if runs == 1 { "" } else { "s" },
        if denied_runs == 0 { String::new() } else { format!(", {denied_runs} denied") }
    ));
    text
}

fn totals(finished: &[Finished<'_>]) -> Totals {
    Totals::of(finished.iter().map(|(_, outcome)| *outcome))
}

fn line(result: &Value) -> String {
    let field = |name: &str| result[name].as_str().unwrap_or_default();
    let mut line = format!("  {:<9} {}\n", Escaped(field("verdict")).to_string(), Escaped(field("name")));
    if let Some(reason) = result["reason"].as_str() {
        line.push_str(&format!("            because {}\n", Escaped(reason)));
    }
    line
}
