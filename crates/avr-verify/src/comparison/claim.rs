//! The moves that the old image has, beside the run that it has not.

use avr_properties::SpecificationAutomaton;
use avr_witness::Evidence;
use std::collections::BTreeSet;

/// The most moves that are named.
const MOST_NAMED: usize = 4;

/// Adds to the claim of a run which events the specification has in place of the last one.
pub(super) fn with_moves(run: &mut Evidence, specification: &SpecificationAutomaton) {
    let Some((last, before)) = run.specification.split_last().filter(|(last, _)| last.states.is_empty()) else {
        return;
    };
    let Some(before) = before.last().filter(|_| !last.events.is_empty()) else { return };
    let states = specification.states.iter().filter(|state| before.states.contains(&state.name));
    let moves = states.flat_map(|state| &state.moves).filter_map(|it| it.on.as_ref());
    let moves: BTreeSet<&str> = moves.map(|on| on.text.as_str()).collect();
    let named: Vec<&str> = moves.iter().copied().take(MOST_NAMED).collect();
    let more = match moves.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} others"),
    };
    let instead = match named.as_slice() {
        [] => "it shows nothing more".to_owned(),
        named => format!("it has instead {}{more}", named.join(", ")),
    };
    run.claim = format!("{}; {instead}", run.claim);
}
