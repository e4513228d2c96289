//! Claims about small loops, with faults put in.

mod claims;
mod enumeration;
mod loops;
