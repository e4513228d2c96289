//! Planning what one round refines: the causes of what is unknown, and the best that can be done about each.

use super::{Checked, Mode, Run, Views, speaks_of_all};
use crate::abstraction::Abstraction;
use crate::decision::{Source, Undecided};
use crate::precision::{Knob, Place, Strategy};
use crate::state_space::StateSpace;
use crate::system::{Blame, Candidate, StateKind};
use mu_calculus::{Cause, Culprit, Problem, Solution, StateId};
use std::cmp::Reverse;
use std::collections::HashMap;
use three_valued::Truth;

/// The number of root causes of one goal that are refined away in one round.
const CULPRITS_PER_ROUND: usize = 4;

/// The same where locations are limited and a refinement is made wherever the instruction is reached.
const CULPRITS_PER_LIMITED_ROUND: usize = 12;

/// The number of root causes of one goal that are looked at in one round where locations are limited.
const ATTEMPTS_PER_LIMITED_ROUND: usize = 100;

/// The most outcomes that inputs have in one step: the values of a word.
const MOST_OUTCOMES: u64 = 0x1_0000;

/// The outcomes that inputs have in one step before more is learned from comparisons.
const FEW_OUTCOMES: u64 = 2;

/// The most values of an input that are split from all others in one step; after that its bits are split.
const MOST_VALUES: usize = 8;

/// Refinements, each with its location.
type Refinements<L> = Vec<(L, Knob)>;

/// The refinements of one round, and those that were found for each culprit.
pub(crate) struct Plan<L> {
    pub(crate) refinements: Refinements<L>,
    /// The state of the cause of each refinement.
    pub(crate) causes: Vec<StateId>,
    pub(crate) blamed: HashMap<(StateId, Cause), Refinements<L>>,
    /// True if a step gets, or would have got, so many outcomes that it is better to learn more first.
    pub(crate) is_wide: bool,
}

/// The quota of one round: the number of causes of a goal that are looked for, and their kinds.
struct Quota {
    /// The number of causes that are refined away.
    wanted: usize,
    /// The number of causes that are looked at.
    attempts: usize,
    /// True if only all successors matter: then cases do what inputs do, at less cost.
    prefers_cases: bool,
    /// True if values of inputs are split. Where only all successors matter and states are many, comparisons tell as much at less
    /// cost.
    splits_values: bool,
    /// True if a hazard that is certain behind a choice is sought: it is the best sign of what should not have been
    /// forgotten, where much was. (That some bound on the stack is exceeded is as likely to be true.)
    seeks_failures: bool,
    /// True if all causes are asked for. In a part of a space only those of [`Run::is_real`] are, unless it takes a run
    /// to show the goal: elsewhere few states per location come to more.
    asks_for_all: bool,
}

