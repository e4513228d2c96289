//! The refinement loop: explore, check, find culprits, refine, until every goal is decided or nothing helps.

mod candidate_choice;
mod fixed;
mod glance;
mod hazard_slice;
mod per_state;

use crate::abstraction::Abstraction;
use crate::decision::{Decision, Goal, Outcome, Undecided};
use crate::explorer::Explorer;
use crate::history::History;
use crate::observer::{Decided, Observer};
use crate::precision::{LocationPrecision, Place, Precision, StepPrecision, Strategy};
use crate::state_space::StateSpace;
use crate::system::{Lookup, System};
use crate::watch::{Exhausted, Phase, Progress, Watch};
use candidate_choice::Plan;
use mu_calculus::{Culprits, HyperGraph, Labels, Modality, Node, NormalForm, Problem, Solution};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use three_valued::Truth;

pub use fixed::evaluate_limited;
pub use per_state::PerState;

/// The number of times that the beginning of a large state space is refined before locations are limited.
const MAX_SMALL_PASSES: usize = 8;

/// The number of times that a state space with limited locations is built.
const MAX_LIMITED_PASSES: usize = 16;

/// The number of times that a state space with limited locations ends soon after a limit of the engine.
const MAX_EARLY_PASSES: usize = 32;

/// The number of states that are expanded where locations are limited before more locations are distinguished.
const LIMITED_BUDGET: usize = 20_000;

/// The number of states that are expanded until goals may be refuted by other means, again and again.
const REFUTED_BUDGET: usize = 512;

/// The number of states that are expanded before the goals are evaluated for the first time. Larger state spaces are first built
/// with few states per location.
const FIRST_BUDGET: usize = 50_000;

/// The number of states that are expanded before the goals are evaluated without refining. Then it is four times as
/// many, and so on until the first budget: a run that shows something may be short in a large state space.
const EARLY_BUDGET: usize = 1_000;

/// The mode in which state spaces are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every state is kept, as long as there are few.
    Small,
    /// Locations are limited: they drop the bits that make them have many states.
    Limited,
    /// Every state is kept, however many there are.
    Large,
}

impl<T, L: Place> Lookup<T, L> for Precision<L> {
    fn leaving(&self, _: &T, location: &L) -> &LocationPrecision {
        self.at(location)
    }

    fn arriving(&self, _: &T, location: &L) -> &StepPrecision {
        &self.at(location).step
    }

    fn common(&self, general: &L) -> Option<&LocationPrecision> {
        self.common_at(general)
    }

    fn at(&self, location: &L) -> Option<&LocationPrecision> {
        Some(self.at(location))
    }

    fn history(&self) -> Option<&History<L>> {
        Some(self.history())
    }
}

/// Decides goals over a system, all on one state space and one precision.
pub fn verify<S: Abstraction>(
    system: &mut S,
    observer: &mut dyn Observer<S>,
    atoms: usize,
    goals: &[Goal],
    strategy: Strategy,
    watch: &dyn Watch,
) -> Outcome<S>
where
    S::State: Send + Sync,
{
    verify_from(system, observer, atoms, goals, strategy, FIRST_BUDGET, watch)
}

/// The same with another budget, a number of states of at least 1. So many are expanded before the goals are evaluated
/// for the first time, and beyond it locations are limited. The verdicts are the same, as far as there are any.
/// Strategies with precision per state do not look at it.
pub fn verify_from<S: Abstraction>(
    system: &mut S,
    observer: &mut dyn Observer<S>,
    atoms: usize,
    goals: &[Goal],
    strategy: Strategy,
    first_budget: usize,
    watch: &dyn Watch,
) -> Outcome<S>
where
    S::State: Send + Sync,
{
    if strategy.is_per_state() {
        return per_state::verify(system, observer, atoms, goals, strategy, watch);
    }
    let run = Run { first_budget: first_budget.max(1), ..Run::new(observer, (atoms, goals), strategy, watch) };
    let run = run.complete(system, Run::refine);
    Outcome {
        passes: run.progress.pass,
        latest: run.latest(),
        precision: run.precision.clone(),
        refined_states: Vec::new(),
        decisions: run.decisions(),
    }
}

