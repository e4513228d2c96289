//! Verification with contracts in place of bodies.

use super::proved::{bound, verdict};
use crate::findings::verify;
use crate::request::{InvariantUse, Reductions, Request};
use crate::results::{ContractUse, PropertyResult, Results, Unknown, Verdict};
use crate::stack_bound::StackBound;
use avr_machine::Contract;
use avr_properties::{Atom, AtomKind, AtomTable, BoundProperty, Event, Property, PropertyError, bind};
use mu_calculus::{Modality, Node};
use tvar::Strategy;

/// Verifies the properties of an image with contracts in place of the bodies of functions that have one. Without contracts it is
/// [`verify`](crate::verify).
///
/// A property that holds for all paths holds if the contracts do. Where they allow it to be violated, it is decided again with bodies.
///
/// # Errors
/// As [`verify`](crate::verify), and if a contract cannot be used.
pub fn verify_with_contracts(request: &Request<'_>) -> Result<Results, PropertyError> {
    if request.file.contracts.is_empty() {
        return verify(request);
    }
    let (machine, contracts) = bound(request)?;
    let is_over = || request.watch.cancelled();
    let looked_at = contracts.iter().zip(&request.file.contracts).map(|(contract, stated)| {
        let (verdict, _, broken) = verdict(&machine, contract, &is_over);
        let (function, text) = (contract.name.clone(), stated.to_string());
        ContractUse { function, text, proved: verdict == Verdict::Holds, broken }
    });
    let looked_at: Vec<ContractUse> = looked_at.collect();
    // A contract that a run breaks is of no use: its body is looked at.
    let is_used = |(contract, looked_at): (Contract, &ContractUse)| looked_at.broken.is_none().then_some(contract);
    let contracts: Vec<Contract> = contracts.into_iter().zip(&looked_at).filter_map(is_used).collect();
    if contracts.is_empty() {
        let mut results = verify(request)?;
        tell_broken(&mut results, &looked_at);
        return Ok(Results { contracts: looked_at, ..results });
    }
    // SOUND: maps, claims, reductions and predicates know nothing of contracts, and no result is told before it was looked at here.
    let with_bodies = request;
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
    let are_proved = looked_at.iter().all(|contract| contract.proved || contract.broken.is_some());
    let is_refuted = |result: &PropertyResult| result.verdict == Verdict::Violated;
    let refuted: Vec<bool> = results.properties.iter().map(is_refuted).collect();
    for (result, property) in results.properties.iter_mut().zip(&request.file.properties) {
        accept(result, is_universal(&request, property), are_proved);
    }
    look_at_bodies(with_bodies, &mut results, &refuted)?;
    // A state inside a function is as deep as its contract allows, and no run need be.
    results.stack = StackBound { lower: None, ..results.stack };
    results.survey = None;
    let assumed = looked_at.iter().filter(|contract| !contract.proved && contract.broken.is_none());
    results.assumptions.extend(assumed.map(|contract| contract.text.clone()));
    tell_broken(&mut results, &looked_at);
    Ok(Results { contracts: looked_at, ..results })
}

/// Decides properties that contracts allow to be violated again, with bodies: only runs of the whole firmware tell that something is
/// violated.
fn look_at_bodies(request: &Request<'_>, results: &mut Results, refuted: &[bool]) -> Result<(), PropertyError> {
    let is_open = |(result, is_refuted): (&PropertyResult, &bool)| *is_refuted && result.is_open();
    let open = results.properties.iter().zip(refuted).enumerate().filter(|(_, one)| is_open(*one));
    let open: Vec<usize> = open.map(|(number, _)| number).collect();
    if open.is_empty() || request.watch.cancelled() {
        return Ok(());
    }
    let mut file = request.file.clone();
    file.properties = open.iter().map(|number| request.file.properties[*number].clone()).collect();
    let again = verify(&Request { file: &file, findings: None, known: None, ..*request })?;
    for (number, result) in open.into_iter().zip(again.properties) {
        if !result.is_open() {
            results.properties[number] = result;
        }
    }
    Ok(())
}

/// Notes, with the first property, which contracts are broken.
fn tell_broken(results: &mut Results, looked_at: &[ContractUse]) {
    let broken = |contract: &ContractUse| {
        let breach = contract.broken.as_ref()?;
        Some(format!("{} breaks its contract, so its body is looked at: {breach}", contract.function))
    };
    if let Some(first) = results.properties.first_mut() {
        first.notes.extend(looked_at.iter().filter_map(broken));
    }
}

/// True if a property speaks of all paths, of no path that must exist, and of no return, of which a function with a contract may have
/// others inside.
fn is_universal(request: &Request<'_>, property: &Property) -> bool {
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table);
    let speaks_of_some = |node: &Node| matches!(node, Node::Modal(Modality::Diamond, _));
    let is_return = |atom: &Atom| matches!(atom.kind(), AtomKind::Event(Event::Return(_), _));
    let carries = |bound: BoundProperty| !bound.normal_form.nodes().iter().any(speaks_of_some);
    bound.is_ok_and(carries) && !table.atoms().iter().any(is_return)
}

/// Takes back a verdict that contracts do not carry.
fn accept(result: &mut PropertyResult, is_universal: bool, are_proved: bool) {
    let reason = match &result.verdict {
        // SOUND: a step of the model inside a function stands for many, of which none is told to exist.
        Verdict::Holds if is_universal => return,
        Verdict::Holds => "it speaks of paths that exist, and contracts do not tell which do".to_owned(),
        Verdict::Violated if result.evidence.as_ref().is_some_and(|run| run.replayed) => return,
        Verdict::Violated => {
            "what the contracts allow violates it, and with the bodies in their places it was not decided".to_owned()
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
