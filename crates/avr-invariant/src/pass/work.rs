//! The work of a pass, by which its limits count: long steps are as much as many usual ones.

use super::analysis::Options;

/// The work of a usual step: the cases of its outcomes, the equations that are followed in each, and the states that it leads to.
const OF_STEP: usize = 12;

/// The steps that were taken, with their work.
#[derive(Debug, Default)]
pub(crate) struct Work {
    steps: usize,
    cases: usize,
}

impl Work {
    /// Counts a step.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
    }

    /// Counts the cases of a step, in each of which so many equations are followed.
    pub(crate) fn follow(&mut self, cases: usize, equations: usize) {
        self.cases += cases * (1 + equations);
    }

    /// Counts a state that is reached.
    pub(crate) fn reach(&mut self) {
        self.cases += 1;
    }

    /// The steps that were taken.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// The number of usual steps that are as much work; at least that of the steps.
    pub(crate) fn in_steps(&self) -> usize {
        self.steps.max(self.cases / OF_STEP)
    }

    /// True if there was more work than options allow.
    pub(crate) fn is_too_much(&self, options: &Options) -> bool {
        self.in_steps() > options.steps
    }
}
