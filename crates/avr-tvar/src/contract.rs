//! The command `contract`: whether the bodies of functions keep the contracts of a property file.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::Sender;

use avr_properties::PropertyError;
use avr_report::Detail;
use avr_verify::{Results, Unknown, open_contracts, prove_contracts};
use clap::Args;

use crate::error::{InputError, InputErrorKind};
use crate::exit::Exit;
use crate::inputs::Inputs;
use crate::job::{Ended, Job, perform_with};
use crate::options::{self, ReportFile, ReportFormat, Verify};
use crate::values::{self, TimeLimit};
use crate::verify;

pub(crate) const HELP: &str = "\
Example:
  avr-tvar contract firmware.elf firmware.ron

Every call of a function that has a contract must keep it, whatever the caller has in registers and memory. Nothing else is
verified.

Exit codes: 0 every contract is proved, 1 a run breaks one, 2 wrong usage or input, 3 none is broken but one is not proved,
4 internal error or failed self-check, 130 interrupted.";

/// The arguments of `contract`.
#[derive(Clone, Debug, Args)]
pub struct Contract {
    /// Firmware as ELF or Intel HEX
    pub firmware: PathBuf,
    /// Property file (RON) with contracts
    pub properties: PathBuf,
    /// The device; by default as the property file or the image says, else atmega328p
    #[arg(long, value_name = "NAME", long_help = options::device_help())]
    pub device: Option<String>,
    /// Format of the report on the standard output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// Also write the report into a file in a format of its own, as in `json=report.json`; can be repeated
    #[arg(long, value_name = "FORMAT=FILE", value_parser = options::report_file)]
    pub report: Vec<ReportFile>,
    /// Give up after this time: 500ms, 10s, 2m; a number alone counts seconds; none for no limit [default: 60s]
    #[arg(long, value_name = "DURATION", value_parser = values::time_limit)]
    pub timeout: Option<TimeLimit>,
    /// Give up before more memory than this is taken: 512M, 2G
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory: Option<usize>,
    /// Number of threads; by default as many as there are processors
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

/// Proves the contracts of a property file and reports.
///
/// # Errors
/// If the command line or a file is wrong.
pub(crate) fn run(arguments: &Contract, inputs: Inputs) -> Result<Exit, InputError> {
    let verify = Verify {
        allow_empty: true,
        device: arguments.device.clone(),
        format: arguments.format,
        report: arguments.report.clone(),
        timeout: arguments.timeout,
        memory: arguments.memory,
        jobs: arguments.jobs,
        ..Verify::of(arguments.firmware.clone(), Some(arguments.properties.clone()))
    };
    let has_some = |job: &mut Job| match job.file.contracts.is_empty() {
        true => {
            let reason = "it has no contracts".to_owned();
            Err(InputErrorKind::NothingToVerify { path: job.file.name.clone(), reason }.into())
        }
        false => Ok(()),
    };
    let (job, ended) = perform_with(&verify, inputs, has_some, prove)?;
    let mut results = match ended {
        Ended::Done(results) => results?,
        Ended::GivenUp(limit) => {
            let unknown = Unknown::because(format!("{limit} while contracts were proved"));
            let properties = open_contracts(&job.file, &unknown);
            Results { properties, ..job.given_up(limit) }
        }
        Ended::Failed => return Ok(Exit::Internal),
    };
    results.interrupted |= job.monitor.is_interrupted();
    verify::report_about(&job, None, &results, (&verify, Detail::Verdicts))?;
    Ok(Exit::of(&results, &[]))
}

/// Proves, and sends what comes of it.
fn prove(job: &Job, sender: &Sender<Result<Results, PropertyError>>) {
    // Nobody listens any more when the last moment has passed.
    let _ = sender.send(prove_contracts(&job.request()));
}
