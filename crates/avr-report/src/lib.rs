//! Verification results rendered as text and JSON.
#![forbid(unsafe_code)]
