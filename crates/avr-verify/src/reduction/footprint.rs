//! What handlers touch.

use avr_machine::{Event, Machine};
use fixedbitset::FixedBitSet;
use three_valued::TvByte;

/// How many cells in a row look like an array.
const NEIGHBOURS: usize = 6;
/// How many cells beside an array are taken to be touched as well.
const WIDTH: usize = 64;

/// What handlers touch beside registers, flags and their own part of the stack.
#[derive(Clone, Debug)]
pub(crate) struct Footprint {
    /// Cells that are read, by data address.
    pub(crate) read: FixedBitSet,
    /// Cells that are written.
    pub(crate) written: FixedBitSet,
    /// The least value of the stack pointer, in handlers and elsewhere.
    pub(crate) deepest: u16,
    /// Interrupts whose handlers may not give everything back, by number.
    pub(crate) disturbing: u128,
}

impl Footprint {
    /// Nothing.
    pub(crate) fn new(machine: &Machine) -> Self {
        let cells = usize::from(u16::MAX) + 1;
        Self {
            read: FixedBitSet::with_capacity(cells),
            written: FixedBitSet::with_capacity(cells),
            deepest: machine.data_end(),
            disturbing: 0,
        }
    }

    /// Whether another is a part of this one.
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
                if last - first < NEIGHBOURS && machine.sram().contains(&(first as u16)) {
                    let below = first.saturating_sub(WIDTH).max(machine.sram().start.into());
                    cells.insert_range(below..(last + WIDTH).min(usize::from(machine.data_end()) + 1));
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

/// What one step did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footsteps {
    /// Cells that were read, by data address.
    pub(crate) read: Vec<u16>,
    /// Cells that were written.
    pub(crate) written: Vec<u16>,
    /// Cells that may have been read, through an address that is not known.
    pub(crate) perhaps_read: Vec<u16>,
    /// Cells that may have been written.
    pub(crate) perhaps_written: Vec<u16>,
    /// Whether an interrupt was taken.
    pub(crate) interrupted: bool,
    /// Whether interrupts were possible and were left out.
    pub(crate) postponed: bool,
}

impl Footsteps {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        let all = [&mut self.read, &mut self.written, &mut self.perhaps_read, &mut self.perhaps_written];
        all.into_iter().for_each(Vec::clear);
        (self.interrupted, self.postponed) = (false, false);
    }

    /// The cells that were read or may have been.
    pub(crate) fn all_read(&self) -> impl Iterator<Item = u16> {
        self.read.iter().chain(&self.perhaps_read).copied()
    }

    /// The cells that were written or may have been.
    pub(crate) fn all_written(&self) -> impl Iterator<Item = u16> {
        self.written.iter().chain(&self.perhaps_written).copied()
    }

    /// Takes note of what the machine does.
    pub(crate) fn note(&mut self, event: Event<'_, TvByte>) {
        match event {
            Event::Read(cell, _) => self.read.push(cell),
            Event::Write(cell, _) => self.written.push(cell),
            Event::PerhapsRead(cell, _) => self.perhaps_read.push(cell),
            Event::PerhapsWrite(cell, _) => self.perhaps_written.push(cell),
            Event::Interrupt(_) => self.interrupted = true,
            Event::Call(_) | Event::Return(..) | Event::WatchdogRestart => {}
        }
    }
}
