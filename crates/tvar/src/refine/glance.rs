//! The first look at state spaces with few states for each location, before anything is refined.
//!
//! Correlated branches need no values where predicates are kept, and to split inputs costs more than a state space of
//! some hundred states. So what holds there is decided there.

use super::Run;
use crate::abstraction::{Abstraction, DEFAULT_ENUMERATED};
use crate::explorer::Explorer;
use crate::state_space::StateSpace;
use mu_calculus::Solution;
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
        let last = system.steps() + MOST_STEPS;
        // Another number of states that is asked for is kept to.
        let wide = (system.enumerated() == DEFAULT_ENUMERATED).then_some(Some(WIDE));
        let mut looks: Vec<Option<(usize, usize)>> = [None].into_iter().chain(wide).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Goal;
    use crate::hyper_edges::HyperEdges;
    use crate::precision::{LocationPrecision, Place, StepPrecision, Strategy};
    use crate::refine::verify;
    use crate::system::{Blame, Candidate, LookupOf, System};
    use crate::{Unlimited, Unobserved};
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

    /// The verdict of the property that the atom is never true.
    fn verdict(is_false: fn(usize) -> bool, is_discharged: fn(usize) -> bool) -> Truth {
        let formula = parse_formula("AG !p").expect("the formula is one");
        let formula = formula.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("all atoms are known");
        let formula = NormalForm::new(&formula).expect("the formula is closed");
        let goals = [Goal { formula, observes_hazards: false }];
        let mut system = Assuming { spaces: 0, has_stepped: false, is_false, is_discharged };
        let outcome = verify(&mut system, &mut Unobserved, 1, &goals, Strategy::Default, &Unlimited);
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
}
