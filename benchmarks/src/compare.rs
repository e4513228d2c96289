//! Runs both tools on what the suite lists.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
use crate::measure::{Cost, Run, run};
use crate::results::{Compared, End, LimitedRun, Ratios, Side};
use crate::suite::{Comparison, Limited, Property, Suite, Verdict};
use crate::tools::{Answer, Ours, Peer, our_answers, peer_answer};

/// How long `avr-tvar` may take beyond the limit that it was given, before it is killed here.
const GRACE: Duration = Duration::from_secs(30);

/// How many times its limit of CPU time the peer may run in all, because other work may share the processors.
const LONGER_THAN_CPU: u32 = 6;

/// What the contract of `avr-tvar` allows beyond its time limit, in seconds, and how much of the memory limit.
const LATE_SECONDS: f64 = 1.0;
const PART_OF_MEMORY: f64 = 1.2;

/// Everything that stays the same for the whole suite.
#[derive(Clone, Debug)]
pub struct Setup {
    /// `avr-tvar`.
    pub ours: Ours,
    /// `machine-check-avr`.
    pub peer: Peer,
    /// The top of the repository.
    pub repository: PathBuf,
    /// How often `avr-tvar` runs for each property.
    pub runs: usize,
    /// The limit of either tool for one property: of the time that passes for ours, of CPU time for the peer.
    pub limit: Duration,
}

impl Setup {
    /// Both tools on every property of an image.
    ///
    /// # Errors
    /// [`Error::Start`], [`Error::NoSuchProperty`].
    pub fn compare(&self, suite: &Suite, comparison: &Comparison) -> Result<Vec<Compared>, Error> {
        let of_property = |(name, expected): &(String, Verdict)| {
            eprintln!("{}: {name}", comparison.image);
            self.compare_property(comparison, name, &suite.property(name, comparison)?, *expected)
        };
        comparison.verdicts.iter().map(of_property).collect()
    }

    fn compare_property(
        &self,
        comparison: &Comparison,
        name: &str,
        property: &Property,
        expected: Verdict,
    ) -> Result<Compared, Error> {
        let image = self.repository.join("benchmarks/firmware").join(format!("{}.hex", comparison.image));
        let ours = self.run_ours(&image, property)?;
        let peer = self.run_peer(&image, property)?;
        Ok(Compared {
            image: comparison.image.clone(),
            property: name.into(),
            expected,
            goal: comparison.goal,
            ratios: Ratios::of(&ours, &peer),
            ours,
            peer,
        })
    }

    fn run_ours(&self, image: &Path, property: &Property) -> Result<Side, Error> {
        let mut runs = Vec::with_capacity(self.runs);
        for _ in 0..self.runs {
            let run = run(self.ours.property(image, property), self.limit)?;
            let hopeless = run.timed_out;
            runs.push(run);
            if hopeless {
                break;
            }
        }
        Ok(our_side(&runs))
    }

    fn run_peer(&self, image: &Path, property: &Property) -> Result<Side, Error> {
        let mut run = run(self.peer.property(image, property, self.limit), self.limit * LONGER_THAN_CPU)?;
        run.timed_out |= run.exit_code.is_none() && run.cost.cpu_seconds >= self.limit.as_secs_f64();
        let answer = peer_answer(&run);
        Ok(Side { end: End::of(&run, answer.is_some()), answer, cost: run.cost })
    }

