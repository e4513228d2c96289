//! The memory accesses of one step.

use avr_isa::DataAddress;
use avr_machine::Event;
use three_valued::TvByte;

/// The accesses and interrupts of one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepAccesses {
    /// Cells that were read, by data address.
    pub(crate) read: Vec<DataAddress>,
    /// Cells that were written.
    pub(crate) written: Vec<DataAddress>,
    /// Cells that may have been read, through an address that is not known.
    pub(crate) perhaps_read: Vec<DataAddress>,
    /// Cells that may have been written.
    pub(crate) perhaps_written: Vec<DataAddress>,
    /// True if an interrupt was taken.
    pub(crate) interrupted: bool,
    /// True if interrupts were possible and were skipped.
    pub(crate) skipped: bool,
}

impl StepAccesses {
    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        let all = [&mut self.read, &mut self.written, &mut self.perhaps_read, &mut self.perhaps_written];
        all.into_iter().for_each(Vec::clear);
        (self.interrupted, self.skipped) = (false, false);
    }

    /// The cells that were read or may have been.
    pub(crate) fn all_read(&self) -> impl Iterator<Item = DataAddress> {
        self.read.iter().chain(&self.perhaps_read).copied()
    }

    /// The cells that were written or may have been.
    pub(crate) fn all_written(&self) -> impl Iterator<Item = DataAddress> {
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
