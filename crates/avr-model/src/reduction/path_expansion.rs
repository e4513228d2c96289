//! Path expansion: the states that path compression and handler summaries skipped, found again.

use super::handler_summaries::{has_entered, ways_through};
use super::passes::Model;
use super::path_compression::MAX_STEPS;
use super::successors::leaves;
use crate::state::{AbstractState, PrecisionLookup};
use crate::transfer::choices::choices;

/// The expanded path: a path with its skipped states. Those that cannot be found again stay skipped.
pub fn expanded(model: &mut Model<'_>, path: &[AbstractState], precision: &PrecisionLookup<'_>) -> Vec<AbstractState> {
    if model.passes.path_compression.is_none() {
        return path.to_vec();
    }
    let mut all = path[..1].to_vec();
    for pair in path.windows(2) {
        if let Some((between, _)) = between(model, &pair[0], &pair[1], precision, 1).pop() {
            all.extend(between);
        }
        all.push(pair[1]);
    }
    all
}

/// The ways from one state to the next that is kept: the skipped states, and the step into that state, which covers its
/// outcome. They are made with the choices that lead there first, one for each case that was merged, and are at most so
/// many.
pub(crate) fn between(
    model: &mut Model<'_>,
    from: &AbstractState,
    to: &AbstractState,
    precision: &PrecisionLookup<'_>,
    most: usize,
) -> Vec<(Vec<AbstractState>, AbstractState)> {
    let leaves = leaves(model, from, precision.leaving(from, &model.context.location(from)));
    let mut found = Vec::new();
    let mut chosen = None;
    for leaf in leaves {
        let choices = choices(&leaf.script);
        if found.len() == most || chosen.as_ref().is_some_and(|chosen| *chosen != choices) {
            continue;
        }
        let ways = match way(model, leaf.state, to, precision) {
            Some(way) => vec![way],
            None if model.passes.handler_summaries.is_some() && has_entered(model, from, &leaf.state) => {
                ways_through(model, leaf.state, to, precision)
            }
            None => continue,
        };
        if !ways.is_empty() {
            chosen = Some(choices);
            found.extend(ways);
            found.truncate(most);
        }
    }
    found
}

/// The states on the way from one state with steps of one outcome to one that another state covers, and that one.
pub fn way(
    model: &mut Model<'_>,
    from: AbstractState,
    to: &AbstractState,
    precision: &PrecisionLookup<'_>,
) -> Option<(Vec<AbstractState>, AbstractState)> {
    let (mut between, mut state) = (Vec::new(), from);
    while !model.context.covers(to, &state) {
        if between.len() > MAX_STEPS as usize || !matches!(state, AbstractState::Running(_)) {
            return None;
        }
        let next = leaves(model, &state, precision.leaving(&state, &model.context.location(&state)));
        let [only] = next.as_slice() else { return None };
        between.push(state);
        state = only.state;
    }
    Some((between, state))
}
