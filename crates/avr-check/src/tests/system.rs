//! Small systems that can be enumerated, and abstract states of them.

use std::collections::BTreeSet;

use three_valued::Truth;

use crate::outcomes::{Came, Script, Who};
use avr_testkit::Random;

/// Bits of a concrete state.
pub(super) const STATE_BITS: u8 = 3;
/// Bits of an input. The last one is the hardware's.
pub(super) const INPUT_BITS: u8 = 2;
/// The number of atoms.
pub(super) const ATOMS: usize = 2;

const STATES: u8 = 1 << STATE_BITS;
const INPUTS: u8 = 1 << INPUT_BITS;
/// The input bits that the hardware determines.
const HARDWARE: u8 = 1 << (INPUT_BITS - 1);

/// A concrete state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concrete {
    /// Before the start.
    Start,
    /// Bits.
    Bits(u8),
    /// After a hazard.
    Hazard,
}

/// An abstract state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Abstract {
    Start,
    /// Bits of which some are known.
    Bits {
        known: u8,
        value: u8,
    },
    Hazard,
    Anything,
}

/// A system: what each state comes to with each input.
#[derive(Clone, Debug)]
pub(super) struct System {
    pub(super) digest: usize,
    steps: Vec<Concrete>,
    first: Vec<Concrete>,
    atoms: [[bool; STATES as usize]; ATOMS],
    /// True if inputs are asked for before cases.
    inputs_first: bool,
    /// True if the first atom says that a hazard has happened, which is for ever.
    pub(super) observes_hazards: bool,
}

impl System {
    pub(super) fn random(random: &mut Random) -> Self {
        let hazards = random.once_in(3);
        let observes_hazards = random.once_in(3);
        // Steps that change few bits leave more known.
        let step = |state: u8, random: &mut Random| match hazards && random.once_in(12) {
            true => Concrete::Hazard,
            false => Concrete::Bits((state ^ random.byte() & random.byte()) % STATES),
        };
        let steps = (0..STATES).flat_map(|state| [state; INPUTS as usize]);
        let steps = steps.map(|state| step(state, random)).collect();
        let origin = random.byte();
        let first = (0..INPUTS).map(|_| Concrete::Bits((origin ^ random.byte() & random.byte()) % STATES)).collect();
        Self {
            digest: random.below(1000),
            steps,
            first,
            atoms: std::array::from_fn(|atom| {
                std::array::from_fn(|_| random.once_in(2) && !(observes_hazards && atom == 0))
            }),
            inputs_first: random.once_in(2),
            observes_hazards,
        }
    }

    /// The state after a step.
    pub(super) fn step(&self, state: Concrete, input: u8) -> Concrete {
        match state {
            Concrete::Start => self.first[usize::from(input)],
            Concrete::Bits(bits) => self.steps[usize::from(bits) * usize::from(INPUTS) + usize::from(input)],
            Concrete::Hazard => Concrete::Hazard,
        }
    }

    pub(super) fn inputs() -> impl Iterator<Item = u8> {
        0..INPUTS
    }

    /// Inputs with the bits that the hardware determines as in another one.
    pub(super) fn inputs_like(other: u8) -> impl Iterator<Item = u8> {
        Self::inputs().filter(move |input| (input ^ other) & HARDWARE == 0)
    }

    /// The truth of an atom in all states that an abstract one stands for.
    pub(super) fn label(&self, state: Abstract, atom: usize) -> Truth {
        if matches!(state, Abstract::Anything | Abstract::Start) {
            return Truth::Unknown;
        }
        let mut values = state.concretes().into_iter().map(|concrete| self.holds(concrete, atom));
        let first = values.next().unwrap_or(Truth::Unknown);
        if values.all(|value| value == first) { first } else { Truth::Unknown }
    }

