//! Automata of the environment: what is connected to the device, with a memory of its own, and drives inputs.
//!
//! An automaton moves when the program accesses a register. A read of bits that it drives is a move of the automaton, and gives what
//! this move allows; a write, or a read of what it does not drive, is heard: a state without an answer ignores it. Silent moves are
//! made just before a move that they lead to.

use crate::device::{Access, BitKind, Changes, Device, Freedom};
use avr_isa::DataAddress;
use std::collections::{BTreeMap, BTreeSet};
use three_valued::TvByte;
use three_valued::fault::{Fault, is_on};

/// The most automata of one environment.
pub const MAX_AUTOMATA: usize = 4;

/// The most states of an automaton.
pub const MAX_AUTOMATON_STATES: usize = 254;

/// The data address under which automata ask for a choice among their moves. No register is there.
pub const AUTOMATON_CHOICE: DataAddress = DataAddress(u16::MAX);

/// An access to a register that automata may move at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signal {
    /// A read of the register at this data address.
    Read(DataAddress),
    /// A write to the register at this data address.
    Write(DataAddress),
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The bytes for which something is true.
    #[must_use]
    pub fn of(is_in: impl Fn(u8) -> bool) -> Self {
        let mut set = Self::default();
        (0..=u8::MAX).filter(|byte| is_in(*byte)).for_each(|byte| set.insert(byte));
        set
    }

    /// Adds a byte.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// True if a byte is in the set.
    #[must_use]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// True if no byte is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The bytes, by rising value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=u8::MAX).filter(|byte| self.contains(*byte))
    }

    /// Disjoint parts of the set, each with some bits fixed, of values that are 0 beyond `mask`.
    pub(crate) fn parts(&self, mask: u8) -> Vec<TvByte> {
        let mut parts = Vec::new();
        self.add_parts(TvByte::new(0, !mask), &mut parts);
        parts
    }

    fn add_parts(&self, within: TvByte, parts: &mut Vec<TvByte>) {
        let open = (0..8).rev().map(|bit| 1_u8 << bit).filter(|bit| within.unknown_mask() & bit != 0);
        let depends = |bit: &u8| within.concretisations().any(|byte| self.contains(byte) != self.contains(byte ^ bit));
        let fixed: Vec<u8> = open.filter(depends).collect();
        match fixed.first() {
            Some(bit) => {
                let known = within.known_mask() | bit;
                for value in [within.value(), within.value() | bit] {
                    self.add_parts(TvByte::new(value, known), parts);
                }
            }
            None => parts.extend(self.contains(within.value()).then_some(within)),
        }
    }
}

/// A move of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomatonMove {
    /// The access that it answers, with the values; none for a silent move.
    pub on: Option<(Signal, ByteSet)>,
    /// The number of the state that it leads to.
    pub to: usize,
}

/// A state of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomatonState {
    /// The name.
    pub name: String,
    /// The moves from here.
    pub moves: Vec<AutomatonMove>,
}

/// An automaton of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentAutomaton {
    /// The name for messages.
    pub name: String,
    /// The input bits that it drives, by the data address of their register.
    pub drives: BTreeMap<DataAddress, u8>,
    /// The numbers of the states in which it may begin.
    pub initial: Vec<usize>,
    /// The states.
    pub states: Vec<AutomatonState>,
}

/// The values of an access that lead to the same states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The values.
    pub(crate) values: ByteSet,
    /// The states, each once.
    pub(crate) to: Vec<u8>,
}

impl EnvironmentAutomaton {
    /// The name of a state as control has it.
    #[must_use]
    pub fn state_name(&self, at: u8) -> Option<&str> {
        self.states.get(usize::from(at).checked_sub(1)?).map(|state| state.name.as_str())
    }

    /// True if it hears an access that it does not determine itself.
    pub(crate) fn hears(&self, signal: Signal) -> bool {
        let is_driven = matches!(signal, Signal::Read(address) if self.drives.contains_key(&address));
        let mut moves = self.states.iter().flat_map(|state| &state.moves);
        !is_driven && moves.any(|one| one.on.is_some_and(|(on, _)| on == signal))
    }

    /// The answers to a read of some of the bits that it drives, by the value of these bits: a value is in one of them at most.
    pub(crate) fn driven(&self, at: u8, address: DataAddress, mask: u8) -> Vec<Answer> {
        let here = self.silently_from(at);
        self.answers(mask, |value| {
            let own = here.iter().flat_map(|state| &self.states[*state].moves);
            let answering = own.filter(|one| {
                let answers = |(signal, values): (Signal, ByteSet)| {
                    signal == Signal::Read(address) && values.iter().any(|byte| byte & mask == value)
                };
                one.on.is_some_and(answers)
            });
            answering.map(|one| one.to).collect()
        })
    }

