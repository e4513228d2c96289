//! The first look at state spaces with few states for each location, before anything is refined.
//!
//! Correlated branches need no values where predicates are kept, and to split inputs costs more than a state space of
//! some hundred states. So what holds there is decided there.

use super::Run;
use super::candidate_choice::trace;
use crate::abstraction::{Abstraction, DEFAULT_ENUMERATED, Refuted};
use crate::explorer::Explorer;
use crate::precision::Precision;
use crate::state_space::StateSpace;
use mu_calculus::{Cause, Culprit, Modality, Node, Problem, Solution, StateId};
use std::sync::Arc;
use three_valued::Truth;

/// The most states that are expanded for one state space.
const MOST_STATES: usize = 2_000;

/// The most steps that are taken for all of them, and the most before them, as the system counts them.
pub(super) const MOST_STEPS: u64 = 10_000;

/// The number of states that are expanded between two looks at the steps.
const SHARE: usize = 32;

/// The number of times that a state space is built until what it assumes is discharged.
const ATTEMPTS: usize = 3;

/// The most state spaces, of which those behind the second one are built only if more facts were found in the last one that states may keep.
const LOOKS: usize = 8;

/// The most steps that are taken for all state spaces with facts that refute a path of the one before.
const REFUTING_STEPS: u64 = 30_000;

/// The most state spaces with each limit that are built with facts that refute a path of the one before.
const REFUTATIONS: usize = 24;

/// The paths of one state space that are looked at until one is refuted.
const PATHS: usize = 4;

/// The states that a location distinguishes in the second state space, and the contents of one variable: each combination of
/// outcomes of comparisons takes a state, while a counter has more contents than that.
const WIDE: (usize, usize) = (64, 8);

impl<S: Abstraction> Run<'_, S>
where
    S::State: Send + Sync,
{
    /// Decides the open goals that hold on a small state space with limited locations. The precision is as before, unless all are decided.
    pub(super) fn glance(&mut self, system: &mut S) {
        let before = self.precision.clone();
        // Another number of states that is asked for is kept to.
        let wide = (system.enumerated() == DEFAULT_ENUMERATED).then_some(Some(WIDE));
        let mut looks: Vec<Option<(usize, usize)>> = [None].into_iter().chain(wide).collect();
        if system.keep_only_refuting(true) {
            self.refute_paths(system, &looks, &before);
            if self.is_done() {
                return;
            }
            system.keep_only_refuting(false);
        }
        let last = system.steps() + MOST_STEPS;
        let mut number = 0;
        while let Some(most) = looks.get(number).copied() {
            number += 1;
            let found = system.found();
            self.precision.be_coarse(true);
            let space = (0..ATTEMPTS).find_map(|_| self.limited(system, most, last));
            if let Some(space) = space {
                self.decide_what_holds(system, &Arc::new(space));
                if self.is_done() {
                    return;
                }
            }
            self.precision.go_back(before.clone());
            if number == looks.len() && number < LOOKS && system.found() > found {
                looks.push(most);
            }
        }
    }

    /// Decides the open goals that hold on state spaces of which each has the facts that refute a path of the one before it.
    fn refute_paths(&mut self, system: &mut S, looks: &[Option<(usize, usize)>], before: &Precision<S::Location>) {
        let last = system.steps() + REFUTING_STEPS;
        for most in looks {
            for _ in 0..REFUTATIONS {
                let found = system.found();
                self.precision.be_coarse(true);
                let space = (0..ATTEMPTS).find_map(|_| self.limited(system, *most, last)).map(Arc::new);
                if let Some(space) = &space {
                    self.decide_what_holds(system, space);
                    if self.is_done() {
                        return;
                    }
                }
                let is_refuted = space.is_some_and(|space| self.refute(system, &space));
                self.precision.go_back(before.clone());
                if self.is_done() {
                    return;
                }
                if !is_refuted && system.found() == found {
                    break;
                }
            }
        }
    }

    /// Asks for facts that refute a path to a failure in a state space; false if there are no new ones. Of a goal with a path that some run takes
    /// that run is tried, and no other path.
    fn refute(&mut self, system: &mut S, space: &Arc<StateSpace<S::State>>) -> bool {
        let views = self.views(system, space);
        for checked in self.check(&views) {
            let Some(solution) = &checked.solution else { continue };
            let (number, goal) = (checked.goal, &self.goals[checked.goal]);
            let problem = views.problem(goal);
            let culprits = solution.culprits(&problem).decided_first();
            let paths = culprits.filter_map(|culprit| path_to_failure(space, solution, &problem, &culprit));
            let mut found = paths.take(PATHS).map(|path| system.refute(&path, &self.precision));
            match found.find(|found| *found != Refuted::Open) {
                Some(Refuted::Newly) => return true,
                Some(Refuted::Possible) if self.observer.refute_along_path(system, (number, goal), self.watch) => {
                    self.decide_refuted(system, space, &[number]);
                }
                _ => {}
            }
        }
        false
    }

    /// A state space with so many states for each location and contents of each variable, or as many as the system says; none
    /// if it is not finished, or rests on what is not discharged.
    fn limited(&mut self, system: &mut S, most: Option<(usize, usize)>, last: u64) -> Option<StateSpace<S::State>> {
        if system.steps() > last {
            return None;
        }
        self.precision.forget_drops();
        let mut explorer = Explorer::new(system, true).distinguishing(most);
        self.explore_briefly(&mut explorer, system, (MOST_STATES, last));
        let space = explorer.into_space(system);
        (space.exhausted.is_none() && space.is_finished() && system.is_discharged()).then_some(space)
    }

    /// Explores until everything is explored, so many states are expanded, a limit is reached, or so many steps were taken.
    pub(super) fn explore_briefly(&mut self, explorer: &mut Explorer<S>, system: &mut S, (states, last): (usize, u64)) {
        loop {
            let share = states.min(explorer.expanded() + SHARE);
            explorer.explore(system, &mut self.precision, share, self.watch, &mut self.progress);
            if explorer.expanded() < share || share == states || system.steps() > last {
                break;
            }
        }
    }

    /// Decides the open goals that hold on a state space. What is violated is left to spaces in which runs are sought.
    fn decide_what_holds(&mut self, system: &mut S, space: &Arc<StateSpace<S::State>>) {
        let views = self.views(system, space);
        for checked in self.check(&views) {
            let holds = checked.solution.as_ref().map(Solution::verdict) == Some(Truth::True);
            if holds && self.is_robust(&views, space, checked.goal, Truth::True) {
                let goal = checked.goal;
                self.decide(checked, space, true);
                self.announce(system, goal);
                self.latest = Some(Arc::clone(space));
            }
        }
    }
}

