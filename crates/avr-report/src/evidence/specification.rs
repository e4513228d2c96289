//! The states of a specification beside a run, in words.

use avr_verify::Moment;

/// So many of the last moments are told.
const MAX_MOMENTS: usize = 12;

/// A line for each moment, the last ones of many.
pub(crate) fn lines(moments: &[Moment]) -> Vec<String> {
    let left_out = moments.len().saturating_sub(MAX_MOMENTS);
    let omitted = (left_out > 0).then(|| format!("specification: {left_out} moments before"));
    omitted.into_iter().chain(moments[left_out..].iter().map(line)).collect()
}

/// The states after a step.
pub(crate) fn line(moment: &Moment) -> String {
    let states = if moment.states.is_empty() { "no answer".to_owned() } else { moment.states.join(" or ") };
    match (moment.step, moment.events.as_slice()) {
        (0, _) => format!("specification: {states}"),
        (step, []) => format!("specification after step {}: {states}", step - 1),
        (step, events) => format!("specification after step {}, {}: {states}", step - 1, events.join(" and ")),
    }
}
