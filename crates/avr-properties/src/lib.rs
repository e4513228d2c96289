//! Property files, and the binding of their names to a device and an image.
//!
//! 1. [`PropertyFile::parse`] reads a property file (RON); [`Property::from_command_line`] reads one property.
//! 2. [`bind`] gives a property of an image its formula over [`Atom`]s, which the [`AtomTable`] keeps once for all
//!    properties. A property that is understood but cannot be checked yet is an error with a reason
//!    ([`PropertyError::unsupported`]).
//! 3. [`bind_assumptions`] gives what is assumed of inputs as constant bits and interrupts that never come.
//!    [`bind_predicates`] gives the comparisons of which states are to keep the outcome, and combinations of them.
//! 4. [`Atom::evaluate`] labels a state that is given as a [`StateView`], [`Atom::cells`] tells what must be kept for
//!    that, and [`Atom::unknown_cells`] which bits to blame when the label is unknown.
//!
//! This crate steps no machine and explores nothing.
#![forbid(unsafe_code)]

mod allowed_finding;
mod allowed_hazard;
mod application;
mod atom;
mod bind;
mod code_place;
pub mod conformance;
mod contract_error;
mod definitions;
mod entry;
mod error;
mod expression;
mod file;
mod finding_kind;
mod literals;
mod machine_error;
mod main_entry;
mod nearest;
mod occurred;
mod place;
mod property;
mod reads;
mod setting;
mod specification;
mod start;
mod start_error;
mod state_atoms;
mod syntax;
mod task_stack;
mod value;
mod view;
mod waits;

pub use allowed_finding::AllowedFinding;
pub use allowed_hazard::AllowedHazard;
pub use application::{ApplicationContent, ApplicationSetting, application_hex};
pub use atom::{Atom, AtomKind, AtomTable, Compare};
pub use bind::{
    Assumptions, Binding, BoundAssumption, BoundProperty, ComparedNumbers, Fairness, NamedPredicates, Order, bind,
    bind_assumption, bind_assumptions, bind_contracts, bind_machines, bind_predicates, formula_text, without_always,
};
pub use code_place::code_at;
pub use conformance::{
    MAX_STATES, Moment, Monitor, PlacedText, Relation, SpecificationAutomaton, SpecificationError, SpecificationMove,
    SpecificationState, unanswered,
};
pub use contract_error::ContractError;
pub use definitions::Definitions;
pub use entry::Entry;
pub use error::{PropertyError, PropertyErrorKind, UnsupportedProperty};
pub use file::{
    Assumption, EnvironmentEvent, EnvironmentMachine, FILE_FIELDS, FunctionContract, Fuses, PropertyFile, entry_fields,
    entry_kinds,
};
pub use finding_kind::FindingKind;
pub use literals::{Literal, literals};
pub use machine_error::MachineError;
pub use main_entry::main_entry;
pub use occurred::{EventRecorder, Occurred, Occurrences, occurrence, occurrences_cover, watched_events};
pub use place::{Excerpt, MarkedText, Place};
pub use property::{InvariantStart, Property, PropertyKind, StackLimit};
pub use reads::CellsRead;
pub use setting::Setting;
pub use specification::{Specification, SpecifiedProperty};
pub use start::{StartCondition, StartsAt};
pub use start_error::StartError;
pub use state_atoms::STATE_ATOMS;
pub use syntax::check_syntax;
pub use task_stack::TaskStack;
pub use view::{Event, Occurrence, StateView};
