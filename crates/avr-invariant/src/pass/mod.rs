//! The pass that finds maps. Nothing of it need be trusted: [`check`] accepts what it finds, or does not.

mod alarms;
mod attempts;
mod fixpoint;
mod hints;
mod nesting;
mod numbers;
mod partition;
mod pointers;
mod slice;
mod trace;
mod widening;

use std::collections::BTreeMap;

use avr_machine::Machine;

use crate::check::{Claims, Move};
use crate::gap::Gap;
use crate::map::Map;
use crate::step::Start;
use attempts::Attempts;

/// The most activations of one handler at the same time that the pass follows.
pub(crate) const MOST_ACTIVE: usize = 8;

/// The limits of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most states of a map.
    pub states: usize,
    /// The most abstract states from which all steps are taken, counting repetitions.
    pub steps: usize,
    /// The most calls on the stack.
    pub calls: usize,
    /// The most states of one place that differ in what pointers are where interrupts may come, and where none may.
    pub of_place: [usize; 2],
    /// The most steps of further attempts, in which states are told apart by what alarms depend on.
    pub further: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { states: 60_000, steps: 600_000, calls: 48, of_place: [256, 2_200], further: 100_000 }
    }
}

/// A map with what follows from it.
#[derive(Debug)]
pub struct Analysis {
    /// The map. If it is open, as far as it was made.
    pub map: Map,
    /// What follows from it, or why nothing does.
    pub outcome: Result<Claims, Gap>,
    /// The number of abstract states from which all steps were taken to find it, counting repetitions.
    pub steps: usize,
    /// The steps that do more than go on to the next instruction, with their number. If the map is open, some of them.
    pub moves: BTreeMap<Move, usize>,
}

/// Finds a map of everything that a machine can do, and checks it.
#[must_use]
pub fn analyse(machine: &Machine, options: &Options) -> Analysis {
    analyse_until(machine, options, &|| false)
}

/// The same, until the work is cancelled: the map is open then.
#[must_use]
pub fn analyse_until(machine: &Machine, options: &Options, is_cancelled: &dyn Fn() -> bool) -> Analysis {
    analyse_from(machine, Start::PowerOn, options, is_cancelled)
}

/// The same of everything that a machine can do from a start. A map from a state of a run is a closed set: what is true in none of its
/// states is never true again after that state, whatever happens.
#[must_use]
pub fn analyse_from(
    machine: &Machine,
    start: Start<'_>,
    options: &Options,
    is_cancelled: &dyn Fn() -> bool,
) -> Analysis {
    Attempts::new(machine, start, options, is_cancelled).analysis()
}
