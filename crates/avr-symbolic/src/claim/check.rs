//! The check of a claim: all paths of each strategy, and one query.
//!
//! The query asks for a state of the region that no strategy serves: for each strategy there are inputs, events and cases under which
//! it ends badly. Only the state is shared.
//!
//! SOUND: each execution makes variables of its own, so that the strategies cannot help each other with inputs that nobody chooses.

use super::pattern::Pattern;
use super::{Claim, Rounds};
use crate::domain::assignment::Valuation;
use crate::domain::bit::SymbolicBit;
use crate::domain::graph::Graph;
use crate::execution::cannot::Cannot;
use crate::execution::path_condition::PathCondition;
use crate::execution::replay::{ConcreteRun, Mismatch, replay};
use crate::execution::run::{End, EndKind, Execution, Executor, Goal, SymbolicState};
use crate::execution::strategy::Freedom;
use crate::faults::{Fault, is_on};
use crate::query::{Answer, QueryLimits, Unanswered, satisfy};
use avr_machine::MachineState;
use thiserror::Error;
use three_valued::BitDomain;

/// Limits of a check, beside those of the executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckLimits {
    /// Nodes of the graph.
    pub nodes: usize,
    /// Limits of the query.
    pub query: QueryLimits,
}

impl Default for CheckLimits {
    fn default() -> Self {
        Self { nodes: 2_000_000, query: QueryLimits::default() }
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum Checked {
    /// The claim is true.
    Proved(Proof),
    /// The claim is false: a counterexample, which the concrete machine confirmed.
    Refuted(Box<Counterexample>),
    /// Nothing is known.
    Undecided(Undecided),
}

/// The effort of a proof, and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The freedom that strategies use.
    pub freedom: Freedom,
    /// Steps on symbolic bits.
    pub steps: usize,
    /// Nodes of the graph.
    pub nodes: usize,
}

/// A state of the region that no strategy serves.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The state.
    pub state: MachineState<u8>,
    /// For each strategy a run under it that ends badly.
    pub runs: Vec<ConcreteRun>,
}

/// The reason why nothing is known of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Undecided {
    /// The rank, or the number of rounds, is not defined.
    #[error("the claim is not well-formed")]
    Malformed,
    /// The region has no states.
    #[error("the region is empty")]
    Empty,
    /// A path that may matter is not followed.
    #[error("{0}")]
    Cannot(Cannot),
    /// The query has no answer.
    #[error("{0}")]
    Unanswered(Unanswered),
    /// The concrete machine does not confirm the counterexample.
    #[error("a counterexample that is none: {0}")]
    Unconfirmed(Mismatch),
    /// The counterexample ends well on the concrete machine.
    #[error("a counterexample that ends well")]
    EndsWell,
}

/// The end of rounds.
struct RoundsEnd<'a> {
    claim: &'a Claim,
    rounds: usize,
}

impl<'g> Goal<'g> for RoundsEnd<'_> {
    fn is_round(&self, state: &SymbolicState<'g>) -> bool {
        self.claim.region.is_at(state)
    }

    fn is_end(&self, state: &SymbolicState<'g>, rounds: usize) -> bool {
        rounds >= self.rounds || self.claim.exits.iter().any(|exit| exit.is_at(state))
    }
}

impl Claim {
    /// Checks the claim.
    #[must_use]
    pub fn check(&self, executor: &Executor<'_>, limits: CheckLimits) -> Checked {
        self.checked(executor, limits).unwrap_or_else(Checked::Undecided)
    }

    fn checked(&self, executor: &Executor<'_>, limits: CheckLimits) -> Result<Checked, Undecided> {
        if !self.rank.is_defined() || self.rounds.iter().any(|rounds| rounds.count == 0) {
            return Err(Undecided::Malformed);
        }
        let graph = Graph::new(limits.nodes);
        let (start, region) = self.region.any(executor.machine(), &graph);
        match satisfy(&region.bit(), limits.query) {
            Answer::Satisfiable(_) => {}
            Answer::Unsatisfiable => return Err(Undecided::Empty),
            Answer::None(reason) => return Err(Undecided::Unanswered(reason)),
        }
        let mut executions: Vec<Execution<'_>> = Vec::new();
        let mut unserved = region.bit();
        for rounds in &self.rounds {
            let execution = self.execute(executor, &graph, (&start, &region), rounds);
            if let Some(first) = executions.first().filter(|_| is_on(Fault::VariablesShared)) {
                unserved = unserved.and(&have_same_inputs(first, &execution));
            }
            unserved = unserved.and(&self.served(&execution).not());
            executions.push(execution);
        }
        let assignment = match satisfy(&unserved, limits.query) {
            Answer::Unsatisfiable => return Ok(Checked::Proved(proof(&executions, &graph))),
            Answer::Satisfiable(assignment) => assignment,
            Answer::None(reason) => {
                return Err(cannot(&executions).map_or(Undecided::Unanswered(reason), Undecided::Cannot));
            }
        };
        self.refuted(executor, &executions, Valuation::new(&graph, assignment))
    }

