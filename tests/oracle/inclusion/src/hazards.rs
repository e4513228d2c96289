//! Hazards that a run in libsimavr commits, told without the verifier: from the stack pointer, the addresses that calls pushed, and where execution is.

use avr_image::{FlashByteAddress, Image};
use avr_machine::HazardKind;

use crate::runs::State;

const SRAM_START: u16 = 0x100;
const SRAM_END: u16 = 0x8ff;

/// Follows the calls of a run.
pub struct Watcher<'a> {
    image: &'a Image,
    static_data_end: u16,
    /// The return addresses that calls and interrupt entries pushed, oldest first, each with the stack pointer before its push. That of a call
    /// stays when POP takes its bytes, until something is called or SP is written: they may be pushed again.
    pushed: Vec<(u16, u32)>,
    before: Option<State>,
    /// True if SPH was written and SPL has not followed.
    is_torn: bool,
    /// The deepest that a whole stack pointer was, in bytes.
    pub deepest: u32,
}

impl<'a> Watcher<'a> {
    /// Before the first state of a run.
    #[must_use]
    pub fn new(image: &'a Image) -> Self {
        let static_data_end = image.static_data_end().map_or(SRAM_START, |end| end.0);
        Self { image, static_data_end, pushed: Vec::new(), before: None, is_torn: false, deepest: 0 }
    }

    /// Before a state that is not the first one of a run, in which these return addresses are on the stack.
    #[must_use]
    pub fn amid(image: &'a Image, pushed: Vec<(u16, u32)>, is_torn: bool) -> Self {
        Self { pushed, is_torn, ..Self::new(image) }
    }

    /// Looks at the next state; the hazards that the step into it commits.
    pub fn look(&mut self, state: &State) -> Vec<HazardKind> {
        let mut found = Vec::new();
        if let Some(before) = self.before.take() {
            self.follow(&before, state, &mut found);
        }
        // The target of a return without a call is no hazard of its own.
        if found.is_empty() && state.pc as usize >= self.end_of_image() {
            found.push(HazardKind::OutsideImage);
        }
        self.before = Some(state.clone());
        found
    }

    /// The return addresses that are on the stack, oldest first, each with the stack pointer before its push.
    #[must_use]
    pub fn calls(&self, state: &State) -> Vec<(u16, u32)> {
        let end = state.stack_pointer().saturating_add(2);
        self.pushed.iter().copied().filter(|(position, _)| *position >= end).collect()
    }

    fn end_of_image(&self) -> usize {
        self.image.program.ranges().last().map_or(0, |range| range.end.0 as usize)
    }

    fn follow(&mut self, before: &State, state: &State, found: &mut Vec<HazardKind>) {
        let (old, new) = (before.stack_pointer(), state.stack_pointer());
        let is_sph =
            state.opcode.is_some_and(|opcode| writes(opcode, 0x3e) || writes_far(opcode, before, self.image, 0x5e));
        let is_spl =
            state.opcode.is_some_and(|opcode| writes(opcode, 0x3d) || writes_far(opcode, before, self.image, 0x5d));
        self.is_torn = is_sph || self.is_torn && !is_spl && old == new;
        match state.opcode {
            None => self.pushed.push((old, before.pc)),
            Some(opcode) if is_call(opcode) => {
                let words = if opcode & 0xfe0e == 0x940e { 4 } else { 2 };
                self.pushed.retain(|(position, _)| *position > old);
                self.pushed.push((old, before.pc + words));
            }
            Some(opcode) if is_return(opcode) => {
                match self.pushed.iter().rposition(|frame| *frame == (new, state.pc)) {
                    Some(index) => self.pushed.truncate(index),
                    None if self.pushed.iter().all(|(position, _)| *position < new) => {
                        found.push(HazardKind::CallStackUnderflow);
                    }
                    None => found.push(HazardKind::ReturnToNonCall),
                }
            }
            Some(_) => {}
        }
        if !self.is_torn {
            self.deepest = self.deepest.max(u32::from(SRAM_END).saturating_sub(new.into()));
            let least = if is_spl { new.saturating_add(2) } else { new };
            self.pushed.retain(|(position, _)| *position >= least);
            if new < old && (SRAM_START..self.static_data_end).contains(&(new + 1)) {
                found.push(HazardKind::StackIntoData);
            }
            if new != old && (new > SRAM_END || new + 1 < SRAM_START) {
                found.push(HazardKind::StackOutsideSram);
            }
        }
    }
}

/// OUT to an I/O address.
fn writes(opcode: u16, io: u16) -> bool {
    opcode & 0xf800 == 0xb800 && (opcode >> 5 & 0x30 | opcode & 0xf) == io
}

/// STS to a data address.
fn writes_far(opcode: u16, before: &State, image: &Image, address: u16) -> bool {
    opcode & 0xfe0f == 0x9200 && word(image, before.pc + 2) == Some(address)
}

fn word(image: &Image, address: u32) -> Option<u16> {
    let byte = |at: u32| image.program.byte(FlashByteAddress(at));
    Some(u16::from_le_bytes([byte(address)?, byte(address + 1)?]))
}

/// RCALL, CALL and ICALL.
fn is_call(opcode: u16) -> bool {
    opcode & 0xf000 == 0xd000 || opcode & 0xfe0e == 0x940e || opcode == 0x9509
}

/// RET and RETI.
fn is_return(opcode: u16) -> bool {
    opcode == 0x9508 || opcode == 0x9518
}
