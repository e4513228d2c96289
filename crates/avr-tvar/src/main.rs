//! The `avr-tvar` command line.
#![forbid(unsafe_code)]

fn main() {}
