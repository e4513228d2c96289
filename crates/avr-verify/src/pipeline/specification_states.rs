//! The states of a specification beside the run that shows a verdict.

use avr_properties::{Atom, BoundProperty, Monitor, unanswered};
use avr_witness::Evidence;
use mu_calculus::AtomId;

use crate::results::PropertyResult;

/// A result whose run has the states of the specification beside it, if the property names one. Where the specification has no
/// answer to the last step, that is what the run shows.
pub(crate) fn beside(mut result: PropertyResult, bound: &BoundProperty, atoms: &[Atom]) -> PropertyResult {
    let (Some(monitor), Some(run)) = (&bound.monitor, &mut result.evidence) else { return result };
    tell(run, monitor, bound, atoms);
    for branch in &mut run.branches {
        // What comes before is the formula of the answers that are left.
        if let Some((_, shown)) = branch.claim.rsplit_once(": ") {
            branch.claim = format!("where the specification answers otherwise, {shown}");
        }
        tell(branch, monitor, bound, atoms);
    }
    result
}

fn tell(run: &mut Evidence, monitor: &Monitor, bound: &BoundProperty, atoms: &[Atom]) {
    let value = |atom: AtomId, step: u64| {
        let trace = run.traces.iter().find(|trace| trace.text == atoms[atom.index()].text())?;
        let next = trace.changes.partition_point(|(at, _)| *at <= step);
        trace.changes[next.checked_sub(1)?].1
    };
    let moments = monitor.along(run.steps, &bound.atoms, &value).unwrap_or_default();
    if let Some(claim) = unanswered(&moments).filter(|_| run.replayed) {
        run.claim = claim;
    }
    run.specification = moments;
}
