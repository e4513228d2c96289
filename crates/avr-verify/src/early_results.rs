//! Early results: what is known of the properties of a request while the work goes on.

use crate::finding::Finding;
use crate::invariants::InvariantsOutcome;
use crate::results::{PropertyResult, Verdict};
use crate::stack_bound::StackBound;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use three_valued::Truth;

/// The results of one request so far: each is here as soon as its property is decided, for those who cannot wait for the
/// rest. They say nothing of vacuity and explain nothing.
#[derive(Debug, Default)]
pub struct EarlyResults {
    so_far: Arc<Mutex<SoFar>>,
    /// The part that this is of all that is known; all if there is none.
    part: Option<Part>,
    /// The number from which on goals are counted.
    goals: usize,
}

/// Some of the properties of a request.
#[derive(Clone, Debug)]
struct Part {
    /// Their numbers.
    places: Vec<usize>,
    /// The time at which the work on them began.
    begun: Duration,
}

/// More goals than any work has.
const GOALS: usize = 1 << 32;

#[derive(Debug, Default)]
struct SoFar {
    /// By the number of the property; with the numbers of the goals that must be true for the verdict to stand.
    results: BTreeMap<usize, (PropertyResult, Vec<usize>)>,
    /// The goals that are true.
    proved: BTreeSet<usize>,
    /// The number of works that have goals of their own.
    works: usize,
    /// The stack bound, as far as it is known.
    stack: StackBound,
    /// The outcome of looking for invariants of the whole program.
    invariants: Option<InvariantsOutcome>,
    /// The findings.
    findings: Vec<Finding>,
}

impl EarlyResults {
    /// The early results of some properties, by their numbers, on which the work began then.
    pub(crate) fn part(&self, places: &[usize], begun: Duration) -> Self {
        let part = Part { places: places.to_vec(), begun };
        Self { so_far: Arc::clone(&self.so_far), part: Some(part), goals: 0 }
    }

    /// The same, with goals of its own.
    ///
    /// SOUND: each work on properties numbers its goals anew. What is proved of one of its goals is proved of no other one.
    pub(crate) fn with_own_goals(&self) -> Self {
        let works = self.with(|known| {
            known.works += 1;
            known.works
        });
        Self { so_far: Arc::clone(&self.so_far), part: self.part.clone(), goals: works * GOALS }
    }

    /// Forgets everything: what comes is about another question.
    pub fn forget(&self) {
        self.with(|known| *known = SoFar::default());
    }

    /// The stack bound as far as it is known: by the properties on which the work has come to its end.
    #[must_use]
    pub fn stack(&self) -> StackBound {
        self.with(|known| known.stack)
    }

