//! Strategies: what the environment and the hardware do on the paths that are followed.

use crate::faults::{Fault, is_on};
use avr_isa::DataAddress;
use avr_machine::{DeterminedBy, Happening, Possibilities};
use std::collections::BTreeMap;
use three_valued::TvByte;

/// The interrupts that come where they are possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupts {
    /// Everything that is possible happens, on paths of their own: interrupts, resets, going on.
    Any,
    /// The handlers of these interrupts are entered one after the other, each at the first moment at which its interrupt is
    /// possible. Nothing else happens that need not.
    Order(Vec<u8>),
}

/// A strategy of the environment and the hardware.
///
/// What the data sheet leaves open ([`DeterminedBy::Undefined`]) is no part of it: there all is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The interrupts.
    pub interrupts: Interrupts,
    /// Input bits with a level that is held, by the data address of their register. The other inputs are variables.
    pub held: BTreeMap<DataAddress, TvByte>,
    /// The inputs of registers in the steps that ask for them, one after the other, before they are as `held` says.
    pub sequences: BTreeMap<DataAddress, Vec<u8>>,
}

/// The part of a strategy that is over.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Course {
    /// The number of interrupts of the order that came.
    pub(crate) entered: usize,
    /// The number of inputs of each sequence that steps have asked for.
    pub(crate) asked: BTreeMap<DataAddress, usize>,
}

impl Strategy {
    /// Everything that is possible, with all inputs.
    #[must_use]
    pub fn anything() -> Self {
        Self { interrupts: Interrupts::Any, held: BTreeMap::new(), sequences: BTreeMap::new() }
    }

    /// These interrupts in this order, with all inputs.
    #[must_use]
    pub fn entering(interrupts: &[u8]) -> Self {
        Self { interrupts: Interrupts::Order(interrupts.to_vec()), ..Self::anything() }
    }

    /// The places of what is followed among the possibilities; `entered` interrupts of the order came before. The first one is what the
    /// strategy picks.
    pub(crate) fn followed(&self, possible: &Possibilities, entered: usize) -> Vec<(usize, Happening)> {
        let all = possible.iter().enumerate();
        let Interrupts::Order(order) = &self.interrupts else { return all.collect() };
        // SOUND: nobody can choose what the data sheet leaves open, nor that it does not happen.
        let is_open = |happening: &Happening| possible.determined_by(*happening) == DeterminedBy::Undefined;
        let (open, mut followed): (Vec<_>, Vec<_>) = all.partition(|(_, happening)| is_open(happening));
        let wanted = order.get(entered).map(|number| Happening::Interrupt(*number));
        let picked = followed.iter().position(|(_, happening)| Some(*happening) == wanted).unwrap_or(0);
        followed = followed.get(picked).copied().into_iter().collect();
        if !is_on(Fault::OpenChosen) || followed.is_empty() {
            followed.extend(open);
        }
        followed
    }

    /// The levels of a register, after what is over.
    pub(crate) fn levels(&self, register: DataAddress, course: &Course) -> TvByte {
        let asked = course.asked.get(&register).copied().unwrap_or(0);
        let next = self.sequences.get(&register).and_then(|sequence| sequence.get(asked));
        next.map_or_else(
            || self.held.get(&register).copied().unwrap_or(TvByte::UNKNOWN),
            |next| TvByte::constant(*next),
        )
    }

    /// True for the next interrupt of the order, after so many.
    pub(crate) fn is_next(&self, interrupt: u8, entered: usize) -> bool {
        match &self.interrupts {
            Interrupts::Any => false,
            Interrupts::Order(order) => order.get(entered) == Some(&interrupt),
        }
    }
}

/// The freedom that a strategy uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freedom {
    /// It holds the level of an input that the environment determines.
    pub inputs: bool,
    /// It chooses when something happens that the environment determines: an interrupt was possible.
    pub events: bool,
    /// It chooses what the hardware determines in a way that the model leaves open.
    pub hardware: bool,
}

impl Freedom {
    /// What either uses.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            inputs: self.inputs || other.inputs,
            events: self.events || other.events,
            hardware: self.hardware || other.hardware,
        }
    }

    /// True if more than levels of inputs is chosen: what is shown by such choices is of the model.
    #[must_use]
    pub fn rests_on_choices(self) -> bool {
        self.events || self.hardware
    }

    /// The freedom to choose among possibilities.
    pub(crate) fn of_choice(possible: &Possibilities) -> Self {
        let players: Vec<DeterminedBy> = possible
            .iter()
            .filter(|happening| *happening != Happening::Continue)
            .map(|happening| possible.determined_by(happening))
            .collect();
        let by_hardware = |by: &DeterminedBy| matches!(by, DeterminedBy::Hardware | DeterminedBy::EnvironmentInTime);
        Self {
            inputs: false,
            events: players.contains(&DeterminedBy::Environment),
            hardware: players.iter().any(by_hardware),
        }
    }

    /// The freedom to hold an input.
    pub(crate) fn of_input(by: DeterminedBy) -> Self {
        let is_input = by == DeterminedBy::Environment;
        Self { inputs: is_input, events: false, hardware: !is_input }
    }
}
