//! Claims about small loops, with faults put in, and ways through small programs.

mod claims;
mod division;
mod enumeration;
mod loops;
mod ways;
