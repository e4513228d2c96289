//! The command line.

use clap::{Parser, Subcommand};

use crate::batch::{self, Merge, VerifyAll};
use crate::completions::{self, Completions, Man};
use crate::explain::{self, Explain};
use crate::graph::{self, Graph};
use crate::init::{self, Init};
use crate::options::{Check, Disasm, Verify};
use crate::props::{self, Props};
use crate::run::{self, Run};
use crate::stack::{self, Stack};

/// Formal verification of AVR machine code.
///
/// Decides whether the firmware in an ELF or Intel HEX file has the properties its authors rely on, for every input,
/// every content of uninitialised memory and every interrupt timing.
#[derive(Clone, Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true)]
pub struct Arguments {
    /// The command that is run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Verify properties of a firmware image
    #[command(after_help = VERIFY_HELP)]
    Verify(Verify),
    /// Check the certificate of a verification without verifying again
    #[command(after_help = CHECK_HELP)]
    Check(Check),
    /// Verify many images with their properties
    #[command(after_help = batch::HELP)]
    VerifyAll(VerifyAll),
    /// Put the journals of the parts of a batch together
    #[command(after_help = batch::MERGE_HELP)]
    Merge(Merge),
    /// Show where each subformula of a property holds, fails or is unknown
    #[command(after_help = explain::HELP)]
    Explain(Explain),
    /// Write the abstract state space as a graph for Graphviz
    #[command(after_help = graph::HELP)]
    Graph(Graph),
    /// Write a property file to begin with
    #[command(after_help = init::HELP)]
    Init(Init),
    /// Check a property file
    #[command(after_help = props::HELP)]
    Props(Props),
    /// List the machine code of a firmware image
    Disasm(Disasm),
    /// Simulate a firmware image with concrete values
    #[command(after_help = run::HELP)]
    Run(Run),
    /// Find the worst-case stack of a firmware image, interrupts included
    #[command(after_help = stack::HELP)]
    Stack(Stack),
    /// Print the completions of a shell
    #[command(after_help = completions::HELP)]
    Completions(Completions),
    /// Write the man pages
    Man(Man),
}

const VERIFY_HELP: &str = "\
Examples:
  avr-tvar verify firmware.elf                       no hazard happens, and how deep the stack gets
  avr-tvar verify firmware.hex firmware.ron          the properties of a file
  avr-tvar verify firmware.elf --property 'AG EF (pc == main)'

Exit codes: 0 every property holds, 1 one is violated, 2 wrong usage or input, 3 none is violated but one is unknown,
4 internal error or failed self-check, 130 interrupted.";

const CHECK_HELP: &str = "\
Example:
  avr-tvar verify firmware.elf firmware.ron --certificate firmware.cert
  avr-tvar check firmware.cert firmware.elf
  avr-tvar check firmware.cert firmware.elf --expect holds --properties firmware.ron     as a gate

Exit codes: 0 every claim of the certificate is proved, 1 the certificate is rejected, 2 wrong usage, or the files cannot be
read, 4 internal error. A certificate may claim nothing, or that a property is violated: read what is proved, or expect it.
With --expect holds: 0 every property is proved to hold as asked for, 1 the certificate is rejected or a property is proved
to be violated, 3 a property is not proved as asked for.";

/// The arguments of `verify`.
#[derive(Clone, Debug, Args)]
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
    #[arg(long, value_name = "NAME", default_value = Strategy::default().name(), value_parser = strategies())]
    pub strategy: Strategy,
    /// Look at interrupts before every instruction: no partial-order reduction
    #[arg(long)]
    pub all_interrupts: bool,
    /// Store every state: no path compression
    #[arg(long)]
    pub all_states: bool,
    /// Follow every run of every interrupt handler step by step: no handler summaries
    #[arg(long)]
    pub all_handlers: bool,
    /// Learn no facts from comparisons about their operands
    #[arg(long)]
    pub no_facts: bool,
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
    /// Decide everything again with all reductions and learned facts off, within the same limits, and compare
    #[arg(long)]
    pub recheck: bool,
    /// Say what each verdict rests on: the reductions and domains that took part
    #[arg(long, short)]
    pub verbose: bool,
    /// Format of the report on the standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Also write the report into a file in a format of its own, as in `json=report.json`; can be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = reports::report_file)]
    pub report: Vec<ReportFile>,
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
    /// Give up after this time: 500ms, 10s, 2m; a number alone counts seconds
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    pub timeout: Option<Duration>,
    /// Give up before more memory than this is taken: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
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
            deny: Vec::new(),
            accept: Vec::new(),
            strict: false,
            recheck: false,
            verbose: false,
            format: ReportFormat::Text,
            report: Vec::new(),
            baseline: None,
            evidence: None,
            confirm: false,
            certificate: None,
            timeout: None,
            memory: None,
            jobs: None,
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

/// The conditions that `--deny` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Properties that hold whatever a part of them says.
    Vacuous,
    /// Less is proved or asked than in the report of --baseline, or the stack may get deeper.
    Regressions,
    /// The report of --baseline does not say what was asked, as reports of older versions do not.
    Incomparable,
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
    use super::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_declaration_is_consistent() {
        Arguments::command().debug_assert();
    }
}
