//! Vacuity: does a property that holds say something about the firmware, or does a part of its formula not matter?

use avr_model::context::Context;
use avr_model::state::AbstractState;
use avr_properties::{Atom, BoundProperty, PropertyKind};
use mu_calculus::{AtomId, Formula, HyperGraph, Labels, NormalForm, Problem, Strengthening, strengthenings};
use std::convert::Infallible;
use tvar::{Decision, Watch};

/// A subformula that does not matter: the property holds just as well when a constant that makes it say more replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vacuity {
    /// The text of the subformula.
    pub subformula: String,
    /// The constant that replaced it.
    pub replaced_by: bool,
    /// Its number among the strengthenings of the formula; none where it is a comparison that is true in every state.
    pub part: Option<usize>,
}

/// The most subformulas that are tried.
pub(crate) const MAX_TRIED: usize = 16;
/// The work that is done at most, as a multiple of that of the check itself, in pairs of states and subformulas.
const WORK: usize = 8;
/// The work that is always done, in the same unit.
const SMALL_WORK: usize = 1 << 22;

/// The largest subformula that a property which holds says nothing about.
///
/// SOUND: this speaks of the verdict and changes none. The answer depends on no clock, so that it is always the same.
pub(crate) fn find(
    context: &Context<'_>,
    watch: &dyn Watch,
    bound: &BoundProperty,
    decision: &Decision<AbstractState>,
) -> Option<Vacuity> {
    if !decision.verdict.is_true() {
        return None;
    }
    strengthened(context, watch, bound, decision).or_else(|| always_true(bound))
}

/// A comparison of the property's own text that is true in every state.
pub(crate) fn always_true(bound: &BoundProperty) -> Option<Vacuity> {
    let subformula = bound.always_true.first()?.clone();
    Some(Vacuity { subformula, replaced_by: true, part: None })
}

/// The largest subformula that may be replaced by what makes the property say more.
fn strengthened(
    context: &Context<'_>,
    watch: &dyn Watch,
    bound: &BoundProperty,
    decision: &Decision<AbstractState>,
) -> Option<Vacuity> {
    if speaks_of_states_only(bound) || bound.observes_hazards {
        return None;
    }
    let space = &decision.space;
    let candidates = strengthenings(&bound.formula, MAX_TRIED);
    let mut search = Search {
        watch,
        bound,
        graph: space.graph(false),
        labels: space.labels(context.atoms.len(), |state, atom| context.label(state, atom)),
        work: SMALL_WORK.max(WORK * space.states.len() * bound.normal_form.node_count()),
    };
    let part = candidates.iter().position(|candidate| search.still_holds(candidate))?;
    let found = &candidates[part];
    Some(Vacuity {
        subformula: text(context.atoms, &found.subformula),
        replaced_by: found.replaced_by,
        part: Some(part),
    })
}

/// `Inherent` and `Stack` have one thing to say, and of a specification each part is asked for at every event.
pub(crate) fn speaks_of_states_only(bound: &BoundProperty) -> bool {
    bound.kind == PropertyKind::Inherent.name() || bound.kind == "Stack" || bound.monitor.is_some()
}

struct Search<'a> {
    watch: &'a dyn Watch,
    bound: &'a BoundProperty,
    graph: HyperGraph,
    labels: Labels,
    /// The work that may still be done.
    work: usize,
}

impl Search<'_> {
    fn still_holds(&mut self, candidate: &Strengthening<AtomId>) -> bool {
        candidate.formulas.iter().all(|formula| self.holds(formula))
    }

    fn holds(&mut self, formula: &Formula<AtomId>) -> bool {
        let Ok(formula) = self.bound.from_start(formula) else { return false };
        let Some(left) = self.work.checked_sub(self.graph.state_count() * formula.node_count()) else { return false };
        self.work = left;
        self.is_certain(&formula)
    }

    fn is_certain(&self, formula: &NormalForm) -> bool {
        let problem = Problem { graph: &self.graph, labels: &self.labels, formula };
        let watch = self.watch;
        !watch.cancelled() && problem.solve(&|| watch.cancelled()).is_ok_and(|solution| solution.verdict().is_true())
    }
}

/// The text of a subformula.
pub(crate) fn text(atoms: &[Atom], subformula: &Formula<AtomId>) -> String {
    let named = subformula.try_map_atoms(&mut |atom| Ok::<_, Infallible>(atoms[atom.index()].to_string()));
    match named {
        Ok(named) => named.to_string(),
        Err(never) => match never {},
    }
}
