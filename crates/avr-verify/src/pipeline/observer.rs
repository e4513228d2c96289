//! The observer of a verification. It looks for the runs that show what is decided, tells the results while other goals
//! are open, and refutes goals by random runs.

use super::goals::GoalTable;
use super::pass_timer::aside;
use crate::diagnosis::refinement_counts::RefinementCounts;
use crate::invariants::Invariants;
use crate::stack_bound::StackBound;
use avr_model::Firmware;
use avr_model::expanded_space::{expanded_decision, stepwise_decision};
use avr_model::pass::Pass;
use avr_model::predicates::UsedPredicate;
use avr_model::state::AbstractState;
use avr_witness::{Sampler, Search};
use mu_calculus::state_formula::parts;
use std::collections::BTreeMap;
use three_valued::Truth;
use tvar::{Decided, Decision, Goal, Observer, Undecided, Watch};

/// The number of abstract steps for each one that is taken at random.
const STEPS_PER_SAMPLED: u64 = 4;
/// The number of steps at random, at least, each time that goals may be refuted: states may take longer than their steps.
const SAMPLED_PER_ROUND: u64 = 5_000;
/// The fewest steps at random that are worth it: instead of fewer, the state space tells soon.
const FEWEST_SAMPLED: u64 = 50_000;

/// The number of steps at random, at least, where a hazard is looked for and an alarm tells where it may be.
pub(crate) const SAMPLED_FOR_ALARM: u64 = 300_000;

/// The number of steps at random, at least, before a run as deep as the stack bound is given up.
const SAMPLED_FOR_DEPTH: u64 = 1_000_000;

/// The number of steps at random, at least, before a goal stays unknown.
const LAST_SAMPLED: u64 = 1_000_000;

/// The search for a run that shows a goal, and the decision without skipped states, if some were skipped.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) search: Search,
    pub(crate) expanded: Option<Decision<AbstractState>>,
}

/// The observer of the goals of a request.
#[derive(Debug)]
pub(crate) struct PropertyObserver<'a> {
    /// The properties that are told what is decided.
    asked: &'a GoalTable<'a>,
    /// The runs that show decided goals, by the number of the goal.
    pub(crate) shown: BTreeMap<usize, Shown>,
    /// The predicates that told something in the state spaces that decided, by the number of the goal.
    pub(crate) predicates: BTreeMap<usize, Vec<UsedPredicate>>,
    /// The number of refinements that were made for causes at each location, whatever the round.
    pub(crate) refined: RefinementCounts,
    /// The sampler, where random runs are tried as well.
    pub(crate) sampler: Option<Sampler<'a>>,
}

impl<'a> PropertyObserver<'a> {
    /// An observer that has seen nothing yet.
    pub(crate) fn new(asked: &'a GoalTable<'a>, sampler: Option<Sampler<'a>>) -> Self {
        let (shown, predicates) = (BTreeMap::new(), BTreeMap::new());
        Self { asked, shown, predicates, refined: RefinementCounts::default(), sampler }
    }

