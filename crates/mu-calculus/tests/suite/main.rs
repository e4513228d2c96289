//! Tests of the crate from outside, against a naive evaluator and against concrete systems.
//!
//! The random tests run a fixed number of cases with fixed seeds; `MU_CALCULUS_CASES` (a number) sets another number.

mod abstraction;
mod agreement;
mod cancellation;
mod culprits;
mod display;
mod expansion;
mod linear;
mod monotonicity;
mod naive;
mod normal_form;
mod parser_errors;
mod paths;
mod random;
mod resolution;
mod strategies;
mod tiny;
mod vacuity;
mod vectors;