    /// The truth of an atom in a concrete state; after a hazard nothing else is known.
    pub(super) fn holds(&self, state: Concrete, atom: usize) -> Truth {
        match state {
            Concrete::Bits(bits) => Truth::from(self.atoms[atom][usize::from(bits)]),
            Concrete::Hazard if self.observes_hazards && atom == 0 => Truth::True,
            Concrete::Start | Concrete::Hazard => Truth::Unknown,
        }
    }

    /// The concrete states after one step from an abstract state, with the answers of a script.
    pub(super) fn outcome(&self, state: Abstract, advice: Advice, script: &mut Script) -> BTreeSet<Concrete> {
        let split = |script: &mut Script| {
            let bits = (0..INPUT_BITS).filter(|bit| advice.split >> bit & 1 == 1);
            bits.fold((0, 0), |(known, value), bit| {
                let who = if HARDWARE >> bit & 1 == 1 { Who::Hardware } else { Who::Environment };
                (known | 1 << bit, value | (script.answer(who, 2) as u8) << bit)
            })
        };
        let cut = |script: &mut Script| match state {
            Abstract::Bits { known, value } => {
                let bits = (0..STATE_BITS).filter(|bit| (advice.cut & !known) >> bit & 1 == 1);
                let (known, value) = bits.fold((known, value), |(known, value), bit| {
                    (known | 1 << bit, value | (script.answer(Who::State, 2) as u8) << bit)
                });
                Abstract::Bits { known, value }
            }
            other => other,
        };
        let ((known, value), state) = match self.inputs_first {
            true => (split(script), cut(script)),
            false => {
                let state = cut(script);
                (split(script), state)
            }
        };
        let inputs = || Self::inputs().filter(|input| (input ^ value) & known == 0);
        state
            .concretes()
            .into_iter()
            .flat_map(|concrete| inputs().map(move |input| self.step(concrete, input)))
            .collect()
    }
}

/// The bits that are distinguished in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Advice {
    pub(super) split: u8,
    pub(super) cut: u8,
}

impl Abstract {
    /// The concrete states that it stands for.
    pub(super) fn concretes(self) -> Vec<Concrete> {
        match self {
            Self::Start => vec![Concrete::Start],
            Self::Bits { known, value } => {
                (0..STATES).filter(|bits| (bits ^ value) & known == 0).map(Concrete::Bits).collect()
            }
            Self::Hazard => vec![Concrete::Hazard],
            Self::Anything => {
                let ends = [Concrete::Start, Concrete::Hazard];
                (0..STATES).map(Concrete::Bits).chain(ends).collect()
            }
        }
    }

    pub(super) fn contains(self, concrete: Concrete) -> bool {
        self.concretes().contains(&concrete)
    }

    /// The most precise abstract state for some concrete ones.
    pub(super) fn join(concretes: &BTreeSet<Concrete>) -> Self {
        let joined = concretes.iter().map(|concrete| match concrete {
            Concrete::Start => Self::Start,
            Concrete::Bits(bits) => Self::Bits { known: STATES - 1, value: *bits },
            Concrete::Hazard => Self::Hazard,
        });
        joined.reduce(Self::joined).unwrap_or(Self::Anything)
    }

    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Bits { known, value }, Self::Bits { known: others, value: other }) => {
                let known = known & others & !(value ^ other);
                Self::Bits { known, value: value & known }
            }
            (one, other) if one == other => one,
            _ => Self::Anything,
        }
    }

    /// The state with some bits forgotten.
    pub(super) fn forget(self, mask: u8) -> Self {
        match self {
            Self::Bits { known, value } => Self::Bits { known: known & !mask, value: value & !mask },
            other => other,
        }
    }
}

/// The result of a step for the checker, given the states of a certificate and the members that count.
pub(super) fn came(outcome: &BTreeSet<Concrete>, states: &[Abstract], members: &[u32]) -> Came {
    let covers = |member: &&u32| outcome.iter().all(|concrete| states[**member as usize].contains(*concrete));
    Came::CoveredBy(members.iter().filter(covers).copied().collect())
}
