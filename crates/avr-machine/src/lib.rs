//! The AVR machine: device tables, data space, instruction semantics over any value domain.
//!
//! This crate does no input or output and knows neither properties nor verification. [`Machine::step`] is the only
//! semantics of the instruction set in the project.
#![forbid(unsafe_code)]

mod application;
mod automaton;
mod compared;
mod comparison;
mod conditions;
mod contract;
mod copies;
mod cut;
mod data_space;
pub mod device;
mod environment;
mod execute;
mod hazard;
mod machine;
mod operations;
mod program;
mod ron_text;
pub mod simulator;
mod stack_pointer;
mod stacks;
mod start;
mod state;
mod survey;

pub use automaton::{
    AUTOMATON_CHOICE, AutomatonMove, AutomatonState, ByteSet, EnvironmentAutomaton, MAX_AUTOMATA, MAX_AUTOMATON_STATES,
    Signal, drivable_bits,
};
pub use compared::compared_bytes;
pub use comparison::{Comparison, Number, Operand};
pub use conditions::{Application, Starts};
pub use contract::{BodyEvents, Contract, Returned};
pub use copies::{Copies, Difference, MaskedCopy, Relation, Sum};
pub use cut::{cells_loaded, cut_cell, cut_what_is_read};
pub use data_space::{DataSpace, PAGE_CELLS};
pub use environment::{Demand, DeterminedBy, Environment, Event, Happening, Input, Possibilities, Question};
pub use execute::flags::flag;
pub use hazard::{Hazard, HazardKind, Limit, Stop};
pub use machine::{Machine, Options, SpacedFlag};
pub use program::{Fetched, Program};
pub use ron_text::{ron_message, ron_offset};
pub use stack_pointer::StackPointer;
pub use stacks::StackArea;
pub use state::{CallString, Control, Frame, FrameKind, MAX_WINDOWS, MachineState};
pub use survey::{Survey, Use};
