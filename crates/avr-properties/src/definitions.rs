//! Definitions with their texts, so that an error in one can show it.

use std::collections::BTreeMap;

use mu_calculus::{Formula, parse_formula};

use crate::error::{PropertyError, PropertyErrorKind};
use crate::place::Place;
use crate::state_atoms::is_reserved;

/// Formulas with names. In a formula the name alone stands for the whole formula, as if in parentheses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    pub(crate) formulas: mu_calculus::Definitions,
    texts: BTreeMap<String, String>,
    places: BTreeMap<String, Place>,
}

impl Definitions {
    /// No definitions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a formula a name.
    ///
    /// # Errors
    /// If the text is no formula, or the name is taken.
    pub fn define(&mut self, name: &str, text: &str) -> Result<(), PropertyError> {
        if is_reserved(name) || !is_name(name) {
            return Err(PropertyErrorKind::ReservedName(name.to_owned()).error());
        }
        let parsed = parse_formula(text).map_err(|error| PropertyErrorKind::Formula(error.kind).at(error.span, text));
        if self.formulas.define(name, parsed?).is_some() {
            return Err(PropertyErrorKind::Duplicate(name.to_owned()).error());
        }
        self.texts.insert(name.to_owned(), text.to_owned());
        Ok(())
    }

    /// Gives a formula of a file a name.
    pub(crate) fn define_at(&mut self, name: &str, text: &str, place: Place) -> Result<(), PropertyError> {
        self.define(name, text).map_err(|error| error.of_property(&definition_title(name), Some(&place)))?;
        self.places.insert(name.to_owned(), place);
        Ok(())
    }

    /// The place of a definition in its file.
    pub(crate) fn place(&self, name: &str) -> Option<&Place> {
        self.places.get(name)
    }

    /// The names with the texts of their formulas, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// True for a text that compares values in one state, with all definitions expanded: it has no temporal operator, no
    /// fixed point and no path quantifier.
    pub(crate) fn is_condition(&self, text: &str) -> bool {
        let expanded = parse_formula(text).ok().and_then(|formula| self.formulas.expand(&formula).ok());
        expanded.is_some_and(|formula| formula.is_boolean())
    }

    /// The text of a definition.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }
}

/// The name of a definition in messages.
pub(crate) fn definition_title(name: &str) -> String {
    format!("definition {name}")
}

/// True if a formula can use the name: it is no keyword and needs no quotes.
pub(crate) fn is_name(name: &str) -> bool {
    matches!(parse_formula(name), Ok(Formula::Atom(atom)) if atom.bare_name() == Some(name))
}
