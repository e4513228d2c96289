//! The events that a comparison sees, bound to the images.

use super::conformance;
use crate::request::Request;
use avr_events::{Alphabet, Letter, LetterError};
use avr_properties::{AtomTable, Property, PropertyError, PropertyKind, SpecificationAutomaton, bind};
use std::sync::Arc;
use thiserror::Error;

/// An event that cannot be seen.
#[derive(Debug, Error)]
pub enum EventsError {
    /// The text is no event with a mask.
    #[error("{0}")]
    Letter(LetterError),
    /// The event is none of an image.
    #[error(transparent)]
    Property(#[from] PropertyError),
}

/// A specification that allows nothing, to bind events with.
const NOTHING: &str = "(initial: [\"s\"], states: {\"s\": ()})";

/// The alphabet of these texts: events, each with the bits of its value that are seen or without. All images must have them.
///
/// # Errors
/// If a text is no event, or is there twice.
pub fn events(texts: &[String], requests: &[&Request<'_>]) -> Result<Alphabet, EventsError> {
    let mut letters = Vec::new();
    for text in texts {
        let (event, mask) = Letter::parse(text).map_err(EventsError::Letter)?;
        letters.push(Letter { event, mask });
    }
    let alphabet = Alphabet { letters };
    let nothing = Arc::new(SpecificationAutomaton::parse("events", NOTHING)?);
    let property = conformance("events", &alphabet, Some(nothing));
    for request in requests {
        is_bound(request, &property)?;
    }
    let has_value = |event: &str| {
        let check = format!("{event} & 0x01 == 0x01");
        let property = Property::new("events", PropertyKind::Formula { check });
        requests.iter().all(|request| is_bound(request, &property).is_ok())
    };
    let with_mask = |letter: Letter| match (has_value(&letter.event), letter.mask) {
        (true, mask) => Ok(Letter { mask: mask.or(Some(0xff)), ..letter }),
        (false, None) => Ok(letter),
        (false, Some(_)) => Err(EventsError::Letter(LetterError::NoValue { event: letter.event })),
    };
    Ok(Alphabet { letters: alphabet.letters.into_iter().map(with_mask).collect::<Result<_, _>>()? })
}

fn is_bound(request: &Request<'_>, property: &Property) -> Result<(), PropertyError> {
    bind(property, &request.file.definitions, &request.binding(), &mut AtomTable::default()).map(|_| ())
}