impl<S: Abstraction> Run<'_, S>
where
    S::State: Send + Sync,
{
    /// Plans refinements for a goal; how many help it.
    pub(crate) fn plan_for_goal(
        &self,
        system: &mut S,
        space: &StateSpace<S::State>,
        views: &Views,
        checked: &Checked,
        plan: &mut Plan<S::Location>,
    ) -> Result<usize, Undecided<S::State>> {
        let solution = checked.solution.as_ref().expect("an open goal was evaluated");
        let problem = views.problem(&self.goals[checked.goal]);
        let quota = self.quota(space, &problem, self.goals[checked.goal].observes_hazards);
        let mut helped = 0;
        let mut made: Refinements<S::Location> = Vec::new();
        let mut first = None;
        let mut attempts = quota.attempts;
        let culprits = solution.culprits(&problem);
        for culprit in if quota.seeks_failures { culprits.decided_first() } else { culprits } {
            if !quota.asks_for_all && !self.is_real(system, space, &culprit) {
                continue;
            }
            if attempts == 0 || self.watch.cancelled() {
                break;
            }
            attempts -= 1;
            // A value that is merely not known below has a cause of its own, which comes first.
            let is_weak = matches!(culprit.cause, Cause::Edge { disagree: false, .. });
            if is_weak && helped > 0 && self.mode == Mode::Limited {
                break;
            }
            let known = plan.blamed.get(&(culprit.state, culprit.cause)).cloned();
            let refinements = known.unwrap_or_else(|| {
                let (refinements, undecided, is_wide) =
                    self.refinements(system, space, solution, &problem, &culprit, &quota);
                plan.is_wide |= is_wide;
                first.get_or_insert(undecided);
                refinements
            });
            plan.blamed.insert((culprit.state, culprit.cause), refinements.clone());
            if refinements.is_empty() {
                continue;
            }
            for refinement in refinements {
                if !plan.refinements.iter().any(|other| self.is_the_same(other, &refinement)) {
                    plan.refinements.push(refinement);
                    plan.causes.push(culprit.state);
                }
                if !made.contains(&refinement) {
                    made.push(refinement);
                }
            }
            helped += 1;
            if helped == quota.wanted {
                break;
            }
        }
        match first {
            _ if helped > 0 => Ok(made.len()),
            Some(stuck) => Err(stuck),
            // Every culprit was looked at for another goal, and none of them helps.
            None => Err(self.stuck_at_first(system, space, solution, &problem)),
        }
    }

    /// The refinements that are best for a culprit, the reason to give if nothing comes of any, and whether it is
    /// better to learn more first.
    fn refinements(
        &self,
        system: &mut S,
        space: &StateSpace<S::State>,
        solution: &Solution,
        problem: &Problem<'_>,
        culprit: &Culprit,
        quota: &Quota,
    ) -> (Refinements<S::Location>, Undecided<S::State>, bool) {
        let (path, blame) = trace(space, culprit);
        let candidates = system.blame(&path, blame, &self.precision);
        let sources = candidates.iter().map(Source::of).collect();
        let (mut best, is_wide) = self.best(candidates, quota);
        // A cause that depends on an input is no sign of what was forgotten.
        if quota.seeks_failures && !best.iter().any(|(_, knob)| matches!(knob, Knob::Input(..) | Knob::Value(..))) {
            let forgotten = self.forgotten_beyond(system, &path, space, solution, problem, culprit);
            best = forgotten.map_or(best, |refinement| vec![refinement]);
        }
        (best, Undecided::Stuck { path, blame, sources }, is_wide)
    }

    /// The quota of a goal in a space: the number of causes that are looked for, and their kinds.
    fn quota(&self, space: &StateSpace<S::State>, problem: &Problem<'_>, observes_hazards: bool) -> Quota {
        // In a part of a space the nearest states that were not expanded are as good as any.
        let (wanted, attempts) = match self.mode {
            Mode::Limited => (CULPRITS_PER_LIMITED_ROUND, ATTEMPTS_PER_LIMITED_ROUND),
            _ if space.is_finished() => (CULPRITS_PER_ROUND, usize::MAX),
            _ => (CULPRITS_PER_ROUND, CULPRITS_PER_ROUND),
        };
        let is_universal = speaks_of_all(problem.formula, Truth::True);
        Quota {
            wanted,
            attempts,
            prefers_cases: self.mode == Mode::Limited && is_universal,
            splits_values: self.strategy == Strategy::Default && (self.mode == Mode::Small || !is_universal),
            seeks_failures: self.mode == Mode::Limited && is_universal && observes_hazards,
            asks_for_all: space.is_finished() || self.mode != Mode::Limited && !is_universal,
        }
    }

    /// True if a cause is one in every part of a space: an unknown atom or, where locations are limited, a limit of the engine.
    fn is_real(&self, system: &S, space: &StateSpace<S::State>, culprit: &Culprit) -> bool {
        match culprit.cause {
            Cause::Atom(_) => true,
            Cause::Sink => {
                self.mode == Mode::Limited && system.kind(&space.states[culprit.state.index()]) == StateKind::Limit
            }
            Cause::Edge { .. } => false,
        }
    }

    /// True if two refinements come to the same. Where locations are limited, it does not matter how the instruction is
    /// reached.
    fn is_the_same(&self, one: &(S::Location, Knob), other: &(S::Location, Knob)) -> bool {
        match self.mode {
            Mode::Limited => one.0.general() == other.0.general() && one.1 == other.1,
            Mode::Small | Mode::Large => one == other,
        }
    }

    fn stuck_at_first(
        &self,
        system: &mut S,
        space: &StateSpace<S::State>,
        solution: &Solution,
        problem: &Problem<'_>,
    ) -> Undecided<S::State> {
        let culprit = solution.culprits(problem).next();
        let culprit = culprit.expect("an unknown verdict has a culprit (determinacy of parity games)");
        let (path, blame) = trace(space, &culprit);
        let sources = system.blame(&path, blame, &self.precision).iter().map(Source::of).collect();
        Undecided::Stuck { path, blame, sources }
    }

    /// The best candidate that changes something, with those that are refined together with it; none if no candidate does.
    /// And whether a step gets, or would have got, many outcomes.
    fn best(&self, mut candidates: Vec<Candidate<S::Location>>, quota: &Quota) -> (Refinements<S::Location>, bool) {
        candidates.retain(|candidate| self.precision.is_new(&candidate.location, candidate.knob));
        candidates.retain(|candidate| match candidate.knob {
            Knob::Value(variable, _) => {
                let values = self.precision.at(&candidate.location).values_of(variable).count();
                quota.splits_values && values < MOST_VALUES
            }
            Knob::Step(..) | Knob::Everywhere(..) | Knob::Case(..) | Knob::Input(..) => true,
        });
        let before = candidates.len();
        candidates.retain(|candidate| !self.is_wide(&candidate.location, &[candidate.knob], MOST_OUTCOMES));
        let left_out = candidates.len() < before;
        let best = candidates.iter().min_by_key(|candidate| preference(candidate, quota.prefers_cases)).cloned();
        let Some(best) = best else { return (Vec::new(), left_out) };
        let is_wide = left_out || self.is_wide(&best.location, &[best.knob], FEW_OUTCOMES);
        candidates.retain(|candidate| candidate.joint && best.joint && candidate.step == best.step);
        let together = candidates.into_iter().map(|candidate| (candidate.location, candidate.knob));
        let all: Refinements<S::Location> = [(best.location, best.knob)].into_iter().chain(together).collect();
        let knobs: Vec<Knob> = all.iter().map(|(_, knob)| *knob).collect();
        match self.is_wide(&best.location, &knobs, MOST_OUTCOMES) {
            true => (vec![(best.location, best.knob)], is_wide),
            false => (all, is_wide),
        }
    }

    /// True if inputs have more outcomes in one step than that by refinements at a location, in strategies that avoid it.
    fn is_wide(&self, location: &S::Location, knobs: &[Knob], most: u64) -> bool {
        let splits = knobs.iter().any(|knob| matches!(knob, Knob::Input(..) | Knob::Value(..)));
        splits && self.strategy == Strategy::Default && self.precision.input_outcomes(location, knobs) > most
    }
}

