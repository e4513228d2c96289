//! Properties that claims about loops and symbolic execution prove, where no state space decides them.

use super::goals::with_evidence;
use super::property_result::proved;
use crate::invariants::{Claimed, Invariants, Recovery, SymbolicProof, may_be_proved, text};
use crate::request::Request;
use crate::results::{Basis, PropertyResult};
use avr_machine::Machine;
use avr_model::Firmware;
use avr_model::pass::Pass;
use avr_model::reduction::passes::Passes;
use avr_progress::{Form, Proof, WithAtoms};
use avr_properties::{Atom, AtomTable, BoundProperty, Property, bind};
use avr_witness::{Search, claimed_run};
use mu_calculus::{Formula, PathQuantifier};
use std::time::Instant;
use tvar::{Goal, Progress};

/// The most parts of a property without a proof that a note names.
const MOST_OPEN: usize = 6;

/// A result that rests on symbolic execution, with the proof.
pub(crate) struct Recovered {
    /// The result.
    pub(crate) result: PropertyResult,
    /// The proof, if symbolic execution is one.
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
        SymbolicProof::Ranks(comes) => {
            let claims = comes.proof.parts.iter().flat_map(|ranks| text::rank_claims(machine, request.image, ranks));
            result.promises = text::promises(machine, comes.proof.waits_for());
            // That fair runs go on is a premise, which rests on the choices of its strategies.
            result.basis = if comes.rests_on_choices { Basis::Model } else { Basis::Hardware };
            finish(&mut result, (Pass::Ranks, &bound, claims.collect()), started);
        }
        SymbolicProof::Claims(proofs) => {
            let claims = proofs.iter().flat_map(|proof| text::claims(machine, request.image, proof));
            let is_of_model = proofs.iter().any(Proof::rests_on_choices);
            result.basis = if is_of_model { Basis::Model } else { Basis::Hardware };
            finish(&mut result, (Pass::Claims, &bound, claims.collect()), started);
            match (&bound.formula, proofs.as_slice()) {
                (Formula::Path(PathQuantifier::Exists, ..), [proof]) => {
                    result = shown(request, (machine, invariants), (table.atoms(), &bound), proof, result);
                }
                (Formula::PathPair(PathQuantifier::Exists, ..), _) => {
                    result.evidence_missing = Some("claims about loops prove it, and no run was looked for".to_owned());
                }
                _ => {}
            }
        }
    }
    Ok(Recovered { result, proof: Some(proof) })
}

/// A result with a run that does what the claims say.
fn shown(
    request: &Request<'_>,
    (machine, invariants): (&Machine, &Invariants),
    (atoms, bound): (&[Atom], &BoundProperty),
    proof: &Proof,
    result: PropertyResult,
) -> PropertyResult {
    let search = || {
        let formula = bound.from_start(&bound.formula).ok()?;
        let goal = Goal { formula, observes_hazards: bound.observes_hazards };
        let firmware = Firmware::with_passes(machine, atoms, Passes::default());
        let Some(Form::Recovery(reached)) = Form::of(bound) else { return None };
        let of_states = WithAtoms::new(atoms, reached.first()?)?;
        let guide = Claimed::new((machine, request.image), invariants, (of_states.possibility(), proof));
        claimed_run((&firmware.model.context, request.watch), &goal, &guide)
    };
    let missing =
        || Search::Missing("claims about loops prove it, and a run that does what they say was not found".to_owned());
    let basis = result.basis;
    let result = with_evidence(result, search().unwrap_or_else(missing));
    // Where a run ends at a loop, what comes behind rests on the claim.
    let is_whole = result.evidence.as_ref().is_some_and(|evidence| evidence.proved.is_empty());
    if is_whole { result } else { PropertyResult { basis, ..result } }
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
