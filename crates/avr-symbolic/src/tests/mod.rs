//! Claims about small loops, with faults put in.

mod claims;
mod division;
mod enumeration;
mod loops;
