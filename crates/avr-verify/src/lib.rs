//! AVR firmware as a system for abstraction refinement, and the verification of its properties.
//!
//! This is where the part that knows AVR meets the part that knows model checking: [`Firmware`] makes a
//! [`Machine`](avr_machine::Machine) a [`tvar::System`], and [`verify`] runs the properties of an image over it.
#![forbid(unsafe_code)]

mod apart;
mod asked;
mod assumptions;
mod certificate;
mod compression;
mod culprit;
mod cut;
mod decay;
mod decide;
mod events;
mod evidence;
mod explain;
mod exploration;
mod fairness;
mod flow;
mod graph;
mod handlers;
mod hardware;
mod inclusion;
mod invariant;
mod joined;
mod known;
mod last_pass;
mod liveness;
mod methods;
#[cfg(test)]
mod obligations;
mod observer;
#[cfg(test)]
mod published;
#[cfg(test)]
mod random_programs;
mod reason;
mod reduction;
mod request;
mod result;
mod script;
mod setup;
mod sight;
mod stack;
mod state;
mod step;
mod store;
mod survey;
mod system;
mod thresholds;
mod trace;
mod turns;
mod vacuity;
#[cfg(test)]
mod varied_programs;
mod verification;
mod workspace;
mod worst_case;

pub use assumptions::assumptions;
pub use certificate::PropertyText;
pub use culprit::{Culprit, Help, Obstacle, Origin, UnknownBits};
pub use decide::allows_reduction;
pub use evidence::{Change, Chosen, Condition, Evidence, EvidenceKind, Item, LastState, Line, Told};
pub use explain::{Along, Counts, Explained, Explanation, Stretch};
pub use exploration::{Exploration, Stored};
pub use graph::{GraphNode, NodeKind, StateGraph, graph};
pub use inclusion::{Explored, Fits, Shown, explored};
pub use known::Known;
pub use methods::Methods;
pub use reason::place_at;
pub use request::{Reductions, Request};
pub use result::{Basis, PropertyResult, Recheck, Results, StackBound, Statistics, Unknown, Vacuity, Verdict};
pub use setup::machine;
pub use state::{AbstractState, Location, Running};
pub use survey::{Cycle, Routine, Segment, Survey, Usage, Way};
pub use system::{Firmware, View};
pub use tvar::{Exhausted, Phase, Progress, Strategy, Unlimited, Watch};
pub use verification::{certify, explained, verify};
pub use worst_case::{Fit, Room, WorstCase, worst_case};
