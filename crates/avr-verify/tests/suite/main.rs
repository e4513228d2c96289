//! Requests to the pipeline and what comes of them.
//!
//! One program for all: each would take its time to link.

mod alarms;
mod blocks;
mod comparison;
mod conformance;
mod culprit;
mod environments;
mod facts;
mod known;
mod logic;
mod starts;
mod words;
