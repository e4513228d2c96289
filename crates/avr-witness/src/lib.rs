//! Evidence: a concrete run that shows a verdict, found by following the winning strategy and checked by a replay.
//!
//! 1. `concretise` follows the strategy (`strategy`, `progress_measure`) with concrete values: it picks initial content and inputs
//!    (`input_search`), steps concretely (`concrete_step`) and goes on in whichever abstract state covers the result (`coverage`).
//! 2. Where the proof is not at hand yet, `random_search` looks for a random run.
//! 3. Where claims about loops are the proof, `claimed_run` does what they say.
//! 4. `replay` repeats the inputs from the beginning, looks up everything that is claimed in the states that are
//!    reached, and evaluates the formula on the run alone; `narrative` says what the run does.
//!
//! 5. `tracking` observes what runs do with pointers and with variables that handlers write; `finding_search` looks for such runs.
//!
//! A run whose claim does not show is a fault of our own: no verdict rests on it.
#![forbid(unsafe_code)]

mod abstract_trace;
mod claimed_run;
mod concretise;
mod confirmation;
mod evidence;
mod failure;
mod find;
mod finding_search;
mod minimise;
mod narrative;
mod progress_measure;
mod random_search;
mod replay;
mod startup_runs;
mod strategy;
mod target_condition;
#[cfg(test)]
mod tests;
mod tracking;

pub use abstract_trace::along;
pub use claimed_run::{Guide, Plan, claimed_run};
pub use evidence::{AtomChanges, AtomTrace, Continuation, Evidence, EvidenceKind, LastState, Search};
pub use find::{find, may_need_a_run};
pub use finding_search::{Seen, look};
pub use narrative::events::{Change, Chosen, Item, Line, Told};
pub use random_search::{Distances, Interrupt, Lost, Sampler, Spot, Way};
pub use startup_runs::fails_in_startup;
pub use target_condition::Condition;
pub use tracking::{Objects, Observation, Subjects, Window};
