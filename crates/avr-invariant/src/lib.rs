//! Invariants of firmware: what is true in every run, by one abstract state for a place instead of a state space.
//!
//! A [`Map`] gives abstract states to places: a thread (the main program, or the handler of an interrupt that came at a certain value of the
//! stack pointer), what is always known of the processor, and the return addresses on the stack. [`analyse`] finds one, and [`check`]
//! accepts it: one step of the executor from each state must be covered by the map (thread-modular abstract interpretation; the proof is in
//! `docs/soundness.md`). What finds maps need not be trusted.
//!
//! A map that is *open* says nothing: some step of it cannot be followed. A hazard on the way does not make it open: it is a *mark*.
#![forbid(unsafe_code)]

mod check;
mod division;
mod equalities;
mod equations;
pub mod faults;
mod gap;
mod handler;
mod intervals;
mod linear;
mod lookup;
mod map;
mod memory;
mod pass;
mod ranges;
mod rows;
mod step;
#[cfg(test)]
mod tests;
mod workspace;
mod world;

pub use check::{Claims, Depth, Mark, Move, check, check_from, check_with};
pub use division::Divisions;
pub use equalities::{AreSame, Equalities, Silence, Value};
pub use equations::{Equation, Equations, Variable};
pub use gap::{Cycle, Gap, Reason};
pub use intervals::{Interval, Range, Ranges, is_in_range};
pub use lookup::{Contents, Lookup};
pub use map::{CallStrings, Entry, Exit, Map, Place, State, Thread};
pub use memory::{BLOCK_PAGES, Block, Memory, Page, Store};
pub use pass::{Analysis, Options, analyse, analyse_from, analyse_until};
pub use step::Start;
