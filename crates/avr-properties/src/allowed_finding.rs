//! The findings that a property file allows, at places of the image.

use avr_image::{DataAddress, FlashByteAddress, Image};

use crate::code_place::{has_line, is_on_line};
use crate::error::{PropertyError, PropertyErrorKind};
use crate::finding_kind::FindingKind;
use crate::place::Place;

/// An entry of `allow` for findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedFinding {
    /// The kind.
    pub kind: FindingKind,
    /// The place: a function, a variable, or `file:line`. Everywhere without one.
    pub at: Option<String>,
    /// The reason.
    pub reason: String,
    /// The place of the entry in the property file.
    pub(crate) place: Place,
}

impl AllowedFinding {
    /// The entry as property files have it.
    #[must_use]
    pub fn text(&self) -> String {
        self.at.as_ref().map_or_else(|| self.kind.to_string(), |at| format!("{} at {at}", self.kind))
    }

    /// True if it allows a finding of a kind at an instruction, about data addresses.
    ///
    /// # Errors
    /// If the image has no such place.
    pub fn allows(
        &self,
        image: &Image,
        kind: FindingKind,
        pc: FlashByteAddress,
        objects: &[DataAddress],
    ) -> Result<bool, PropertyError> {
        let places = self.places(image)?;
        let is_there = |place: &AllowedPlace| match place {
            AllowedPlace::Function(start) => {
                let function = image.symbols.function_at(pc).and_then(|located| located.symbol.place.flash());
                function == Some(*start)
            }
            AllowedPlace::Variable(start) => objects.iter().any(|object| {
                image.symbols.object_at(*object).and_then(|located| located.symbol.place.data()) == Some(*start)
            }),
            AllowedPlace::Line(line) => is_on_line(image, pc, line),
        };
        Ok(self.kind == kind && places.is_none_or(|places| places.iter().any(is_there)))
    }

    /// Checks that the image has the place.
    ///
    /// # Errors
    /// If it has not.
    pub fn check(&self, image: &Image) -> Result<(), PropertyError> {
        self.places(image).map(drop)
    }

    /// The places that are meant; none for everywhere.
    fn places(&self, image: &Image) -> Result<Option<Vec<AllowedPlace>>, PropertyError> {
        let Some(at) = &self.at else { return Ok(None) };
        let symbols = image.symbols.matches(at);
        let mut places: Vec<AllowedPlace> = Vec::new();
        for symbol in symbols {
            places.extend(symbol.place.data().map(AllowedPlace::Variable));
            places.extend(symbol.place.flash().filter(|_| symbol.is_code()).map(AllowedPlace::Function));
        }
        if places.is_empty() && has_line(image, at) {
            places.push(AllowedPlace::Line(at.clone()));
        }
        if places.is_empty() {
            let nearest = image.symbols.nearest(at);
            return Err(PropertyErrorKind::UnknownPlace { name: at.clone(), nearest }.at_place(self.place.clone()));
        }
        Ok(Some(places))
    }
}

/// A place of an entry of `allow`.
enum AllowedPlace {
    /// The function that begins there.
    Function(FlashByteAddress),
    /// The variable that begins there.
    Variable(DataAddress),
    /// The source line, as `file:line`.
    Line(String),
}
