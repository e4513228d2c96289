//! The contracts of a property file with what is proved of them.

use super::caller::broken;
use super::proof::{Proof, prove};
use crate::pipeline::machine::machine;
use crate::request::Request;
use crate::results::{Basis, PropertyResult, Results, Statistics, Unknown, Verdict};
use crate::stack_bound::StackBound;
use avr_machine::{Contract, Machine};
use avr_properties::{FunctionContract, PropertyError, PropertyFile, bind_contracts};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The bound contracts of a request, with the machine that has none.
pub(super) fn bound(request: &Request<'_>) -> Result<(Machine, Vec<Contract>), PropertyError> {
    let machine = machine(&Request { contracts: &[], ..*request })?;
    let contracts = bind_contracts(request.file, &request.binding(), &machine)?;
    Ok((machine, contracts))
}

/// The verdict about a contract, with the number of steps, and a breach if one is found.
pub(super) fn verdict(
    machine: &Machine,
    contract: &Contract,
    is_over: &dyn Fn() -> bool,
) -> (Verdict, usize, Option<String>) {
    match prove(machine, contract, is_over) {
        Proof::Kept { steps } => (Verdict::Holds, steps, None),
        Proof::Open { reason, steps, callers } => match broken(machine, contract, &callers) {
            Some(breach) => (Verdict::Violated, steps, Some(breach)),
            None => (Verdict::Unknown(Unknown::because(reason)), steps, None),
        },
    }
}

/// Proves the body of each function that has a contract: one result of kind `Contract` for each, in the order of the property file.
///
/// # Errors
/// If a contract or something else in the property file cannot be used.
pub fn prove_contracts(request: &Request<'_>) -> Result<Results, PropertyError> {
    let (machine, contracts) = bound(request)?;
    let is_over = || request.watch.cancelled();
    let prove = |(contract, stated): (&Contract, &FunctionContract)| {
        let begun = Instant::now();
        let (verdict, steps, breach) = verdict(&machine, contract, &is_over);
        result(stated, verdict, (steps, begun.elapsed()), breach)
    };
    let properties = contracts.iter().zip(&request.file.contracts).map(prove).collect();
    Ok(Results {
        properties,
        findings: Vec::new(),
        stack: StackBound::default(),
        stacks: Vec::new(),
        survey: None,
        assumptions: crate::assumptions(request.file, request.start, request.device),
        ended_paths: BTreeMap::new(),
        interrupted: request.watch.cancelled(),
        passes: 0,
        last_pass: Duration::ZERO,
        exploration: None,
        invariants: None,
        contracts: Vec::new(),
    })
}

/// Results in which no contract is proved, for this reason, in the order of the property file.
#[must_use]
pub fn open_contracts(file: &PropertyFile, unknown: &Unknown) -> Vec<PropertyResult> {
    let open = |stated| result(stated, Verdict::Unknown(unknown.clone()), (0, Duration::ZERO), None);
    file.contracts.iter().map(open).collect()
}

/// The result for a contract.
fn result(
    stated: &FunctionContract,
    verdict: Verdict,
    (steps, time): (usize, Duration),
    breach: Option<String>,
) -> PropertyResult {
    PropertyResult {
        name: stated.function.text.clone(),
        kind: "Contract".to_owned(),
        formula: stated.to_string(),
        verdict,
        detail: None,
        basis: Basis::Hardware,
        methods: Vec::new(),
        predicates: Vec::new(),
        recheck: None,
        statistics: Statistics { refinements: 0, states: steps, transitions: steps, time },
        evidence: None,
        evidence_missing: None,
        vacuous: None,
        explanation: None,
        notes: breach.into_iter().collect(),
        promises: Vec::new(),
    }
}