    /// The answers to an access that it hears, by the value: each value is in one of them.
    pub(crate) fn heard(&self, at: u8, signal: Signal) -> Vec<Answer> {
        let here = self.silently_from(at);
        self.answers(0xff, |value| {
            let mut to = BTreeSet::new();
            for state in &here {
                let answers =
                    |one: &&AutomatonMove| one.on.is_some_and(|(on, values)| on == signal && values.contains(value));
                let answering: Vec<usize> =
                    self.states[*state].moves.iter().filter(answers).map(|one| one.to).collect();
                // Accesses of the program cannot be refused.
                if answering.is_empty() {
                    to.insert(*state);
                }
                to.extend(answering);
            }
            to
        })
    }

    /// The values below a mask, those together that lead to the same states. Those that lead nowhere are left out.
    fn answers(&self, mask: u8, to: impl Fn(u8) -> BTreeSet<usize>) -> Vec<Answer> {
        let mut all: BTreeMap<BTreeSet<usize>, ByteSet> = BTreeMap::new();
        for value in TvByte::new(0, !mask).concretisations() {
            let to = to(value);
            if !to.is_empty() {
                all.entry(to).or_default().insert(value);
            }
        }
        let control = |state: usize| u8::try_from(state + 1).expect("an automaton has no more states");
        all.into_iter().map(|(to, values)| Answer { values, to: to.into_iter().map(control).collect() }).collect()
    }

    /// The states that it may be in after silent moves.
    fn silently_from(&self, at: u8) -> BTreeSet<usize> {
        let first = match usize::from(at).checked_sub(1) {
            Some(state) if state < self.states.len() => vec![state],
            // No state of a machine comes to this.
            Some(_) => Vec::new(),
            None => self.initial.clone(),
        };
        let mut all: BTreeSet<usize> = first.iter().copied().collect();
        let mut waiting = first;
        while let Some(state) = waiting.pop() {
            let silent = self.states[state].moves.iter().filter(|one| one.on.is_none()).map(|one| one.to);
            waiting.extend(silent.filter(|to| all.insert(*to)));
        }
        all
    }
}

/// The parts of the values of answers, each with the number of its answer.
pub(crate) fn parts(answers: &[Answer], mask: u8) -> (Vec<TvByte>, Vec<usize>) {
    if is_on(Fault::AutomatonUnheeded) {
        return (vec![TvByte::new(0, !mask)], vec![0]);
    }
    let of_one =
        |(number, answer): (usize, &Answer)| answer.values.parts(mask).into_iter().map(move |part| (part, number));
    answers.iter().enumerate().flat_map(of_one).unzip()
}

/// The bits of a register that automata can drive: hardware has them anew at each read.
#[must_use]
pub fn drivable_bits(device: &Device, address: DataAddress) -> u8 {
    let Some(register) = device.register_at(address).filter(|register| register.access == Access::Direct) else {
        return 0;
    };
    let is_drivable = |kind: &BitKind| match kind {
        BitKind::Input(input) => {
            let is_of_environment = match &input.freedom {
                Freedom::Real | Freedom::RealWhile(_) | Freedom::RealOrUndefined(_) => true,
                Freedom::RealEvery(..) | Freedom::Abstracted | Freedom::AbstractedWhile(_) | Freedom::Undefined => {
                    false
                }
            };
            let is_anew = input.changes == Changes::Both && input.latched_by.is_none() && input.copies.is_none();
            is_of_environment && is_anew
        }
        BitKind::Plain
        | BitKind::ReadOnly
        | BitKind::Reserved
        | BitKind::Strobe
        | BitKind::Flag(_)
        | BitKind::Pulse(_)
        | BitKind::Window(_) => false,
    };
    let bits = register.bits.iter().zip(0..);
    bits.map(|(bit, number): (_, u8)| u8::from(is_drivable(&bit.kind)) << number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_set_are_disjoint_and_hold_it() {
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..400 {
            let mask = if round % 2 == 0 { 0xff } else { random.u8(..) };
            let (modulus, rest, bound) = (random.u8(1..9), random.u8(..9), random.u8(..));
            let set = ByteSet::of(|byte| byte & !mask == 0 && (byte % modulus == rest || byte < bound));
            let parts = set.parts(mask);
            for byte in (0..=u8::MAX).filter(|byte| byte & !mask == 0) {
                let count = parts.iter().filter(|part| part.contains(byte)).count();
                assert_eq!(count, usize::from(set.contains(byte)), "{byte:#x} of {mask:#x}");
            }
        }
    }

    #[test]
    fn parts_are_few_where_few_bits_decide() {
        assert_eq!(ByteSet::of(|byte| byte & 1 == 1).parts(0xff), [TvByte::new(1, 1)]);
        assert_eq!(ByteSet::of(|byte| byte == 4).parts(0x04), [TvByte::constant(4)]);
        assert_eq!(ByteSet::of(|_| true).parts(0xff), [TvByte::UNKNOWN]);
        assert_eq!(ByteSet::of(|byte| byte <= 5).parts(0xff).len(), 2);
    }
}
