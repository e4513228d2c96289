//! What is measured: the structure of `scaling/suite.ron`.

use std::path::Path;

use serde::Deserialize;

use crate::error::Error;

/// Programs that differ in one number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// For files.
    pub name: String,
    /// What the number is.
    pub title: String,
    /// The image in the repository; `{n}` stands for the number.
    pub image: String,
    /// The numbers, rising.
    pub sizes: Vec<u64>,
    /// How they rise.
    pub steps: Steps,
    /// What is asked of each image.
    pub questions: Vec<Question>,
}

/// How the sizes of a family rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Steps {
    /// By the same amount each time.
    Sums,
    /// By about the same factor each time; the axis is logarithmic.
    Factors,
}

/// What is asked of an image.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// For the legend.
    pub name: String,
    /// Further arguments of `avr-tvar verify`; `{n}` stands for the number.
    #[serde(default)]
    pub options: Vec<String>,
}

/// Reads the list.
///
/// # Errors
/// [`Error::File`] when it cannot be read, [`Error::Suite`] when it says something else.
pub fn read(path: &Path) -> Result<Vec<Family>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.into(), source })?;
    ron::from_str(&text).map_err(|error| Error::Suite { path: path.into(), error: Box::new(error) })
}

/// A text with the number in its place.
#[must_use]
pub fn at_size(text: &str, size: u64) -> String {
    text.replace("{n}", &size.to_string())
}

#[cfg(test)]
mod tests {
    use super::{at_size, read};
    use std::path::Path;

    #[test]
    fn every_image_exists_and_sizes_rise() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for family in read(&repository.join("benchmarks/scaling/suite.ron")).unwrap() {
            assert!(family.sizes.is_sorted(), "{}", family.name);
            for size in family.sizes {
                let image = repository.join(at_size(&family.image, size));
                assert!(image.is_file(), "{}", image.display());
            }
        }
    }
}
