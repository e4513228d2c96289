//! The parts into which the states of a place are divided: those that later instructions tell apart.

use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Fetched, Frame, Machine, flag};
use rustc_hash::{FxHashMap, FxHashSet};
use three_valued::TvByte;

use super::analysis::Options;
use super::contexts::{Context, Known};
use super::hints::Hints;
use super::pointers::LivePointers;
use crate::check::{MOST_CASES, MOST_SPLITS};
use crate::map::{Place, State};
use crate::memory::Store;

/// A part of the states of a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The calls with the pointers that were known at each.
    context: Context,
    /// The least value of the stack pointer.
    pointer: DataAddress,
    /// The flags that the next instruction reads, with I, as far as they are known.
    flags: (u8, u8),
    /// The pointers that are used later, by register: the high byte, and the low one as far as it is known.
    pointers: Vec<(u16, u8, Option<u8>)>,
    /// The cells that are told apart on demand, with their contents.
    told: Told,
}

/// Cells with their contents.
pub(crate) type Told = Vec<(DataAddress, u8)>;

/// The most cases into which a state is split.
const MOST_PARTS: usize = 16;

/// The most contents of a cell before one instruction that are told apart.
const MOST_VALUES: usize = 48;

/// The most parts of a place up to which cells are told apart on demand.
const MOST_TOLD: usize = 1_024;

/// Divides the states of places.
pub(crate) struct Partition<'a> {
    machine: &'a Machine,
    options: Options,
    hints: &'a Hints,
    live: LivePointers,
    /// The number of parts of each place.
    parts: FxHashMap<Place, usize>,
    /// The contents of cells that are told apart before instructions.
    values: FxHashMap<(FlashWordAddress, DataAddress), FxHashSet<u8>>,
}

impl<'a> Partition<'a> {
    pub(crate) fn new(machine: &'a Machine, (options, hints): (Options, &'a Hints)) -> Self {
        Self {
            machine,
            options,
            hints,
            live: LivePointers::new(machine),
            parts: FxHashMap::default(),
            values: FxHashMap::default(),
        }
    }

    /// Takes note of a new part of a place.
    pub(crate) fn add(&mut self, place: &Place) {
        *self.parts.entry(*place).or_default() += 1;
    }

    /// Forgets how many parts places have.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
    }

    /// The cells that are told apart on demand before an instruction, but for those with many contents.
    pub(crate) fn told(&mut self, pc: FlashWordAddress, cell: impl Fn(DataAddress) -> TvByte) -> Told {
        let mut told = self.hints.told(pc, cell);
        told.retain(|(cell, value)| {
            let values = self.values.entry((pc, *cell)).or_default();
            if values.len() < MOST_VALUES {
                values.insert(*value);
            }
            values.len() < MOST_VALUES
        });
        told
    }

    /// The cells before instructions that have too many contents to be told apart.
    pub(crate) fn abounding(&self) -> impl Iterator<Item = (FlashWordAddress, DataAddress)> + '_ {
        self.values.iter().filter(|(_, values)| values.len() >= MOST_VALUES).map(|(place, _)| *place)
    }

    /// The cells that are told apart on demand before an instruction and hold one of a few values, with these.
    pub(crate) fn few(&self, pc: FlashWordAddress, state: &State, store: &Store) -> Vec<(DataAddress, TvByte)> {
        let cells = self.hints.cells(pc).map(|cell| (cell, store.cell(&state.memory, cell)));
        let few = cells.filter(|(_, byte)| byte.known().is_none() && byte.count() <= MOST_CASES).take(MOST_SPLITS);
        let mut count = 1;
        few.take_while(|(_, byte)| {
            count *= byte.count();
            count <= MOST_PARTS
        })
        .collect()
    }

    /// The pointers that are known where a function begins, and used from there on.
    pub(crate) fn known_pointers(&self, frames: &[Frame], pc: FlashWordAddress, state: &State, store: &Store) -> Known {
        let live = self.live.around(frames, pc);
        let known = |half: u16| store.cell(&state.memory, DataAddress(half)).known();
        let pairs = (0..16).filter(|pair| live >> pair & 1 == 1);
        pairs.filter_map(|pair| Some((pair, known(2 * pair)?, known(2 * pair + 1)?))).collect()
    }

    /// The part to which a state of a place belongs, where these calls are on the stack.
    pub(crate) fn part(
        &mut self,
        place: &Place,
        (frames, context): (&[Frame], Context),
        state: &State,
        store: &Store,
    ) -> Part {
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
        let live = self.live.within(frames, pc);
        let pairs = (0..16).filter(|pair| live >> pair & 1 == 1 && parts < 2 * most);
        let pointers = pairs.filter_map(|pair| {
            let [low, high] = [cell(DataAddress(2 * pair)), cell(DataAddress(2 * pair + 1))];
            Some((pair, high.known()?, low.known().filter(|_| parts < most)))
        });
        let pointers = pointers.collect();
        let told = if parts < MOST_TOLD { self.told(pc, cell) } else { Vec::new() };
        Part { context, pointer, flags: (mask, status.value() & mask), pointers, told }
    }
}
