//! Property files and atoms, from text to truth.

mod assumptions;
mod contracts;
mod ending;
mod errors;
mod evaluation;
mod files;
mod machines;
mod names;
mod patterns;
mod predicates;
mod samples;
mod specifications;
mod stacks;
mod starts;
mod support;
mod types;