/// The key of the order of refinements: the smallest comes first.
type Preference = (bool, u8, Reverse<u8>, Reverse<usize>, Reverse<u64>);

/// The order of refinements (Onderka & Ratschan, section 4): bits that the cause itself depends on, then decayed bits,
/// then values of inputs, then bits of inputs. Among these the most indirect comes first, then the latest on the path, then
/// the most significant. Case splits, the fewest bits first, come before all that where only universal subformulas depend on them, and else last.
fn preference<L>(candidate: &Candidate<L>, prefers_cases: bool) -> Preference {
    let (kind, rank, bits) = match candidate.knob {
        Knob::Step(_, bits) | Knob::Everywhere(_, bits) => (1, candidate.indirection, bits),
        Knob::Value(_, value) => (2, candidate.indirection, value),
        Knob::Input(_, bits) => (3, candidate.indirection, bits),
        Knob::Case(_, bits) => (if prefers_cases { 0 } else { 4 }, 64 - bits.count_ones() as u8, bits),
    };
    (!candidate.direct, kind, Reverse(rank), Reverse(candidate.step), Reverse(bits))
}

/// The states on the way to a culprit, the last one included, and what is unknown there.
pub(crate) fn trace<T: Clone>(space: &StateSpace<T>, culprit: &Culprit) -> (Vec<T>, Blame) {
    let on_path = culprit.path.iter().map(|step| step.state).chain([culprit.state]);
    let path = on_path.map(|state| space.states[state.index()].clone()).collect();
    let blame = match culprit.cause {
        Cause::Atom(atom) => Blame::Atom(atom),
        Cause::Edge { edge, .. } => Blame::Edge(edge),
        Cause::Sink => Blame::Sink,
    };
    (path, blame)
}
