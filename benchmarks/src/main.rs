//! Compares `avr-tvar` with `machine-check-avr` on the same images in one run, and writes ratios.
//!
//! `benchmarks/run` builds both and starts this program; `benchmarks/README.md` says how to read what it writes.

mod compare;
mod error;
mod machine;
mod measure;
mod report;
mod results;
mod suite;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use compare::Setup;
use error::Error;
use machine::{Machine, load};
use results::{Results, SCHEMA};
use suite::Suite;
use tools::{Ours, Peer};

/// Compare avr-tvar with machine-check-avr on the same images, and print ratios.
#[derive(Clone, Debug, Parser)]
#[command(args_override_self = true)]
struct Arguments {
    /// The top of the repository
    #[arg(long, value_name = "FOLDER")]
    repository: PathBuf,
    /// The release build of avr-tvar
    #[arg(long, value_name = "PROGRAM")]
    ours: PathBuf,
    /// Its revision, for the report
    #[arg(long, value_name = "TEXT")]
    revision: String,
    /// The installed machine-check-avr
    #[arg(long, value_name = "PROGRAM")]
    peer: PathBuf,
    /// Its version, for the report
    #[arg(long, value_name = "TEXT")]
    peer_version: String,
    /// Today, as YYYY-MM-DD: the name of the results
    #[arg(long, value_name = "DATE")]
    date: String,
    /// Where the results go; without it they are only printed
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
    /// How often avr-tvar runs for each property
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Limit for one property in seconds: of CPU time for machine-check-avr, of the time that passes for avr-tvar
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    limit: u64,
    /// Memory limit of machine-check-avr, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 12)]
    memory: u64,
    /// Only images with this text in their name
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

fn main() -> ExitCode {
    match compare_all(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing happened that ought not to.
fn compare_all(arguments: &Arguments) -> Result<bool, Error> {
    let suite = Suite::read(&arguments.repository.join("benchmarks/suite.ron"))?.only(&arguments.only)?;
    let results = run_all(arguments, &suite)?;
    let text = report::markdown(&results);
    print!("{text}");
    if let Some(folder) = &arguments.results {
        write(&folder.join(format!("{}.md", results.date)), &text)?;
        let json = serde_json::to_string_pretty(&results).expect("strings, numbers and lists can be written");
        write(&folder.join(format!("{}.json", results.date)), &(json + "\n"))?;
    }
    Ok(results.faults().is_empty())
}

fn run_all(arguments: &Arguments, suite: &Suite) -> Result<Results, Error> {
    let setup = setup(arguments, suite);
    let load_before = load();
    let comparisons = suite.comparisons.iter().map(|comparison| setup.compare(suite, comparison));
    let comparisons = comparisons.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let limited = suite.limited.iter().map(|limited| setup.limited(limited)).collect::<Result<_, _>>()?;
    Ok(Results {
        schema: SCHEMA,
        date: arguments.date.clone(),
        revision: arguments.revision.clone(),
        peer_version: arguments.peer_version.clone(),
        machine: Machine::this(),
        load_before,
        runs: setup.runs,
        peer_seconds: arguments.limit,
        peer_memory_bytes: setup.peer.memory_bytes,
        comparisons,
        limited,
    })
}

fn setup(arguments: &Arguments, suite: &Suite) -> Setup {
    Setup {
        ours: Ours { program: arguments.ours.clone(), device: suite.device.clone() },
        peer: Peer { program: arguments.peer.clone(), memory_bytes: arguments.memory << 30 },
        repository: arguments.repository.clone(),
        runs: usize::from(arguments.runs),
        limit: Duration::from_secs(arguments.limit),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::File { path: path.into(), source })
}
