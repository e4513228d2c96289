//! Compares `avr-tvar` with `machine-check-avr` on the same images in one run, and writes ratios; measures how states and times
//! grow with the size of a program, and draws curves.
//!
//! `benchmarks/run` builds both and starts this program; `benchmarks/README.md` says how to read what it writes.

mod compare;
mod error;
mod machine;
mod measure;
mod report;
mod results;
mod scaling;
mod subject;
mod suite;
mod tools;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser};

use compare::Setup;
use error::Error;
use machine::{Machine, load};
use results::{Results, SCHEMA};
use subject::Subject;
use suite::Suite;
use tools::{Ours, Peer};

#[derive(Clone, Debug, Parser)]
enum Command {
    Compare(Arguments),
    Scaling(scaling::Scaling),
}

/// Compare avr-tvar with machine-check-avr on the same images, and print ratios.
#[derive(Clone, Debug, Args)]
#[command(args_override_self = true)]
struct Arguments {
    #[command(flatten)]
    subject: Subject,
    /// The installed machine-check-avr
    #[arg(long, value_name = "PROGRAM")]
    peer: PathBuf,
    /// Its version, for the report
    #[arg(long, value_name = "TEXT")]
    peer_version: String,
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
    let done = match &Command::parse() {
        Command::Compare(arguments) => compare_all(arguments),
        Command::Scaling(arguments) => scaling::run(arguments).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing happened that ought not to. An interrupted run leaves what it has measured.
fn compare_all(arguments: &Arguments) -> Result<bool, Error> {
    let suite = Suite::read(&arguments.subject.repository.join("benchmarks/suite.ron"))?.only(&arguments.only)?;
    let setup = setup(arguments, &suite);
    let mut results = nothing_yet(arguments, &setup);
    for limited in &suite.limited {
        results.limited.push(setup.limited(limited)?);
        save(arguments, &results)?;
    }
    for comparison in &suite.comparisons {
        results.comparisons.extend(setup.compare(&suite, comparison)?);
        save(arguments, &results)?;
    }
    print!("{}", report::markdown(&results));
    Ok(results.faults().is_empty())
}

fn save(arguments: &Arguments, results: &Results) -> Result<(), Error> {
    let Some(folder) = &arguments.results else { return Ok(()) };
    write(&folder.join(format!("{}.md", results.date)), &report::markdown(results))?;
    let json = serde_json::to_string_pretty(results).expect("strings, numbers and lists can be written");
    write(&folder.join(format!("{}.json", results.date)), &(json + "\n"))
}

fn nothing_yet(arguments: &Arguments, setup: &Setup) -> Results {
    Results {
        schema: SCHEMA,
        date: arguments.subject.date.clone(),
        revision: arguments.subject.revision.clone(),
        peer_version: arguments.peer_version.clone(),
        machine: Machine::this(),
        load_before: load(),
        runs: setup.runs,
        peer_seconds: arguments.limit,
        peer_memory_bytes: setup.peer.memory_bytes,
        comparisons: Vec::new(),
        limited: Vec::new(),
    }
}

fn setup(arguments: &Arguments, suite: &Suite) -> Setup {
    Setup {
        ours: Ours { program: arguments.subject.ours.clone(), device: suite.device.clone() },
        peer: Peer { program: arguments.peer.clone(), memory_bytes: arguments.memory << 30 },
        repository: arguments.subject.repository.clone(),
        runs: usize::from(arguments.runs),
        limit: Duration::from_secs(arguments.limit),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::File { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::Command;
    use clap::{CommandFactory, Parser};

    #[test]
    fn both_commands_take_what_the_script_gives() {
        Command::command().debug_assert();
        let subject = ["--repository", "r", "--ours", "o", "--revision", "1", "--date", "2026-01-01"];
        let line = |command, more: &[&'static str]| [&["comparison", command][..], &subject, more].concat();
        let Ok(Command::Compare(compare)) =
            Command::try_parse_from(line("compare", &["--peer", "p", "--peer-version", "2", "--date", "2026-01-02"]))
        else {
            panic!("it is a comparison")
        };
        assert_eq!(compare.subject.date, "2026-01-02", "what is said later counts");
        assert!(matches!(Command::try_parse_from(line("scaling", &["--draw"])), Ok(Command::Scaling(_))));
    }
}
