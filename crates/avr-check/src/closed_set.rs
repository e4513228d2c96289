//! Closed sets: a run is replayed, and the map that begins in its last state confirms that nothing leads on from there.

use avr_certificate::{Basis, ClosedSet};
use avr_invariant::{Claims, Start, check_from};
use avr_machine::Machine;
use avr_progress::{Wanted, replayed, wanted};
use avr_properties::{Atom, BoundProperty, StateView};
use mu_calculus::{AtomId, Formula, NormalForm};
use three_valued::Truth;

use crate::invariants::{View, map, truth};
use crate::rejection::{Reason, Rejection};

/// Shows that a property is violated, and on what basis, with what the closing check tells of the map.
///
/// # Errors
/// If it does not follow.
pub(crate) fn show(
    machine: &Machine,
    (atoms, bound): (&[Atom], &BoundProperty),
    written: &ClosedSet,
) -> Result<(Basis, Claims), Rejection> {
    let run = replayed(machine, &written.stimulus, written.steps).map_err(Reason::Run)?;
    let basis = if run.rests_on_choices { Basis::Model } else { Basis::Hardware };
    let mut map = map(&written.map, machine)?;
    let checked = check_from(machine, Start::At(&run.last), &mut map, &mut |_| {});
    let claims = checked.map_err(|gap| Reason::Invariants(Box::new(gap)))?;
    // SOUND: behind a hazard anything may happen.
    if let Some(mark) = claims.marks.first() {
        return Err(Reason::PossibleHazard { hazard: mark.hazard, address: mark.address.0 }.into());
    }
    let label = |view: &dyn StateView, atom: AtomId| atoms[atom.index()].evaluate(view);
    let of = |formula: &Formula<AtomId>, view: &dyn StateView| -> Result<Truth, Rejection> {
        let formula = NormalForm::new(formula)?;
        Ok(truth(&formula, formula.root(), &|atom| label(view, atom)))
    };
    let is_refuted = |Wanted { when, reached, .. }: &Wanted<'_>| -> Result<bool, Rejection> {
        for p in when {
            if !of(p, &run)?.is_true() {
                return Ok(false);
            }
        }
        for entry in &map.entries {
            if !of(reached, &View { map: &map, entry })?.is_false() {
                return Ok(false);
            }
        }
        Ok(true)
    };
    for part in wanted(bound) {
        if is_refuted(&part)? {
            return Ok((basis, claims));
        }
    }
    Err(Reason::NotConfined.into())
}
