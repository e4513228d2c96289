//! Symbolic execution: all paths of a program from a state, until a goal.
//!
//! Where a step asks for a case or a choice all answers are followed, each on a path with a condition. Paths that come to the same
//! program counter, stack pointer and call string are merged, with if-then-else on each cell. For each assignment to the
//! variables exactly one path has a condition that is 1.

pub(crate) mod cannot;
mod moment;
pub(crate) mod path_condition;
mod point;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod start;
mod step;
pub(crate) mod strategy;
pub(crate) mod way;
pub(crate) mod world;
