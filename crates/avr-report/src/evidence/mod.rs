//! Evidence rendered: as a debugger would show it, and as files: `trace.json`, `trace.vcd`, and programs against libsimavr.

mod calls;
mod cycles;
mod json;
mod lines;
mod numbers;
mod player;
mod received;
mod simavr;
mod specification;
mod step;
mod text;
mod trace;
mod wave;

pub(crate) use calls::left_at;
pub(crate) use json::JsonEvidence;
pub(crate) use lines::Lines;
pub(crate) use received::streams;
pub(crate) use specification::{line as specification_line, lines as specification_lines};
pub(crate) use step::{action, chosen, happening};
pub(crate) use text::add_evidence;
pub(crate) use wave::{Port, ports};
