//! Formulas of the mu-calculus, CTL, LTL and CTL*, their parser, and a three-valued solver over hyper-edge graphs.
//!
//! The way of a property through this crate:
//!
//! 1. [`parse_formula`] reads the text into a [`Formula`] over [`Comparison`]s; [`Definitions`] expands names that
//!    stand for formulas.
//! 2. [`Formula::try_map_atoms`] lets the caller bind every comparison to an [`AtomId`] of its own system.
//! 3. [`NormalForm::new`] translates into positive normal form: negations at the atoms, CTL as fixed points, path
//!    formulas as deterministic parity automata, subformulas shared, priorities by dependency.
//! 4. [`Problem::solve`] gives the [`Truth`](three_valued::Truth) of every (state, subformula) pair over a
//!    [`HyperGraph`] with three-valued [`Labels`].
//! 5. [`Solution`] answers [`Solution::verdict`], gives a winning strategy ([`Solution::choice`]) for evidence and,
//!    where the verdict is unknown, the root causes ([`Solution::culprits`]) for refinement.
//! 6. [`strengthenings`] gives the formulas that tell whether a property holds vacuously.
//!
//! This crate knows no machine: what a name in an atom means is the caller's business.
#![forbid(unsafe_code)]

mod atom;
mod cancel;
mod components;
mod culprits;
mod expand;
mod formula;
pub mod fragment;
mod graph;
mod labels;
mod linear;
mod node;
mod normal_form;
mod parse;
mod print;
mod priority;
mod problem;
mod solution;
mod solve;
pub mod state_formula;
mod vacuity;

pub use atom::{
    BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, Expr, ExprKind, Field, Name, Span, UnaryOperator,
};
pub use cancel::Cancel;
pub use culprits::{Cause, Culprit, Culprits, Step};
pub use expand::{Definitions, ExpandError};
pub use formula::{
    FixedPoint, Formula, LinearOperator, LinearPairOperator, MAX_DEPTH, MAX_SIZE, Modality, PathOperator,
    PathPairOperator, PathQuantifier, Variable,
};
pub use graph::{GraphBuilder, GraphError, HyperGraph, StateId};
pub use labels::{AtomId, Labels};
pub use node::{Node, NodeId};
pub use normal_form::{NormalForm, TranslateError};
pub use parse::{ParseError, ParseErrorKind, parse_formula, parse_linear, parse_path, parse_predicate};
pub use problem::Problem;
pub use solution::{Choice, Solution};
pub use solve::SolveError;
pub use vacuity::{Strengthening, strengthenings};
