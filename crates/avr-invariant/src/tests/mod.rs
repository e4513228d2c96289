//! Maps against concrete runs: of programs that a wrong map would accept, and of the samples.

mod division;
mod expected;
mod generated;
mod inclusion;
pub(crate) mod linear;
mod mutants;
mod programs;
mod ranges;
mod runs;
mod work;
