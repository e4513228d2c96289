//! Tests of the framework from outside, on small systems of stored and input bits.
//!
//! The random tests run a fixed number of cases with fixed seeds. `TVAR_CASES` (a number) sets another number of
//! systems for the end-to-end test, 20,000 without it, and the others change in proportion.

mod abstracted;
mod automata;
mod concrete;
mod end_to_end;
mod function;
mod landing_gear;
mod loop_control;
mod modal;
mod monotone;
mod obligations;
mod observed;
mod parametric;
mod per_state;
mod published;
mod random;
mod refinement;
mod state_based;
mod toy;
mod trace;
mod word;
