//! Formulas of the mu-calculus and CTL, their parser, and a three-valued solver over hyper-edge graphs.
#![forbid(unsafe_code)]
