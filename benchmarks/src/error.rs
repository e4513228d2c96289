//! Why a comparison could not be made.

use std::path::PathBuf;

/// An error of the driver, not of the tools it runs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The list of comparisons is not what [`crate::suite::Suite`] describes.
    #[error("{}:{}: {}", path.display(), error.span.start, error.code)]
    Suite {
        /// The file.
        path: PathBuf,
        /// Where and why.
        error: Box<ron::error::SpannedError>,
    },
    /// A program could not be started.
    #[error("cannot run {}: {source} (benchmarks/run builds what the comparison needs)", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An image is compared by a property that is not defined.
    #[error("suite.ron: {image} names the property `{property}`, which is not among the `properties`")]
    NoSuchProperty {
        /// The name.
        property: String,
        /// The image.
        image: String,
    },
    /// The results of an earlier run cannot be read.
    #[error("{}: {source} (run `benchmarks/run scaling` to measure again)", path.display())]
    Measured {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// There was no report to read.
    #[error("avr-tvar gave no report for {image}, {question}")]
    NoAnswer {
        /// The image.
        image: String,
        /// What was asked of it.
        question: String,
    },
    /// A page lacks a place for what was measured.
    #[error("{}: lacks the comments between which a table goes", path.display())]
    NoPlace {
        /// The page.
        path: PathBuf,
    },
    /// A curve could not be drawn.
    #[error("cannot draw {family}: {reason}")]
    Drawing {
        /// The family.
        family: String,
        /// Why.
        reason: String,
    },
    /// The option `--only` left nothing to do.
    #[error("nothing in suite.ron has `{filter}` in its name")]
    NothingSelected {
        /// The text of the option.
        filter: String,
    },
}
