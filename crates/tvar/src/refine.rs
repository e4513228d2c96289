//! The refinement loop: explore, check, find culprits, refine, until every goal is decided or nothing helps.

use crate::explore::StateSpace;
use crate::precision::{Knob, LocationPrecision, Precision, Strategy};
use crate::system::{Blame, Candidate, Lookup, System};
use crate::watch::{Exhausted, Phase, Progress, Watch};
use mu_calculus::{Cause, Culprit, HyperGraph, Labels, NormalForm, Problem, Solution};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};
use three_valued::Truth;

/// How many root causes of one goal are looked at in one round.
const CULPRITS_PER_ROUND: usize = 4;

/// A formula to be decided.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The formula over the atoms of the system.
    pub formula: NormalForm,
    /// Whether hazards are states that the formula speaks of (the inherent property) and not ends of what is known.
    pub sees_hazards: bool,
}

/// Why a goal stayed undecided.
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
    },
}

/// The answer to a goal.
#[derive(Debug)]
pub struct Decision<T> {
    /// Whether the formula holds in the initial state.
    pub verdict: Truth,
    /// The reason when it is unknown.
    pub undecided: Option<Undecided<T>>,
    /// Refinements before the answer.
    pub refinements: usize,
    /// The time from the start to the answer.
    pub time: Duration,
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
    /// The precision in the end.
    pub precision: Precision<S::Location>,
    /// How often the state space was built.
    pub passes: usize,
}

impl<S: System> Lookup<S> for Precision<S::Location> {
    fn at(&self, location: &S::Location) -> &LocationPrecision {
        self.at(location)
    }
}

/// Decides goals over a system, all on one state space and one precision.
pub fn verify<S: System>(
    system: &mut S,
    atoms: usize,
    goals: &[Goal],
    strategy: Strategy,
    watch: &dyn Watch,
) -> Outcome<S>
where
    S::State: Send + Sync,
{
    let mut run = Run {
        goals,
        atoms,
        watch,
        started: Instant::now(),
        precision: Precision::new(strategy),
        progress: Progress::default(),
        decisions: goals.iter().map(|_| None).collect(),
    };
    while !run.is_done() {
        run.pass(system);
    }
    let decisions = run.decisions.into_iter().map(|decision| decision.expect("the run is done")).collect();
    Outcome { decisions, precision: run.precision, passes: run.progress.pass }
}

struct Run<'a, S: System> {
    goals: &'a [Goal],
    atoms: usize,
    watch: &'a dyn Watch,
    started: Instant,
    precision: Precision<S::Location>,
    progress: Progress,
    decisions: Vec<Option<Decision<S::State>>>,
}

/// A goal that was evaluated on the present state space.
struct Checked {
    goal: usize,
    solution: Option<Solution>,
}

/// A state space with its views for model checking; the one for goals that see hazards is made when there are hazards.
struct Views {
    plain: HyperGraph,
    with_hazards: Option<HyperGraph>,
    labels: Labels,
}

impl Views {
    fn problem<'a>(&'a self, goal: &'a Goal) -> Problem<'a> {
        let graph = if goal.sees_hazards { self.with_hazards.as_ref() } else { None };
        Problem { graph: graph.unwrap_or(&self.plain), labels: &self.labels, formula: &goal.formula }
    }
}

