//! Properties that claims about loops and symbolic execution prove, where no state space decides them.

use super::property_result::proved;
use crate::invariants::{Invariants, Recovery, SymbolicProof, may_be_proved, text};
use crate::request::Request;
use crate::results::{Basis, PropertyResult};
use avr_machine::Machine;
use avr_model::pass::Pass;
use avr_progress::{Form, Proof};
use avr_properties::{AtomTable, BoundProperty, Property, bind};
use mu_calculus::{Formula, PathQuantifier};
use std::time::Instant;
use tvar::Progress;

/// The most parts of a property without a proof that a note names.
const MOST_OPEN: usize = 6;

/// A result that rests on symbolic execution, with the proof.
pub(crate) struct Recovered {
    /// The result.
    pub(crate) result: PropertyResult,
    /// The proof, if certificates have a form for it.
    pub(crate) proof: Option<SymbolicProof>,
}

/// True if claims or symbolic execution may prove a property.
pub(crate) fn may_prove(request: &Request<'_>, property: &Property) -> bool {
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table);
    bound.is_ok_and(|bound| may_be_proved(&bound))
}

/// True if symbolic execution may prove a property by its number.
pub(crate) fn may_hold_everywhere(request: &Request<'_>, number: usize) -> bool {
    let mut table = AtomTable::default();
    let property = &request.file.properties[number];
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table);
    bound.is_ok_and(|bound| Form::of(&bound).is_some_and(|form| form.is_everywhere()))
}

/// The result of a property that claims or symbolic execution prove.
///
/// # Errors
/// The reason why they do not, as a note; none if the property has another form or the work was cut off.
pub(crate) fn recovered(
    request: &Request<'_>,
    (machine, invariants): (&Machine, &Invariants),
    property: &Property,
) -> Result<Recovered, Option<String>> {
    if request.watch.cancelled() {
        return Err(None);
    }
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table).map_err(|_| None)?;
    let started = Instant::now();
    let is_over = || request.watch.cancelled() || request.watch.check(&Progress::default()).is_some();
    let proof = match invariants.prove_symbolically(machine, (table.atoms(), &bound), &is_over) {
        Recovery::OtherForm => return Err(None),
        Recovery::Stuck(proved, open) => {
            let count = open.len() + proved;
            let open = open.iter().take(MOST_OPEN).map(|(what, stuck)| match what {
                Some(what) => format!("{what}: {}", text::stuck(request.image, stuck)),
                None => text::stuck(request.image, stuck),
            });
            let open = open.collect::<Vec<_>>().join("; ");
            let parts = if count == 1 { String::new() } else { format!(", but {proved} of its {count} parts") };
            return Err(Some(format!("claims about loops do not prove it{parts}: {open}")));
        }
        Recovery::Comes(comes) => {
            let mut result = proved(property, &bound, invariants);
            let claims = comes.proofs.iter().flat_map(|proof| text::rank_claims(machine, request.image, proof));
            // That fair runs go on is a premise, which rests on the choices of its strategies.
            let is_of_model = comes.fair.iter().any(Proof::rests_on_choices);
            result.basis = if is_of_model { Basis::Model } else { Basis::Hardware };
            result.vacuous = invariants.vacuity(table.atoms(), &bound);
            finish(&mut result, (Pass::Ranks, &bound, claims.collect()), started);
            return Ok(Recovered { result, proof: None });
        }
        Recovery::Proved(proof) => proof,
    };
    let mut result = proved(property, &bound, invariants);
    result.vacuous = invariants.vacuity(table.atoms(), &bound);
    match &proof {
        SymbolicProof::Everywhere => {
            result.notes = bound.notes.clone();
            result.methods.push(Pass::SymbolicExecution);
            result.statistics.time = started.elapsed();
        }
        SymbolicProof::Claims(proofs) => {
            let claims = proofs.iter().flat_map(|proof| text::claims(machine, request.image, proof));
            let is_of_model = proofs.iter().any(Proof::rests_on_choices);
            result.basis = if is_of_model { Basis::Model } else { Basis::Hardware };
            finish(&mut result, (Pass::Claims, &bound, claims.collect()), started);
            if let Formula::Path(PathQuantifier::Exists, ..) | Formula::PathPair(PathQuantifier::Exists, ..) =
                bound.formula
            {
                result.evidence_missing = Some("claims about loops prove it, and no run was looked for".to_owned());
            }
        }
    }
    Ok(Recovered { result, proof: Some(proof) })
}

/// The fairness that would make a property true, as a note, if some is found soon.
pub(crate) fn fairness_for(
    request: &Request<'_>,
    (machine, invariants): (&Machine, &Invariants),
    property: &Property,
) -> Option<String> {
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table).ok()?;
    let is_over = || request.watch.cancelled() || request.watch.check(&Progress::default()).is_some();
    let may_come = may_be_proved(&bound) && !is_over();
    let numbers = may_come.then(|| invariants.fairness_for(machine, (table.atoms(), &bound), &is_over))??;
    Some(text::fairness(machine, &numbers))
}

/// Says by which claims a property was proved.
fn finish(result: &mut PropertyResult, (pass, bound, claims): (Pass, &BoundProperty, Vec<String>), started: Instant) {
    result.notes = bound.notes.clone();
    for claim in claims {
        if !result.notes.contains(&claim) {
            result.notes.push(claim);
        }
    }
    result.methods.push(pass);
    result.statistics.time = started.elapsed();
}