/// The states on the way to a culprit, with the first member of its hyper-edge that decides it; none if there is no such member.
fn path_to_failure<T: Clone>(
    space: &StateSpace<T>,
    solution: &Solution,
    problem: &Problem<'_>,
    culprit: &Culprit,
) -> Option<Vec<T>> {
    let (Cause::Edge { edge, .. }, Node::Modal(Modality::Box, child)) =
        (culprit.cause, problem.formula.node(culprit.node))
    else {
        return None;
    };
    let fails = |state: &&StateId| solution.truth(**state, child).is_false();
    let member = problem.graph.edge(culprit.state, edge).iter().find(fails)?;
    let (mut path, _) = trace(space, culprit);
    path.push(space.states[member.index()].clone());
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Goal;
    use crate::hyper_edges::HyperEdges;
    use crate::precision::{LocationPrecision, Place, StepPrecision, Strategy};
    use crate::refine::verify;
    use crate::system::{Blame, Candidate, LookupOf, System};
    use crate::{Observer, Unlimited, Unobserved, Watch};
    use mu_calculus::{AtomId, NormalForm, parse_formula};

    /// The only location.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Here;

    impl Place for Here {}

    /// A system of one state, in which an atom is false in some state spaces, by their number, and unknown in others. What the step of some of
    /// them assumes is not discharged.
    struct Assuming {
        spaces: usize,
        has_stepped: bool,
        is_false: fn(usize) -> bool,
        is_discharged: fn(usize) -> bool,
    }

    impl System for Assuming {
        type State = bool;
        type Location = Here;

        fn initial(&mut self) -> bool {
            self.spaces += 1;
            self.has_stepped = false;
            (self.is_false)(self.spaces)
        }

        fn location(&self, _: &bool) -> Here {
            Here
        }

        fn expand(&mut self, state: &bool, _: &LocationPrecision, edges: &mut HyperEdges<bool>) {
            edges.add([*state]);
            self.has_stepped = true;
        }

        fn decay(&mut self, state: bool, _: &StepPrecision) -> bool {
            state
        }

        fn covers(&self, coarse: &bool, fine: &bool) -> bool {
            coarse == fine
        }

        fn label(&self, is_false: &bool, _: AtomId) -> Truth {
            if *is_false { Truth::False } else { Truth::Unknown }
        }

        fn blame(&mut self, _: &[bool], _: Blame, _: &LookupOf<'_, Self>) -> Vec<Candidate<Here>> {
            Vec::new()
        }
    }

    impl Abstraction for Assuming {
        fn glances(&self) -> bool {
            true
        }

        fn is_discharged(&self) -> bool {
            !self.has_stepped || (self.is_discharged)(self.spaces)
        }
    }

    /// The property that the atom is never true.
    fn goals() -> [Goal; 1] {
        let formula = parse_formula("AG !p").expect("the formula is one");
        let formula = formula.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("all atoms are known");
        let formula = NormalForm::new(&formula).expect("the formula is closed");
        [Goal { formula, observes_hazards: false }]
    }

    /// The verdict of the same.
    fn verdict(is_false: fn(usize) -> bool, is_discharged: fn(usize) -> bool) -> Truth {
        let mut system = Assuming { spaces: 0, has_stepped: false, is_false, is_discharged };
        let outcome = verify(&mut system, &mut Unobserved, 1, &goals(), Strategy::Default, &Unlimited);
        outcome.decisions[0].verdict
    }

    #[test]
    fn what_holds_at_a_glance_is_decided() {
        assert_eq!(verdict(|space| space == 2, |_| true), Truth::True);
    }

    #[test]
    fn nothing_is_decided_by_what_is_assumed() {
        assert_eq!(verdict(|space| space == 2, |space| space != 2), Truth::Unknown);
        assert_eq!(verdict(|space| (2..4).contains(&space), |space| space != 2), Truth::True);
    }

    /// A state of [`Excluding`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Side {
        Start,
        Good,
        Bad,
    }

    /// A system that may go on to a bad state, as long as fewer facts are kept than exclude it.
    struct Excluding {
        excluding: usize,
        /// The facts that can be found, and what is found where there are no more.
        there: usize,
        otherwise: Refuted,
        facts: usize,
        only: bool,
        paths: Vec<Vec<Side>>,
    }

    impl System for Excluding {
        type State = Side;
        type Location = Here;

        fn initial(&mut self) -> Side {
            Side::Start
        }

        fn location(&self, _: &Side) -> Here {
            Here
        }

        fn expand(&mut self, state: &Side, _: &LocationPrecision, edges: &mut HyperEdges<Side>) {
            match state {
                Side::Start if self.facts < self.excluding => edges.add([Side::Good, Side::Bad]),
                Side::Start => edges.add([Side::Good]),
                Side::Good | Side::Bad => edges.add([*state]),
            }
        }

        fn decay(&mut self, state: Side, _: &StepPrecision) -> Side {
            state
        }

        fn covers(&self, coarse: &Side, fine: &Side) -> bool {
            coarse == fine
        }

        fn label(&self, state: &Side, _: AtomId) -> Truth {
            Truth::from(*state == Side::Bad)
        }

        fn blame(&mut self, _: &[Side], _: Blame, _: &LookupOf<'_, Self>) -> Vec<Candidate<Here>> {
            Vec::new()
        }
    }

    impl Abstraction for Excluding {
        fn glances(&self) -> bool {
            true
        }

        fn keep_only_refuting(&mut self, only: bool) -> bool {
            self.only = only;
            true
        }

        fn refute(&mut self, path: &[Side], _: &LookupOf<'_, Self>) -> Refuted {
            assert!(self.only);
            self.paths.push(path.to_vec());
            let is_new = self.facts < self.there;
            self.facts += usize::from(is_new);
            if is_new { Refuted::Newly } else { self.otherwise }
        }
    }

    /// An observer that refutes the goal by each run along a path, or by none.
    struct Trying {
        refutes: bool,
        tried: usize,
    }

    impl Observer<Excluding> for Trying {
        fn refute_along_path(&mut self, _: &mut Excluding, (number, _): (usize, &Goal), _: &dyn Watch) -> bool {
            assert_eq!(number, 0);
            self.tried += 1;
            self.refutes
        }
    }

    #[test]
    fn a_run_along_a_possible_path_decides() {
        for (otherwise, refutes, tried) in
            [(Refuted::Possible, true, 1), (Refuted::Possible, false, 2), (Refuted::Open, true, 0)]
        {
            let mut system = Excluding { excluding: 3, there: 2, otherwise, facts: 0, only: false, paths: Vec::new() };
            let mut observer = Trying { refutes, tried: 0 };
            let outcome = verify(&mut system, &mut observer, 1, &goals(), Strategy::Default, &Unlimited);
            let is_refuted = refutes && otherwise == Refuted::Possible;
            let expected = if is_refuted { Truth::False } else { Truth::Unknown };
            assert_eq!((outcome.decisions[0].verdict, observer.tried), (expected, tried), "{otherwise:?} {refutes}");
        }
    }

    /// The verdict of the property that no state is bad, where so many facts exclude the bad one, and so many are there.
    fn refuted(excluding: usize, there: usize, otherwise: Refuted) -> (Truth, Excluding) {
        let mut system = Excluding { excluding, there, otherwise, facts: 0, only: false, paths: Vec::new() };
        let outcome = verify(&mut system, &mut Unobserved, 1, &goals(), Strategy::Default, &Unlimited);
        (outcome.decisions[0].verdict, system)
    }

    #[test]
    fn paths_are_refuted_until_nothing_fails() {
        let (verdict, system) = refuted(3, 5, Refuted::Open);
        assert_eq!(verdict, Truth::True);
        assert_eq!((system.facts, system.only), (3, true));
        assert!(system.paths.iter().all(|path| path == &[Side::Start, Side::Bad]), "{:?}", system.paths);
    }

    #[test]
    fn all_facts_are_kept_again_where_no_path_is_refuted() {
        for otherwise in [Refuted::Open, Refuted::Possible] {
            let (verdict, system) = refuted(3, 2, otherwise);
            assert_eq!(verdict, Truth::Unknown);
            assert_eq!((system.facts, system.only), (2, false));
        }
    }
}
