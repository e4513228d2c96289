//! Verification with contracts in place of bodies.

use super::proved::{ContractUse, bound, verdict};
use crate::findings::verify;
use crate::request::{InvariantUse, Reductions, Request};
use crate::results::{PropertyResult, Results, Unknown, Verdict};
use crate::stack_bound::StackBound;
use avr_properties::{AtomTable, Property, PropertyError, bind};
use mu_calculus::{Modality, Node};
use tvar::Strategy;

/// Verifies the properties of an image with contracts in place of the bodies of functions that have one. Without contracts it is
/// [`verify`](crate::verify).
///
/// A property that holds for all paths holds if the contracts do. A violation is told only where a run of the whole firmware shows it.
///
/// # Errors
/// As [`verify`](crate::verify), and if a contract cannot be used.
pub fn verify_with_contracts(request: &Request<'_>) -> Result<Results, PropertyError> {
    if request.file.contracts.is_empty() {
        return verify(request);
    }
    let (machine, contracts) = bound(request)?;
    let is_over = || request.watch.cancelled();
    let used = contracts.iter().zip(&request.file.contracts).map(|(contract, stated)| ContractUse {
        function: contract.name.clone(),
        text: stated.to_string(),
        proved: verdict(&machine, contract, &is_over).0 == Verdict::Holds,
    });
    let used: Vec<ContractUse> = used.collect();
    // SOUND: maps, claims, reductions and predicates know nothing of contracts, and no result is told before it was looked at here.
    let request = Request {
        contracts: &contracts,
        strategy: Strategy::Default,
        reductions: Reductions::NONE,
        predicates: false,
        invariants: InvariantUse::Off,
        known: None,
        ..*request
    };
    let mut results = verify(&request)?;
    let are_proved = used.iter().all(|contract| contract.proved);
    for (result, property) in results.properties.iter_mut().zip(&request.file.properties) {
        accept(result, is_universal(&request, property), are_proved);
    }
    // A state inside a function is as deep as its contract allows, and no run need be.
    results.stack = StackBound { lower: None, ..results.stack };
    results.survey = None;
    let unproved = used.iter().filter(|contract| !contract.proved);
    results.assumptions.extend(unproved.map(|contract| contract.text.clone()));
    results.contracts = used;
    Ok(results)
}

/// True if a property speaks of all paths, and of no path that must exist.
fn is_universal(request: &Request<'_>, property: &Property) -> bool {
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table);
    let speaks_of_some = |node: &Node| matches!(node, Node::Modal(Modality::Diamond, _));
    bound.is_ok_and(|bound| !bound.normal_form.nodes().iter().any(speaks_of_some))
}

/// Takes back a verdict that contracts do not carry.
fn accept(result: &mut PropertyResult, is_universal: bool, are_proved: bool) {
    let reason = match &result.verdict {
        // SOUND: a step of the model inside a function stands for many, of which none is told to exist.
        Verdict::Holds if is_universal => return,
        Verdict::Holds => "it speaks of paths that exist, and contracts do not tell which do".to_owned(),
        Verdict::Violated if result.evidence.as_ref().is_some_and(|run| run.replayed) => return,
        Verdict::Violated => {
            "what the contracts allow violates it, and no run of the whole firmware that does was found".to_owned()
        }
        Verdict::Unknown(unknown) if unknown.self_check_failed && !are_proved => {
            format!("a contract that is not proved may be false: {}", unknown.reason)
        }
        Verdict::Unknown(_) => return,
    };
    result.verdict = Verdict::Unknown(Unknown::because(reason));
    (result.evidence, result.evidence_missing, result.detail) = (None, None, None);
    (result.vacuous, result.explanation) = (None, None);
}
