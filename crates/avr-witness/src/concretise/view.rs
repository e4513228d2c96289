//! Concrete states as properties see them.

use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::{Event, FrameKind, Machine, MachineState};
use avr_model::state::events::{Occurred, Recorder, occurrence};
use avr_properties::{Atom, Event as Watched, Occurrence, StateView};
use mu_calculus::AtomId;
use three_valued::{Truth, TvByte};

/// A concrete state with what the step into it did.
#[derive(Clone, Copy)]
pub(crate) struct ConcreteView<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a MachineState<u8>,
    pub(crate) watched: &'a [Watched],
    pub(crate) did: &'a [Occurred],
}

impl StateView for ConcreteView<'_> {
    fn cell(&self, address: DataAddress) -> TvByte {
        TvByte::constant(*self.state.data.get(address))
    }

    fn pc(&self) -> FlashByteAddress {
        self.state.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.state.control.torn
    }

    fn stack(&self) -> u8 {
        self.state.control.stack
    }

    fn interrupt_depth(&self) -> usize {
        let frames = self.state.calls.frames().iter();
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.state.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.state.control.in_startup)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }

    fn event(&self, event: &Watched) -> Occurrence {
        occurrence(self.watched, self.did, event)
    }
}

impl ConcreteView<'_> {
    /// The value of an atom.
    pub(crate) fn label(&self, atoms: &[Atom], atom: AtomId) -> Truth {
        atoms[atom.index()].evaluate(self)
    }

    /// The stack pointer.
    pub(crate) fn stack_pointer(&self) -> DataAddress {
        self.machine.stack_pointer().concrete(&self.state.data)
    }
}

/// Takes note of a concrete event.
pub(crate) fn note(recorder: &mut Recorder<'_>, event: Event<'_, u8>) {
    let constant = |value: &u8| TvByte::constant(*value);
    match event {
        Event::Read(address, value) => recorder.note(Event::Read(address, &constant(value))),
        Event::Write(address, value) => recorder.note(Event::Write(address, &constant(value))),
        Event::PerhapsRead(address, value) => recorder.note(Event::PerhapsRead(address, &constant(value))),
        Event::PerhapsWrite(address, value) => recorder.note(Event::PerhapsWrite(address, &constant(value))),
        Event::Call(target) => recorder.note(Event::Call(target)),
        Event::Return(target, left) => recorder.note(Event::Return(target, left)),
        Event::Interrupt(number) => recorder.note(Event::Interrupt(number)),
        Event::WatchdogRestart => recorder.note(Event::WatchdogRestart),
    }
}
