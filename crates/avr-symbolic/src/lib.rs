//! Symbolic execution of AVR machine code.
//!
//! Bits are Boolean functions of variables, literals of an and-inverter graph ([`Graph`]), behind the domain traits of
//! `three-valued`: the semantics of the instruction set stays that of [`avr_machine::Machine::step`].
#![forbid(unsafe_code)]

mod domain;
mod query;

pub use domain::assignment::{Assignment, Valuation};
pub use domain::bit::SymbolicBit;
pub use domain::byte::SymbolicByte;
pub use domain::graph::{Graph, Variable};
pub use domain::word::SymbolicWord;
pub use query::{Answer, QueryLimits, Unanswered, satisfy};
