//! The instruction table and what is derived from it.
//!
//! One program for all: each would take its time to link.

mod decoder;
mod disassembly;
mod effects;
mod table_errors;
mod views;
