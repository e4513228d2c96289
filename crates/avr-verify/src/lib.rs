//! The verification of properties of AVR firmware: the pipeline from a request to results.
//!
//! [`verify`] decides the properties of an image over the system of `avr-model`, with the runs that `avr-witness` finds.
#![forbid(unsafe_code)]

mod assumptions;
mod call_graph;
mod certificate;
mod comparison;
mod contracts;
mod cost;
mod diagnosis;
mod early_results;
mod finding;
mod findings;
mod inclusion;
mod invariants;
mod pipeline;
#[cfg(test)]
mod random_programs;
mod request;
mod results;
mod stack_bound;
mod state_graph;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod varied_programs;
mod worst_case;

pub use assumptions::{assumptions, fairness};
pub use avr_events::{Alphabet, EventAutomaton, faults as event_faults};
pub use avr_model::Firmware;
pub use avr_model::pass::Pass;
pub use avr_model::predicates::{PredicateOrder, UsedPredicate};
pub use avr_model::state::view::View;
pub use avr_model::state::{AbstractState, Location, Running};
pub use avr_properties::Moment;
pub use avr_witness::{
    AtomChanges, AtomTrace, Change, Chosen, Condition, Continuation, Evidence, EvidenceKind, Item, LastState, Line,
    Told,
};
pub use call_graph::{Cycle, Routine, Segment, Survey, Usage, Way};
pub use certificate::PropertyText;
pub use certificate::certify::certify;
pub use comparison::{Compared, Comparison, EventsError, Extracted, compare, conformance, event_automaton, events};
pub use contracts::{open_contracts, prove_contracts, verify_with_contracts};
pub use cost::{Exploration, Stored};
pub use diagnosis::explosion::{Explosion, VaryingCell};
pub use diagnosis::root_cause::{Culprit, Help, Obstacle, Origin, UnknownBits};
pub use diagnosis::subformulas::{Along, Counts, Explained, Explanation, Stretch};
pub use diagnosis::unknown_reason::place_at;
pub use diagnosis::vacuity::Vacuity;
pub use early_results::EarlyResults;
pub use finding::{Certainty, Finding};
pub use findings::{explained, findings, verify};
pub use inclusion::{Explored, Fits, Shown, explored};
pub use invariants::{Alarm, AlarmKind, AlarmLine, Alarms, Dependence, DependenceKind, Invariants, InvariantsOutcome};
pub use pipeline::machine::machine;
pub use request::{DEFAULT_ENUMERATED, InvariantUse, Reductions, Request};
pub use results::{Basis, ContractUse, PropertyResult, Recheck, Results, Statistics, Unknown, Verdict};
pub use stack_bound::{StackBound, TaskStackBound};
pub use state_graph::{GraphNode, NodeKind, StateGraph, graph};
pub use tvar::{Exhausted, Phase, Progress, SpaceSize, Strategy, Unlimited, Watch};
pub use worst_case::{Fit, Room, WorstCase, worst_case};
