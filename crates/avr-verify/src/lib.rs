//! AVR firmware as a system for abstraction refinement, and the verification of its properties.
#![forbid(unsafe_code)]