/// Refines for goals that are unknown on a state space; whether there was something to refine.
pub(crate) type Refine<'a, S> =
    fn(&mut Run<'a, S>, &mut S, &Arc<StateSpace<<S as System>::State>>, &Views, Vec<Checked>) -> bool;

/// The work on some goals.
pub(crate) struct Run<'a, S: System> {
    observer: &'a mut dyn Observer<S>,
    pub(crate) goals: &'a [Goal],
    atoms: usize,
    pub(crate) watch: &'a dyn Watch,
    started: Instant,
    pub(crate) precision: Precision<S::Location>,
    pub(crate) progress: Progress,
    first_budget: usize,
    pub(crate) strategy: Strategy,
    pub(crate) mode: Mode,
    /// True if small state spaces with limited locations were looked at.
    has_glanced: bool,
    limited_passes: usize,
    /// The number of state spaces with limited locations that ended soon after a limit of the engine.
    early_passes: usize,
    /// The precision before locations were limited.
    unlimited: Option<Precision<S::Location>>,
    decisions: Vec<Option<Decision<S::State>>>,
    /// The state space that was built last.
    latest: Option<Arc<StateSpace<S::State>>>,
    /// The refinements that were made for each goal.
    spent: Vec<usize>,
    /// The obstacle to each goal where locations are limited.
    stuck: Vec<Option<Decision<S::State>>>,
}

/// A goal that was evaluated on the present state space.
pub(crate) struct Checked {
    pub(crate) goal: usize,
    pub(crate) solution: Option<Solution>,
}

impl Checked {
    /// The number of the goal.
    pub(crate) fn goal(&self) -> usize {
        self.goal
    }
}

/// A state space with its views for model checking; the one for goals that see hazards is made when there are hazards.
pub(crate) struct Views {
    plain: HyperGraph,
    with_hazards: Option<HyperGraph>,
    labels: Labels,
}

impl Views {
    pub(crate) fn problem<'a>(&'a self, goal: &'a Goal) -> Problem<'a> {
        let graph = if goal.observes_hazards { self.with_hazards.as_ref() } else { None };
        Problem { graph: graph.unwrap_or(&self.plain), labels: &self.labels, formula: &goal.formula }
    }
}

