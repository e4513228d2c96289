//! Fairness must not prove anything by itself: wherever the program gets, a fair run must be possible.

use crate::diagnosis::unknown_reason::{place, reason};
use avr_image::Image;
use avr_model::context::Context;
use avr_model::state::AbstractState;
use avr_properties::BoundProperty;
use mu_calculus::{AtomId, Formula, NormalForm, Problem, StateId};
use std::collections::BTreeSet;
use three_valued::Truth;
use tvar::{Decision, Watch};

/// The reason why the verdict of a property does not stand: a state that can be reached and may have no fair path. None
/// if every state has one.
pub(crate) fn in_doubt(
    context: &Context<'_>,
    (image, watch): (&Image, &dyn Watch),
    bound: &BoundProperty,
    decision: &Decision<AbstractState>,
) -> Option<String> {
    // SOUND: only the certain answer will do.
    if decision.verdict.is_true() {
        return None;
    }
    let fairness = bound.fairness()?;
    let assumed: Vec<&str> = fairness.texts.iter().map(String::as_str).collect();
    let assumed = assumed.join("; ");
    let state = without_fair_path(context, watch, &fairness.goes_on, decision);
    Some(match (state, &decision.undecided) {
        (Some((state, Truth::False)), _) => {
            format!(
                "no run is fair {}, which would prove anything there (fairness: {assumed})",
                place(context, image, state)
            )
        }
        (Some((state, _)), _) => {
            let place = place(context, image, state);
            format!("perhaps no run is fair {place}, which would prove anything there (fairness: {assumed})")
        }
        (None, Some(undecided)) => {
            let cause = reason(context, image, decision, undecided);
            format!("it is open whether every state has a fair run: {cause} (fairness: {assumed})")
        }
        (None, None) => format!("it is open whether every state has a fair run (fairness: {assumed})"),
    })
}

/// A state in which a run can stay, and from which no path is fair, or else perhaps none. The first, in the order of
/// discovery, leads to it.
fn without_fair_path<'s>(
    context: &Context<'_>,
    watch: &dyn Watch,
    goes_on: &Formula<AtomId>,
    decision: &'s Decision<AbstractState>,
) -> Option<(&'s AbstractState, Truth)> {
    let space = &decision.space;
    let graph = space.graph(false);
    let labels = space.labels(context.atoms.len(), |state, atom| context.label(state, atom));
    let formula = NormalForm::new(goes_on).ok()?;
    let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
    let solution = problem.solve(&|| watch.cancelled()).ok()?;
    let is_running = |state: StateId| matches!(space.states[state.index()], AbstractState::Running(_));
    let of_value = |value: Truth| {
        let fits = |state: StateId| is_running(state) && solution.truth(state, formula.root()) == value;
        let mut state = graph.states().find(|state| fits(*state))?;
        let mut seen = BTreeSet::new();
        // Follow the first way on until it repeats itself, or leaves the states in question.
        while seen.insert(state.index()) {
            match graph.may(state).iter().find(|next| fits(**next)) {
                Some(next) => state = *next,
                None => break,
            }
        }
        Some((&space.states[state.index()], value))
    };
    of_value(Truth::False).or_else(|| of_value(Truth::Unknown))
}
