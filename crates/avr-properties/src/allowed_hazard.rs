//! The hazards that a property file allows at one place of the code.

use std::collections::BTreeSet;

use avr_image::{FlashWordAddress, Image};
use avr_machine::HazardKind;

use crate::code_place::code_at;
use crate::error::{PropertyError, PropertyErrorKind};
use crate::place::Place;

/// An entry of `allow` for a hazard at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHazard {
    /// The kind.
    pub kind: HazardKind,
    /// The place: a function, a label, or `file:line`.
    pub at: String,
    /// The reason.
    pub reason: String,
    /// The place of the entry in the property file.
    pub(crate) place: Place,
}

impl AllowedHazard {
    /// The entry as property files have it.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{} at {}", self.kind, self.at)
    }

    /// The flash word addresses at which the hazard is allowed.
    ///
    /// # Errors
    /// If the image has no code of this name.
    pub fn instructions(&self, image: &Image) -> Result<BTreeSet<FlashWordAddress>, PropertyError> {
        let instructions = code_at(image, &self.at);
        if !instructions.is_empty() {
            return Ok(instructions);
        }
        let name = self.at.clone();
        let kind = match image.symbols.matches(&name).is_empty() {
            true => PropertyErrorKind::UnknownPlace { nearest: image.symbols.nearest(&name), name },
            false => PropertyErrorKind::NoCode(name),
        };
        Err(kind.at_place(self.place.clone()))
    }
}
