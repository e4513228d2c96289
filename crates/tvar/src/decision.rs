//! Goals and decisions: the questions to a verification and its answers.

use crate::precision::{Knob, Precision};
use crate::state_space::StateSpace;
use crate::system::{Blame, Candidate, System};
use crate::watch::{Exhausted, SpaceSize};
use mu_calculus::{NormalForm, Solution};
use std::sync::Arc;
use std::time::Duration;
use three_valued::Truth;

/// A formula to be decided.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The formula over the atoms of the system.
    pub formula: NormalForm,
    /// True if hazards are states that the formula speaks of (the inherent property) and not ends of what is known.
    pub observes_hazards: bool,
}

/// The reason for which a goal stayed undecided.
#[derive(Clone, Debug, PartialEq)]
pub enum Undecided<T> {
    /// A limit was reached.
    Exhausted(Exhausted),
    /// No refinement can remove the cause; the path leads to it.
    Stuck {
        /// The states from the initial one to that of the cause.
        path: Vec<T>,
        /// The cause.
        blame: Blame,
        /// The provenance of the unknown values there, as far as that can be told.
        sources: Vec<Source>,
    },
}

/// A source of unknown values that a cause depends on: bits of a variable, and a state by its index on the path. There
/// they were read as input, decayed on arrival, or could be cut into cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The bits, and what made them unknown.
    pub knob: Knob,
    /// The index on the path.
    pub step: usize,
    /// True if the cause itself depends on it; if not, only the path to it does.
    pub direct: bool,
}

impl Source {
    pub(crate) fn of<L>(candidate: &Candidate<L>) -> Self {
        Self { knob: candidate.knob, step: candidate.step, direct: candidate.direct }
    }
}

/// The answer to a goal.
#[derive(Debug)]
pub struct Decision<T> {
    /// True if the formula holds in the initial state.
    pub verdict: Truth,
    /// True if the verdict stands whatever comes of the choices that the model abstracts.
    pub robust: bool,
    /// The reason when it is unknown.
    pub undecided: Option<Undecided<T>>,
    /// Refinements before the answer.
    pub refinements: usize,
    /// The number of them that were made for this goal; several goals may share one.
    pub spent: usize,
    /// The time from the start to the answer.
    pub time: Duration,
    /// The size of the largest space until the answer; that of the state space that decided may be smaller.
    pub largest: SpaceSize,
    /// The state space that decided.
    pub space: Arc<StateSpace<T>>,
    /// The values of all subformulas in it, where the answer came from model checking.
    pub solution: Option<Solution>,
}

/// All answers and the precision that led to them.
#[derive(Debug)]
pub struct Outcome<S: System> {
    /// One decision for each goal, in their order.
    pub decisions: Vec<Decision<S::State>>,
    /// The precision in the end. Strategies with precision per state leave it as it was in the beginning.
    pub precision: Precision<S::Location>,
    /// The refinements of strategies with precision per state, each with its state, in this order.
    pub refined_states: Vec<(S::State, Knob)>,
    /// The number of times that the state space was built.
    pub passes: usize,
    /// The state space that was built last, which may have more states than those that decided; none without goals.
    pub latest: Option<Arc<StateSpace<S::State>>>,
}