impl<'a, S: Abstraction> Run<'a, S>
where
    S::State: Send + Sync,
{
    fn new(
        observer: &'a mut dyn Observer<S>,
        (atoms, goals): (usize, &'a [Goal]),
        strategy: Strategy,
        watch: &'a dyn Watch,
    ) -> Self {
        Self {
            observer,
            goals,
            atoms,
            watch,
            started: Instant::now(),
            precision: Precision::new(strategy),
            progress: Progress::default(),
            first_budget: FIRST_BUDGET,
            strategy,
            mode: if matches!(strategy, Strategy::Default | Strategy::Decay) { Mode::Small } else { Mode::Large },
            has_glanced: false,
            limited_passes: 0,
            early_passes: 0,
            unlimited: None,
            decisions: goals.iter().map(|_| None).collect(),
            latest: None,
            spent: vec![0; goals.len()],
            stuck: goals.iter().map(|_| None).collect(),
        }
    }

    /// Explores, checks and refines until every goal has a decision.
    pub(crate) fn complete(mut self, system: &mut S, refine: Refine<'a, S>) -> Self {
        while !self.is_done() {
            self.pass(system, refine);
        }
        self
    }

    /// The state space that was built last.
    pub(crate) fn latest(&self) -> Option<Arc<StateSpace<S::State>>> {
        self.latest.clone()
    }

    /// The decisions of a complete run.
    pub(crate) fn decisions(self) -> Vec<Decision<S::State>> {
        self.decisions.into_iter().map(|decision| decision.expect("the run is complete")).collect()
    }

    fn is_done(&self) -> bool {
        self.decisions.iter().all(Option::is_some)
    }

    /// Builds the state space and evaluates all open goals on it.
    fn pass(&mut self, system: &mut S, refine: Refine<'a, S>) {
        self.progress.pass += 1;
        self.latest = None;
        match self.mode {
            Mode::Small | Mode::Large => self.pass_in_stages(system, refine),
            Mode::Limited => self.pass_limited(system, refine),
        }
    }

    /// A pass in several stages, for large state spaces. Decisions on a part of the space are final, and what is too
    /// coarse there is refined before more of it is built in vain.
    fn pass_in_stages(&mut self, system: &mut S, refine: Refine<'a, S>) {
        let mut explorer = Explorer::new(system, false);
        let mut budget = if self.mode == Mode::Small { EARLY_BUDGET.min(self.first_budget) } else { self.first_budget };
        loop {
            let glances = self.mode == Mode::Small && !self.has_glanced && system.glances();
            if glances {
                self.explore_briefly(&mut explorer, system, (budget, system.steps() + glance::MOST_STEPS));
            } else {
                self.explore(&mut explorer, system, budget);
            }
            let space = explorer.into_space(system);
            let is_discharged =
                if space.is_finished() { system.is_discharged() } else { system.parts_are_discharged() };
            if !is_discharged && space.exhausted.is_none() {
                return;
            }
            let space = Arc::new(space);
            if glances {
                self.has_glanced = true;
                self.stage(system, &space, None);
                if !self.is_done() {
                    self.glance(system);
                    // Steps with limited locations assume other things, so this space does not go on.
                    return;
                }
            }
            // After some rounds few states per location show better what matters than a part of a large space.
            let is_worth_it = self.mode == Mode::Large || self.progress.pass <= MAX_SMALL_PASSES;
            let is_early = budget < self.first_budget;
            let refine = (space.is_finished() || is_worth_it && !is_early).then_some(refine);
            if self.stage(system, &space, refine) || space.is_finished() || (self.is_done() && !is_early) {
                self.latest = Some(space);
                return;
            }
            if is_early {
                // A decision is final; the rest of a small state space tells what holds on all paths.
                budget = if self.is_done() { self.first_budget } else { self.first_budget.min(budget * 4) };
                explorer = Explorer::resume(Arc::unwrap_or_clone(space));
                continue;
            }
            if self.mode == Mode::Small {
                self.mode = Mode::Limited;
                self.unlimited = Some(self.precision.clone());
                self.precision.be_coarse(true);
                return;
            }
            explorer = Explorer::resume(Arc::unwrap_or_clone(space));
            budget *= 2;
        }
    }

    /// A pass with limited locations, which drop the bits that make them have many states. The next pass keeps these
    /// bits again, because they may have been dropped on the way to what refinement removes.
    fn pass_limited(&mut self, system: &mut S, refine: Refine<'a, S>) {
        let Some(space) = self.explore_limited(system) else { return };
        let is_cut_short = !system.distinguishes_most() && space.expanded >= LIMITED_BUDGET && !space.is_finished();
        if space.exhausted.is_none() && (is_cut_short || !system.is_discharged()) {
            if is_cut_short {
                system.distinguish_most();
            }
            self.precision.forget_drops();
            return;
        }
        if space.exhausted.is_none() && !space.is_finished() {
            let space = Arc::new(space);
            let refined = self.stage(system, &space, Some(refine));
            self.latest = Some(space);
            self.precision.forget_drops();
            // If nothing can be done about the limit, the rest of the space is looked at.
            self.early_passes = if refined { self.early_passes + 1 } else { MAX_EARLY_PASSES };
            return;
        }
        let space = Arc::new(space);
        let refined = self.stage(system, &space, Some(refine));
        self.latest = Some(space);
        self.precision.forget_drops();
        self.limited_passes += 1;
        if !self.is_done() && (!refined || self.limited_passes == MAX_LIMITED_PASSES) {
            if !system.is_worth_keeping_all() {
                let stuck = self.decisions.iter_mut().zip(&mut self.stuck).filter(|(decision, _)| decision.is_none());
                stuck.for_each(|(decision, stuck)| *decision = stuck.take());
            }
            self.mode = Mode::Large;
            // The refinements for limited locations are of no use without the limit.
            let unlimited = self.unlimited.take().expect("it was kept when locations were first limited");
            self.precision.go_back(unlimited);
        }
    }

    /// Explores with limited locations: to the end, a little beyond a limit of the engine, or until more is to be
    /// distinguished. From time to time the observer may refute goals by other means; none if that decides them all.
    fn explore_limited(&mut self, system: &mut S) -> Option<StateSpace<S::State>> {
        let stops = self.early_passes < MAX_EARLY_PASSES;
        let mut explorer = Explorer::new(system, true).stopping_at_limits(stops);
        let most = if system.distinguishes_most() { usize::MAX } else { LIMITED_BUDGET };
        if self.explore(&mut explorer, system, most) {
            self.latest = Some(Arc::new(explorer.space().clone()));
            return None;
        }
        Some(explorer.into_space(system))
    }

    /// Explores until everything is explored, so many states are expanded, or a limit is reached. From time to time the observer may
    /// refute goals by other means; true if that decides the last ones, and no small
    /// state space tells what holds on all paths.
    fn explore(&mut self, explorer: &mut Explorer<S>, system: &mut S, budget: usize) -> bool {
        loop {
            let share = budget.min(explorer.expanded() + REFUTED_BUDGET);
            explorer.explore(system, &mut self.precision, share, self.watch, &mut self.progress);
            if explorer.expanded() < share || share == budget {
                return false;
            }
            let open: Vec<usize> = (0..self.goals.len()).filter(|goal| self.decisions[*goal].is_none()).collect();
            let goals: Vec<(usize, &Goal)> = open.iter().map(|goal| (*goal, &self.goals[*goal])).collect();
            if goals.is_empty() {
                continue;
            }
            let refuted = self.observer.refute(system, &goals, self.watch);
            if !refuted.is_empty() {
                let space = Arc::new(explorer.space().clone());
                self.decide_refuted(system, &space, &refuted);
                if self.is_done() && self.mode != Mode::Small {
                    return true;
                }
            }
        }
    }

    /// Evaluates all open goals on a state space; whether the precision was refined, so that it must be built anew.
    fn stage(&mut self, system: &mut S, space: &Arc<StateSpace<S::State>>, refine: Option<Refine<'a, S>>) -> bool {
        self.progress.states = space.states.len();
        self.progress.phase = Phase::Checking;
        let views = self.views(system, space);
        let mut open = Vec::new();
        let says_nothing = space.exhausted.is_some() && !system.parts_are_discharged();
        for checked in if says_nothing { self.unchecked() } else { self.check(&views) } {
            match checked.solution.as_ref().map(Solution::verdict) {
                Some(Truth::Unknown) if space.exhausted.is_none() => open.push(checked),
                Some(Truth::Unknown) | None => self.give_up(checked, space),
                Some(verdict) => {
                    let robust = self.is_robust(&views, space, checked.goal, verdict);
                    let goal = checked.goal;
                    self.decide(checked, space, robust);
                    self.announce(system, goal);
                }
            }
        }
        let Some(refine) = refine.filter(|_| !open.is_empty()) else { return false };
        let open = self.not_refuted(system, space, open);
        if open.is_empty() {
            return false;
        }
        self.progress.phase = Phase::Refining;
        refine(self, system, space, &views, open)
    }

    /// Shows the observer the decision of a goal.
    fn announce(&mut self, system: &mut S, goal: usize) {
        if let Some(decision) = &self.decisions[goal] {
            let (goals, precision, watch) = (self.goals, &self.precision, self.watch);
            self.observer.decided(system, &Decided { number: goal, goal: &goals[goal], decision, precision, watch });
        }
    }

    /// The open goals that the observer does not refute by other means.
    fn not_refuted(
        &mut self,
        system: &mut S,
        space: &Arc<StateSpace<S::State>>,
        mut open: Vec<Checked>,
    ) -> Vec<Checked> {
        let goals: Vec<(usize, &Goal)> = open.iter().map(|checked| (checked.goal, &self.goals[checked.goal])).collect();
        let refuted = self.observer.refute(system, &goals, self.watch);
        self.decide_refuted(system, space, &refuted);
        open.retain(|checked| !refuted.contains(&checked.goal));
        open
    }

    /// Decides goals that the observer refuted by other means.
    fn decide_refuted(&mut self, system: &mut S, space: &Arc<StateSpace<S::State>>, refuted: &[usize]) {
        for goal in refuted {
            let decision = self.decision(Checked { goal: *goal, solution: None }, space, None);
            let decision = decision.map(|decision| Decision { verdict: Truth::False, robust: false, ..decision });
            self.decisions[*goal] = decision;
            self.announce(system, *goal);
        }
    }

    fn views(&self, system: &S, space: &StateSpace<S::State>) -> Views {
        let observes_hazards = self.goals.iter().any(|goal| goal.observes_hazards) && !space.hazards().is_empty();
        Views {
            plain: space.graph(false),
            with_hazards: observes_hazards.then(|| space.graph(true)),
            labels: space.labels(self.atoms, |state, atom| system.label(state, atom)),
        }
    }

    /// All open goals without an evaluation.
    fn unchecked(&self) -> Vec<Checked> {
        let open = (0..self.goals.len()).filter(|goal| self.decisions[*goal].is_none());
        open.map(|goal| Checked { goal, solution: None }).collect()
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
            robust: true,
            undecided,
            refinements: self.progress.refinements,
            spent: self.spent[checked.goal],
            time: self.started.elapsed(),
            largest: self.progress.largest,
            space: Arc::clone(space),
            solution: checked.solution,
        })
    }

    fn decide(&mut self, checked: Checked, space: &Arc<StateSpace<S::State>>, robust: bool) {
        let goal = checked.goal;
        let decision = self.decision(checked, space, None);
        self.decisions[goal] = decision.map(|decision| Decision { robust, ..decision });
    }

    /// True if a verdict remains when abstracted choices are left open. Verdicts about all successors do without asking.
    fn is_robust(&self, views: &Views, space: &StateSpace<S::State>, goal: usize, verdict: Truth) -> bool {
        let goal = &self.goals[goal];
        if !space.has_abstracted_choices() || speaks_of_all(&goal.formula, verdict) {
            return true;
        }
        let graph = space.open_graph(goal.observes_hazards);
        let problem = Problem { graph: &graph, labels: &views.labels, formula: &goal.formula };
        problem.solve(&|| self.watch.cancelled()).is_ok_and(|solution| solution.verdict() == verdict)
    }

    fn give_up(&mut self, checked: Checked, space: &Arc<StateSpace<S::State>>) {
        let goal = checked.goal;
        let limit = space.exhausted.or_else(|| self.watch.check(&self.progress)).unwrap_or(Exhausted::Interrupted);
        let exhausted = self.decision(checked, space, Some(Undecided::Exhausted(limit)));
        // A cause that no refinement removes tells more than that all states were too many.
        self.decisions[goal] = self.stuck[goal].take().filter(|_| limit != Exhausted::Interrupted).or(exhausted);
    }

    pub(crate) fn leave_undecided(
        &mut self,
        checked: Checked,
        space: &Arc<StateSpace<S::State>>,
        undecided: Undecided<S::State>,
    ) {
        let goal = checked.goal;
        let decision = self.decision(checked, space, Some(undecided));
        match self.mode {
            Mode::Limited => self.stuck[goal] = decision,
            Mode::Small | Mode::Large => self.decisions[goal] = decision,
        }
    }

    /// The causes for which a goal is unknown, nearest first.
    pub(crate) fn culprits<'s>(&self, checked: &'s Checked, views: &'s Views) -> Culprits<'s>
    where
        'a: 's,
    {
        let solution = checked.solution.as_ref().expect("an open goal was evaluated");
        solution.culprits(&views.problem(&self.goals[checked.goal]))
    }

    /// Refines for every open goal; whether there was something to refine, or no time to look for it. If not, and the space is
    /// complete, the goals stay undecided. The refinements are made together in the end, because every path is one under the
    /// precision that the state space was built with.
    fn refine(&mut self, system: &mut S, space: &Arc<StateSpace<S::State>>, views: &Views, open: Vec<Checked>) -> bool {
        let mut plan = Plan { refinements: Vec::new(), causes: Vec::new(), blamed: HashMap::new(), is_wide: false };
        let (mut stuck, mut spent) = (Vec::new(), Vec::new());
        for checked in open {
            match self.plan_for_goal(system, space, views, &checked, &mut plan) {
                Ok(helped) => spent.push((checked.goal, helped)),
                Err(undecided) => stuck.push((checked, undecided)),
            }
        }
        if plan.is_wide && !self.watch.cancelled() && system.learn_more() {
            return true;
        }
        spent.into_iter().for_each(|(goal, refinements)| self.spend(goal, refinements));
        for cause in &plan.causes {
            self.observer.refined(system, &space.states[cause.index()]);
        }
        // Something might still be refined then, and the next pass says that there is no time.
        let cancelled = self.watch.cancelled();
        if plan.refinements.is_empty() && space.is_finished() && !cancelled {
            for (checked, undecided) in stuck {
                self.leave_undecided(checked, space, undecided);
            }
        }
        self.progress.refinements += plan.refinements.len();
        let changed = !plan.refinements.is_empty() || cancelled;
        if let Some((location, _)) = plan.refinements.last() {
            self.progress.refined_at = location.number();
        }
        for (location, knob) in plan.refinements {
            match self.mode {
                Mode::Limited => self.precision.refine_generally(location, knob),
                Mode::Small | Mode::Large => self.precision.refine(location, knob),
            };
        }
        changed
    }

    /// Counts refinements that were made for a goal.
    pub(crate) fn spend(&mut self, goal: usize, refinements: usize) {
        self.spent[goal] += refinements;
    }
}

/// True if a verdict speaks of all successors only: a true formula without `<>`, a false one without `[]`. Then it does
/// not matter which player makes the choices.
pub(crate) fn speaks_of_all(formula: &NormalForm, verdict: Truth) -> bool {
    let has = |wanted: Modality| {
        formula.nodes().iter().any(|node| matches!(node, Node::Modal(modality, _) if *modality == wanted))
    };
    match verdict {
        Truth::True => !has(Modality::Diamond),
        Truth::False => !has(Modality::Box),
        Truth::Unknown => true,
    }
}
