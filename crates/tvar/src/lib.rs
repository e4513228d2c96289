//! Input-based three-valued abstraction refinement of systems that generate states.
//!
//! A [`System`] gives its abstract initial state and, under a [`Precision`] that is kept per location, the hyper-edges
//! of each state. [`verify`] builds the [`StateSpace`], evaluates formulas on it, and while something is unknown looks
//! for the cause and refines: it splits inputs, keeps bits that decayed, or cuts stored bits into cases.
//!
//! The theory is that of Onderka & Ratschan, "Input-based Three-Valued Abstraction Refinement", carried over to
//! hyper-edges (Shoham & Grumberg's generalised KMTS). This crate does not know that AVR exists.
#![forbid(unsafe_code)]

mod crowd;
mod decision;
mod explore;
mod failing;
mod paper;
mod plan;
mod precision;
mod refine;
mod space;
mod system;
mod watch;

pub use decision::{Decision, Goal, Outcome, Source, Undecided};
pub use explore::{Explorer, arrive};
pub use paper::PerState;
pub use precision::{BitMasks, Knob, LocationPrecision, Place, Precision, StepPrecision, Strategy, Variable};
pub use refine::{verify, verify_from};
pub use space::StateSpace;
pub use system::{Blame, Candidate, Decided, Difference, HyperEdges, Lookup, System, Turn};
pub use watch::{Exhausted, Phase, Progress, Unlimited, Watch};
