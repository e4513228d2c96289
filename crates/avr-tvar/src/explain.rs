//! The command `explain`: where each subformula of a property holds, fails or is unknown.

use std::path::Path;

use avr_report::{Escaped, ExplanationData, SCHEMA};
use clap::Args;
use serde::Deserialize;

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::{Inputs, Role};
use crate::options::Verify;
use crate::output;
use crate::verify;

pub(crate) const HELP: &str = "\
Examples:
  avr-tvar explain firmware.elf --property 'AG EF (PORTD == 0)'
  avr-tvar explain report.json             what `avr-tvar verify --format json` wrote

Exit codes: as those of `verify`; a report that is read gives 0.";

/// The arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct Explain {
    /// What is verified; or a JSON report in place of the firmware, and nothing else.
    #[command(flatten)]
    pub verify: Verify,
    /// The same without defaults from a file.
    #[arg(skip)]
    pub typed: Option<Box<Verify>>,
}

/// A JSON report as far as it is needed here.
#[derive(Deserialize)]
struct Report {
    schema: String,
    results: Vec<ReportedResult>,
}

#[derive(Deserialize)]
struct ReportedResult {
    name: String,
    verdict: String,
    formula: String,
    #[serde(default)]
    predicates: Vec<String>,
    #[serde(default)]
    explanation: Option<ExplanationData>,
}

/// Explains the properties of a report, or verifies and explains.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Explain, mut inputs: Inputs) -> Result<Exit, InputError> {
    match report(&mut inputs, &arguments.verify.firmware)? {
        Some(report) if report.results.is_empty() && !arguments.verify.allow_empty => {
            let path = arguments.verify.firmware.display().to_string();
            let reason = "the report has no results".to_owned();
            Err(InputErrorKind::NothingToVerify { path, reason }.into())
        }
        Some(_) if !is_alone(arguments.typed.as_deref().unwrap_or(&arguments.verify)) => {
            Err(InputErrorKind::ReportWithOptions { path: arguments.verify.firmware.display().to_string() }.into())
        }
        Some(report) => {
            output::results(&text(&report))?;
            Ok(Exit::Holds)
        }
        None => verify::run_explained(&arguments.verify, inputs),
    }
}

/// True if nothing is given but a file, and that it may be empty.
fn is_alone(arguments: &Verify) -> bool {
    let alone = Verify { allow_empty: arguments.allow_empty, ..Verify::of(arguments.firmware.clone(), None) };
    *arguments == alone
}

/// The report in a file; none if the file is something else.
fn report(inputs: &mut Inputs, path: &Path) -> Result<Option<Report>, InputError> {
    let input = inputs.read(Role::Firmware, path)?;
    let Some(text) = input.text() else { return Ok(None) };
    if !text.trim_start().starts_with('{') {
        return Ok(None);
    }
    let name = input.name();
    match serde_json::from_str::<Report>(text) {
        Ok(report) if report.schema == SCHEMA => Ok(Some(report)),
        Ok(report) => {
            Err(InputErrorKind::NoReport { path: name, reason: format!("its schema is '{}'", report.schema) }.into())
        }
        Err(error) => Err(InputErrorKind::NoReport { path: name, reason: error.to_string() }.into()),
    }
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for result in &report.results {
        let ReportedResult { name, verdict, formula, predicates, explanation } = result;
        text.push_str(&avr_report::explained_heading(verdict, name, formula));
        if !predicates.is_empty() {
            text.push_str(&format!("  by the predicates {}\n", Escaped(&predicates.join(", "))));
        }
        match explanation {
            Some(explanation) => text.push_str(&explanation.text("  ")),
            None => text.push_str("  the report has no explanation: run `avr-tvar explain` with the firmware\n"),
        }
    }
    text
}
