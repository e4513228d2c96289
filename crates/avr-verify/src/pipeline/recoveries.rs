//! Properties that claims about loops and symbolic execution prove, where no state space decides them.

use super::property_result::proved;
use crate::invariants::{Invariants, Recovery, everywhere, may_be_proved, text};
use crate::request::Request;
use crate::results::{Basis, PropertyResult};
use avr_machine::Machine;
use avr_model::pass::Pass;
use avr_properties::{AtomTable, Property, bind};
use std::time::Instant;
use tvar::Progress;

/// The most parts of a property without a proof that a note names.
const MOST_OPEN: usize = 6;

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
        Recovery::Stuck(proved, open) => {
            let count = open.len() + proved;
            let open = open.iter().take(MOST_OPEN).map(|(what, stuck)| match what {
                Some(what) => format!("{what}: {}", text::stuck(request.image, stuck)),
                None => text::stuck(request.image, stuck),
            });
            let open = open.collect::<Vec<_>>().join("; ");
            let parts = if count == 1 { String::new() } else { format!(", but {proved} of its {count} parts") };
            Err(Some(format!("claims about loops do not prove it{parts}: {open}")))
        }
        Recovery::Proved(proofs) => {
            let rests_on_model = proofs.iter().any(|proof| proof.freedom.events || proof.freedom.hardware);
            let claims = proofs.iter().flat_map(|proof| text::claims(machine, request.image, proof));
            let mut result = proved(property, &bound, invariants);
            result.notes = bound.notes.clone();
            for claim in claims {
                if !result.notes.contains(&claim) {
                    result.notes.push(claim);
                }
            }
            result.vacuous = invariants.vacuity(table.atoms(), &bound);
            result.basis = if rests_on_model { Basis::Model } else { Basis::Hardware };
            result.methods.push(Pass::Claims);
            result.statistics.time = started.elapsed();
            Ok(result)
        }
    }
}
