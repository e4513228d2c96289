//! Reports: rendered in the formats that were asked for, on the standard output and into files.

use std::path::PathBuf;

use avr_machine::Machine;
use avr_report::{Colour, Detail, Report};
use clap::ValueEnum;

use crate::arguments::ReportFormat;
use crate::error::InputError;
use crate::files;
use crate::output;

/// A report that goes into a file: `FORMAT=FILE` on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    /// The format.
    pub format: ReportFormat,
    /// The file.
    pub path: PathBuf,
}

/// Reads `FORMAT=FILE`.
pub(crate) fn report_file(text: &str) -> Result<ReportFile, String> {
    let names = || {
        let values = ReportFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        values.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    let Some((format, path)) = text.split_once('=') else {
        return Err(format!("write FORMAT=FILE, as in json=report.json; the formats are {}", names()));
    };
    let format = ReportFormat::from_str(format, false)
        .map_err(|_| format!("'{format}' is no format of reports; the formats are {}", names()))?;
    if path.is_empty() {
        return Err("the name of the file is missing after the '='".to_owned());
    }
    Ok(ReportFile { format, path: path.into() })
}

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
            report.text_with(colour, detail)
        }
        ReportFormat::Json => report.json(),
        ReportFormat::Sarif => report.sarif(),
        ReportFormat::Junit => report.junit(),
        ReportFormat::Github => report.github(),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Html => report.html(machine),
    }
}

#[cfg(test)]
mod tests {
    use super::{ReportFile, report_file};
    use crate::arguments::ReportFormat;

    #[test]
    fn reports_have_a_format_and_a_file() {
        let file = |format, path: &str| Ok(ReportFile { format, path: path.into() });
        assert_eq!(report_file("json=out/report.json"), file(ReportFormat::Json, "out/report.json"));
        assert_eq!(report_file("sarif=a=b"), file(ReportFormat::Sarif, "a=b"));
        let formats = "the formats are text, json, sarif, junit, github, markdown, html";
        assert_eq!(report_file("report.json"), Err(format!("write FORMAT=FILE, as in json=report.json; {formats}")));
        assert_eq!(report_file("pdf=a"), Err(format!("'pdf' is no format of reports; {formats}")));
        assert_eq!(report_file("json="), Err("the name of the file is missing after the '='".to_owned()));
    }
}
