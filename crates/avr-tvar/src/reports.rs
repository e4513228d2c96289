//! Reports: rendered in the formats that were asked for, on the standard output and into files.

use avr_machine::Machine;
use avr_report::{Colour, Detail, Report, SystemReport};

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
    write_rendered(format, files, |format, is_for_terminal| render(report, machine, (format, detail), is_for_terminal))
}

/// The same for a system.
///
/// # Errors
/// The first thing that could not be written.
pub(crate) fn write_system(
    report: &SystemReport<'_>,
    format: ReportFormat,
    files: &[ReportFile],
) -> Result<(), InputError> {
    write_rendered(format, files, |format, is_for_terminal| render_system(report, format, is_for_terminal))
}

/// Prints and writes what `render` makes in a format, for a terminal or not.
fn write_rendered(
    format: ReportFormat,
    files: &[ReportFile],
    render: impl Fn(ReportFormat, bool) -> String,
) -> Result<(), InputError> {
    let save = |file: &ReportFile| files::save(&file.path, |to| to.write_all(render(file.format, false).as_bytes()));
    let written: Vec<Result<(), InputError>> = files.iter().map(save).collect();
    output::results(&render(format, true))?;
    written.into_iter().collect()
}

fn render(
    report: &Report<'_>,
    machine: &Machine,
    (format, detail): (ReportFormat, Detail),
    is_for_terminal: bool,
) -> String {
    match format {
        ReportFormat::Text => match terminal(is_for_terminal) {
            (colour, Some(width)) => report.text_within(colour, detail, width),
            (colour, None) => report.text_with(colour, detail),
        },
        ReportFormat::Json => report.json(),
        ReportFormat::Sarif => report.sarif(),
        ReportFormat::Junit => report.junit(),
        ReportFormat::Github => report.github(),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Html => report.html(machine),
    }
}

fn render_system(report: &SystemReport<'_>, format: ReportFormat, is_for_terminal: bool) -> String {
    match format {
        ReportFormat::Text => match terminal(is_for_terminal) {
            (colour, Some(width)) => report.text_within(colour, width),
            (colour, None) => report.text(colour),
        },
        ReportFormat::Json => report.json(),
        ReportFormat::Sarif => report.sarif(),
        ReportFormat::Junit => report.junit(),
        ReportFormat::Github => report.github(),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Html => report.html(),
    }
}

/// The use of colours and the width of what the text is for.
fn terminal(is_for_terminal: bool) -> (Colour, Option<usize>) {
    let colour = if is_for_terminal { output::colour() } else { Colour::Never };
    (colour, output::width().filter(|_| is_for_terminal))
}
