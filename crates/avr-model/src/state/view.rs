//! Running states as formulas see them.

use super::Running;
use super::events::occurrence;
use super::interner::Store;
use crate::predicates::SharedPredicates;
use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{FrameKind, MachineState};
use avr_properties::{Atom, Event as WatchedEvent, Occurrence, StateView};
use three_valued::{Truth, TvByte};

/// A running state as formulas see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub(crate) store: &'a Store,
    pub(crate) watched: &'a [WatchedEvent],
    pub(crate) running: Running,
    pub(crate) predicates: Option<&'a SharedPredicates>,
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
        let frames = self.store.frames(self.running.calls).filter(|frame| frame.stack == self.stack());
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn stack(&self) -> u8 {
        self.running.control.stack
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

    fn told(&self, atom: &Atom) -> Truth {
        let told = |all: &SharedPredicates| all.get().told(atom, &|cell| self.cell(cell));
        self.predicates.map_or(Truth::Unknown, told)
    }

    fn event(&self, event: &WatchedEvent) -> Occurrence {
        occurrence(self.watched, self.store.occurrences.get(self.running.did.0), event)
    }
}

/// The working state as formulas see it.
#[derive(Clone, Copy, Debug)]
pub struct WorkingView<'a> {
    pub(crate) state: &'a MachineState<TvByte>,
    pub(crate) predicates: Option<&'a SharedPredicates>,
}

impl StateView for WorkingView<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        *self.state.data.get(address)
    }

    fn pc(&self) -> FlashByteAddress {
        self.state.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.state.control.torn
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.state.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.state.control.in_startup)
    }

    fn interrupt_depth(&self) -> usize {
        self.state.calls.frames().iter().filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn stack(&self) -> u8 {
        self.state.control.stack
    }

    fn told(&self, atom: &Atom) -> Truth {
        let told = |all: &SharedPredicates| all.get().told(atom, &|cell| self.cell(cell));
        self.predicates.map_or(Truth::Unknown, told)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}
