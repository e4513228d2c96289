//! Three-valued bits, bytes and words, and the traits that a value domain implements.
#![forbid(unsafe_code)]

mod truth;

pub use truth::Truth;
