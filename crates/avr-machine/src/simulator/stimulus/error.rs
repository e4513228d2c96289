//! Errors in stimulus files: the problem, its place, and advice.

use thiserror::Error;

use crate::device::edit_distance;

/// A stimulus file that cannot be used. `Display` says what is wrong and where, [`StimulusError::hint`] what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {kind}")]
pub struct StimulusError {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The kind of error.
    pub kind: StimulusErrorKind,
}

/// The kind of error in a stimulus file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StimulusErrorKind {
    /// The text is no RON, or a value has another form than it must have.
    #[error("{0}")]
    Ron(String),
    /// A field that does not exist.
    #[error("there is no field '{found}' here{}", did_you_mean(nearest))]
    UnknownField {
        /// The field.
        found: String,
        /// The nearest fields.
        nearest: Vec<String>,
        /// The fields that exist.
        known: &'static [&'static str],
    },
    /// A name that means nothing on this device.
    #[error("the device has no {what} '{name}'{}", did_you_mean(nearest))]
    UnknownName {
        /// The kind of name that was expected.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest names.
        nearest: Vec<String>,
    },
    /// A number that is too large.
    #[error("{what} {value:#x} is out of range: the last one is {last:#x}")]
    OutOfRange {
        /// The meaning of the number.
        what: &'static str,
        /// The number.
        value: u64,
        /// The largest number that is possible.
        last: u64,
    },
    /// A value with bits outside its mask.
    #[error("the value {value:#04x} has bits outside the mask {mask:#04x}")]
    OutsideMask {
        /// The mask.
        mask: u8,
        /// The value.
        value: u8,
    },
    /// An event with neither a cycle nor a step, or with both.
    #[error("an event has either a cycle or a step")]
    NoMoment,
    /// Events in an exact stimulus.
    #[error("an exact stimulus has no events")]
    EventsInExact,
    /// Two entries for a step, or steps out of order.
    #[error("step {step} does not come after step {before}")]
    OutOfOrder {
        /// The number of the step.
        step: u64,
        /// The number of the step before it.
        before: u64,
    },
    /// A repetition without a distance or a number.
    #[error("inputs are repeated `every` so many steps, so many `times`, both at least 1")]
    Repetition,
    /// A choice that the run does not have.
    #[error("{what} is not possible in step {step}")]
    Impossible {
        /// The name of the choice.
        what: &'static str,
        /// The number of the step, from 0.
        step: u64,
    },
    /// A clock that stands still.
    #[error("the clock must have at least 1 Hz")]
    NoClock,
}

impl StimulusError {
    /// Advice to the user, where the message does not give it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match &self.kind {
            StimulusErrorKind::UnknownField { known, nearest, .. } if nearest.is_empty() => {
                format!("the fields here are {}", known.join(", "))
            }
            StimulusErrorKind::UnknownName { what: PIN, .. } => {
                "pins are named by port and bit, as in \"PB3\"".to_owned()
            }
            StimulusErrorKind::UnknownName { what: CHOICE, .. } => {
                "write the name of an interrupt, a reset such as \"external_reset\", or \"none\"".to_owned()
            }
            StimulusErrorKind::NoMoment => "write `cycle: 1000` or `step: 200`".to_owned(),
            StimulusErrorKind::EventsInExact => {
                "put the inputs of each step into `exact`, or leave `exact` out".to_owned()
            }
            StimulusErrorKind::OutsideMask { .. } => "the order is (register, mask, value)".to_owned(),
            StimulusErrorKind::Impossible { .. } => {
                "an interrupt must be enabled and requested there; is the stimulus for this firmware?".to_owned()
            }
            StimulusErrorKind::OutOfOrder { .. } => "sort the entries by step and join those of one step".to_owned(),
            _ => return None,
        })
    }
}

/// The kinds of names, for messages.
pub(super) const PIN: &str = "pin";
pub(super) const CHOICE: &str = "interrupt or reset";

/// The largest number of names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;
/// Longer names take no part in the search.
const MAX_NAME_BYTES: usize = 64;

/// The names among `known` that are a few edits away from `name`, the nearest first.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let limit = 1 + name.len() / 4;
    let edits = |candidate: &'a str| (edit_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate);
    let mut near: Vec<_> = known.into_iter().map(edits).filter(|(edits, _)| *edits <= limit).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

fn did_you_mean(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}
