//! Certificates of the properties of a request.

use super::{Claimed, PropertyText, certificate};
use crate::diagnosis::subformulas::Effort;
use crate::pipeline::goals::PropertyGoals;
use crate::pipeline::property_result::Purpose;
use crate::pipeline::verified::verified;
use crate::pipeline::verify;
use crate::request::{Reductions, Request};
use crate::results::{PropertyResult, Results, Verdict};
use avr_certificate::Certificate;
use avr_model::pass::Pass;
use avr_properties::PropertyError;
use tvar::Strategy;

/// Verifies the properties of an image, hands the results over, and writes down the proofs of those that are decided.
/// The proofs take time of their own. The text must be what the properties of the request were read from.
///
/// # Errors
/// As [`verify`].
pub fn certify(
    request: &Request<'_>,
    text: &PropertyText,
    results: impl FnOnce(Results),
) -> Result<Certificate, PropertyError> {
    request.file.check_certifiable()?;
    verified(request, (Effort::LITTLE, Purpose::Certificate), |work, goals, mut found| {
        let mut claims: Vec<Claimed> = goals.iter().zip(&found.properties).map(claimed).collect();
        let stack = found.stack;
        add_unproved(request, &mut found, &mut claims);
        results(found);
        certificate(work.firmware, request, text, (&work.asked.goals, work.outcome, work.invariants), (&claims, stack))
    })
}

/// The claim about a property, and the goals that prove it.
fn claimed((goals, result): (&Option<PropertyGoals>, &PropertyResult)) -> Claimed {
    let vacuous = result.vacuous.as_ref().and_then(|vacuity| vacuity.part);
    match (*goals, &result.verdict) {
        (_, Verdict::Holds) if result.methods == [Pass::Invariants] => Claimed::Invariant(vacuous),
        (None, _) | (_, Verdict::Unknown(_)) => Claimed::Nothing,
        (Some(goals), verdict) => Claimed::Decided { holds: *verdict == Verdict::Holds, goals, vacuous },
    }
}

/// Adds what is decided only with something left out or by random runs, as far as a limit leaves time for it.
fn add_unproved(request: &Request<'_>, found: &mut Results, claims: &mut [Claimed]) {
    let is_open = |result: &PropertyResult| matches!(result.verdict, Verdict::Unknown(_));
    if request.strategy != Strategy::Default || !found.properties.iter().any(is_open) || request.watch.cancelled() {
        return;
    }
    let Ok(reduced) = verify(request) else { return };
    let pairs = found.properties.iter_mut().zip(reduced.properties).zip(claims);
    for ((result, reduced), claim) in pairs {
        let (Verdict::Unknown(unknown), Verdict::Holds | Verdict::Violated) = (&result.verdict, &reduced.verdict)
        else {
            continue;
        };
        if unknown.self_check_failed {
            continue;
        }
        let why = &unknown.reason;
        *claim = Claimed::Unproved(match &reduced.evidence {
            Some(_) => format!("a run shows it, and no proof was found, because {why}"),
            None => format!("it was decided with {}, for which {why}", left_out(request.reductions)),
        });
        *result = reduced;
    }
    found.stack = found.stack.and(reduced.stack);
    found.survey = found.survey.take().or(reduced.survey);
}

/// The reductions in words, with the part of the state space that a proof needs beside the reduced one.
fn left_out(reductions: Reductions) -> &'static str {
    match (reductions.interrupts, reductions.paths) {
        (true, true) => {
            "partial-order reduction of interrupts and path compression, and a proof needs all interrupts and all states"
        }
        (true, false) => "partial-order reduction of interrupts, and a proof needs them wherever they can come",
        (false, _) => "path compression, and a proof needs all states",
    }
}
