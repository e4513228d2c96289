//! What is compared: the structure of `suite.ron`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The whole list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The device that both tools model.
    pub device: String,
    /// The properties by their names, with labels in braces.
    pub properties: BTreeMap<String, Property>,
    /// Images that both tools verify.
    pub comparisons: Vec<Comparison>,
    /// Images that only `avr-tvar` verifies, under limits.
    pub limited: Vec<Limited>,
}

/// A property in the language of either tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// For `avr-tvar verify --property`; `pc` is a byte address.
    pub ours: String,
    /// For `machine-check-avr --property`; `PC` is a word address. The inherent property has no text.
    pub peer: Option<String>,
}

/// An image and the right answers to the properties that both tools decide on it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Name without extension, in `benchmarks/firmware/`.
    pub image: String,
    /// Byte addresses of the labels that properties name.
    #[serde(default)]
    pub labels: BTreeMap<String, u16>,
    /// How many times faster `avr-tvar` ought to be, where that is a goal of the project.
    pub goal: Option<f64>,
    /// Names of properties, and the right answers.
    pub verdicts: Vec<(String, Verdict)>,
}

/// An image that is too large for a naive search, with what may be spent on it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limited {
    /// Name without extension, in `firmware-samples/<sample>/`.
    pub image: String,
    /// A file in `properties/`.
    pub properties: String,
    /// For `--timeout`, in seconds.
    pub seconds: u32,
    /// For `--memory`, in MiB.
    pub mebibytes: u32,
}

/// What a tool answered, or should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The property holds.
    Holds,
    /// It does not.
    Violated,
    /// The tool gave up.
    Unknown,
}

impl Suite {
    /// Reads `suite.ron`.
    ///
    /// # Errors
    /// [`Error::File`] when it cannot be read, [`Error::Suite`] when it says something else.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.into(), source })?;
        Self::parse(&text).map_err(|error| Error::Suite { path: path.into(), error: Box::new(error) })
    }

    fn parse(text: &str) -> Result<Self, ron::error::SpannedError> {
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME).from_str(text)
    }

    /// Keeps what has `filter` in the name of its image.
    ///
    /// # Errors
    /// [`Error::NothingSelected`].
    pub fn only(mut self, filter: &str) -> Result<Self, Error> {
        self.comparisons.retain(|comparison| comparison.image.contains(filter));
        self.limited.retain(|limited| limited.image.contains(filter));
        if self.comparisons.is_empty() && self.limited.is_empty() {
            return Err(Error::NothingSelected { filter: filter.into() });
        }
        Ok(self)
    }

    /// A property with the addresses of the image in it.
    ///
    /// # Errors
    /// [`Error::NoSuchProperty`].
    pub fn property(&self, name: &str, comparison: &Comparison) -> Result<Property, Error> {
        let Some(property) = self.properties.get(name) else {
            return Err(Error::NoSuchProperty { property: name.into(), image: comparison.image.clone() });
        };
        Ok(property.at(&comparison.labels))
    }
}

impl Property {
    /// Bytes for us, words for the peer.
    fn at(&self, labels: &BTreeMap<String, u16>) -> Self {
        let mut property = self.clone();
        for (label, address) in labels {
            let label = format!("{{{label}}}");
            property.ours = property.ours.replace(&label, &format!("{address:#06x}"));
            property.peer = property.peer.map(|text| text.replace(&label, &format!("{:#x}", address / 2)));
        }
        property
    }
}

impl Verdict {
    /// As reports print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Suite;

    fn suite() -> Suite {
        Suite::parse(include_str!("../suite.ron")).unwrap()
    }

    #[test]
    fn every_property_of_the_suite_exists_and_has_all_its_addresses() {
        let suite = suite();
        for comparison in &suite.comparisons {
            for (name, _) in &comparison.verdicts {
                let property = suite.property(name, comparison).unwrap();
                let texts = property.ours + &property.peer.unwrap_or_default();
                assert!(!texts.contains(['{', '}']), "{}: {texts}", comparison.image);
            }
        }
    }

    #[test]
    fn every_image_and_property_file_of_the_suite_exists() {
        let suite = suite();
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let images = suite.comparisons.iter().map(|comparison| format!("firmware/{}.hex", comparison.image));
        let files = suite.limited.iter().map(|limited| format!("../properties/{}", limited.properties));
        for path in images.chain(files) {
            assert!(here.join(&path).is_file(), "{path}");
        }
    }

    #[test]
    fn addresses_are_of_bytes_for_us_and_of_words_for_the_peer() {
        let suite = suite();
        let comparison = suite.comparisons.iter().find(|one| one.image == "factorial-3-bits.Og").unwrap();
        let property = suite.property("a first result is shown", comparison).unwrap();
        assert_eq!((property.ours.as_str(), property.peer.as_deref()), ("AF pc == 0x003e", Some("AF![PC == 0x1f]")));
        assert!(suite.property("no such property", comparison).is_err());
    }

    #[test]
    fn a_filter_keeps_something_or_fails() {
        let kept = suite().only("factorial-3-bits.Os").unwrap();
        assert_eq!((kept.comparisons.len(), kept.limited.len()), (1, 0));
        assert!(suite().only("no such image").is_err());
    }
}
