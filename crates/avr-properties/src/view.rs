//! The interface of states for atoms.

use std::ops::Range;

use avr_isa::{DataAddress, FlashByteAddress};
use three_valued::{Truth, TvByte};

use crate::atom::Atom;
use crate::entry::Entry;

/// A state, abstract or concrete, as atoms see it.
///
/// SOUND: every answer must cover each concrete state that the abstract state stands for. The default answers claim
/// nothing, so a view that does not know of an event or of sleep makes such atoms unknown, never wrong.
pub trait StateView {
    /// The stored content of the data memory cell at this data address, which is never beyond the data memory.
    fn cell(&self, address: DataAddress) -> TvByte;

    /// The program counter; it is known in every state.
    fn pc(&self) -> FlashByteAddress;

    /// True if the stack pointer is torn: one half is written and the other has not followed.
    fn stack_pointer_torn(&self) -> bool;

    /// The number of interrupt handlers that were entered and not left.
    fn interrupt_depth(&self) -> usize;

    /// The number of the stack in use: 0 for the main one, else that of a task, from 1 ([`avr_machine::Control::stack`]).
    fn stack(&self) -> u8;

    /// The truth value of `sleeping`: the processor sleeps.
    fn sleeping(&self) -> Truth {
        Truth::Unknown
    }

    /// The truth of the state lying between a reset and the next entry of the main program.
    fn in_startup(&self) -> Truth {
        Truth::Unknown
    }

    /// The truth value of `hazard`: the state is the end of a run into a hazard.
    fn hazard(&self) -> Truth {
        Truth::Unknown
    }

    /// The truth of an atom that its cells do not tell, by what else is known of the state.
    fn told(&self, _atom: &Atom) -> Truth {
        Truth::Unknown
    }

    /// The occurrence of an event in the step that entered this state, with the value of the event.
    fn event(&self, _event: &Event) -> Occurrence {
        Occurrence::UNKNOWN
    }
}

/// Something that a step does. It labels the state that the step enters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The program reads one of these cells (data addresses).
    Read(Range<DataAddress>),
    /// The program writes one of these cells (data addresses).
    Write(Range<DataAddress>),
    /// A call goes to this entry, or a jump to it that is a call as well.
    Call(Entry),
    /// A return ends a frame in which one of these flash byte addresses was executed.
    Return(Range<u32>),
    /// The handler of the interrupt with this vector number is entered.
    Interrupt(u8),
}

/// The knowledge that a view has of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// `True` if it certainly happened, `False` if it certainly did not.
    pub happened: Truth,
    /// The byte that was read or written, if it happened; unknown for other events.
    pub value: TvByte,
}

impl Occurrence {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { happened: Truth::Unknown, value: TvByte::UNKNOWN };
}
