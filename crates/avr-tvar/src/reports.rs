//! Reports: rendered in the formats that were asked for, on the standard output and into files.

use avr_machine::Machine;
use avr_report::{Colour, Detail, Report};

use crate::error::InputError;
use crate::files;
use crate::options::{ReportFile, ReportFormat};
use crate::output;

/// Prints the report, and writes it into all files. If one cannot be written, the others are nevertheless.
///
/// # Errors
/// The first thing that could not be written.
pub(crate) fn write(
    report: &Report<'_>,
    machine: &Machine,
    (format, detail): (ReportFormat, Detail),
    files: &[ReportFile],
) -> Result<(), InputError> {
    let rendered = |file: &ReportFile| render(report, machine, (file.format, detail), false);
    let save = |file: &ReportFile| files::save(&file.path, |to| to.write_all(rendered(file).as_bytes()));
    let written: Vec<Result<(), InputError>> = files.iter().map(save).collect();
    output::results(&render(report, machine, (format, detail), true))?;
    written.into_iter().collect()
}

fn render(
    report: &Report<'_>,
    machine: &Machine,
    (format, detail): (ReportFormat, Detail),
    is_for_terminal: bool,
) -> String {
    match format {
        ReportFormat::Text => {
            let colour = if is_for_terminal { output::colour() } else { Colour::Never };
            match output::width().filter(|_| is_for_terminal) {
                Some(width) => report.text_within(colour, detail, width),
                None => report.text_with(colour, detail),
            }
        }
        ReportFormat::Json => report.json(),
        ReportFormat::Sarif => report.sarif(),
        ReportFormat::Junit => report.junit(),
        ReportFormat::Github => report.github(),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Html => report.html(machine),
    }
}
