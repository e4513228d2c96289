//! The specification in reports: what was asked, and under which conditions. A report of an older version may lack
//! parts of it.

use avr_properties::{Specification, SpecifiedProperty, StackLimit};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A specification. Every field may be missing when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SpecificationData {
    pub(crate) start: Option<u32>,
    pub(crate) fuses: Option<FusesData>,
    pub(crate) eeprom: Option<EepromData>,
    pub(crate) assume: Option<Vec<String>>,
    /// The application besides the image; left out where nothing is said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) application: Option<String>,
    pub(crate) allow: Option<Vec<String>>,
    pub(crate) forbid: Option<Vec<String>>,
    pub(crate) environment: Option<Vec<String>>,
    /// The stacks of tasks; reports of versions that had none do not say it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stacks: Vec<String>,
    pub(crate) properties: Option<Vec<PropertyData>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FusesData {
    pub(crate) low: u8,
    pub(crate) high: u8,
    pub(crate) extended: u8,
}

/// The known content of the EEPROM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EepromData {
    /// The number of bytes.
    pub(crate) bytes: usize,
    /// The digest of their addresses and contents.
    pub(crate) sha256: String,
}

/// A property of a specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PropertyData {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// The formula with definitions expanded.
    pub(crate) bound: Option<String>,
    /// The first states that an invariant speaks of; reports of versions that had no choice do not say it.
    pub(crate) from: Option<String>,
    /// The formulas that earlier versions read in the same text.
    #[serde(skip)]
    pub(crate) earlier_readings: Vec<String>,
    /// The fairness with definitions expanded.
    pub(crate) under: Option<Vec<String>>,
    pub(crate) stack_limit: Option<StackLimitData>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StackLimitData {
    MaxBytes(u32),
    Margin(u32),
}

impl SpecificationData {
    /// A specification that says nothing.
    pub(crate) const NOTHING: Self = Self {
        start: None,
        fuses: None,
        eeprom: None,
        assume: None,
        application: None,
        allow: None,
        forbid: None,
        environment: None,
        stacks: Vec::new(),
        properties: None,
    };

    pub(crate) fn of(specification: &Specification) -> Self {
        let Specification { start, fuses, eeprom, assume, forbid, environment, properties, .. } = specification;
        let allowed = specification.allow.iter().map(|name| (*name).to_owned());
        let owned =
            |names: &std::collections::BTreeSet<&str>| Some(names.iter().map(|&name| name.to_owned()).collect());
        let mut digest = Sha256::new();
        for (address, byte) in eeprom {
            digest.update(address.0.to_le_bytes());
            digest.update([*byte]);
        }
        let sha256 = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            start: Some(*start),
            fuses: Some(FusesData { low: fuses.low, high: fuses.high, extended: fuses.extended }),
            eeprom: Some(EepromData { bytes: eeprom.len(), sha256 }),
            assume: Some(assume.iter().cloned().collect()),
            application: specification.application.clone(),
            allow: Some(allowed.chain(specification.allow_at.union(&specification.allow_findings).cloned()).collect()),
            forbid: owned(forbid),
            environment: owned(environment),
            stacks: specification.stacks.iter().cloned().collect(),
            properties: Some(properties.iter().map(PropertyData::from).collect()),
        }
    }

    /// The property with a number, if it is the one of this name.
    pub(crate) fn property(&self, number: usize, name: &str) -> Option<&PropertyData> {
        self.properties.as_ref()?.get(number).filter(|property| property.name == name)
    }
}

impl From<&SpecifiedProperty> for PropertyData {
    fn from(property: &SpecifiedProperty) -> Self {
        Self {
            name: property.name.clone(),
            kind: property.kind.to_owned(),
            bound: property.bound.clone(),
            from: property.from.map(|start| start.name().to_owned()),
            earlier_readings: property.earlier_readings.clone(),
            under: Some(property.under.clone()),
            stack_limit: property.stack_limit.map(StackLimitData::from),
        }
    }
}

impl From<StackLimit> for StackLimitData {
    fn from(limit: StackLimit) -> Self {
        match limit {
            StackLimit::MaxBytes(bytes) => Self::MaxBytes(bytes),
            StackLimit::Margin(bytes) => Self::Margin(bytes),
        }
    }
}

impl From<StackLimitData> for StackLimit {
    fn from(limit: StackLimitData) -> Self {
        match limit {
            StackLimitData::MaxBytes(bytes) => Self::MaxBytes(bytes),
            StackLimitData::Margin(bytes) => Self::Margin(bytes),
        }
    }
}
