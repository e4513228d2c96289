//! The predicates that verdicts need: those that are left after all others were dropped, one after the other.
//!
//! A predicate is not needed if the state space says the same with all predicates of its two numbers unknown, under the precision that
//! decided. No verdict depends on this.

use super::observer::PropertyObserver;
use avr_model::Firmware;
use avr_model::expanded_space::UntilCancelled;
use avr_model::faults::predicates::{Fault, is_on};
use avr_model::predicates::{SharedPredicates, Term};
use tvar::{Goal, Outcome, Watch};

/// The most states of a state space that is built for this.
const MOST_STATES: usize = 20_000;
/// The most steps that are taken for this in all.
const MOST_STEPS: u64 = 50_000;

/// Leaves in the observer's record of goals that hold the predicates that are needed.
pub(crate) fn keep_needed<'f>(
    firmware: &mut Firmware<'f>,
    observer: &mut PropertyObserver<'f>,
    outcome: &Outcome<Firmware<'f>>,
    watch: &dyn Watch,
) {
    let Some(predicates) = firmware.model.passes.predicates().cloned() else { return };
    let all = observer.goals();
    let decided = observer.predicates.iter().filter(|(_, used)| !used.is_empty()).map(|(number, _)| *number);
    let holds = |number: &usize| outcome.decisions[*number].verdict.is_true();
    let numbers: Vec<usize> = decided.filter(holds).collect();
    let mut candidates: Vec<Term> = Vec::new();
    for used in numbers.iter().filter_map(|number| observer.predicates.get(number)).flatten() {
        candidates.extend(used.terms().filter(|term| !candidates.contains(term)).cloned().collect::<Vec<_>>());
    }
    if numbers.is_empty() {
        return;
    }
    let mut trial = Trial { firmware, outcome, goals: all, watch, predicates: &predicates };
    let begun = trial.steps();
    if trial.holding(&numbers, &[]) == numbers {
        let without = trial.holding(&numbers, &candidates);
        let needy: Vec<usize> = numbers.iter().copied().filter(|number| !without.contains(number)).collect();
        let mut dropped = Vec::new();
        for candidate in candidates {
            if needy.is_empty() || is_on(Fault::AllAreNeeded) || trial.steps() - begun > MOST_STEPS || watch.cancelled()
            {
                break;
            }
            dropped.push(candidate);
            if trial.holding(&needy, &dropped) != needy {
                dropped.pop();
            }
        }
        let is_sure = trial.holding(&needy, &dropped) == needy;
        let used = predicates.get().used();
        for number in without {
            observer.predicates.insert(number, Vec::new());
        }
        for number in needy.into_iter().filter(|_| is_sure) {
            observer.predicates.insert(number, used.clone());
        }
    }
    predicates.get().drop_terms(Vec::new());
}

/// State spaces with some predicates dropped.
struct Trial<'a, 'f> {
    firmware: &'a mut Firmware<'f>,
    outcome: &'a Outcome<Firmware<'f>>,
    goals: &'a [Goal],
    watch: &'a dyn Watch,
    predicates: &'a SharedPredicates,
}

impl Trial<'_, '_> {
    fn steps(&self) -> u64 {
        self.firmware.model.context.working.state.steps
    }

    /// Those of some goals that hold where the predicates of some terms are unknown; none where the state space does not tell.
    fn holding(&mut self, numbers: &[usize], dropped: &[Term]) -> Vec<usize> {
        self.predicates.get().drop_terms(dropped.to_vec());
        let atoms = self.firmware.model.context.atoms.len();
        let watch = UntilCancelled(self.watch);
        let goals: Vec<&Goal> = numbers.iter().map(|number| &self.goals[*number]).collect();
        let said = tvar::evaluate_limited(self.firmware, &self.outcome.precision, (atoms, &goals), MOST_STATES, &watch);
        let said = said.unwrap_or_default();
        numbers.iter().zip(said).filter(|(_, truth)| truth.is_true()).map(|(number, _)| *number).collect()
    }
}
