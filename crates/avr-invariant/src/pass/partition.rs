//! The parts into which the states of a place are divided: those that later instructions tell apart.

use avr_isa::DataAddress;
use avr_machine::{Fetched, Machine, flag};
use rustc_hash::FxHashMap;
use three_valued::TvByte;

use super::Options;
use super::pointers::LivePointers;
use crate::map::{Place, State};
use crate::memory::Store;

/// A part of the states of a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The least value of the stack pointer.
    pointer: DataAddress,
    /// The flags that the next instruction reads, with I, as far as they are known.
    flags: (u8, u8),
    /// The pointers that are used later, by register: the high byte, and the low one as far as it is known.
    pointers: Vec<(u16, u8, Option<u8>)>,
}

/// Divides the states of places.
pub(crate) struct Partition<'a> {
    machine: &'a Machine,
    options: Options,
    live: LivePointers,
    /// The number of parts of each place.
    parts: FxHashMap<Place, usize>,
}

impl<'a> Partition<'a> {
    pub(crate) fn new(machine: &'a Machine, options: Options) -> Self {
        Self { machine, options, live: LivePointers::new(machine), parts: FxHashMap::default() }
    }

    /// Takes note of a new part of a place.
    pub(crate) fn add(&mut self, place: &Place) {
        *self.parts.entry(*place).or_default() += 1;
    }

    /// Forgets how many parts places have.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }

    /// The part to which a state of a place belongs.
    pub(crate) fn part(&self, place: &Place, state: &State, store: &Store) -> Part {
        let pc = place.control.pc;
        let cell = |address: DataAddress| store.cell(&state.memory, address);
        let status: TvByte = cell(self.machine.status_address());
        let read = match self.machine.program.fetch(pc) {
            Fetched::Instruction { instruction, .. } => instruction.flags_read().bits(),
            Fetched::Reserved | Fetched::Outside => 0,
        };
        let mask = status.known_mask() & (read | 1 << flag::I);
        let pointer = self.machine.stack_pointer().value(|half| Some(cell(half).low())).unwrap_or_default();
        let may_be_interrupted = status.known_mask() & !status.value() & 1 << flag::I == 0;
        let most = self.options.of_place[usize::from(!may_be_interrupted)];
        let parts = self.parts.get(place).copied().unwrap_or_default();
        let live = self.live.at(pc);
        let pairs = (0..16).filter(|pair| live >> pair & 1 == 1 && parts < 2 * most);
        let pointers = pairs.filter_map(|pair| {
            let [low, high] = [cell(DataAddress(2 * pair)), cell(DataAddress(2 * pair + 1))];
            Some((pair, high.known()?, low.known().filter(|_| parts < most)))
        });
        let pointers = pointers.collect();
        Part { pointer, flags: (mask, status.value() & mask), pointers }
    }
}
