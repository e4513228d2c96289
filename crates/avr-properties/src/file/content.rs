//! The form of a property file. Parts with names of their own stay raw, to be read with their place.

use std::fmt;

use ron::value::RawValue;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

/// The names of the fields of a property file, as editors offer them.
pub const FILE_FIELDS: &[&str] = &[
    "device",
    "start",
    "define",
    "properties",
    "allow",
    "forbid",
    "environment",
    "assume",
    "predicates",
    "fuses",
    "eeprom",
    "specifications",
    "stacks",
    "initially",
    "application",
    "contracts",
];

/// The fields of a property file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Content<'a> {
    pub(super) device: Option<String>,
    pub(super) start: Option<u32>,
    #[serde(borrow)]
    pub(super) define: Pairs<'a>,
    #[serde(borrow)]
    pub(super) properties: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) allow: Pairs<'a>,
    #[serde(borrow)]
    pub(super) forbid: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) environment: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) assume: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) predicates: Vec<&'a RawValue>,
    pub(super) fuses: Fuses,
    pub(super) eeprom: Option<String>,
    #[serde(borrow)]
    pub(super) specifications: Pairs<'a>,
    #[serde(borrow)]
    pub(super) stacks: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) initially: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) application: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) contracts: Pairs<'a>,
}

/// The form of `initially` that tells power-on from later resets.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct StartEntry<'a> {
    #[serde(borrow)]
    pub(super) power_on: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reset: Vec<&'a RawValue>,
}

/// The field `application`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ApplicationEntry {
    Absent,
    Any,
    File(String),
    /// The application itself as Intel HEX, behind the path of the file that it was read from.
    Hex(String, String),
}

/// The value of an entry of `contracts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContractEntry<'a> {
    #[serde(borrow)]
    pub(super) returns: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) writes: Vec<&'a RawValue>,
    pub(super) stack: Option<u16>,
    #[serde(borrow)]
    pub(super) events: Option<Vec<&'a RawValue>>,
    pub(super) enables: Option<bool>,
}

/// An entry of `stacks`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StackEntry {
    pub(super) symbol: String,
    pub(super) at: Option<u16>,
    pub(super) bytes: Option<u16>,
}

/// An event that may happen at any moment when the property file says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentEvent {
    /// `reset`: an external reset.
    Reset,
    /// `brown_out`: the supply falls below the brown-out level.
    BrownOut,
}

/// An entry of `environment`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum EnvironmentEntry<'a> {
    Reset,
    BrownOut,
    Machine {
        #[serde(borrow)]
        spec: &'a RawValue,
        #[serde(borrow)]
        drives: Vec<&'a RawValue>,
    },
}

/// Fuse bytes, as far as the property file gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fuses {
    /// The low fuse byte.
    pub low: Option<u8>,
    /// The high fuse byte.
    pub high: Option<u8>,
    /// The extended fuse byte.
    pub extended: Option<u8>,
}

/// The assumption `never(INT1)`.
#[derive(Deserialize)]
pub(super) enum Never {
    #[serde(rename = "never")]
    Never(Identifier),
}

/// A name without quotes.
pub(super) struct Identifier(pub(super) String);

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Identifier;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an interrupt, without quotes")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Identifier, E> {
                Ok(Identifier(name.to_owned()))
            }
        }

        deserializer.deserialize_identifier(Name)
    }
}

/// Places with reasons, in the order of the file, with nothing lost.
pub(super) struct Reasons(pub(super) Vec<(String, String)>);

impl<'de> Deserialize<'de> for Reasons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        impl<'de> Visitor<'de> for Map {
            type Value = Reasons;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map such as { \"halt\": \"why\" }")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Reasons, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Reasons(pairs))
            }
        }

        deserializer.deserialize_map(Map)
    }
}

/// A map in the order of the file, with nothing lost.
#[derive(Default)]
pub(super) struct Pairs<'a>(pub(super) Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        impl<'de> Visitor<'de> for Map {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map such as { \"name\": \"text\" }")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Map)
    }
}
