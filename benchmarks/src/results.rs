//! What came out, as the JSON file keeps it.

use serde::Serialize;

use crate::machine::Machine;
use crate::measure::{Cost, Run};
use crate::suite::Verdict;
use crate::tools::Answer;

/// The name and version of the format.
pub const SCHEMA: &str = "avr-tvar/comparison/1";

/// One run of the whole suite.
#[derive(Clone, Debug, Serialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Day of the run, as `YYYY-MM-DD`.
    pub date: String,
    /// Revision of `avr-tvar`.
    pub revision: String,
    /// Version of `machine-check-avr`.
    pub peer_version: String,
    /// Where it ran.
    pub machine: Machine,
    /// Processes that wanted a processor before the run, on the average of a minute.
    pub load_before: f64,
    /// How often `avr-tvar` ran for each property.
    pub runs: usize,
    /// Limit of CPU time of `machine-check-avr` for each property, in seconds.
    pub peer_seconds: u64,
    /// Memory limit of `machine-check-avr`, in bytes.
    pub peer_memory_bytes: u64,
    /// Both tools on the same properties.
    pub comparisons: Vec<Compared>,
    /// `avr-tvar` under limits.
    pub limited: Vec<LimitedRun>,
}

/// Both tools on one property.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Name of the image.
    pub image: String,
    /// Name of the property.
    pub property: String,
    /// The right answer.
    pub expected: Verdict,
    /// How many times faster `avr-tvar` ought to be.
    pub goal: Option<f64>,
    /// `avr-tvar`.
    pub ours: Side,
    /// `machine-check-avr`.
    pub peer: Side,
    /// Costs of `machine-check-avr` divided by those of `avr-tvar`; none when one of them failed.
    pub ratios: Option<Ratios>,
}

/// One tool on one property.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// How the run ended.
    pub end: End,
    /// Its answer, when it gave one.
    pub answer: Option<Answer>,
    /// What it cost: the median of the times of all runs, and the largest memory.
    pub cost: Cost,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// With an answer.
    Answered,
    /// With different answers in different runs.
    Inconsistent,
    /// At its time limit.
    TimeLimit,
    /// At its memory limit, or by another signal.
    Killed,
    /// With an exit code and no answer.
    Failed,
}

/// Cost of the peer divided by ours: above 1 means that `avr-tvar` needs less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratios {
    /// Of the time that passed.
    pub time: f64,
    /// Of the time that processors worked.
    pub cpu_time: f64,
    /// Of the peak memory.
    pub memory: f64,
    /// The peer was stopped by a limit, so all of them are at least this large.
    pub at_least: bool,
}

/// `avr-tvar` on one image under limits.
#[derive(Clone, Debug, Serialize)]
pub struct LimitedRun {
    /// Name of the image.
    pub image: String,
    /// How the run ended.
    pub end: End,
    /// The answers, in the order of the property file.
    pub answers: Vec<Answer>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// Time used, divided by the limit.
    pub part_of_time: f64,
    /// Memory used, divided by the limit.
    pub part_of_memory: f64,
    /// It gave a report, ended within a second of the time limit and took less than 1.2 times the memory.
    pub kept_limits: bool,
}

impl End {
    /// How a run ended that gave an answer or not.
    #[must_use]
    pub fn of(run: &Run, answered: bool) -> Self {
        match run {
            Run { timed_out: true, .. } => Self::TimeLimit,
            _ if answered => Self::Answered,
            Run { exit_code: None, .. } => Self::Killed,
            Run { exit_code: Some(_), .. } => Self::Failed,
        }
    }

    /// As reports print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Inconsistent => "inconsistent",
            Self::TimeLimit => "time limit",
            Self::Killed => "killed",
            Self::Failed => "failed",
        }
    }
}

impl Side {
    /// What it said, or why it said nothing.
    #[must_use]
    pub fn saying(&self) -> &'static str {
        match (self.end, self.answer) {
            (End::Answered, Some(answer)) => answer.verdict.name(),
            (end, _) => end.name(),
        }
    }

    /// Whether it gave a verdict that is not the right one.
    #[must_use]
    pub fn is_wrong(&self, expected: Verdict) -> bool {
        self.answer.is_some_and(|answer| answer.verdict != Verdict::Unknown && answer.verdict != expected)
    }

    fn decided(&self) -> bool {
        self.end == End::Answered && self.answer.is_some_and(|answer| answer.verdict != Verdict::Unknown)
    }

    fn stopped(&self) -> bool {
        matches!(self.end, End::TimeLimit | End::Killed)
    }
}

