//! The entries of `properties` as RON has them.

use serde::Deserialize;

use super::content::Reasons;
use crate::conformance::{Relation, SpecificationError};
use crate::error::PropertyErrorKind;
use crate::place::Place;
use crate::property::{InvariantStart, Property, PropertyKind, StackLimit};

/// Declares the entries once: kind, its fields, and the kind of property that it makes of them.
macro_rules! entries {
    ($($variant:ident { $($field:ident: $type:ty),* } $(from $from:ident)? => $kind:expr;)*) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) enum Entry {
            $($variant {
                name: Option<String>,
                #[serde(default)]
                under: Vec<String>,
                $($from: Option<String>,)?
                $($field: $type,)*
            },)*
        }

        /// The names of all kinds.
        const NAMES: &[&str] = &[$(stringify!($variant),)*];

        /// The fields of each kind.
        const FIELDS: &[(&str, &[&str])] = &[
            $((stringify!($variant), &["name", "under", $(stringify!($from),)? $(stringify!($field),)*]),)*
        ];

        impl Entry {
            /// The property; `text` is the entry's own, from `place`.
            pub(super) fn property(self, text: &str, place: &Place) -> Result<Property, PropertyErrorKind> {
                let (name, under, from, kind) = match self {
                    $(Self::$variant { name, under, $($from,)? $($field),* } => {
                        (name, under, None::<String>$(.or($from))?, $kind)
                    })*
                };
                let name = name.unwrap_or_else(|| text.to_owned());
                let from = from.map(|from| start(&from)).transpose()?;
                let (place, kind) = (Some(place.clone()), kind?);
                Ok(Property { kind, name, under, place, from, was_condition: false, excepted: Vec::new() })
            }
        }
    };
}

entries! {
    Inherent {} => Ok(PropertyKind::Inherent);
    Stack { max_bytes: Option<u32>, margin: Option<u32>, of: Option<String> } => stack(max_bytes, margin, of);
    Recovery { to: String } => Ok(PropertyKind::Recovery { to });
    NoHang { except: Option<Reasons> } => no_hang(except);
    Formula { check: String } => Ok(PropertyKind::Formula { check });
    Ltl { check: String } => Ok(PropertyKind::Ltl { check });
    Always { check: String } from from => Ok(PropertyKind::Always { check });
    Never { check: String } from from => Ok(PropertyKind::Never { check });
    Reachable { check: String } => Ok(PropertyKind::Reachable { check });
    Response { after: String, eventually: String } => Ok(PropertyKind::Response { after, eventually });
    Precedence { first: String, then: String } => Ok(PropertyKind::Precedence { first, then });
    Until { holds: String, until: String } => Ok(PropertyKind::Until { holds, until });
    Mutex { between: Vec<String> } from from => mutex(between);
    StaysAfter { after: String, stays: Option<String> } => Ok(stays_after(after, stays));
    InfinitelyOften { check: String } => Ok(PropertyKind::InfinitelyOften { check });
    Conforms { to: String, alphabet: Option<Vec<String>>, by: Option<String>, deadlock: Option<bool> } => conforms(to, alphabet, by, deadlock);
    EventuallyForever { check: String } => Ok(PropertyKind::EventuallyForever { check });
}

/// True if an entry has this name.
pub(crate) fn is_entry(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The names of all kinds of entries, as editors offer them.
#[must_use]
pub fn entry_kinds() -> &'static [&'static str] {
    NAMES
}

/// The fields of a kind of entry; none if there is no such kind.
#[must_use]
pub fn entry_fields(kind: &str) -> Option<&'static [&'static str]> {
    FIELDS.iter().find(|(name, _)| *name == kind).map(|(_, fields)| *fields)
}

fn start(name: &str) -> Result<InvariantStart, PropertyErrorKind> {
    let expected = "from: \"main\" or from: \"reset\"";
    InvariantStart::named(name).ok_or(PropertyErrorKind::Expected { expected })
}

fn stack(max_bytes: Option<u32>, margin: Option<u32>, of: Option<String>) -> Result<PropertyKind, PropertyErrorKind> {
    let limit = match (max_bytes, margin) {
        (Some(bytes), None) => StackLimit::MaxBytes(bytes),
        (None, Some(bytes)) => StackLimit::Margin(bytes),
        _ => return Err(PropertyErrorKind::StackLimit),
    };
    Ok(of.map_or(PropertyKind::Stack(limit), |of| PropertyKind::StackOf { of, limit }))
}

fn no_hang(except: Option<Reasons>) -> Result<PropertyKind, PropertyErrorKind> {
    let except = except.map_or_else(Vec::new, |reasons| reasons.0);
    let is_repeated = |name: &str| except.iter().filter(|(other, _)| other == name).count() > 1;
    match except.iter().find(|(name, _)| is_repeated(name)) {
        Some((name, _)) => Err(PropertyErrorKind::Duplicate(name.clone())),
        None => Ok(PropertyKind::NoHang { except }),
    }
}

fn conforms(
    to: String,
    alphabet: Option<Vec<String>>,
    by: Option<String>,
    deadlock: Option<bool>,
) -> Result<PropertyKind, PropertyErrorKind> {
    let relation = match by {
        None => Relation::Simulation,
        Some(name) => {
            Relation::named(&name).ok_or(PropertyErrorKind::Specification(SpecificationError::UnknownRelation(name)))?
        }
    };
    if alphabet.as_ref().is_some_and(Vec::is_empty) {
        return Err(PropertyErrorKind::Specification(SpecificationError::EmptyAlphabet));
    }
    let deadlock = deadlock.unwrap_or(false);
    Ok(PropertyKind::Conforms { to, alphabet, relation, deadlock, specification: None })
}

fn mutex(between: Vec<String>) -> Result<PropertyKind, PropertyErrorKind> {
    if between.len() < 2 {
        return Err(PropertyErrorKind::Expected { expected: "two formulas or more in between: […]" });
    }
    Ok(PropertyKind::Mutex { between })
}

fn stays_after(after: String, stays: Option<String>) -> PropertyKind {
    let stays = stays.unwrap_or_else(|| after.clone());
    PropertyKind::StaysAfter { after, stays }
}
