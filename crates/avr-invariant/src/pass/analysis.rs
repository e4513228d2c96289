//! The limits of the pass, and its result.

use std::collections::BTreeMap;

use crate::check::{Claims, Move};
use crate::gap::Gap;
use crate::map::Map;

/// The limits of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most states of a map.
    pub states: usize,
    /// The most abstract states from which all steps are taken, counting repetitions. States from which steps are long count as several.
    pub steps: usize,
    /// The most calls on the stack.
    pub calls: usize,
    /// The most states of one place that differ in what pointers are where interrupts may come, and where none may.
    pub of_place: [usize; 2],
    /// The most steps of further attempts, in which states are told apart by what alarms depend on. Long ones count as several.
    pub further: usize,
    /// True if the first attempt has linear equations as well. It needs them seldom, and claims about loops are about their values too.
    pub equations_at_once: bool,
}

impl Options {
    /// The options where nothing else is said.
    pub const DEFAULT: Self = Self {
        states: 60_000,
        steps: 600_000,
        calls: 48,
        of_place: [256, 2_200],
        further: 100_000,
        equations_at_once: false,
    };
}

impl Default for Options {
    fn default() -> Self {
        Self::DEFAULT
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
    /// The number of steps of usual length that are as much work, by which limits count; at least that of the steps.
    pub work: usize,
    /// The steps that do more than go on to the next instruction, with their number. If the map is open, some of them.
    pub moves: BTreeMap<Move, usize>,
}
