//! Events that label states, as the properties define them.

pub use avr_properties::{
    EventRecorder as Recorder, Occurred, Occurrences, occurrence, occurrences_cover as covers,
    watched_events as watched,
};
