//! Precision: what is split and what is forgotten, per location.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A stored cell or an input source, as the system numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Variable(pub u32);

/// Bits of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitMasks(BTreeMap<Variable, u64>);

impl BitMasks {
    /// The mask of a variable; 0 when nothing was added for it.
    #[must_use]
    pub fn get(&self, variable: Variable) -> u64 {
        self.0.get(&variable).copied().unwrap_or(0)
    }

    /// Adds bits; whether any of them is new.
    pub fn add(&mut self, variable: Variable, bits: u64) -> bool {
        let mask = self.0.entry(variable).or_default();
        let new = bits & !*mask != 0;
        *mask |= bits;
        new
    }

    /// The variables with their masks, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (Variable, u64)> + '_ {
        self.0.iter().map(|(variable, mask)| (*variable, *mask))
    }

    /// Whether there are no bits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Which bits a state keeps when it arrives at a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPrecision {
    /// Whether bits decay that are not named in `exceptions`; else they are kept.
    pub decays: bool,
    /// The bits for which the opposite is true.
    pub exceptions: BitMasks,
}

impl StepPrecision {
    /// Whether a state passes unchanged.
    #[must_use]
    pub fn keeps_all(&self) -> bool {
        !self.decays && self.exceptions.is_empty()
    }

    /// The bits of a variable that are kept.
    #[must_use]
    pub fn kept(&self, variable: Variable) -> u64 {
        let named = self.exceptions.get(variable);
        if self.decays { named } else { !named }
    }
}

/// The three knobs at one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationPrecision {
    /// Whether every input bit is split and every stored cell cut when it is first read (strategy *naive*).
    pub splits_all: bool,
    /// Input bits that are split when they are read.
    pub inputs: BitMasks,
    /// Bits that are kept when a state arrives.
    pub step: StepPrecision,
    /// Stored bits that are cut into cases before the step.
    pub cases: BitMasks,
    /// Whether only what is named here is split and cut (strategies *paper*): a step whose way depends on other unknown
    /// bits is not followed, and ends in a sink.
    pub stops_at_cases: bool,
}

impl LocationPrecision {
    /// Whether a refinement would change anything.
    #[must_use]
    pub fn is_new(&self, knob: Knob) -> bool {
        match knob {
            Knob::Step(variable, bits) => self.step.kept(variable) & bits != bits,
            Knob::Case(variable, bits) => self.cases.get(variable) & bits != bits,
            Knob::Input(variable, bits) => !self.splits_all && self.inputs.get(variable) & bits != bits,
        }
    }

    /// Refines; whether anything changed. Precision is only ever added.
    pub fn refine(&mut self, knob: Knob) -> bool {
        if !self.is_new(knob) {
            return false;
        }
        match knob {
            Knob::Step(variable, bits) if self.step.decays => self.step.exceptions.add(variable, bits),
            // Bits that were dropped one by one come back by forgetting that they were.
            Knob::Step(..) => unreachable!("without decay every bit is kept, so keeping it is nothing new"),
            Knob::Case(variable, bits) => self.cases.add(variable, bits),
            Knob::Input(variable, bits) => self.inputs.add(variable, bits),
        }
    }
}

/// What to refine at a location: bits of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knob {
    /// Keep bits that decayed.
    Step(Variable, u64),
    /// Cut stored bits into cases before the step.
    Case(Variable, u64),
    /// Split input bits when they are read.
    Input(Variable, u64),
}

/// How an analysis starts and what it refines first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Inputs are not split, nothing decays.
    #[default]
    Default,
    /// Every input bit is split.
    Naive,
    /// Inputs are not split, everything decays.
    Decay,
    /// As published by Onderka & Ratschan, section 4: precision per abstract state, one refinement at a time. Inputs are
    /// not split, not even those that decide where execution goes; nothing decays.
    Paper,
    /// The same, but everything decays.
    PaperDecay,
}

impl Strategy {
    /// All strategies.
    pub const ALL: [Self; 5] = [Self::Default, Self::Naive, Self::Decay, Self::Paper, Self::PaperDecay];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Naive => "naive",
            Self::Decay => "decay",
            Self::Paper => "paper",
            Self::PaperDecay => "paper-decay",
        }
    }

    /// Whether precision is kept per abstract state and not per location.
    #[must_use]
    pub fn is_per_state(self) -> bool {
        matches!(self, Self::Paper | Self::PaperDecay)
    }

    /// The precision that everything has in the beginning.
    pub(crate) fn start(self) -> LocationPrecision {
        let decays = matches!(self, Self::Decay | Self::PaperDecay);
        LocationPrecision {
            splits_all: self == Self::Naive,
            inputs: BitMasks::default(),
            step: StepPrecision { decays, exceptions: BitMasks::default() },
            cases: BitMasks::default(),
            stops_at_cases: self.is_per_state(),
        }
    }
}

/// The precision of all locations.
#[derive(Clone, Debug)]
pub struct Precision<L> {
    start: LocationPrecision,
    locations: FxHashMap<L, LocationPrecision>,
}

impl<L: Copy + Eq + Hash> Precision<L> {
    /// The precision that a strategy starts with.
    #[must_use]
    pub fn new(strategy: Strategy) -> Self {
        Self { start: strategy.start(), locations: FxHashMap::default() }
    }

    /// The precision at a location.
    #[must_use]
    pub fn at(&self, location: &L) -> &LocationPrecision {
        self.locations.get(location).unwrap_or(&self.start)
    }

    /// Whether a refinement would change anything.
    #[must_use]
    pub fn is_new(&self, location: &L, knob: Knob) -> bool {
        self.at(location).is_new(knob)
    }

    /// Refines a location; whether anything changed. Precision is only ever added.
    pub fn refine(&mut self, location: L, knob: Knob) -> bool {
        if !self.is_new(&location, knob) {
            return false;
        }
        let local = match self.locations.entry(location) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(self.start.clone()),
        };
        local.refine(knob)
    }
}
