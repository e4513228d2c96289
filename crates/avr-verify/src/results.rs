//! The results of a verification.

use crate::call_graph::Survey;
use crate::cost::Exploration;
use crate::diagnosis::root_cause::Culprit;
use crate::diagnosis::subformulas::Explanation;
use crate::diagnosis::vacuity::Vacuity;
use crate::finding::Finding;
use crate::invariants::{InvariantsOutcome, Sought};
use crate::stack_bound::{StackBound, TaskStackBound};
use avr_machine::HazardKind;
use avr_model::pass::Pass;
use avr_model::predicates::UsedPredicate;
use avr_witness::Evidence;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The answer to a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Proved for every input, every initial content and every interrupt timing.
    Holds,
    /// Disproved.
    Violated,
    /// Neither, for the reason given.
    Unknown(Unknown),
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The obstacle to an answer, as a sentence without a full stop.
    pub reason: String,
    /// True if our own code failed a check of itself, which makes the exit code 4.
    pub self_check_failed: bool,
    /// The culprit that stood in the way and what would help, where the work came so far.
    pub culprit: Option<Box<Culprit>>,
}

impl Unknown {
    /// Our own code failed a check of itself.
    #[must_use]
    pub fn failed_self_check(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), self_check_failed: true, culprit: None }
    }

    /// An ordinary reason.
    #[must_use]
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), self_check_failed: false, culprit: None }
    }
}

/// The basis of a verdict: the freedom of the model on which it rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The verdict is about the hardware.
    Hardware,
    /// The verdict uses a choice that the model leaves open and the hardware would determine.
    Model,
}

/// The outcome of deciding a property again with all reductions and facts off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recheck {
    /// The same verdict.
    Agrees,
    /// No verdict, of one of both.
    Undecided,
}

/// The cost of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Refinements before the answer.
    pub refinements: usize,
    /// Abstract states of the state space that decided.
    pub states: usize,
    /// Transitions of that state space: members of hyper-edges.
    pub transitions: usize,
    /// Time from the start of the run to the answer.
    pub time: Duration,
}

/// A contract that verdicts rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractUse {
    /// The function, as the property file names it.
    pub function: String,
    /// The contract in words.
    pub text: String,
    /// True if it was proved in the same run.
    pub proved: bool,
    /// A run that breaks it, in words: then the body is looked at, and the contract is not used.
    pub broken: Option<String>,
}

/// The answer to one property of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyResult {
    /// The name, by default the property's own text.
    pub name: String,
    /// The name of the construct in property files, such as `Recovery`.
    pub kind: String,
    /// The formula that was checked.
    pub formula: String,
    /// The answer.
    pub verdict: Verdict,
    /// The hazard and its place to which a violation comes, where a name tells.
    pub detail: Option<String>,
    /// The basis of the verdict.
    pub basis: Basis,
    /// The reductions and domains that took part.
    pub methods: Vec<Pass>,
    /// The predicates that the verdict needs.
    pub predicates: Vec<UsedPredicate>,
    /// The outcome of deciding it again with nothing left out; none if that was not asked for.
    pub recheck: Option<Recheck>,
    /// The cost of the answer.
    pub statistics: Statistics,
    /// A run that shows a violation, or that something that exists is there. Where a self-check failed, the run that was
    /// to show it.
    pub evidence: Option<Evidence>,
    /// The reason why a decided verdict that a run could show comes without one.
    pub evidence_missing: Option<String>,
    /// A part of the formula that a property which holds says nothing about.
    pub vacuous: Option<Vacuity>,
    /// The states in which its subformulas hold; none where that would have been much work.
    pub explanation: Option<Explanation>,
    /// Remarks on the reading of its names ([`BoundProperty::notes`](avr_properties::BoundProperty::notes)).
    pub notes: Vec<String>,
    /// The events that the verdict assumes to come because the data sheet promises them.
    pub promises: Vec<String>,
}

