//! The paths that are left out by fairness, among those of all states, by a definition of their own.

use super::explorer::{Fair, Source, Space};
use avr_isa::{DataAddress, Instruction as I};
use avr_machine::device::Promised;
use avr_machine::{Fetched, Frame, FrameKind, Machine, MachineState};

const TIFR0: u16 = 0x35;
const EIMSK: u16 = 0x3d;
const GTCCR: u16 = 0x43;
const TCCR0A: u16 = 0x44;
const TCCR0B: u16 = 0x45;
const TCNT0: u16 = 0x46;
const SMCR: u16 = 0x53;
const SREG: u16 = 0x5f;
const PRR: u16 = 0x64;
const TIMSK0: u16 = 0x6e;

impl Space {
    /// The states from which all paths come to one of a set, but for those that stay for ever in certain states and come to certain others
    /// again and again.
    pub(super) fn comes_fairly(&mut self, machine: &Machine, until: &[bool], fair: Fair) -> Vec<bool> {
        let (stays, shows) = match fair {
            Fair::Assumed(source) => {
                let stays = self.are_in(|state| is_enabled(source, state) && !is_taken(source, state));
                (stays, self.are_in(|state| cell(state, SREG) >> 7 == 1))
            }
            Fair::Promised(event) => {
                let stays = self.are_in(|state| stays(machine, event, state) && !writes(machine, event, state));
                (stays, self.are_in(|state| shows(machine, event, state)))
            }
        };
        let is_open: Vec<bool> = until.iter().map(|until| !until).collect();
        let mut in_vain: Vec<bool> = vec![false; until.len()];
        for part in self.cycles(&is_open) {
            let goes_on = part.iter().any(|state| !stays[*state]) || {
                let mut shut = vec![false; until.len()];
                part.iter().for_each(|state| shut[*state] = !shows[*state]);
                !self.cycles(&shut).is_empty()
            };
            part.iter().for_each(|state| in_vain[*state] |= goes_on);
        }
        let mut waiting: Vec<usize> = (0..until.len()).filter(|state| in_vain[*state]).collect();
        while let Some(state) = waiting.pop() {
            for before in &self.previous[state] {
                let before = *before as usize;
                if is_open[before] && !std::mem::replace(&mut in_vain[before], true) {
                    waiting.push(before);
                }
            }
        }
        in_vain.iter().map(|in_vain| !in_vain).collect()
    }
}

fn cell(state: &MachineState<u8>, address: u16) -> u8 {
    *state.data.get(DataAddress(address))
}

fn is_enabled(source: Source, state: &MachineState<u8>) -> bool {
    state.data.get(source.enabled.0) >> source.enabled.1 & 1 == 1
}

/// True in the first state of the handler.
fn is_taken(source: Source, state: &MachineState<u8>) -> bool {
    let is_first = state.control.pc.0 == u32::from(source.number) * 2;
    is_first && state.calls.frames().last().is_some_and(|frame| frame.kind == FrameKind::Interrupt(source.number))
}

/// True in a state in which an event is promised that has not come.
fn stays(machine: &Machine, event: Promised, state: &MachineState<u8>) -> bool {
    let is_idle = cell(state, SMCR) & 0x0e == 0;
    let has_begun = state.control.pc == machine.options().start;
    let (clock, mode) = (cell(state, TCCR0B), cell(state, TCCR0A) & 3);
    let counts = (1..=5).contains(&(clock & 7)) && cell(state, GTCCR) < 0x80 && cell(state, PRR) & 0x20 == 0;
    let overflows = counts && clock & 8 == 0 && mode != 2;
    let holds = match event {
        Promised::Interrupt(16) => {
            let is_handled = |frame: &Frame| frame.kind == FrameKind::Interrupt(16);
            let handled = state.calls.frames().iter().any(is_handled);
            overflows && cell(state, TIMSK0) == 1 && cell(state, EIMSK) == 0 && !handled
        }
        Promised::Change(bit) if bit.address == DataAddress(TIFR0) => {
            overflows && cell(state, TIMSK0) & 1 == 0 && cell(state, TIFR0) & 1 == 0
        }
        Promised::Change(bit) => state.data.get(bit.address) >> bit.bit & 1 == 1,
        Promised::Interrupt(number) => panic!("the promise of interrupt {number} is not said here"),
    };
    is_idle && !has_begun && holds
}

/// True where the next instruction writes a register on which a promise rests.
fn writes(machine: &Machine, event: Promised, state: &MachineState<u8>) -> bool {
    let address = match instruction(machine, state) {
        I::Out { io, .. } | I::Sbi { io, .. } | I::Cbi { io, .. } => u16::from(io) + 0x20,
        I::Sts { address, .. } => address.0,
        _ => return false,
    };
    match event {
        Promised::Change(bit) if bit.address != DataAddress(TIFR0) => address == bit.address.0,
        _ => [TIFR0, TCCR0A, TCCR0B, TCNT0, GTCCR].contains(&address),
    }
}

/// True in a state that shows that an event has not come.
fn shows(machine: &Machine, event: Promised, state: &MachineState<u8>) -> bool {
    match event {
        Promised::Interrupt(_) => {
            cell(state, SREG) >> 7 == 1 && !state.control.interrupt_delay && !state.control.fresh_request
        }
        Promised::Change(bit) => match instruction(machine, state) {
            I::In { io, .. } => u16::from(io) + 0x20 == bit.address.0 && !state.control.sleeping,
            I::Sbic { io, bit: read } | I::Sbis { io, bit: read } => {
                u16::from(io) + 0x20 == bit.address.0 && read == bit.bit && !state.control.sleeping
            }
            I::Lds { address, .. } => address == bit.address && !state.control.sleeping,
            _ => false,
        },
    }
}

fn instruction(machine: &Machine, state: &MachineState<u8>) -> I {
    match machine.program.fetch(state.control.pc) {
        Fetched::Instruction { instruction, .. } => instruction,
        other => panic!("{other:?}"),
    }
}
