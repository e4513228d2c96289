//! The two programs: how each is called and what its answer looks like.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::Run;
use crate::suite::{Limited, Property, Verdict};

/// What a tool said about one property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Its verdict.
    pub verdict: Verdict,
    /// Refinements before the verdict.
    pub refinements: usize,
    /// Abstract states of the last state space.
    pub states: usize,
    /// Abstract states of all state spaces together, where the tool says it.
    pub generated_states: Option<usize>,
}

/// `avr-tvar`.
#[derive(Clone, Debug)]
pub struct Ours {
    /// The program.
    pub program: PathBuf,
    /// For `--device`.
    pub device: String,
}

/// `machine-check-avr`.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The program.
    pub program: PathBuf,
    /// The address space that it may take, in bytes.
    pub memory_bytes: u64,
}

impl Ours {
    /// Decides one property.
    #[must_use]
    pub fn property(&self, image: &Path, property: &Property) -> Command {
        let mut command = self.verify(image);
        command.args(["--device", &self.device, "--property", &property.ours]);
        command
    }

    /// Decides the properties of a file under limits.
    #[must_use]
    pub fn limited(&self, image: &Path, properties: &Path, limits: &Limited) -> Command {
        let mut command = self.verify(image);
        command.arg(properties);
        command.args(["--timeout", &format!("{}s", limits.seconds), "--memory", &format!("{}M", limits.mebibytes)]);
        command
    }

    fn verify(&self, image: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("verify").arg(image).args(["--format", "json"]);
        command
    }
}

impl Peer {
    /// Decides one property. It may assume that the inherent property holds, which spares it proving that first.
    ///
    /// Its limit is one of CPU time: when other work shares the processors, what is known of it does not shrink.
    #[must_use]
    pub fn property(&self, image: &Path, property: &Property, limit: Duration) -> Command {
        let mut command = Command::new("prlimit");
        command.arg(format!("--as={}", self.memory_bytes)).arg(format!("--cpu={}", limit.as_secs()));
        command.arg(&self.program).arg("--batch").arg("--system-hex-file").arg(image);
        match &property.peer {
            None => command.arg("--inherent"),
            Some(text) => command.args(["--assume-inherent", "--property", text]),
        };
        command
    }
}

/// The part of `--format json` that is read here.
#[derive(Deserialize)]
struct OurReport {
    results: Vec<OurResult>,
}

#[derive(Deserialize)]
struct OurResult {
    verdict: Verdict,
    stats: OurStatistics,
}

#[derive(Deserialize)]
struct OurStatistics {
    refinements: usize,
    states: usize,
}

/// The answers of `avr-tvar`, in the order of the properties; nothing when it wrote no report.
#[must_use]
pub fn our_answers(run: &Run) -> Vec<Answer> {
    let report: Option<OurReport> = serde_json::from_str(&run.output).ok();
    report.into_iter().flat_map(|report| report.results).map(Answer::from).collect()
}

impl From<OurResult> for Answer {
    fn from(result: OurResult) -> Self {
        let OurStatistics { refinements, states } = result.stats;
        Self { verdict: result.verdict, refinements, states, generated_states: None }
    }
}

/// The part of `--batch` that is read here.
#[derive(Deserialize)]
struct PeerReport {
    result: Result<PeerConclusion, serde::de::IgnoredAny>,
    stats: PeerStatistics,
}

#[derive(Deserialize)]
enum PeerConclusion {
    True,
    False,
    Dependent,
}

#[derive(Deserialize)]
struct PeerStatistics {
    num_refinements: usize,
    num_generated_states: usize,
    num_final_states: usize,
}

/// The answer of `machine-check-avr`; none when it wrote no report, as when it was ended by a limit.
#[must_use]
pub fn peer_answer(run: &Run) -> Option<Answer> {
    let report: PeerReport = serde_json::from_str(&run.output).ok()?;
    let verdict = match report.result {
        Ok(PeerConclusion::True) => Verdict::Holds,
        Ok(PeerConclusion::False) => Verdict::Violated,
        Ok(PeerConclusion::Dependent) | Err(_) => Verdict::Unknown,
    };
    Some(Answer {
        verdict,
        refinements: report.stats.num_refinements,
        states: report.stats.num_final_states,
        generated_states: Some(report.stats.num_generated_states),
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, our_answers, peer_answer};
    use crate::measure::{Cost, Run};
    use crate::suite::Verdict;

    fn wrote(output: &str) -> Run {
        let cost = Cost { seconds: 1.0, cpu_seconds: 1.0, peak_memory_bytes: 1 };
        Run { cost, exit_code: Some(0), timed_out: false, output: output.into() }
    }

    #[track_caller]
    fn check_peer(result: &str, verdict: Verdict) {
        let stats = r#""num_refinements":5,"num_generated_states":7,"num_final_states":6,"num_final_transitions":8"#;
        let answer = peer_answer(&wrote(&format!(r#"{{"result":{result},"stats":{{{stats}}}}}"#)));
        assert_eq!(answer, Some(Answer { verdict, refinements: 5, states: 6, generated_states: Some(7) }));
    }

    #[test]
    fn the_answer_of_the_peer_is_read() {
        check_peer(r#"{"Ok":"True"}"#, Verdict::Holds);
        check_peer(r#"{"Ok":"False"}"#, Verdict::Violated);
        check_peer(r#"{"Ok":"Dependent"}"#, Verdict::Unknown);
        check_peer(r#"{"Err":{"OtherError":"no"}}"#, Verdict::Unknown);
        check_peer(r#"{"Err":"Incomplete"}"#, Verdict::Unknown);
        assert_eq!(peer_answer(&wrote("")), None);
    }

    #[test]
    fn our_answers_are_read() {
        let result = r#"{"name":"a","verdict":"violated","stats":{"refinements":2,"states":3,"seconds":0.1}}"#;
        let answers = our_answers(&wrote(&format!(r#"{{"results":[{result}],"summary":{{}}}}"#)));
        assert_eq!(answers, [Answer { verdict: Verdict::Violated, refinements: 2, states: 3, generated_states: None }]);
        assert_eq!(our_answers(&wrote("thread panicked")), []);
    }
}
