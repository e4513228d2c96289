//! Outcomes of runs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// A JSON report as `avr-tvar verify` writes it.
    Reported {
        /// The report.
        report: Value,
        /// The exit code that came with it.
        code: u8,
    },
    /// No report.
    Failed(Failure),
}

/// The reason why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The exit code: 2 for wrong input, 4 for an internal error.
    pub(super) code: u8,
    /// The message.
    pub(super) message: String,
}

/// The number of properties by verdict, and the number of runs that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Totals {
    pub(super) holds: usize,
    pub(super) violated: usize,
    pub(super) unknown: usize,
    pub(super) failed_runs: usize,
    /// Runs without a violation whose exit code is 1, because of what they deny.
    pub(super) denied_runs: usize,
    /// Runs whose input is wrong.
    #[serde(skip)]
    wrong_input: usize,
    /// Runs that failed in themselves, or a check of themselves.
    #[serde(skip)]
    internal: usize,
}

impl Outcome {
    /// The exit code of the run.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Reported { code, .. } => *code,
            Self::Failed(failure) => failure.code,
        }
    }

    /// True if both have verdicts, and these differ.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        let (Self::Reported { .. }, Self::Reported { .. }) = (self, other) else { return false };
        let verdicts = |outcome: &Self| -> Vec<[Value; 4]> {
            let field = |result: &Value| ["name", "formula", "verdict", "basis"].map(|name| result[name].clone());
            outcome.results().iter().map(field).collect()
        };
        (self.code(), verdicts(self)) != (other.code(), verdicts(other))
    }

    /// The results of a report.
    pub(super) fn results(&self) -> &[Value] {
        match self {
            Self::Reported { report, .. } => report["results"].as_array().map_or(&[], Vec::as_slice),
            Self::Failed(_) => &[],
        }
    }
}

impl Totals {
    /// Counts one more run.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        if let Outcome::Failed(failure) = outcome {
            self.failed_runs += 1;
            *(if failure.code == 2 { &mut self.wrong_input } else { &mut self.internal }) += 1;
        }
        let is_violated = |result: &Value| result["verdict"] == "violated";
        let has_code_of_violation = matches!(outcome, Outcome::Reported { code: 1, .. });
        if has_code_of_violation && !outcome.results().iter().any(is_violated) {
            self.denied_runs += 1;
        }
        for result in outcome.results() {
            match result["verdict"].as_str() {
                Some("holds") => self.holds += 1,
                Some("violated") => self.violated += 1,
                _ => self.unknown += 1,
            }
            self.internal += usize::from(result["unknown"]["limit"] == "self-check");
        }
    }

    /// The totals of some runs.
    pub(super) fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Self {
        let mut totals = Self::default();
        outcomes.into_iter().for_each(|outcome| totals.add(outcome));
        totals
    }

    /// The exit code of the batch, by the rules for one report.
    pub(super) fn exit(&self, interrupted: bool) -> crate::exit::Exit {
        use crate::exit::Exit;
        match self {
            Self { wrong_input: 1.., .. } => Exit::Input,
            Self { internal: 1.., .. } => Exit::Internal,
            _ if interrupted => Exit::Interrupted,
            Self { violated: 1.., .. } | Self { denied_runs: 1.., .. } => Exit::Violated,
            Self { unknown: 1.., .. } => Exit::Unknown,
            _ => Exit::Holds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, Outcome, Totals};
    use serde_json::json;

    /// Each run has a letter for each property: h, v, u, f for a failed self-check, d for one that holds and is denied; or
    /// is the exit code of a failure.
    #[track_caller]
    fn check(runs: &[&str], interrupted: bool, code: u8) {
        let run = |verdicts: &&str| match *verdicts {
            "2" => Outcome::Failed(Failure { code: 2, message: String::new() }),
            "4" => Outcome::Failed(Failure { code: 4, message: String::new() }),
            verdicts => {
                let result = |letter| match letter {
                    'h' | 'd' => json!({ "verdict": "holds" }),
                    'v' => json!({ "verdict": "violated" }),
                    'f' => json!({ "verdict": "unknown", "unknown": { "limit": "self-check" } }),
                    _ => json!({ "verdict": "unknown", "unknown": { "limit": "time" } }),
                };
                Outcome::Reported {
                    report: json!({ "results": verdicts.chars().map(result).collect::<Vec<_>>() }),
                    code: u8::from(verdicts.contains('d')),
                }
            }
        };
        let outcomes: Vec<Outcome> = runs.iter().map(run).collect();
        assert_eq!(Totals::of(&outcomes).exit(interrupted).code(), code, "{runs:?}");
    }

    #[test]
    fn the_first_of_several_codes_wins() {
        check(&["hh", "h"], false, 0);
        check(&["hh", "u"], false, 3);
        check(&["u", "hv"], false, 1);
        check(&["u", "hd"], false, 1);
        check(&["v"], true, 130);
        check(&["v", "f"], true, 4);
        check(&["4", "v"], false, 4);
        check(&["4", "2", "v"], true, 2);
    }
}
