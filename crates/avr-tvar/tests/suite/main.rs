//! The tool as its users meet it, and its verdicts about samples, regressions and the programs of data sheets.
//!
//! One program for all: each would take its time to link.

mod allowed_places;
mod batch;
mod certificate;
mod certificate_mutants;
mod cli;
mod compare;
mod configuration;
mod conformance;
mod contracts;
mod data_sheet;
mod disasm;
mod empty_gates;
mod ended_paths;
mod environment;
mod evidence;
mod explain;
mod findings;
mod from_root;
mod gates;
mod hazard_atom;
mod hostile;
mod init;
mod journals;
mod logic;
mod lsp;
mod machines;
mod meaning;
mod outputs;
mod regressions;
mod reports;
mod robust;
mod run;
mod sample;
mod samples;
mod spacing;
mod stack;
mod startup;
mod strategies;
mod systems;
mod told_runs;
mod watch;
