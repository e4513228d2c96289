//! Systems of several firmware images that wires join.
//!
//! 1. [`SystemFile::parse`] reads a system file (RON).
//! 2. [`System::bind`] binds it to the settings of its nodes: machines, wires, and formulas over the atoms of all nodes.
//! 3. [`System::verify`] finds the states of the system, of which each node is reduced to what its wires and the properties see, and
//!    decides the properties. A violation comes with a concrete [`Run`] of all nodes.
//!
//! This crate reads no files.
#![forbid(unsafe_code)]

mod binding;
mod branching;
mod composition;
mod conformance;
mod edges;
mod environment;
mod error;
mod faults;
mod file;
mod lasso;
mod moments;
mod node;
mod replay;
mod run;
mod simulation;
#[cfg(test)]
mod tests;
mod verdict;
mod wire;
mod word;

pub use binding::{BindError, System};
pub use composition::Limits;
pub use error::{FILE_FORM, SystemError};
#[cfg(feature = "faults")]
pub use faults::{Fault, with_fault};
pub use file::{MAX_NODES, NodeEntry, Placed, PropertyEntry, PropertyKind, SystemFile, WireEntry};
pub use run::{Moment, MomentKind, Place, Repeats, Run, SpecificationMoment};
pub use verdict::{Basis, PropertyResult, Results, Verdict};
