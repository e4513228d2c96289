//! Verdicts that rest on the model where something is left out, and on no more than the hardware where nothing is.

use super::property_result::Purpose;
use super::verified::{verified, verified_while};
use crate::diagnosis::subformulas::Effort;
use crate::request::{InvariantUse, Reductions, Request};
use crate::results::{Basis, PropertyResult, Results, Verdict};
use avr_model::pass::Pass;
use avr_properties::PropertyError;
use tvar::{Exhausted, Progress, Strategy, Watch};

/// The number of states that are looked at with nothing left out, so that a verdict may rest on no more than the hardware.
const MOST_STATES: usize = 100_000;

/// Verifies the properties of an image all together. The watch beside that of the request is for the decisions alone.
///
/// # Errors
/// As [`verify`](crate::verify).
pub(crate) fn verified_together(request: &Request<'_>, deciding: &dyn Watch) -> Result<Results, PropertyError> {
    // Where something is left out, runs of the hardware are looked for in the second pass. Instead of it they would cost its stack bound.
    let purpose = match request.strategy {
        Strategy::Default if !request.allows_reduction() => Purpose::HardwareRuns,
        _ => Purpose::Results,
    };
    let results = verified_while((request, deciding), (Effort::LITTLE, purpose), |_, _, results| results)?;
    on_hardware(request, results)
}

/// The same results, where those that rest on the model are decided again with nothing left out, among a few states only.
///
/// # Errors
/// As [`crate::verify`].
fn on_hardware(request: &Request<'_>, mut results: Results) -> Result<Results, PropertyError> {
    let numbers: Vec<usize> =
        (0..results.properties.len()).filter(|one| may_be_shown(&results.properties[*one])).collect();
    if numbers.is_empty() || !request.allows_reduction() || request.watch.cancelled() {
        return Ok(results);
    }
    let mut file = request.file.clone();
    file.properties = numbers.iter().map(|number| request.file.properties[*number].clone()).collect();
    let few = FewStates(request.watch);
    let whole = Request {
        file: &file,
        reductions: Reductions::NONE,
        invariants: InvariantUse::Off,
        watch: &few,
        known: None,
        ..*request
    };
    let (again, runs) = verified(&whole, (Effort::LITTLE, Purpose::HardwareRuns), |work, goals, again| {
        let befores = numbers.iter().map(|number| &results.properties[*number]);
        let runs = befores.zip(goals).zip(&again.properties).map(|((before, goals), again)| {
            // Without the reductions a limit may have been reached.
            let is_lost = before.verdict == Verdict::Violated && again.verdict != Verdict::Violated;
            let goal = goals.as_ref().filter(|_| is_lost)?.formula;
            work.run_of_hardware(goal, before.evidence.as_ref())
        });
        let runs = runs.collect::<Vec<_>>();
        (again, runs)
    })?;
    results.stack = results.stack.and(again.stack);
    results.survey = again.survey.or(results.survey);
    results.exploration = match (results.exploration, again.exploration) {
        (Some(one), Some(next)) => Some(one.and(next)),
        (one, next) => next.or(one),
    };
    for ((number, better), run) in numbers.into_iter().zip(again.properties).zip(runs) {
        let before = &mut results.properties[number];
        if let Some(run) = run {
            // What was explained was the other run.
            (before.basis, before.evidence, before.explanation) = (Basis::Hardware, Some(run), None);
            before.evidence_missing = None;
        } else if better.verdict == before.verdict && better.basis == Basis::Hardware {
            let vacuous = before.vacuous.take();
            *before = PropertyResult { vacuous: better.vacuous.clone().or(vacuous), ..better };
        }
    }
    Ok(results.checked())
}

/// True if a state space decided on the model. Where a random run did, those that only the environment
/// determines were tried as well.
fn may_be_shown(result: &PropertyResult) -> bool {
    let is_decided = !matches!(result.verdict, Verdict::Unknown(_));
    is_decided && result.basis == Basis::Model && !result.methods.contains(&Pass::RandomSearch)
}

/// The caller's limits, and one on states.
struct FewStates<'a>(&'a dyn Watch);

impl Watch for FewStates<'_> {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        let limit = self.0.check(progress);
        limit.or_else(|| (progress.states > MOST_STATES).then_some(Exhausted::Interrupted))
    }

    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
