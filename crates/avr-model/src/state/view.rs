//! Running states as formulas see them.

use super::Running;
use super::events::occurrence;
use super::interner::Store;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{FrameKind, MachineState};
use avr_properties::{Event as WatchedEvent, Occurrence, StateView};
use three_valued::{Truth, TvByte};

/// A running state as formulas see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) store: &'a Store,
    pub(crate) watched: &'a [WatchedEvent],
    pub(crate) running: Running,
}

impl StateView for View<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        self.store.cell(self.running.memory, address)
    }

    fn pc(&self) -> FlashByteAddress {
        self.running.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.running.control.torn
    }

    fn interrupt_depth(&self) -> usize {
        let frames = self.store.frames(self.running.calls);
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.running.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.running.control.in_startup)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }

    fn event(&self, event: &WatchedEvent) -> Occurrence {
        occurrence(self.watched, self.store.occurrences.get(self.running.did.0), event)
    }
}

/// The working state as formulas see it.
#[derive(Clone, Copy, Debug)]
pub struct WorkingView<'a>(pub &'a MachineState<TvByte>);

impl StateView for WorkingView<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        *self.0.data.get(address)
    }

    fn pc(&self) -> FlashByteAddress {
        self.0.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.0.control.torn
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.0.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.0.control.in_startup)
    }

    fn interrupt_depth(&self) -> usize {
        self.0.calls.frames().iter().filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}