    fn execute<'g>(
        &self,
        executor: &Executor<'_>,
        graph: &'g Graph,
        (start, region): (&SymbolicState<'g>, &PathCondition<'g>),
        rounds: &Rounds,
    ) -> Execution<'g> {
        let goal = RoundsEnd { claim: self, rounds: rounds.count };
        executor.execute(graph, (start.clone(), region.clone()), &rounds.strategy, &goal)
    }

    /// The bit that is 1 if a strategy ends well.
    fn served<'g>(&self, execution: &Execution<'g>) -> SymbolicBit<'g> {
        let well = |end: &End<'g>| end.condition.bit().and(&self.ends_well(&execution.start, end));
        execution.ends.iter().fold(SymbolicBit::ZERO, |any, end| any.or(&well(end)))
    }

    fn ends_well<'g>(&self, start: &SymbolicState<'g>, end: &End<'g>) -> SymbolicBit<'g> {
        let state = match &end.kind {
            EndKind::Goal(state) => state,
            EndKind::Hazard(_) if is_on(Fault::HazardsPassed) => return SymbolicBit::ONE,
            EndKind::Cannot(_) if is_on(Fault::CannotPassed) => return SymbolicBit::ONE,
            EndKind::Hazard(_) | EndKind::Cannot(_) => return SymbolicBit::ZERO,
        };
        let region = if is_on(Fault::RegionOpen) { SymbolicBit::ONE } else { self.region.holds(state) };
        let falls = match is_on(Fault::RankStays) {
            true => self.rank.falls(state, start).not(),
            false => self.rank.falls(start, state),
        };
        let exits = self.exits.iter().map(|exit| exit.holds(state));
        exits.fold(region.and(&falls), |any, exit| any.or(&exit)).and(&end.kept)
    }

    /// The counterexample under an assignment, once the concrete machine has confirmed it.
    fn refuted<'g>(
        &self,
        executor: &Executor<'_>,
        executions: &[Execution<'g>],
        mut values: Valuation<'g>,
    ) -> Result<Checked, Undecided> {
        let mut runs = Vec::new();
        for execution in executions {
            let (run, end) = execution.concrete(&mut values).map_err(Undecided::Unconfirmed)?;
            if let EndKind::Cannot(reason) = &execution.ends[end].kind {
                return Err(Undecided::Cannot(*reason));
            }
            let found = replay(executor.machine(), &run).map_err(Undecided::Unconfirmed)?;
            let is_good = found.is_ok_and(|end| self.is_good(&run.start, &end));
            if is_good {
                return Err(Undecided::EndsWell);
            }
            runs.push(run);
        }
        let Some(first) = runs.first() else { return Err(Undecided::Malformed) };
        if !self.region.contains(&first.start) {
            return Err(Undecided::EndsWell);
        }
        Ok(Checked::Refuted(Box::new(Counterexample { state: first.start.clone(), runs })))
    }

    /// True if a concrete state is a good end of a run that began in another.
    fn is_good(&self, start: &MachineState<u8>, end: &MachineState<u8>) -> bool {
        let is_exit = self.exits.iter().any(|exit: &Pattern| exit.contains(end));
        is_exit || self.region.contains(end) && self.rank.is_less(start, end)
    }
}

fn proof(executions: &[Execution<'_>], graph: &Graph) -> Proof {
    let ends = executions.iter().flat_map(|execution| &execution.ends);
    Proof {
        freedom: ends.fold(Freedom::default(), |all, end| all.union(end.freedom)),
        steps: executions.iter().map(|execution| execution.steps).sum(),
        nodes: graph.len(),
    }
}

/// The bit that is 1 if the inputs of two executions are the same, in their order.
fn have_same_inputs<'g>(one: &Execution<'g>, other: &Execution<'g>) -> SymbolicBit<'g> {
    let inputs = |execution: &Execution<'g>| -> Vec<_> {
        execution.outcomes.iter().flatten().flat_map(|(record, _)| record.inputs.clone()).collect()
    };
    let pairs = inputs(one).into_iter().zip(inputs(other));
    let bits = pairs.flat_map(|(one, other)| one.value.to_bits().into_iter().zip(other.value.to_bits()));
    let variables = bits.filter(|(one, other)| one.variable().is_some() && other.variable().is_some());
    variables.fold(SymbolicBit::ONE, |same, (one, other)| same.and(&one.equals(&other)))
}

/// A reason why a path is not followed.
fn cannot(executions: &[Execution<'_>]) -> Option<Cannot> {
    executions.iter().flat_map(|execution| &execution.ends).find_map(|end| match end.kind {
        EndKind::Cannot(reason) => Some(reason),
        _ => None,
    })
}
