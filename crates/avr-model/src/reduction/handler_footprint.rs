//! The read and write sets of all handlers.

use avr_isa::DataAddress;
use avr_machine::Machine;
use fixedbitset::FixedBitSet;

/// The number of cells in a row that look like an array.
const NEIGHBOURS: usize = 6;
/// The number of cells beside an array that are taken to be touched as well.
const WIDTH: usize = 64;

/// The cells that handlers touch beside registers, flags and their own part of the stack.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Cells that are read, by data address.
    pub(crate) read: FixedBitSet,
    /// Cells that are written.
    pub(crate) written: FixedBitSet,
    /// The least value of the stack pointer, in handlers and elsewhere.
    pub(crate) deepest: DataAddress,
    /// Interrupts whose handlers may not give everything back, by number.
    pub(crate) disturbing: u128,
}

impl Footprint {
    /// The empty sets.
    pub(crate) fn new(machine: &Machine) -> Self {
        let cells = usize::from(u16::MAX) + 1;
        Self {
            read: FixedBitSet::with_capacity(cells),
            written: FixedBitSet::with_capacity(cells),
            deepest: machine.data_end(),
            disturbing: 0,
        }
    }

    /// True if another is a part of this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        other.read.is_subset(&self.read)
            && other.written.is_subset(&self.written)
            && self.deepest <= other.deepest
            && other.disturbing & !self.disturbing == 0
    }

    /// Adds what is near: a handler that touches one cell of an array will touch the others.
    pub(crate) fn widen(&mut self, machine: &Machine) {
        for cells in [&mut self.read, &mut self.written] {
            let dense: Vec<usize> = cells.ones().collect();
            for pair in dense.windows(NEIGHBOURS) {
                let (first, last) = (pair[0], pair[NEIGHBOURS - 1]);
                if last - first < NEIGHBOURS && machine.sram().contains(&DataAddress::of_index(first)) {
                    let below = first.saturating_sub(WIDTH).max(machine.sram().start.index());
                    cells.insert_range(below..(last + WIDTH).min(machine.data_end().index() + 1));
                }
            }
        }
    }

    /// Adds another.
    pub(crate) fn add(&mut self, other: &Self) {
        self.read.union_with(&other.read);
        self.written.union_with(&other.written);
        self.deepest = self.deepest.min(other.deepest);
        self.disturbing |= other.disturbing;
    }
}