    /// The goals.
    pub(crate) fn goals(&self) -> &'a [Goal] {
        &self.asked.goals
    }

    /// The goals that are refuted by random runs before those have this number of steps in all.
    fn sampled(
        &mut self,
        firmware: &Firmware<'a>,
        open: &[(usize, &Goal)],
        most: u64,
        watch: &dyn Watch,
    ) -> Vec<usize> {
        let Some(sampler) = self.sampler.as_mut() else { return Vec::new() };
        let steps = (most, SAMPLED_FOR_ALARM);
        let found = aside(|| sampler.refute(&firmware.model.context, open, steps, watch));
        let note = |(number, search)| {
            self.shown.insert(number, Shown { search, expanded: None });
            number
        };
        found.into_iter().map(note).collect()
    }

    /// Tells how deep the stack was in random runs, of which one is tried if there was none.
    fn tell_depth(&mut self, firmware: &Firmware<'a>, watch: &dyn Watch) {
        let machine = firmware.model.context.machine;
        // Random runs do not know whether their last state is one from which every path ends.
        if machine.may_end_paths() {
            return;
        }
        let lower = self.sampled_depth(firmware, None, None, watch);
        self.asked.known.learn_stack(StackBound { lower, upper: None });
    }

    /// Goes on with random runs for goals that the state space leaves unknown although no limit was reached, and notes in their
    /// decisions those that are refuted.
    pub(crate) fn search_on(
        &mut self,
        firmware: &mut Firmware<'a>,
        decisions: &mut [Decision<AbstractState>],
        watch: &dyn Watch,
    ) {
        let asked = self.asked;
        let is_stuck = |decision: &Decision<_>| matches!(decision.undecided, Some(Undecided::Stuck { .. }));
        let is_open = |decision: &Decision<_>| decision.verdict.is_unknown() && is_stuck(decision);
        let open = decisions.iter().enumerate().filter(|(_, decision)| is_open(decision));
        let open: Vec<(usize, &Goal)> = open.map(|(number, _)| (number, &asked.goals[number])).collect();
        if open.is_empty() || watch.cancelled() {
            return;
        }
        for number in self.sampled(firmware, &open, LAST_SAMPLED, watch) {
            let decision = &mut decisions[number];
            (decision.verdict, decision.robust) = (Truth::False, false);
            (decision.undecided, decision.solution) = (None, None);
            self.asked.tell(firmware, number, decision, &self.shown[&number].search);
        }
    }

    /// The deepest that the stack was in random runs, of which more are tried if they are not as deep as `target`. They are directed at
    /// the places where invariants have it as deep.
    pub(crate) fn sampled_depth(
        &mut self,
        firmware: &Firmware<'a>,
        target: Option<u32>,
        invariants: Option<&Invariants>,
        watch: &dyn Watch,
    ) -> Option<u32> {
        let context = &firmware.model.context;
        let sampler = self.sampler.as_mut()?;
        let deepest = sampler.deepest(context, (None, None), 0, watch);
        let Some(target) = target.filter(|target| deepest < Some(*target)) else { return deepest };
        let distances = invariants.and_then(|invariants| invariants.distances(context.machine, target));
        let most = (firmware.model.step_counts().all() / STEPS_PER_SAMPLED).max(SAMPLED_FOR_DEPTH);
        sampler.deepest(context, (Some(target), distances), most, watch)
    }
}

impl<'a> Observer<Firmware<'a>> for PropertyObserver<'a> {
    fn refute(&mut self, firmware: &mut Firmware<'a>, open: &[(usize, &Goal)], watch: &dyn Watch) -> Vec<usize> {
        let rounds = self.sampler.as_mut().map_or(0, Sampler::count_round);
        let most = (firmware.model.step_counts().all() / STEPS_PER_SAMPLED).max(rounds * SAMPLED_PER_ROUND);
        let most = if most < FEWEST_SAMPLED { 0 } else { most };
        let refuted = self.sampled(firmware, open, most, watch);
        self.tell_depth(firmware, watch);
        refuted
    }

    fn refute_along_path(
        &mut self,
        firmware: &mut Firmware<'a>,
        (number, goal): (usize, &Goal),
        watch: &dyn Watch,
    ) -> bool {
        let (Some(sampler), Some(run)) = (self.sampler.as_mut(), firmware.take_run_along_path()) else { return false };
        let found = aside(|| sampler.refute_along(&firmware.model.context, (number, goal), &run, watch));
        found.is_some_and(|search| {
            self.shown.insert(number, Shown { search, expanded: None });
            true
        })
    }

    fn decided(&mut self, firmware: &mut Firmware<'a>, decided: &Decided<'_, Firmware<'a>>) {
        self.predicates.insert(decided.number, firmware.model.passes.used_predicates());
        if let Some(shown) = self.shown.get(&decided.number) {
            // A random run decided it.
            return self.asked.tell(firmware, decided.number, decided.decision, &shown.search);
        }
        let needs_run = avr_witness::may_need_a_run(&decided.goal.formula, decided.decision.verdict);
        let expanded = match parts(&decided.goal.formula, false) {
            Some(_) => expanded_decision(firmware, decided),
            None if needs_run => stepwise_decision(firmware, decided),
            None => None,
        };
        let decision = expanded.as_ref().unwrap_or(decided.decision);
        let search = match &expanded {
            None if firmware.model.passes.has(Pass::PathCompression) && needs_run => {
                let why = match decided.watch.cancelled() {
                    true => "no time or memory was left for unfolding the run",
                    false => "the run could not be unfolded",
                };
                Search::Missing(why.to_owned())
            }
            _ => aside(|| avr_witness::find(&firmware.model.context, decided.goal, decision, decided.watch)),
        };
        self.asked.tell(firmware, decided.number, decision, &search);
        self.shown.insert(decided.number, Shown { search, expanded });
    }

    fn refined(&mut self, firmware: &Firmware<'a>, state: &AbstractState) {
        self.refined.count(&firmware.model.context, state);
    }
}
