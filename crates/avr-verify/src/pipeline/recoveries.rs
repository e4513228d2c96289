//! Properties that claims about loops and symbolic execution prove, where no state space decides them.

use super::property_result::proved;
use crate::invariants::{Invariants, Recovery, everywhere, may_be_proved, text};
use crate::request::Request;
use crate::results::{Basis, PropertyResult};
use avr_machine::Machine;
use avr_model::pass::Pass;
use avr_properties::{AtomTable, BoundProperty, Property, bind};
use std::time::Instant;
use tvar::Progress;

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
    bound.is_ok_and(|bound| may_be_proved(&bound) && everywhere(&bound.formula).is_some())
}

/// The result of a property that claims or symbolic execution prove.
///
/// # Errors
/// The reason why they do not, as a note; none if the property has another form or the work was cut off.
pub(crate) fn recovered(
    request: &Request<'_>,
    (machine, invariants): (&Machine, &Invariants),
    property: &Property,
) -> Result<PropertyResult, Option<String>> {
    if request.watch.cancelled() {
        return Err(None);
    }
    let mut table = AtomTable::default();
    let bound = bind(property, &request.file.definitions, &request.binding(), &mut table).map_err(|_| None)?;
    let started = Instant::now();
    let is_over = || request.watch.cancelled() || request.watch.check(&Progress::default()).is_some();
    match invariants.prove_symbolically(machine, (table.atoms(), &bound), &is_over) {
        Recovery::OtherForm => Err(None),
        Recovery::Everywhere => {
            let mut result = proved(property, &bound, invariants);
            result.notes = bound.notes.clone();
            result.vacuous = invariants.vacuity(table.atoms(), &bound);
            result.methods.push(Pass::SymbolicExecution);
            result.statistics.time = started.elapsed();
            Ok(result)
        }
        Recovery::Comes(comes) => {
            let mut result = proved(property, &bound, invariants);
            let claims = comes.proofs.iter().flat_map(|proof| text::rank_claims(machine, request.image, proof));
            // That fair runs go on is a premise, which rests on the choices of its strategies.
            let rests_on_model = comes.fair.iter().any(|proof| proof.freedom.events || proof.freedom.hardware);
            result.basis = if rests_on_model { Basis::Model } else { Basis::Hardware };
            finish(&mut result, (&bound, claims.collect()), started);
            result.vacuous = invariants.vacuity(table.atoms(), &bound);
            Ok(result)
        }
        Recovery::Stuck(stuck) => {
            Err(Some(format!("claims about loops do not prove it: {}", text::stuck(request.image, &stuck))))
        }
        Recovery::Proved(proofs) => {
            let rests_on_model = proofs.iter().any(|proof| proof.freedom.events || proof.freedom.hardware);
            let claims = proofs.iter().flat_map(|proof| text::claims(machine, request.image, proof));
            let mut result = proved(property, &bound, invariants);
            finish(&mut result, (&bound, claims.collect()), started);
            result.vacuous = invariants.vacuity(table.atoms(), &bound);
            result.basis = if rests_on_model { Basis::Model } else { Basis::Hardware };
            Ok(result)
        }
    }
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
fn finish(result: &mut PropertyResult, (bound, claims): (&BoundProperty, Vec<String>), started: Instant) {
    result.notes = bound.notes.clone();
    for claim in claims {
        if !result.notes.contains(&claim) {
            result.notes.push(claim);
        }
    }
    result.methods.push(Pass::Claims);
    result.statistics.time = started.elapsed();
}