    /// `avr-tvar` on all properties of an image under limits.
    ///
    /// # Errors
    /// [`Error::Start`].
    pub fn limited(&self, limited: &Limited) -> Result<LimitedRun, Error> {
        eprintln!("{}: within limits", limited.image);
        let properties = self.repository.join("properties").join(&limited.properties);
        let command = self.ours.limited(&self.sample(&limited.image), &properties, limited);
        let seconds = f64::from(limited.seconds);
        let run = run(command, Duration::from_secs_f64(seconds) + GRACE)?;
        let answers = our_answers(&run);
        let end = End::of(&run, !answers.is_empty());
        let part_of_memory = run.cost.peak_memory_bytes as f64 / (f64::from(limited.mebibytes) * 1024.0 * 1024.0);
        let in_time = run.cost.seconds <= seconds + LATE_SECONDS;
        Ok(LimitedRun {
            image: limited.image.clone(),
            end,
            answers,
            exit_code: run.exit_code,
            part_of_time: run.cost.seconds / seconds,
            part_of_memory,
            kept_limits: end == End::Answered && in_time && part_of_memory <= PART_OF_MEMORY,
        })
    }

    fn sample(&self, name: &str) -> PathBuf {
        let sample = name.split('.').next().unwrap_or(name);
        self.repository.join("firmware-samples").join(sample).join(format!("{name}.hex"))
    }
}

fn our_side(runs: &[Run]) -> Side {
    let answers: Vec<Option<Answer>> = runs.iter().map(|run| our_answers(run).first().copied()).collect();
    let answer = answers.first().copied().flatten();
    let worst = runs.iter().zip(&answers).map(|(run, answer)| End::of(run, answer.is_some()));
    let end = worst.reduce(|first, other| if first == End::Answered { other } else { first });
    let end = match end {
        Some(End::Answered) if answers.iter().any(|other| *other != answer) => End::Inconsistent,
        end => end.unwrap_or(End::Failed),
    };
    Side { end, answer, cost: typical(runs) }
}

/// The median of the times and the largest memory.
fn typical(runs: &[Run]) -> Cost {
    Cost {
        seconds: median(runs.iter().map(|run| run.cost.seconds).collect()),
        cpu_seconds: median(runs.iter().map(|run| run.cost.cpu_seconds).collect()),
        peak_memory_bytes: runs.iter().map(|run| run.cost.peak_memory_bytes).max().unwrap_or(0),
    }
}

/// The upper one of the two in the middle when their number is even.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// How many of the answers are of one kind.
#[must_use]
pub fn count(answers: &[Answer], verdict: Verdict) -> usize {
    answers.iter().filter(|answer| answer.verdict == verdict).count()
}

#[cfg(test)]
mod tests {
    use super::{median, our_side};
    use crate::measure::{Cost, Run};
    use crate::results::End;

    #[track_caller]
    fn check_median(values: &[f64], expected: f64) {
        assert_eq!(median(values.to_vec()), expected);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        check_median(&[], 0.0);
        check_median(&[3.0], 3.0);
        check_median(&[9.0, 1.0, 2.0], 2.0);
        check_median(&[9.0, 1.0, 2.0, 3.0], 3.0);
    }

    fn ran(verdict: &str, peak_memory_bytes: u64, timed_out: bool) -> Run {
        let result = format!(r#"{{"verdict":"{verdict}","stats":{{"refinements":1,"states":2}}}}"#);
        Run {
            cost: Cost { seconds: 1.0, cpu_seconds: 1.0, peak_memory_bytes },
            exit_code: (!timed_out).then_some(0),
            timed_out,
            output: if timed_out { String::new() } else { format!(r#"{{"results":[{result}]}}"#) },
        }
    }

    #[track_caller]
    fn check_end(runs: &[Run], end: End) {
        assert_eq!(our_side(runs).end, end);
    }

    #[test]
    fn every_run_must_give_the_same_answer() {
        let holds = || ran("holds", 10, false);
        check_end(&[holds(), holds()], End::Answered);
        check_end(&[holds(), ran("violated", 10, false)], End::Inconsistent);
        check_end(&[holds(), ran("", 10, true)], End::TimeLimit);
        check_end(&[], End::Failed);
    }

    #[test]
    fn the_largest_memory_counts() {
        let side = our_side(&[ran("holds", 10, false), ran("holds", 30, false), ran("holds", 20, false)]);
        assert_eq!(side.cost.peak_memory_bytes, 30);
    }
}
