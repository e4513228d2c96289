//! Certificates of the properties of a request.

use super::{Claimed, PropertyText, certificate};
use crate::diagnosis::subformulas::Effort;
use crate::invariants::Invariants;
use crate::pipeline::confined::{closed_set_of, confined, may_be_confined};
use crate::pipeline::goals::PropertyGoals;
use crate::pipeline::machine::machine;
use crate::pipeline::property_groups::{CONTRADICTION, FewLooks};
use crate::pipeline::property_result::{Purpose, Work};
use crate::pipeline::recoveries::{Recovered, may_prove, recovered};
use crate::pipeline::verified::verified_while;
use crate::pipeline::verify;
use crate::request::{InvariantUse, Reductions, Request};
use crate::results::{PropertyResult, Results, Unknown, Verdict};
use avr_analysis::interrupts::lets_interrupts_in;
use avr_certificate::Certificate;
use avr_machine::Machine;
use avr_model::pass::Pass;
use avr_properties::{AtomTable, Property, PropertyError, bind};
use std::collections::BTreeMap;
use tvar::Strategy;

/// The reason why there is no proof of what a run into a closed set shows.
const IN_CLOSED_SET: &str = "a run into a closed set shows it, which was not found again";

/// Verifies the properties of an image, hands the results over, and writes down the proofs of those that are decided.
/// The proofs take time of their own. The text must be what the properties of the request were read from.
///
/// Proofs by invariants are small. Before anything else is tried, `announce` gets the names of the properties whose proofs take state
/// spaces in which nothing is left out, if there are any.
///
/// # Errors
/// As [`verify`].
pub fn certify(
    request: &Request<'_>,
    text: &PropertyText,
    announce: impl FnOnce(&[&str]),
    results: impl FnOnce(Results),
) -> Result<Certificate, PropertyError> {
    request.file.check_certifiable()?;
    let machine = machine(request)?;
    let sought = request.find_invariants(&machine);
    let request = &request.with_invariants(sought.as_ref());
    let open = unproved(request, sought.as_ref().and_then(|sought| sought.found.as_ref()));
    if !open.is_empty() && request.allows_reduction() && lets_interrupts_in(&machine) {
        announce(&open);
    }
    let mut results = Some(results);
    let mut finish = |work: &Work<'_, '_>, mut found: Results, mut claims: Vec<Claimed>| {
        let stack = found.stack;
        add_unproved((request, &machine), &mut found, &mut claims);
        if let Some(results) = results.take() {
            results(found.after(sought.as_ref()));
        }
        certificate(work.firmware, request, text, (&work.asked.goals, work.outcome, work.invariants), (&claims, stack))
    };
    let how = (Effort::LITTLE, Purpose::Certificate);
    let mut by_execution = ByExecution::new(request, &machine);
    let few_steps = FewLooks::few_steps(request.watch);
    let mut watch = request.watch;
    if by_execution.may_prove_some() {
        let few = FewLooks::before_claims(request.watch);
        let finished = verified_while((request, &few), how, |work, goals, mut found| {
            by_execution.look(&found);
            let left = by_execution.left(&found);
            if left == Left::Basis {
                watch = &few_steps;
            }
            // What no limit stood in the way of is not tried again.
            (left == Left::Nothing || !few.are_over()).then(|| {
                found.interrupted &= request.watch.cancelled();
                let mut claims: Vec<Claimed> = goals.iter().zip(&found.properties).map(claimed).collect();
                by_execution.add(&mut found, &mut claims);
                finish(work, found, claims)
            })
        })?;
        if let Some(certificate) = finished {
            return Ok(certificate);
        }
    }
    verified_while((request, watch), how, |work, goals, mut found| {
        found.interrupted &= request.watch.cancelled();
        let mut claims: Vec<Claimed> = goals.iter().zip(&found.properties).map(claimed).collect();
        by_execution.add(&mut found, &mut claims);
        finish(work, found, claims)
    })
}

/// The work of state spaces that is left where claims were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    Nothing,
    /// Claims prove what is open, and they rest on the model.
    Basis,
    /// Verdicts.
    Verdicts,
}

/// The properties that symbolic execution proves.
struct ByExecution<'a> {
    request: &'a Request<'a>,
    machine: &'a Machine,
    /// The invariants that it rests on, with the numbers of the properties that they do not prove by themselves and it may.
    invariants: Option<(&'a Invariants, Vec<usize>)>,
    /// By the number of the property.
    proved: BTreeMap<usize, Recovered>,
}

impl<'a> ByExecution<'a> {
    fn new(request: &'a Request<'a>, machine: &'a Machine) -> Self {
        let invariants = match request.invariants {
            InvariantUse::Given(invariants) => Some(invariants),
            InvariantUse::Find | InvariantUse::Open(_) | InvariantUse::Off => None,
        };
        let candidates = |invariants| {
            let is_candidate =
                |property| is_unproved(request, Some(invariants), property) && may_prove(request, property);
            let candidates = (0..).zip(&request.file.properties).filter(|(_, property)| is_candidate(property));
            candidates.map(|(number, _)| number).collect()
        };
        let invariants = invariants.map(|invariants| (invariants, candidates(invariants)));
        Self { request, machine, invariants, proved: BTreeMap::new() }
    }