    /// The findings, where they were looked for.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        self.with(|known| known.findings.clone())
    }

    /// Takes note of the findings, which all results have from now on.
    pub fn learn_findings(&self, findings: Vec<Finding>) {
        self.with(|known| known.findings = findings);
    }

    /// Takes note of what some properties say of the stack.
    pub(crate) fn learn_stack(&self, stack: StackBound) {
        self.with(|known| {
            let both = known.stack.and(stack);
            // SOUND: what cannot be says nothing; the results in the end say so.
            known.stack = if both.is_contradictory() { StackBound::default() } else { both };
        });
    }

    /// The outcome of looking for invariants of the whole program, as soon as that is over.
    #[must_use]
    pub fn invariants(&self) -> Option<InvariantsOutcome> {
        self.with(|known| known.invariants.clone())
    }

    /// Takes note of the outcome of looking for invariants of the whole program.
    pub(crate) fn learn_invariants(&self, outcome: InvariantsOutcome) {
        self.with(|known| known.invariants = Some(outcome));
    }

    /// The number of a property among all.
    fn place(&self, property: usize) -> usize {
        self.part.as_ref().map_or(property, |part| part.places[property])
    }

    /// The number of a goal among all.
    fn goal(&self, goal: usize) -> usize {
        goal + self.goals
    }

    /// The result of a property, by its number in the property file; none while it is open.
    #[must_use]
    pub fn result(&self, property: usize) -> Option<PropertyResult> {
        self.with(|known| {
            let (result, conditions) = known.results.get(&self.place(property))?;
            // SOUND: under fairness a verdict stands only if every state has a fair path, and where paths may end only if something is left.
            conditions.iter().all(|goal| known.proved.contains(goal)).then(|| result.clone())
        })
    }

    /// Takes note of the verdict on a goal.
    pub(crate) fn decided(&self, goal: usize, verdict: Truth) {
        if verdict.is_true() {
            self.with(|known| known.proved.insert(self.goal(goal)));
        }
    }

    /// Takes note of a result that stands if some goals are true. What a run should show and none does is not known yet.
    pub(crate) fn learn(&self, property: usize, mut result: PropertyResult, conditions: Vec<usize>) {
        result.statistics.time += self.part.as_ref().map_or(Duration::ZERO, |part| part.begun);
        let conditions = conditions.into_iter().map(|goal| self.goal(goal)).collect();
        if result.verdict != Verdict::Violated && result.evidence_missing.is_none() || result.evidence.is_some() {
            self.with(|known| known.results.insert(self.place(property), (result, conditions)));
        }
    }

    /// The result that is known, in the place of one that is open: a property that was decided before stays decided.
    pub(crate) fn or_known(&self, property: usize, result: PropertyResult) -> PropertyResult {
        match &result.verdict {
            Verdict::Unknown(unknown) if !unknown.self_check_failed => self.result(property).unwrap_or(result),
            _ => result,
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut SoFar) -> T) -> T {
        // Every change is whole, so a panic elsewhere leaves nothing half done.
        work(&mut self.so_far.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::EarlyResults;
    use crate::random_programs::results;
    use crate::request::Reductions;
    use crate::results::{PropertyResult, Unknown, Verdict};
    use std::time::Duration;
    use three_valued::Truth;

    /// `nop; rjmp .-2` gets to its second instruction.
    fn violated() -> PropertyResult {
        let results = results(&[0x0000, 0xcfff], &["AG (pc != 2)"], Reductions::NONE, Duration::from_secs(60));
        results.properties.into_iter().next().expect("there is one property")
    }

    #[test]
    fn a_violation_is_known_with_its_run_only() {
        let (known, shown) = (EarlyResults::default(), violated());
        known.learn(0, PropertyResult { evidence: None, ..shown.clone() }, Vec::new());
        assert_eq!(known.result(0), None);
        known.learn(0, shown.clone(), Vec::new());
        assert_eq!(known.result(0), Some(shown));
    }

    #[test]
    fn a_verdict_waits_for_the_goal_that_it_rests_on() {
        let (known, shown) = (EarlyResults::default(), violated());
        known.learn(0, shown.clone(), vec![7]);
        for (goal, verdict) in [(6, Truth::True), (7, Truth::False), (7, Truth::Unknown)] {
            known.decided(goal, verdict);
            assert_eq!(known.result(0), None);
        }
        known.decided(7, Truth::True);
        assert_eq!(known.result(0), Some(shown));
    }

    #[test]
    fn a_goal_of_another_work_proves_nothing() {
        let (known, shown) = (EarlyResults::default(), violated());
        let (one, other) = (known.with_own_goals(), known.with_own_goals());
        one.learn(0, shown.clone(), vec![7]);
        other.decided(7, Truth::True);
        assert_eq!(known.result(0), None);
        one.decided(7, Truth::True);
        assert_eq!(known.result(0), Some(shown));
    }

    #[test]
    fn a_failed_self_check_stays() {
        let (known, shown) = (EarlyResults::default(), violated());
        let unknown = |unknown| PropertyResult { verdict: Verdict::Unknown(unknown), ..shown.clone() };
        known.learn(0, shown.clone(), Vec::new());
        let (open, failed) = (unknown(Unknown::because("a limit")), unknown(Unknown::failed_self_check("a fault")));
        assert_eq!(known.or_known(0, open.clone()), shown);
        assert_eq!(known.or_known(0, failed.clone()), failed);
        assert_eq!(known.or_known(1, open.clone()), open);
    }
}
