//! Maps from places to abstract states.

use std::fmt;
use std::hash::BuildHasherDefault;

use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Control, Frame};
use indexmap::IndexSet;
use rustc_hash::FxHasher;
use three_valued::TvByte;

use crate::equalities::{Equalities, Silence};
use crate::equations::{Differing, Equations};
use crate::intervals::Ranges;
use crate::memory::{Memory, Store};

/// A thread: the main program, or a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thread {
    /// The main program.
    Main,
    /// The handler of an interrupt that came at this value of the stack pointer.
    Handler {
        /// The number of the interrupt.
        interrupt: u8,
        /// The stack pointer before the return address was pushed.
        pointer: DataAddress,
    },
}

impl Thread {
    /// The meaning of saying nothing of a cell.
    #[must_use]
    pub fn silence(self) -> Silence {
        match self {
            Self::Main => Silence::Nothing,
            Self::Handler { .. } => Silence::Unchanged,
        }
    }
}

/// A place: a thread, what is always known of the processor, and the return addresses that the thread has on the stack.
///
/// The first frame of a handler is that of its own return, with 0 for the address, which differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The thread.
    pub thread: Thread,
    /// The program counter and what belongs to it.
    pub control: Control,
    /// The number of the call string.
    pub calls: u32,
}

impl Place {
    /// The address of the next instruction.
    #[must_use]
    pub fn address(&self) -> FlashByteAddress {
        self.control.pc.byte()
    }
}

/// An abstract state of a place: what is known of each cell, and which cells hold the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// What is known of each cell.
    pub memory: Memory,
    /// The cells that hold the same.
    pub equalities: Equalities,
    /// The ranges of numbers of several bytes, as far as they are not told by those of the bytes.
    pub ranges: Ranges,
    /// Linear equations between bytes, modulo 2^32.
    pub equations: Equations,
}

impl State {
    /// True if this state stands for every concrete state that `fine` stands for, in a thread of this kind.
    #[must_use]
    pub fn covers(&self, fine: &Self, silence: Silence, store: &Store) -> bool {
        self.equalities.cover(&fine.equalities, silence, &|a, b| fine.holds_same(a, b, store))
            && store.covers(&self.memory, &fine.memory)
            && self.covers_ranges(fine, silence, store)
            && self.covers_equations(fine, silence, store)
    }

    /// The part of the state in which a cell has this content.
    pub(crate) fn with(&self, cell: DataAddress, content: TvByte, store: &mut Store) -> Self {
        Self { memory: store.overwrite(&self.memory, &[(cell, content)]), ..self.clone() }
    }

    /// A state that stands for everything that either state stands for.
    #[must_use]
    pub fn join(&self, other: &Self, silence: Silence, store: &mut Store) -> Self {
        let equalities = self.equalities.join(&other.equalities, silence, [&|_, _| false, &|_, _| false]);
        let memory = store.merge(&self.memory, &other.memory, &mut |_, one, other| one.hull(other));
        Self::of(memory, equalities).with_joined_numbers([self, other], Differing::None, silence, store)
    }

    /// A state of which no more than this is known.
    pub(crate) fn of(memory: Memory, equalities: Equalities) -> Self {
        Self { memory, equalities, ranges: Ranges::default(), equations: Equations::default() }
    }

    /// The state with all ranges and equations of two states for which it stands.
    pub(crate) fn with_joined_numbers(
        self,
        [one, other]: [&Self; 2],
        differing: Differing,
        silence: Silence,
        store: &Store,
    ) -> Self {
        let ranges = one.joined_ranges(other, &self, silence, store);
        let equations = one.joined_equations(other, &self, differing, (silence, store));
        Self { ranges, equations, ..self }
    }

    /// The equalities that both states say, where some cells with the same known content count as equal to others.
    pub(crate) fn common_equalities(
        &self,
        other: &Self,
        silence: Silence,
        store: &Store,
        counts: &dyn Fn(DataAddress) -> bool,
    ) -> Equalities {
        let same = |state: &Self, a, b| (counts(a) || counts(b)) && state.holds_same(a, b, store);
        let (here, there) = (|a, b| same(self, a, b), |a, b| same(other, a, b));
        self.equalities.join(&other.equalities, silence, [&here, &there])
    }

    /// True if two cells have the same known content.
    fn holds_same(&self, one: DataAddress, other: DataAddress, store: &Store) -> bool {
        let [one, other] = [one, other].map(|cell| store.cell(&self.memory, cell));
        one == other && one.known().is_some()
    }
}

/// An abstract state at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The place.
    pub place: Place,
    /// The state.
    pub state: State,
}

/// The return of a handler: an abstract state behind its RETI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exit {
    /// The handler.
    pub thread: Thread,
    /// What is known of the processor, with 0 for the program counter.
    pub control: Control,
    /// The state. SREG as it was when the handler began stands for the same with I set.
    pub state: State,
}

/// The call strings of a map.
#[derive(Clone, Debug, Default)]
pub struct CallStrings(IndexSet<Vec<Frame>, BuildHasherDefault<FxHasher>>);

impl CallStrings {
    /// The number of a call string, which is stored.
    pub fn number(&mut self, frames: &[Frame]) -> u32 {
        self.find(frames).unwrap_or_else(|| self.0.insert_full(frames.to_vec()).0 as u32)
    }

    /// The number of a call string, if it is there.
    #[must_use]
    pub fn find(&self, frames: &[Frame]) -> Option<u32> {
        self.0.get_index_of(frames).map(|index| index as u32)
    }

    /// The frames of this number, oldest first.
    #[must_use]
    pub fn frames(&self, number: u32) -> &[Frame] {
        &self.0[number as usize]
    }

    /// The number of call strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A finite map from places to abstract states: a claim about everything that a machine can do, to be accepted by
/// [`check`](crate::check) only.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// The memories' pages and blocks.
    pub store: Store,
    /// The call strings of the places.
    pub calls: CallStrings,
    /// The states. A place may have more than one: each concrete state is in one of them.
    pub entries: Vec<Entry>,
    /// The returns of handlers.
    pub exits: Vec<Exit>,
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("the main program"),
            Self::Handler { interrupt, pointer } => {
                write!(f, "the handler of interrupt {interrupt} at SP {pointer:#06x}")
            }
        }
    }
}
