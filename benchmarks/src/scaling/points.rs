//! Points of the curves: one program, one question.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::suite::{Family, Question, at_size};
use crate::error::Error;
use crate::machine::Machine;
use crate::measure::run_for_cpu_time;
use crate::suite::Verdict;

/// The name and version of the format.
pub const SCHEMA: &str = "avr-tvar/scaling/1";

/// Everything that was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Curves {
    /// [`SCHEMA`].
    pub schema: String,
    /// Day of the last run, as `YYYY-MM-DD`.
    pub date: String,
    /// Revision of `avr-tvar`.
    pub revision: String,
    /// Where it ran.
    pub machine: Machine,
    /// Processes that wanted a processor before the run, on the average of a minute.
    pub load_before: f64,
    /// Limit of CPU time for each point, in seconds.
    pub limit_seconds: u64,
    /// The points, by family, question and size.
    pub points: Vec<Point>,
}

/// One program and one question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    /// The family.
    pub family: String,
    /// The question.
    pub question: String,
    /// The number.
    pub size: u64,
    /// The answer: `unknown` if one property is.
    pub verdict: Verdict,
    /// States of the largest state space that decided a property, or that was there at the limit.
    pub states: usize,
    /// Refinements in all.
    pub refinements: usize,
    /// Abstract steps, where the run came to an end by itself.
    pub steps: Option<u64>,
    /// Bytes of a stored state, where the run came to an end by itself.
    pub bytes_per_state: Option<f64>,
    /// Time that processors worked.
    pub cpu_seconds: f64,
    /// Time that passed.
    pub seconds: f64,
    /// The largest amount of memory that was resident.
    pub peak_memory_bytes: u64,
}

/// The part of `--format json` that is read here.
#[derive(Deserialize)]
struct Report {
    results: Vec<Answer>,
    exploration: Option<Exploration>,
}

#[derive(Deserialize)]
struct Answer {
    verdict: Verdict,
    stats: Statistics,
}

#[derive(Deserialize)]
struct Statistics {
    refinements: usize,
    states: usize,
}

#[derive(Deserialize)]
struct Exploration {
    steps: u64,
    bytes_per_state: Option<f64>,
}

impl Curves {
    /// Reads what was written before.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Measured`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.into(), source })?;
        serde_json::from_str(&text).map_err(|source| Error::Measured { path: path.into(), source })
    }

    /// All of it as text.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings, numbers and lists can be written") + "\n"
    }

    /// The points of a question, by size.
    pub fn of<'a>(&'a self, family: &'a Family, question: &'a Question) -> impl Iterator<Item = &'a Point> {
        let is_wanted = |point: &&Point| point.family == family.name && point.question == question.name;
        self.points.iter().filter(is_wanted)
    }
}

impl Point {
    /// Whether the question was answered.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.verdict != Verdict::Unknown
    }

    /// A line for those who wait.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { family, question, size, verdict, states, cpu_seconds, .. } = self;
        format!("{family} {size}, {question}: {}, {states} states, {cpu_seconds:.2} s", verdict.name())
    }
}

/// Asks a question about the image of a size.
///
/// # Errors
/// [`Error::Start`], and [`Error::NoAnswer`] when there is no report.
pub fn measure(
    repository: &Path,
    program: &Path,
    family: &Family,
    question: &Question,
    size: u64,
    limit: Duration,
) -> Result<Point, Error> {
    let mut command = Command::new(program);
    command.current_dir(repository).arg("verify").arg(at_size(&family.image, size)).args(["--format", "json"]);
    command.args(question.options.iter().map(|option| at_size(option, size)));
    let run = run_for_cpu_time(command, limit)?;
    let report: Report = serde_json::from_str(&run.output)
        .map_err(|_| Error::NoAnswer { image: at_size(&family.image, size), question: question.name.clone() })?;
    let statistics = || report.results.iter().map(|answer| &answer.stats);
    let exploration = report.exploration.as_ref().filter(|_| !run.timed_out);
    Ok(Point {
        family: family.name.clone(),
        question: question.name.clone(),
        size,
        verdict: together(report.results.iter().map(|answer| answer.verdict)),
        states: statistics().map(|statistics| statistics.states).max().unwrap_or(0),
        refinements: statistics().map(|statistics| statistics.refinements).max().unwrap_or(0),
        steps: exploration.map(|exploration| exploration.steps),
        bytes_per_state: exploration.and_then(|exploration| exploration.bytes_per_state),
        cpu_seconds: run.cost.cpu_seconds,
        seconds: run.cost.seconds,
        peak_memory_bytes: run.cost.peak_memory_bytes,
    })
}

/// Unknown if one is, else violated if one is.
fn together(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let weight = |verdict: &Verdict| match verdict {
        Verdict::Holds => 0,
        Verdict::Violated => 1,
        Verdict::Unknown => 2,
    };
    verdicts.max_by_key(weight).unwrap_or(Verdict::Unknown)
}

#[cfg(test)]
mod tests {
    use super::together;
    use crate::suite::Verdict::{self, Holds, Unknown, Violated};

    #[track_caller]
    fn check(verdicts: &[Verdict], expected: Verdict) {
        assert_eq!(together(verdicts.iter().copied()), expected);
    }

    #[test]
    fn a_question_is_answered_when_all_its_properties_are() {
        check(&[Holds, Holds], Holds);
        check(&[Holds, Violated, Holds], Violated);
        check(&[Violated, Unknown], Unknown);
        check(&[], Unknown);
    }
}
