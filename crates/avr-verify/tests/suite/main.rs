//! Requests to the pipeline and what comes of them.
//!
//! One program for all: each would take its time to link.

use std::sync::Mutex;

mod alarms;
mod blocks;
mod comparison;
mod conformance;
mod contracts;
mod culprit;
mod environments;
mod facts;
mod known;
mod logic;
mod starts;
mod words;

/// Held by tests that put faults into the whole process, and by those that such a fault would disturb.
static FAULTS: Mutex<()> = Mutex::new(());