    fn may_prove_some(&self) -> bool {
        self.invariants.as_ref().is_some_and(|(_, candidates)| !candidates.is_empty())
    }

    /// Looks for proofs of what is open.
    fn look(&mut self, found: &Results) {
        let Some((invariants, candidates)) = &self.invariants else { return };
        let is_sought = |result: &PropertyResult| result.is_open() || result.is_violated_in_model();
        for number in candidates.iter().filter(|number| is_sought(&found.properties[**number])) {
            let property = &self.request.file.properties[*number];
            let recovered = recovered(self.request, (self.machine, invariants), property).ok();
            let confined = || {
                let may_be = may_be_confined(self.request, property);
                let may_be = may_be && found.properties[*number].is_open();
                may_be.then(|| confined(self.request, self.machine, property)).flatten()
            };
            let found = recovered.or_else(|| confined().map(|result| Recovered { result, proof: None }));
            if let Some(found) = found {
                self.proved.insert(*number, found);
            }
        }
    }

    /// The work that is left with these results of state spaces.
    fn left(&self, found: &Results) -> Left {
        let left = |(number, result): (usize, &PropertyResult)| match self.proved.get(&number) {
            _ if !result.is_open() => Left::Nothing,
            None => Left::Verdicts,
            Some(proved) if proved.result.verdict == Verdict::Violated => Left::Nothing,
            Some(proved) if !proved.result.rests_on_choices() => Left::Nothing,
            Some(_) if self.request.strict => Left::Verdicts,
            Some(_) => Left::Basis,
        };
        found.properties.iter().enumerate().map(left).max().unwrap_or(Left::Nothing)
    }

    /// Adds the proofs of what is open.
    fn add(&mut self, found: &mut Results, claims: &mut [Claimed]) {
        for (number, Recovered { result, proof }) in std::mem::take(&mut self.proved) {
            let known = &mut found.properties[number];
            if known.is_open() || result.outweighs(known) {
                // Of fair paths invariants say nothing.
                let vacuous =
                    result.vacuous.as_ref().filter(|_| self.request.file.properties[number].under().is_empty());
                let part = vacuous.and_then(|vacuity| vacuity.part);
                claims[number] = match proof {
                    Some(proof) => Claimed::Symbolic(proof, part),
                    None => {
                        let property = &self.request.file.properties[number];
                        let closed = closed_set_of(self.request, self.machine, (property, &result));
                        closed.map_or_else(|| Claimed::Unproved(IN_CLOSED_SET.to_owned()), Claimed::Confined)
                    }
                };
                *known = result;
            } else if known.contradicts(&result) {
                known.verdict = Verdict::Unknown(Unknown::failed_self_check(CONTRADICTION.to_owned()));
                claims[number] = Claimed::Nothing;
            }
        }
    }
}

/// The properties that invariants do not prove, nor perhaps symbolic execution, by their names.
fn unproved<'a>(request: &Request<'a>, invariants: Option<&Invariants>) -> Vec<&'a str> {
    let may_be_executed = |property: &Property| invariants.is_some() && may_prove(request, property);
    let is_open = |property: &&Property| is_unproved(request, invariants, property) && !may_be_executed(property);
    request.file.properties.iter().filter(is_open).map(Property::name).collect()
}

/// True for a property that invariants do not prove.
fn is_unproved(request: &Request<'_>, invariants: Option<&Invariants>, property: &Property) -> bool {
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table);
    bound.is_ok_and(|bound| !invariants.is_some_and(|map| map.prove_property(table.atoms(), &bound)))
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
fn add_unproved((request, machine): (&Request<'_>, &Machine), found: &mut Results, claims: &mut [Claimed]) {
    let is_open = |result: &PropertyResult| matches!(result.verdict, Verdict::Unknown(_));
    // Random runs take no part in certificates, and where invariants prove everything, nothing else tells that the bound is exact.
    let is_exact = found.stack.lower.is_some() && found.stack.lower == found.stack.upper;
    let is_of_use =
        found.properties.iter().any(is_open) || matches!(request.invariants, InvariantUse::Given(_)) && !is_exact;
    if request.strategy != Strategy::Default || !is_of_use || request.watch.cancelled() {
        return;
    }
    let Ok(reduced) = verify(request) else { return };
    let pairs = found.properties.iter_mut().zip(reduced.properties).zip(claims);
    for (((result, reduced), claim), property) in pairs.zip(&request.file.properties) {
        let (Verdict::Unknown(unknown), Verdict::Holds | Verdict::Violated) = (&result.verdict, &reduced.verdict)
        else {
            continue;
        };
        if unknown.self_check_failed {
            continue;
        }
        let why = &unknown.reason;
        let unproved = || match &reduced.evidence {
            Some(_) => format!("a run shows it, and no proof was found, because {why}"),
            None => format!("it was decided with {}, for which {why}", left_out(request.reductions)),
        };
        let closed = closed_set_of(request, machine, (property, &reduced));
        *claim = closed.map_or_else(|| Claimed::Unproved(unproved()), Claimed::Confined);
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