impl PropertyResult {
    /// True if another result says something else, and not because of runs of the model on which a promise of the data sheet is broken.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        let is_of_model = self.outweighs(other) || other.outweighs(self);
        !self.is_open() && !other.is_open() && self.verdict != other.verdict && !is_of_model
    }

    /// True if another result may rest on runs on which a promise is broken that this one rests on.
    pub(crate) fn outweighs(&self, other: &Self) -> bool {
        !self.promises.is_empty() && other.verdict == Verdict::Violated && other.basis == Basis::Model
    }

    /// True if the model violates the property by choices that the hardware would determine, so that promises of the data sheet may prove it.
    pub(crate) fn is_violated_in_model(&self) -> bool {
        self.verdict == Verdict::Violated && self.basis == Basis::Model
    }

    /// True if claims about loops prove it that rest on the model.
    pub(crate) fn rests_on_choices(&self) -> bool {
        self.basis == Basis::Model && self.methods.iter().any(|pass| matches!(pass, Pass::Claims | Pass::Ranks))
    }

    /// True if a state space may say more than claims about loops do: that it rests on the hardware, or a run.
    pub(crate) fn may_be_better(&self) -> bool {
        let has_no_run = self.evidence_missing.is_some() && self.methods.contains(&Pass::Claims);
        self.rests_on_choices() || has_no_run
    }

    /// The same, where the reason of one that is open names the alarm that keeps invariants from proving it.
    pub(crate) fn with_alarm(mut self, outcome: &InvariantsOutcome) -> Self {
        if let Verdict::Unknown(unknown) = &mut self.verdict
            && !unknown.self_check_failed
        {
            unknown.reason = outcome.with_alarm(&unknown.reason);
        }
        self
    }

    /// True if nothing is known, and no check of the verifier itself failed.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&self.verdict, Verdict::Unknown(unknown) if !unknown.self_check_failed)
    }

    /// The result for those who accept only verdicts about the hardware: one that rests on the model is unknown.
    #[must_use]
    pub fn strict(mut self) -> Self {
        let said = match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "is violated",
            Verdict::Unknown(_) => return self,
        };
        if self.basis == Basis::Model {
            let reason = format!(
                "it {said} in the model only: that rests on a choice which the hardware would determine, and strictness \
                 was asked for"
            );
            self.verdict = Verdict::Unknown(Unknown::because(reason));
            self.vacuous = None;
        }
        self
    }
}

/// The answers for one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// One for each property, in their order.
    pub properties: Vec<PropertyResult>,
    /// The findings, which are no part of any property; empty where they were not looked for.
    pub findings: Vec<Finding>,
    /// The bound of the main stack.
    pub stack: StackBound,
    /// The bounds of the stacks of tasks, in the order of the property file; empty where there are none, or no time for them.
    pub stacks: Vec<TaskStackBound>,
    /// The survey of the program as a whole by the most refined state space; none if there was no time for it.
    pub survey: Option<Survey>,
    /// The assumptions of all answers beside the firmware and the device; see [`crate::assumptions`].
    pub assumptions: Vec<String>,
    /// The ends of paths that no property speaks of, because the hazard is allowed and nothing is defined after it.
    /// They are the flash byte addresses of the instructions, as far as state spaces were built.
    pub ended_paths: BTreeMap<HazardKind, BTreeSet<u32>>,
    /// True if the user interrupted the run.
    pub interrupted: bool,
    /// The number of times that the state space was built.
    pub passes: usize,
    /// The CPU time of all threads of this process in the last of these passes. It includes the evaluation of the
    /// properties, but not the search for runs that show them.
    pub last_pass: Duration,
    /// The cost of the exploration; none if the work was given up.
    pub exploration: Option<Exploration>,
    /// The outcome of looking for invariants of the whole program; none where they were not looked for.
    pub invariants: Option<InvariantsOutcome>,
    /// The contracts that stood in place of bodies.
    pub contracts: Vec<ContractUse>,
}

impl Results {
    /// The results of two runs on the same image together, each about properties of its own; the second one came last.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let mut assumptions = self.assumptions;
        assumptions
            .extend(other.assumptions.into_iter().filter(|text| !assumptions.contains(text)).collect::<Vec<_>>());
        let exploration = match (self.exploration, other.exploration) {
            (Some(one), Some(next)) => Some(one.and(next)),
            (one, next) => next.or(one),
        };
        let mut ended_paths = self.ended_paths;
        other.ended_paths.into_iter().for_each(|(kind, places)| ended_paths.entry(kind).or_default().extend(places));
        Self {
            properties: [self.properties, other.properties].concat(),
            findings: if self.findings.is_empty() { other.findings } else { self.findings },
            stack: self.stack.and(other.stack),
            stacks: TaskStackBound::and(self.stacks, other.stacks),
            survey: self.survey.or(other.survey),
            assumptions,
            ended_paths,
            interrupted: self.interrupted || other.interrupted,
            passes: self.passes + other.passes,
            last_pass: other.last_pass,
            exploration,
            invariants: self.invariants.or(other.invariants),
            contracts: if self.contracts.is_empty() { other.contracts } else { self.contracts },
        }
    }

    /// The results with what became of the invariants, and their cost.
    #[must_use]
    pub(crate) fn after(self, sought: Option<&Sought>) -> Self {
        let Some(Sought { outcome, cpu_time, .. }) = sought else { return self };
        let exploration = self.exploration.map(|exploration| exploration.with(outcome.steps as u64, *cpu_time));
        let properties = self.properties.into_iter().map(|result| result.with_alarm(outcome)).collect();
        Self { properties, exploration, invariants: Some(outcome.clone()), ..self }
    }

    /// The results, unless they say of the stack what cannot be.
    #[must_use]
    pub(crate) fn checked(self) -> Self {
        let stack = self.stack;
        if !stack.is_contradictory() {
            return self;
        }
        let properties = self.properties.into_iter().map(|result| not_denied(result, stack)).collect();
        Self { properties, stack: StackBound::default(), ..self }
    }

    /// The results compared with those of the same request with nothing left out. Where they disagree, one of them is wrong, and nothing is claimed.
    #[must_use]
    pub fn rechecked(mut self, again: &Self) -> Self {
        for (result, again) in self.properties.iter_mut().zip(&again.properties) {
            let disagree = |one: &str, other: &str| {
                let reason = format!("it {one}, and it {other} where nothing is left out");
                Verdict::Unknown(Unknown::failed_self_check(reason))
            };
            match (&result.verdict, &again.verdict) {
                (Verdict::Holds, Verdict::Violated) => result.verdict = disagree("holds", "is violated"),
                (Verdict::Violated, Verdict::Holds) => result.verdict = disagree("is violated", "holds"),
                (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => result.recheck = Some(Recheck::Undecided),
                _ => result.recheck = Some(Recheck::Agrees),
            }
            if let Verdict::Unknown(unknown) = &again.verdict
                && unknown.self_check_failed
            {
                result.verdict = again.verdict.clone();
            }
        }
        let both = self.stack.and(again.stack);
        if both.is_contradictory() {
            let properties = self.properties.into_iter().map(|result| not_denied(result, both)).collect();
            return Self { properties, stack: StackBound::default(), ..self };
        }
        self
    }

    /// The results for those who accept only verdicts about the hardware; see [`PropertyResult::strict`].
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.properties = self.properties.into_iter().map(PropertyResult::strict).collect();
        self
    }
}

