//! Input-based three-valued abstraction refinement of systems that generate states.
//!
//! A [`System`] gives its abstract initial state and, under a [`Precision`] that is kept per location, the hyper-edges
//! of each state. [`verify`] builds the [`StateSpace`], evaluates formulas on it, and while something is unknown looks
//! for the cause and refines: it splits inputs, keeps bits that decayed, or cuts stored bits into cases.
//!
//! The theory is that of Onderka & Ratschan, "Input-based Three-Valued Abstraction Refinement", carried over to
//! hyper-edges (Shoham & Grumberg's generalised KMTS). This crate does not know that AVR exists.
#![forbid(unsafe_code)]

mod abstraction;
mod decision;
mod explorer;
mod history;
mod hyper_edges;
mod location_limit;
mod observer;
mod precision;
mod refine;
mod state_space;
mod system;
mod watch;

pub use abstraction::{Abstraction, DEFAULT_ENUMERATED, Difference, ExpansionOrder, Refuted};
pub use decision::{Decision, Goal, Outcome, Source, Undecided};
pub use explorer::{Explorer, arrive};
pub use history::{Change, History, Lineage, Part, Scope};
pub use hyper_edges::HyperEdges;
pub use observer::{Decided, Observer, Unobserved};
pub use precision::{BitMasks, Knob, LocationPrecision, Place, Precision, StepPrecision, Strategy, Variable};
pub use refine::{PerState, evaluate_limited, verify, verify_from};
pub use state_space::StateSpace;
pub use system::{Blame, Candidate, Lookup, LookupOf, StateKind, System};
pub use watch::{Exhausted, Phase, Progress, SpaceSize, Unlimited, Watch};
