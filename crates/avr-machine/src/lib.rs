//! The AVR machine: device tables, data space, instruction semantics over any value domain.
#![forbid(unsafe_code)]
pub mod device;