/// A result, unless it holds by a state space whose stack bound a run has exceeded.
pub(crate) fn not_denied(result: PropertyResult, stack: StackBound) -> PropertyResult {
    if result.verdict != Verdict::Holds || !stack.is_contradictory() {
        return result;
    }
    let StackBound { lower, upper } = stack;
    let reason =
        format!("a run needs {} bytes of stack and the proof allows {}", lower.unwrap_or(0), upper.unwrap_or(0));
    PropertyResult { verdict: Verdict::Unknown(Unknown::failed_self_check(reason)), ..result }
}

#[cfg(test)]
mod tests {
    use super::not_denied;
    use super::{PropertyResult, Recheck, Results, StackBound, Unknown, Verdict};
    use crate::random_programs::{LONG, results};
    use crate::request::Reductions;

    #[test]
    fn a_proof_that_a_run_denies_proves_nothing() {
        // `rjmp .-2` stays where it is.
        let found = results(&[0xcfff], &["Inherent()", "AG (pc != 0)"], Reductions::NONE, LONG);
        assert_eq!(found.properties[0].verdict, Verdict::Holds);
        for result in found.properties {
            let exact = StackBound { lower: Some(4), upper: Some(4) };
            assert_eq!(not_denied(result.clone(), exact), result);
            let denied = not_denied(result.clone(), StackBound { lower: Some(5), upper: Some(4) });
            match (&result.verdict, &denied.verdict) {
                (Verdict::Holds, Verdict::Unknown(unknown)) => assert!(unknown.self_check_failed),
                _ => assert_eq!(denied, result),
            }
        }
    }
    #[test]
    fn results_that_are_decided_again_agree_or_fail() {
        // `nop; rjmp .-4` gets to its second instruction.
        let first = results(&[0x0000, 0xcffe], &["Inherent()", "AG (pc != 2)"], Reductions::NONE, LONG);
        let verdicts =
            |results: &Results| results.properties.iter().map(|result| result.verdict.clone()).collect::<Vec<_>>();
        assert_eq!(verdicts(&first), [Verdict::Holds, Verdict::Violated]);
        let same = first.clone().rechecked(&first);
        assert_eq!(verdicts(&same), verdicts(&first));
        assert!(same.properties.iter().all(|result| result.recheck == Some(Recheck::Agrees)));

        let mut open = first.clone();
        open.properties[0].verdict = Verdict::Unknown(Unknown::because("a limit"));
        for checked in [first.clone().rechecked(&open), open.rechecked(&first)] {
            assert_eq!(checked.properties[0].recheck, Some(Recheck::Undecided));
            assert_eq!(checked.properties[1].recheck, Some(Recheck::Agrees));
        }

        let fails = |result: &PropertyResult| matches!(&result.verdict, Verdict::Unknown(why) if why.self_check_failed);
        let mut swapped = first.clone();
        swapped.properties[0].verdict = Verdict::Violated;
        swapped.properties[1].verdict = Verdict::Holds;
        let checked = first.clone().rechecked(&swapped);
        assert!(checked.properties.iter().all(|result| fails(result) && result.recheck.is_none()));

        let mut deeper = first.clone();
        deeper.stack = StackBound { lower: Some(9), upper: None };
        let checked = first.rechecked(&deeper);
        assert!(fails(&checked.properties[0]) && checked.stack == StackBound::default());
    }
}
