//! The symbolic domain, steps in it, and runs.
//!
//! One program for all: each would take its time to link.

mod domain;
mod runs;
mod steps;
