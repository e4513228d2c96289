//! The pass that finds maps. Nothing of it need be trusted: [`check`] accepts what it finds, or does not.

mod fixpoint;
mod partition;
mod pointers;
mod widening;

use avr_machine::Machine;

use crate::check::{Claims, check};
use crate::gap::Gap;
use crate::map::Map;
use fixpoint::Fixpoint;

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
}

impl Default for Options {
    fn default() -> Self {
        Self { states: 60_000, steps: 600_000, calls: 48, of_place: [256, 2_200] }
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
}

/// Finds a map of everything that a machine can do, and checks it.
#[must_use]
pub fn analyse(machine: &Machine, options: &Options) -> Analysis {
    let mut fixpoint = Fixpoint::new(machine, *options);
    let found = fixpoint.run().and_then(|()| fixpoint.narrow());
    let steps = fixpoint.steps();
    let mut map = fixpoint.into_map();
    let outcome = found.and_then(|()| check(machine, &mut map));
    Analysis { map, outcome, steps }
}
