//! Classes of properties, by their visibility: the reductions that are sound for a class are unsound for the next. See
//! `docs/soundness.md`, section "Stutter-invariant properties".

use super::goals::{Bound, GoalTable};
use avr_machine::Machine;
use avr_model::faults::partial_order::{Fault, is_on};
use avr_model::reduction::visibility::Visibility;
use avr_properties::{Atom, AtomKind, BoundProperty, Property, PropertyKind};
use mu_calculus::AtomId;
use mu_calculus::fragment::{has_eventualities, is_branching, is_linear};
use mu_calculus::state_formula::parts;
use three_valued::fault;

/// True if a property speaks of nothing but hazards and how deep the stack gets.
fn speaks_of_hazards(property: &Property) -> bool {
    matches!(property.kind(), PropertyKind::Inherent | PropertyKind::Stack(_)) && property.under().is_empty()
}

/// Properties for which the same may be left out, those of the least visibility first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PropertyClass {
    /// Nothing but hazards and how deep the stack gets.
    Hazards,
    /// The contents of the states of each run, in their order.
    Contents,
    /// The states that can be reached from each state.
    Branches,
    /// Eventualities: that something comes, or stays away for ever.
    Eventualities,
    /// Every step.
    Steps,
}

/// The class of a property.
pub(crate) fn class(property: &Property, bound: &BoundProperty, atoms: &[Atom]) -> PropertyClass {
    let names_event = |atom: &AtomId| matches!(atoms[atom.index()].kind(), AtomKind::Event(..));
    let counts = bound.fairness().is_some() || bound.is_stutter_sensitive || !is_branching(&bound.formula);
    let is_blind = is_on(Fault::HazardsUnseen) || fault::is_on(fault::Fault::HazardsUnseen);
    let observes_hazards = bound.observes_hazards && !is_blind;
    if speaks_of_hazards(property) {
        PropertyClass::Hazards
    } else if counts || observes_hazards || bound.atoms.iter().any(names_event) {
        // SOUND: such a formula can distinguish in which order a handler and an instruction that runs into a hazard
        // come. It can also tell whether a state has a hazard as its only future.
        PropertyClass::Steps
    } else if is_linear(&bound.formula) {
        PropertyClass::Contents
    } else if has_eventualities(&bound.formula) {
        PropertyClass::Eventualities
    } else {
        PropertyClass::Branches
    }
}

/// The visibility of the properties of a request, if something may be left out for them: none if one of them counts
/// steps.
pub(crate) fn visibility(asked: &GoalTable<'_>, atoms: &[Atom], machine: &Machine) -> Option<Visibility> {
    let mut visibility = Visibility::of_hazards();
    for (property, bound) in &asked.properties {
        let Bound::Checked { goals, bound } = bound else { continue };
        let class = class(property, bound, atoms);
        match class {
            PropertyClass::Hazards => continue,
            PropertyClass::Steps => return None,
            PropertyClass::Contents => {}
            PropertyClass::Branches | PropertyClass::Eventualities => visibility.branches = true,
        }
        visibility.observes_content = true;
        visibility.is_decided_by_parts |= parts(&asked.goals[goals.formula].formula, false).is_none();
        visibility.has_eventualities |= class == PropertyClass::Eventualities;
        for atom in &bound.atoms {
            visibility.observe(&atoms[atom.index()], machine);
        }
    }
    Some(visibility)
}
