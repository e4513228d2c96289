//! Counts of comparisons and of differences.

use std::collections::BTreeMap;
use std::fmt;

/// The most differences that are kept to be shown.
const MOST_SHOWN: usize = 10;

/// Counts of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// Compared steps by kind of test.
    steps: BTreeMap<&'static str, u64>,
    /// Steps in which libsimavr was wrong in a known way, by the name of the exception.
    exceptions: BTreeMap<&'static str, u64>,
    /// The steps that were not compared, by the reason.
    left_out: BTreeMap<&'static str, u64>,
    /// The first differences.
    shown: Vec<String>,
    /// The number of differences.
    differences: u64,
}

impl Tally {
    /// So many steps of a kind were compared.
    pub fn compared(&mut self, kind: &'static str, steps: u64) {
        *self.steps.entry(kind).or_default() += steps;
    }

    /// A step fell under a known exception.
    pub fn excepted(&mut self, exception: &'static str) {
        *self.exceptions.entry(exception).or_default() += 1;
    }

    /// True if the exception occurred.
    pub fn has_excepted(&self, exception: &str) -> bool {
        self.exceptions.contains_key(exception)
    }

    /// Something was not compared, or not wholly.
    pub fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    /// A difference that nothing explains.
    pub fn difference(&mut self, describe: impl FnOnce() -> String) {
        self.differences += 1;
        if self.shown.len() < MOST_SHOWN {
            self.shown.push(describe());
        }
    }

    /// The number of differences.
    pub fn differences(&self) -> u64 {
        self.differences
    }

    /// All compared steps.
    pub fn total(&self) -> u64 {
        self.steps.values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown.iter().try_for_each(|difference| writeln!(f, "DIFFERENCE {difference}"))?;
        self.steps.iter().try_for_each(|(kind, steps)| writeln!(f, "{steps:>12} steps        {kind}"))?;
        self.exceptions.iter().try_for_each(|(name, steps)| writeln!(f, "{steps:>12} exceptions   {name}"))?;
        self.left_out.iter().try_for_each(|(reason, count)| writeln!(f, "{count:>12} left out     {reason}"))?;
        writeln!(f, "{:>12} steps in all, {} differences", self.total(), self.differences)
    }
}