impl<S: System> Run<'_, S>
where
    S::State: Send + Sync,
{
    fn is_done(&self) -> bool {
        self.decisions.iter().all(Option::is_some)
    }

    /// Builds the state space once and evaluates all open goals on it.
    fn pass(&mut self, system: &mut S) {
        self.progress.pass += 1;
        let space = StateSpace::explore(system, &self.precision, self.watch, &mut self.progress);
        let space = Arc::new(space);
        self.progress.states = space.states.len();
        self.progress.phase = Phase::Checking;
        let views = self.views(system, &space);
        let mut open = Vec::new();
        for checked in self.check(&views) {
            match checked.solution.as_ref().map(Solution::verdict) {
                Some(Truth::Unknown) if space.exhausted.is_none() => open.push(checked),
                Some(Truth::Unknown) | None => self.give_up(checked, &space),
                Some(_) => self.decide(checked, &space),
            }
        }
        if !open.is_empty() {
            self.refine(system, &space, &views, open);
        }
    }

    fn views(&self, system: &S, space: &StateSpace<S::State>) -> Views {
        let sees_hazards = self.goals.iter().any(|goal| goal.sees_hazards) && !space.hazards().is_empty();
        Views {
            plain: space.graph(false),
            with_hazards: sees_hazards.then(|| space.graph(true)),
            labels: space.labels(self.atoms, |state, atom| system.label(state, atom)),
        }
    }

    /// Evaluates all open goals, side by side.
    fn check(&self, views: &Views) -> Vec<Checked> {
        let open: Vec<usize> = (0..self.goals.len()).filter(|goal| self.decisions[*goal].is_none()).collect();
        let (goals, watch) = (self.goals, self.watch);
        let solve = |goal: usize| {
            let solution = views.problem(&goals[goal]).solve(&|| watch.cancelled()).ok();
            Checked { goal, solution }
        };
        open.into_par_iter().map(solve).collect()
    }

    fn decision(
        &self,
        checked: Checked,
        space: &Arc<StateSpace<S::State>>,
        undecided: Option<Undecided<S::State>>,
    ) -> Option<Decision<S::State>> {
        Some(Decision {
            verdict: checked.solution.as_ref().map_or(Truth::Unknown, Solution::verdict),
            undecided,
            refinements: self.progress.refinements,
            time: self.started.elapsed(),
            space: Arc::clone(space),
            solution: checked.solution,
        })
    }

    fn decide(&mut self, checked: Checked, space: &Arc<StateSpace<S::State>>) {
        let goal = checked.goal;
        self.decisions[goal] = self.decision(checked, space, None);
    }

    fn give_up(&mut self, checked: Checked, space: &Arc<StateSpace<S::State>>) {
        let goal = checked.goal;
        let limit = space.exhausted.or_else(|| self.watch.check(&self.progress)).unwrap_or(Exhausted::Interrupted);
        self.decisions[goal] = self.decision(checked, space, Some(Undecided::Exhausted(limit)));
    }

    /// Refines for every open goal; goals for which nothing is left to refine stay undecided.
    fn refine(&mut self, system: &mut S, space: &Arc<StateSpace<S::State>>, views: &Views, open: Vec<Checked>) {
        self.progress.phase = Phase::Refining;
        let mut stuck = Vec::new();
        let mut changed = false;
        for checked in open {
            match self.refine_goal(system, space, views, &checked) {
                Ok(()) => changed = true,
                Err(undecided) => stuck.push((checked, undecided)),
            }
        }
        if !changed {
            for (checked, undecided) in stuck {
                let goal = checked.goal;
                self.decisions[goal] = self.decision(checked, space, Some(undecided));
            }
        }
    }

    fn refine_goal(
        &mut self,
        system: &mut S,
        space: &StateSpace<S::State>,
        views: &Views,
        checked: &Checked,
    ) -> Result<(), Undecided<S::State>> {
        let solution = checked.solution.as_ref().expect("an open goal was evaluated");
        let problem = views.problem(&self.goals[checked.goal]);
        let mut refined = false;
        let mut first = None;
        for (index, culprit) in solution.culprits(&problem).enumerate() {
            if refined && index >= CULPRITS_PER_ROUND {
                break;
            }
            let (path, blame) = trace(space, &culprit);
            let candidates = system.blame(&path, blame, &self.precision);
            refined |= self.apply(candidates);
            first.get_or_insert((path, blame));
        }
        match (refined, first) {
            (true, _) => Ok(()),
            (false, Some((path, blame))) => Err(Undecided::Stuck { path, blame }),
            (false, None) => unreachable!("an unknown verdict has a culprit (determinacy of parity games)"),
        }
    }

    /// Applies the best candidate that changes something; whether there was one.
    fn apply(&mut self, mut candidates: Vec<Candidate<S>>) -> bool {
        candidates.retain(|candidate| self.precision.is_new(&candidate.location, candidate.knob));
        let Some(best) = candidates.into_iter().min_by_key(preference) else { return false };
        self.progress.refinements += 1;
        self.precision.refine(best.location, best.knob)
    }
}

/// What to refine first: what the cause itself depends on, then decayed bits, then case splits, then inputs: the most
/// indirect, the latest on the path, the most significant (Onderka & Ratschan, section 4).
fn preference<S: System>(candidate: &Candidate<S>) -> (bool, u8, Reverse<u8>, Reverse<usize>, Reverse<u64>) {
    let (kind, bits) = match candidate.knob {
        Knob::Step(_, bits) => (0, bits),
        Knob::Case(_, bits) => (1, bits),
        Knob::Input(_, bits) => (2, bits),
    };
    (!candidate.direct, kind, Reverse(candidate.indirection), Reverse(candidate.step), Reverse(bits))
}

/// The states on the way to a culprit, the last one included, and what is unknown there.
fn trace<T: Clone>(space: &StateSpace<T>, culprit: &Culprit) -> (Vec<T>, Blame) {
    let on_path = culprit.path.iter().map(|step| step.state).chain([culprit.state]);
    let path = on_path.map(|state| space.states[state.index()].clone()).collect();
    let blame = match culprit.cause {
        Cause::Atom(atom) => Blame::Atom(atom),
        Cause::Edge { edge, .. } => Blame::Edge(edge),
        Cause::Sink => Blame::Sink,
    };
    (path, blame)
}
