//! What an atom may ask of a state.

use std::ops::Range;

use avr_isa::FlashByteAddress;
use three_valued::{Truth, TvByte};

use crate::entry::Entry;

/// A state, abstract or concrete, as atoms see it.
///
/// SOUND: every answer must cover each concrete state that the abstract state stands for. The default answers claim
/// nothing, so a view that does not know of an event or of sleep makes such atoms unknown, never wrong.
pub trait StateView {
    /// The stored content of the data memory cell at this data address, which is never beyond the data memory.
    fn cell(&self, address: u16) -> TvByte;

    /// The program counter; it is known in every state.
    fn pc(&self) -> FlashByteAddress;

    /// Whether the stack pointer is torn: one half is written and the other has not followed.
    fn stack_pointer_torn(&self) -> bool;

    /// How many interrupt handlers have been entered and not left.
    fn interrupt_depth(&self) -> usize;

    /// Whether the processor sleeps.
    fn sleeping(&self) -> Truth {
        Truth::Unknown
    }

    /// Whether the state is the end of a run into a hazard.
    fn hazard(&self) -> Truth {
        Truth::Unknown
    }

    /// Whether the step that entered this state showed the event, and with which value.
    fn event(&self, _event: &Event) -> Occurrence {
        Occurrence::UNKNOWN
    }
}

/// Something that a step does. It labels the state that the step enters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The program reads one of these cells (data addresses).
    Read(Range<u16>),
    /// The program writes one of these cells (data addresses).
    Write(Range<u16>),
    /// A call goes to this entry, or a jump to it that is a call as well.
    Call(Entry),
    /// A return ends a frame in which one of these flash byte addresses was executed.
    Return(Range<u32>),
    /// The handler of the interrupt with this vector number is entered.
    Interrupt(u8),
}

/// What a view knows of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Whether it happened.
    pub happened: Truth,
    /// The byte that was read or written, if it happened; unknown for other events.
    pub value: TvByte,
}

impl Occurrence {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { happened: Truth::Unknown, value: TvByte::UNKNOWN };
}