impl Ratios {
    /// None unless ours is decided and the peer is decided or was stopped by a limit.
    #[must_use]
    pub fn of(ours: &Side, peer: &Side) -> Option<Self> {
        let comparable = ours.decided() && (peer.decided() || peer.stopped());
        comparable.then(|| Self {
            time: peer.cost.seconds / ours.cost.seconds,
            cpu_time: peer.cost.cpu_seconds / ours.cost.cpu_seconds,
            memory: peer.cost.peak_memory_bytes as f64 / ours.cost.peak_memory_bytes as f64,
            at_least: peer.stopped(),
        })
    }
}

impl Results {
    /// What ought not to happen, one sentence each: wrong or changing verdicts, limits that were not kept.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let compared = self.comparisons.iter().flat_map(Compared::faults);
        let limited = self
            .limited
            .iter()
            .filter(|run| !run.kept_limits)
            .map(|run| format!("avr-tvar did not keep the limits given for {} ({})", run.image, run.end.name()));
        compared.chain(limited).collect()
    }
}

impl Compared {
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (tool, side) in [("avr-tvar", &self.ours), ("machine-check-avr", &self.peer)] {
            if side.is_wrong(self.expected) {
                let expected = self.expected.name();
                faults.push(format!("{tool} says {} of {}, but it {expected}", side.saying(), self.title()));
            }
        }
        if !matches!(self.ours.end, End::Answered) {
            faults.push(format!("avr-tvar gave no single answer for {}: {}", self.title(), self.ours.end.name()));
        }
        faults
    }

    fn title(&self) -> String {
        format!("`{}` on {}", self.property, self.image)
    }
}

#[cfg(test)]
mod tests {
    use super::{Compared, End, Ratios, Side};
    use crate::measure::Cost;
    use crate::suite::Verdict;
    use crate::tools::Answer;

    fn side(end: End, verdict: Option<Verdict>, scale: f64) -> Side {
        let answer = verdict.map(|verdict| Answer { verdict, refinements: 0, states: 1, generated_states: None });
        let cost = Cost { seconds: scale, cpu_seconds: 2.0 * scale, peak_memory_bytes: (scale * 10.0) as u64 };
        Side { end, answer, cost }
    }

    #[track_caller]
    fn check_ratio(ours: (End, Option<Verdict>), peer: (End, Option<Verdict>), expected: Option<bool>) {
        let ratios = Ratios::of(&side(ours.0, ours.1, 0.5), &side(peer.0, peer.1, 5.0));
        let same = |at_least| Ratios { time: 10.0, cpu_time: 10.0, memory: 10.0, at_least };
        assert_eq!(ratios, expected.map(same));
    }

    #[test]
    fn ratios_need_our_verdict_and_an_end_of_the_peer_that_says_something() {
        use End::{Answered, Failed, Inconsistent, Killed, TimeLimit};
        use Verdict::{Holds, Unknown};
        check_ratio((Answered, Some(Holds)), (Answered, Some(Holds)), Some(false));
        check_ratio((Answered, Some(Holds)), (TimeLimit, None), Some(true));
        check_ratio((Answered, Some(Holds)), (Killed, None), Some(true));
        check_ratio((Answered, Some(Holds)), (Failed, None), None);
        check_ratio((Answered, Some(Holds)), (Answered, Some(Unknown)), None);
        check_ratio((Answered, Some(Unknown)), (Answered, Some(Holds)), None);
        check_ratio((Inconsistent, Some(Holds)), (Answered, Some(Holds)), None);
    }

    #[track_caller]
    fn check_faults(ours: Side, peer: Side, count: usize) {
        let (image, property) = ("i".into(), "p".into());
        let compared = Compared { image, property, expected: Verdict::Holds, goal: None, ours, peer, ratios: None };
        assert_eq!(compared.faults().len(), count, "{:?}", compared.faults());
    }

    #[test]
    fn wrong_and_missing_answers_are_faults_but_unknown_ones_are_not() {
        let right = || side(End::Answered, Some(Verdict::Holds), 1.0);
        let wrong = || side(End::Answered, Some(Verdict::Violated), 1.0);
        check_faults(right(), right(), 0);
        check_faults(side(End::Answered, Some(Verdict::Unknown), 1.0), side(End::TimeLimit, None, 1.0), 0);
        check_faults(wrong(), right(), 1);
        check_faults(wrong(), wrong(), 2);
        check_faults(side(End::Failed, None, 1.0), right(), 1);
        check_faults(side(End::Inconsistent, Some(Verdict::Holds), 1.0), right(), 1);
    }
}
