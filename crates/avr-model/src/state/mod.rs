//! Abstract states and locations of AVR firmware.

pub mod cell_variable;
pub mod deferral;
pub mod events;
pub(crate) mod inside_body;
pub mod interner;
pub mod stack_depth;
pub mod view;
pub mod working_copy;

use avr_isa::{DataAddress, FlashWordAddress};
use avr_machine::{Control, Hazard, Limit};
use deferral::Deferral;
use interner::{CallsId, MemoryId, OccurrencesId};
use tvar::{Lookup, Place};

/// A state of the running machine in compact form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// The content of all cells.
    pub memory: MemoryId,
    /// The return addresses on the stack.
    pub calls: CallsId,
    /// The state of the processor beside the cells.
    pub control: Control,
    /// The events of the step into this state.
    pub did: OccurrencesId,
    /// The knowledge about interrupts that did not come where they could have.
    pub deferral: Deferral,
}

/// An abstract state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AbstractState {
    /// The dummy initial state, in which nothing is chosen yet.
    Dummy,
    /// The machine runs.
    Running(Running),
    /// The sink of a hazard that the instruction at `pc` (flash word address) ran into.
    Hazard {
        /// The kind of the hazard.
        hazard: Hazard,
        /// The instruction.
        pc: FlashWordAddress,
    },
    /// The sink of a path that the engine did not follow beyond the instruction at `pc` (flash word address).
    Limit {
        /// The limit that ended the path.
        limit: Limit,
        /// The instruction.
        pc: FlashWordAddress,
    },
}

/// The precision of the steps of firmware.
pub type PrecisionLookup<'a> = dyn Lookup<AbstractState, Location> + 'a;

/// A location, to which precision is attached: parts of the state that are always known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// Before the start.
    Dummy,
    /// In a run.
    Running {
        /// The known part of the state.
        control: Control,
        /// The stack pointer, while it is known.
        stack_pointer: Option<DataAddress>,
        /// The return addresses on the stack.
        calls: u32,
        /// The values of the registers that count the rounds of loops, as a number that distinguishes them; 0 if there
        /// are none.
        round: u64,
    },
    /// In a sink.
    Sink,
}

impl Place for Location {
    /// The instruction, wherever it was called from.
    fn general(self) -> Self {
        match self {
            Self::Running { control: Control { pc, .. }, .. } => Self::everywhere_at(pc),
            Self::Dummy | Self::Sink => self,
        }
    }

    fn in_any_round(self) -> Self {
        match self {
            Self::Running { control, stack_pointer, calls, .. } => {
                Self::Running { control, stack_pointer, calls, round: 0 }
            }
            Self::Dummy | Self::Sink => self,
        }
    }

    /// The instruction as a flash byte address.
    fn number(self) -> Option<u32> {
        self.pc().map(|pc| pc.byte().0)
    }
}

impl Location {
    /// The part that all locations at an instruction (flash word address) share.
    pub fn everywhere_at(pc: FlashWordAddress) -> Self {
        let control = Control { pc, ..Control::default() };
        Self::Running { control, stack_pointer: None, calls: 0, round: 0 }
    }

    /// The instruction at the location as a flash word address.
    #[must_use]
    pub fn pc(&self) -> Option<FlashWordAddress> {
        match self {
            Self::Running { control, .. } => Some(control.pc),
            Self::Dummy | Self::Sink => None,
        }
    }
}
