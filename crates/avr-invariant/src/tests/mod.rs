//! Maps against concrete runs: of programs that a wrong map would accept, and of the samples.

mod generated;
mod inclusion;
mod programs;
mod runs;
