//! A state of a certificate as atoms see it.
//!
//! The verifier has a view of its own over its own store, much like this one. That is intended: labels are computed on both
//! sides, so that a mistake in one of them makes them differ, and a certificate is rejected. What both share is the meaning of
//! atoms (`avr_properties::Atom::evaluate`), which has to be trusted.

use avr_certificate::{BLOCK_PAGES, Running, Seen, Store};
use avr_image::{DataAddress, FlashByteAddress};
use avr_machine::{FrameKind, PAGE_CELLS};
use avr_predicates::Predicates;
use avr_properties::{Atom, Event, Occurred, Occurrence, StateView, occurrence};
use three_valued::{Truth, TvByte};

/// A running state.
pub(crate) struct View<'a> {
    pub(crate) store: &'a Store,
    pub(crate) running: &'a Running,
    /// The events that the properties speak of.
    pub(crate) watched: &'a [Event],
    /// The events in each list of the store.
    pub(crate) did: &'a [Vec<Occurred>],
    /// The predicates that states have.
    pub(crate) predicates: Option<&'a Predicates>,
}

/// The events in a list of a certificate.
pub(crate) fn occurred(seen: &[Seen]) -> Vec<Occurred> {
    seen.iter().map(|seen| Occurred { event: seen.event as usize, certain: seen.certain, value: seen.value }).collect()
}

/// A cell of a memory.
fn cell(store: &Store, memory: u32, address: DataAddress) -> TvByte {
    let (page, offset) = (address.index() / PAGE_CELLS, address.index() % PAGE_CELLS);
    let block = store.memory(memory)[page / BLOCK_PAGES];
    store.pages[store.blocks[block as usize][page % BLOCK_PAGES] as usize][offset]
}

impl StateView for View<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        cell(self.store, self.running.memory, address)
    }

    fn pc(&self) -> FlashByteAddress {
        self.running.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.running.control.torn
    }

    fn stack(&self) -> u8 {
        self.running.control.stack
    }

    fn interrupt_depth(&self) -> usize {
        let frames = self.store.frames(self.running.calls).filter(|frame| frame.stack == self.stack());
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

    fn told(&self, atom: &Atom) -> Truth {
        self.predicates.map_or(Truth::Unknown, |predicates| predicates.told(atom, &|cell| self.cell(cell)).truth)
    }

    fn event(&self, event: &Event) -> Occurrence {
        occurrence(self.watched, &self.did[self.running.did as usize], event)
    }
}
