//! Symbolic execution of AVR machine code.
//!
//! Bits are Boolean functions of variables, literals of an and-inverter graph ([`Graph`]), behind the domain traits of
//! `three-valued`: the semantics of the instruction set stays that of [`avr_machine::Machine::step`]. An [`Executor`] follows all
//! paths from a state until a goal and merges them where they meet; [`satisfy`] asks a SAT solver about them, and [`consequences`]
//! which bits follow from others. [`feasibility`] follows one path whose steps are given.
//!
//! Nothing is claimed where something cannot be followed ([`Cannot`]) or a query has no answer ([`Unanswered`]).
#![forbid(unsafe_code)]

mod claim;
mod domain;
mod execution;
pub mod faults;
mod query;
#[cfg(test)]
mod tests;

pub use claim::check::{CheckLimits, Checked, Counterexample, Proof, Undecided};
pub use claim::pattern::Pattern;
pub use claim::rank::{Rank, Term};
pub use claim::{Claim, Rounds};
pub use domain::assignment::{Assignment, Valuation};
pub use domain::bit::SymbolicBit;
pub use domain::byte::SymbolicByte;
pub use domain::graph::{Graph, Variable};
pub use domain::word::SymbolicWord;
pub use execution::cannot::Cannot;
pub use execution::path_condition::PathCondition;
pub use execution::replay::{ConcreteRun, ConcreteStep, Mismatch, concrete_state, replay};
pub use execution::run::{End, EndKind, Execution, ExecutionLimits, Executor, Goal, SymbolicState};
pub use execution::start::power_on;
pub use execution::strategy::{Freedom, Interrupts, Strategy};
pub use execution::way::{Feasibility, Waypoint, feasibility};
pub use execution::world::AskedInput;
pub use query::{Answer, Consequence, QueryLimits, Unanswered, consequences, satisfy};
