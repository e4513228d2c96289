//! Verification results rendered for people and for programs, and machine code as a listing.
//!
//! [`Report`] holds borrowed results; [`Report::json`], [`Report::text`] and their like turn them into text. [`SystemReport`] does the
//! same for several nodes. Nothing is verified, read or written here, and nothing depends on the terminal: whoever prints decides about
//! colour.
#![forbid(unsafe_code)]

mod alarms;
mod baseline;
mod check;
mod culprit;
mod dot;
mod escape;
mod evidence;
mod expectation;
mod explanation;
mod fields;
mod findings;
mod github;
mod html;
mod json;
mod json_finding;
mod junit;
mod listing;
mod markdown;
mod names;
mod place;
mod predicates;
mod report;
mod sarif;
mod specification;
mod stack;
mod system;
mod table;
mod text;
mod variables;
mod wrap;

pub use baseline::{Baseline, BaselineError, Changes, Difference, Effect, VerdictChange};
pub use check::{CheckReport, rejected_json, rejected_text};
pub use dot::{DotStyle, Fold, dot, specification_dot};
pub use escape::{Escaped, json_text};
pub use expectation::{Answer, Expectation, Expected};
pub use explanation::{CountData, ExplanationData, StretchData, SubformulaData};
pub use fields::SCHEMA;
pub use listing::{listing, listing_with_interrupts};
pub use place::source_paths;
pub use report::{InputFile, Report, ReportOrigin, SourceFile, StoppedBy, Summary};
pub use sarif::meaning_of_kind;
pub use stack::StackReport;
pub use system::{SystemNode, SystemReport};
pub use text::{Colour, Detail, explained_heading, warnings};
