//! Verification results rendered as text and JSON, and machine code as a listing.
//!
//! [`Report`] holds borrowed results; [`Report::json`] and [`Report::text`] turn them into text. Nothing is verified,
//! read or written here, and nothing depends on the terminal: whoever prints decides about colour.
#![forbid(unsafe_code)]

mod check;
mod escape;
mod evidence;
mod json;
mod listing;
mod names;
mod report;
mod table;
mod text;

pub use check::{CheckReport, rejected_json, rejected_text};
pub use escape::Escaped;
pub use json::SCHEMA;
pub use listing::listing;
pub use report::{Report, Summary};
pub use text::{Colour, warnings};
