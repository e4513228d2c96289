//! The options of the commands that verify, check and list, and those that several commands share.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use avr_machine::device::Device;
use avr_verify::{DEFAULT_ENUMERATED, Strategy};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::values::{self, TimeLimit};

/// The heading of the options that change the work and no verdict.
pub(crate) const EXPERT: &str = "Expert options, which change the work and no verdict";

/// The heading of the options that every command has.
pub(crate) const GENERAL: &str = "Options of every command";

/// The use of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The arguments of `verify`.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct Verify {
    /// Firmware as ELF or Intel HEX; the content decides which
    pub firmware: PathBuf,
    /// Property file (RON); without any property, the inherent one is checked
    pub properties: Option<PathBuf>,
    /// A property more: an entry as in a property file, or a formula; can be repeated
    #[arg(long = "property", value_name = "TEXT")]
    pub property: Vec<String>,
    /// Also check that no hazard happens
    #[arg(long)]
    pub inherent: bool,
    /// Accept a property file whose list of properties is empty
    #[arg(long)]
    pub allow_empty: bool,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
    /// How the analysis starts
    #[arg(
        long,
        value_name = "NAME",
        default_value = Strategy::default().name(),
        value_parser = strategies(),
        help_heading = EXPERT
    )]
    pub strategy: Strategy,
    /// Look at interrupts before every instruction: no partial-order reduction
    #[arg(long, help_heading = EXPERT)]
    pub all_interrupts: bool,
    /// Store every state: no path compression
    #[arg(long, help_heading = EXPERT)]
    pub all_states: bool,
    /// Follow every run of every interrupt handler step by step: no handler summaries
    #[arg(long, help_heading = EXPERT)]
    pub all_handlers: bool,
    /// Learn no facts from comparisons about their operands
    #[arg(long, help_heading = EXPERT)]
    pub no_facts: bool,
    /// Keep no predicates: outcomes of comparisons in place of values that are forgotten
    #[arg(long, help_heading = EXPERT)]
    pub no_predicates: bool,
    /// The states that a location distinguishes by explicit values where few values are kept, at most 4096; what differs in more of
    /// them is forgotten, and told by predicates
    #[arg(
        long,
        value_name = "K",
        default_value_t = DEFAULT_ENUMERATED,
        value_parser = values::enumerated,
        help_heading = EXPERT
    )]
    pub enumerate: NonZeroUsize,
    /// Prove nothing by invariants of the whole program: decide everything on state spaces
    #[arg(long, help_heading = EXPERT)]
    pub no_invariants: bool,
    /// An older report in JSON: the report says what changed since then
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Count as violated what is no violation in itself; can be repeated
    #[arg(long, value_name = "WHAT")]
    pub deny: Vec<Deny>,
    /// Do not count this as a regression: the name of a property, or of a condition as --deny names it; can be repeated
    #[arg(long, value_name = "NAME", requires = "baseline", requires = "deny")]
    pub accept: Vec<String>,
    /// Accept only verdicts about the hardware: those that rest on the model alone are unknown
    #[arg(long)]
    pub strict: bool,
    /// Decide everything again with all reductions, learned facts and invariants off, within the same limits, and compare
    #[arg(long, help_heading = EXPERT)]
    pub recheck: bool,
    /// Say what each verdict rests on: the reductions and domains that took part
    #[arg(long, short)]
    pub verbose: bool,
    /// Format of the report on the standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Also write the report into a file in a format of its own, as in `json=report.json`; can be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file)]
    pub report: Vec<ReportFile>,
    /// The clock of the processor, as in 16MHz: reports show times instead of clock cycles, and files of --evidence have times of this clock
    /// instead of one of 16 MHz
    #[arg(long, value_name = "FREQUENCY", value_parser = values::frequency)]
    pub clock: Option<NonZeroU32>,
    /// Look for the sources of the firmware here, for reports that show them; can be repeated. They are looked for beside the firmware
    /// as well
    #[arg(long, value_name = "DIR")]
    pub source: Vec<PathBuf>,
    /// Write the runs that show the verdicts into this directory, to be replayed by this tool or by simavr
    #[arg(long, value_name = "DIR")]
    pub evidence: Option<PathBuf>,
    /// Have simavr run the firmware by clock cycles where a verdict rests on the model; what it shows by itself counts as
    /// hardware. Needs a C compiler and libsimavr
    #[arg(long)]
    pub confirm: bool,
    /// Write the proofs of all decided properties into this file, to be checked with `avr-tvar check`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Give up after this time: 500ms, 10s, 2m; a number alone counts seconds; none for no limit [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::time_limit)]
    pub timeout: Option<TimeLimit>,
    /// Give up before more memory than this is taken: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Verify again whenever the firmware, the property file or a file that these name changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// End when the standard input is closed: a batch goes on with no run that nobody waits for
    #[arg(long, hide = true)]
    pub attached: bool,
}

