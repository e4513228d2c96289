//! Operations on bytes and words against enumeration.
//!
//! One program for all: each would take its time to link.

mod bytes;
mod words;
