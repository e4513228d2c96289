//! Properties of the command line.

use super::{Origin, is_entry, property};
use crate::definitions::Definitions;
use crate::error::PropertyError;
use crate::property::{Property, PropertyKind};

impl Property {
    /// Reads the text of `--property`: an entry as in a property file, or else the text of a formula.
    ///
    /// # Errors
    /// If the text begins like an entry and is none. A formula is parsed when the property is bound.
    pub fn from_command_line(text: &str) -> Result<Self, PropertyError> {
        let text = text.trim();
        let origin = Origin::new("--property", text);
        if looks_like_an_entry(text) {
            return property(text, &origin);
        }
        let place = Some(origin.whole());
        Ok(Self { place, ..Self::new(text, PropertyKind::Formula { check: text.to_owned() }) })
    }

    /// The same as an `Always`, if it is the text of a condition: a formula without temporal operator, fixed point and
    /// path quantifier, in definitions neither.
    pub(super) fn into_invariant(self, definitions: &Definitions) -> Self {
        match &self.kind {
            PropertyKind::Formula { check } if *check == self.name && definitions.is_condition(check) => {
                let check = check.clone();
                Self { kind: PropertyKind::Always { check }, was_condition: true, ..self }
            }
            _ => self,
        }
    }
}

/// True if the text begins as an entry does: a capitalised word of more than capitals, with an opening parenthesis
/// unless it is the name of a kind. No formula begins so.
fn looks_like_an_entry(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let capitalised = word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains(|c: char| c.is_lowercase());
    capitalised && (rest.trim_start().starts_with('(') || rest.is_empty() && is_entry(word))
}