impl Verify {
    /// A verification of some files with nothing else said.
    pub(crate) fn of(firmware: PathBuf, properties: Option<PathBuf>) -> Self {
        Self {
            firmware,
            properties,
            property: Vec::new(),
            inherent: false,
            allow_empty: false,
            device: None,
            start: None,
            strategy: Strategy::default(),
            all_interrupts: false,
            all_states: false,
            all_handlers: false,
            no_facts: false,
            no_predicates: false,
            enumerate: DEFAULT_ENUMERATED,
            no_invariants: false,
            deny: Vec::new(),
            accept: Vec::new(),
            strict: false,
            recheck: false,
            verbose: false,
            format: ReportFormat::Text,
            report: Vec::new(),
            baseline: None,
            clock: None,
            source: Vec::new(),
            evidence: None,
            confirm: false,
            certificate: None,
            timeout: None,
            memory: None,
            jobs: None,
            watch: false,
            attached: false,
        }
    }
}

/// The arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct Check {
    /// Certificate that `verify --certificate` wrote
    pub certificate: PathBuf,
    /// The firmware that it is for
    pub firmware: PathBuf,
    /// The verdict that every property must have been proved to have, or the exit code is not 0
    #[arg(long, value_name = "VERDICT")]
    pub expect: Option<Expect>,
    /// Property file that is expected to hold; without one, that of the certificate
    #[arg(long, value_name = "FILE", requires = "expect")]
    pub properties: Option<PathBuf>,
    /// Expect verdicts about the hardware: what is proved in the model only is open
    #[arg(long, requires = "expect")]
    pub strict: bool,
    /// Format of the report
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Refuse certificates whose content takes more memory than this: 512M, 2G; by default 4G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
}

/// The arguments of `disasm`.
#[derive(Clone, Debug, Args)]
pub struct Disasm {
    /// Firmware as ELF or Intel HEX; the content decides which
    pub firmware: PathBuf,
    /// The device; by default as the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = device_help())]
    pub device: Option<String>,
    /// Byte address of the first instruction, for boot loaders
    #[arg(long, value_name = "ADDRESS", value_parser = values::address)]
    pub start: Option<u32>,
    /// Mark the instructions before which an interrupt can come: I where SREG.I is always 1, ? where it may be
    #[arg(long)]
    pub interrupts: bool,
}

/// Expectations on a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Expect {
    /// Every property is claimed and proved to hold, under no more assumptions and allowances than the property file
    /// has.
    Holds,
}

/// A condition that can be denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Properties that hold whatever a part of them says.
    Vacuous,
    /// Less is proved or asked than in the report of --baseline, or the stack may get deeper.
    Regressions,
    /// The report of --baseline does not say what was asked, as reports of older versions do not.
    Incomparable,
    /// Findings that are not allowed: torn accesses, and stores outside of objects that are only possible.
    Findings,
}

/// Formats of what other commands print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// Formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// A table.
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0 for code scanning.
    Sarif,
    /// JUnit XML for build servers.
    Junit,
    /// Annotations of GitHub Actions.
    Github,
    /// Markdown for job summaries.
    Markdown,
    /// One page that needs nothing else, with steppers through the runs.
    Html,
}

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

pub(crate) fn device_help() -> String {
    let names: Vec<&str> = Device::names().collect();
    format!(
        "The device; by default as the property file or the image says, else atmega328p. Known: {}",
        names.join(", ")
    )
}

pub(crate) fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let of_name = |name: String| Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
    let described = |strategy: Strategy| PossibleValue::new(strategy.name()).help(strategy.summary());
    PossibleValuesParser::new(Strategy::ALL.map(described))
        .map(move |name| of_name(name).expect("only names of strategies are possible values"))
}

#[cfg(test)]
mod tests {
    use super::{ReportFile, ReportFormat, report_file};

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
