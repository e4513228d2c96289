//! Fairness: what no path does for ever. It is assumed of interrupts, or promised by the data sheet.

use crate::faults::{Fault, is_on};
use avr_isa::{Addressing, DataAddress, MemoryAccess, Pointer, PointerMode, Register};
use avr_machine::device::{BitRef, Condition, Promise, Promised};
use avr_machine::{Fetched, Frame, FrameKind, Machine};
use avr_symbolic::{SymbolicBit, SymbolicByte, SymbolicState};
use three_valued::{BitDomain, ByteDomain};

/// The flag of the status register that lets interrupts in.
const INTERRUPTS: u8 = 7;

/// The most bytes that one step stores on the stack.
const MOST_PUSHED: u16 = 3;

/// An event without which a rank may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitsFor {
    /// An interrupt by the number of its vector, of which fairness is assumed.
    Interrupt(u8),
    /// An event that the data sheet promises, by its place among the promises of the device.
    Promised(u8),
}

/// A kind of path that is left out: it stays for ever in certain states, and comes to certain others again and again.
#[derive(Clone, Copy, Debug)]
pub enum Fairness {
    /// An interrupt does not come though it is enabled and let in. That it does is assumed.
    Interrupt(FairInterrupt),
    /// An event does not come that the data sheet promises.
    Promised {
        /// The place among the promises of the device.
        number: u8,
        /// The promise.
        promise: &'static Promise,
    },
}

/// An interrupt that comes again and again if it is enabled from some time on, and interrupts are let in again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairInterrupt {
    /// The number of its vector.
    pub number: u8,
    /// The bits of a cell that are all 1 where it is enabled.
    pub enabled: (DataAddress, u8),
}

impl FairInterrupt {
    /// The bit that is 1 if it is enabled in a state.
    fn is_enabled<'g>(&self, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        let (cell, mask) = self.enabled;
        has_bits(&state.data.get(cell).clone(), mask, mask)
    }
}

impl Fairness {
    /// The event.
    pub(crate) fn waits_for(&self) -> WaitsFor {
        match self {
            Self::Interrupt(interrupt) => WaitsFor::Interrupt(interrupt.number),
            Self::Promised { number, .. } => WaitsFor::Promised(*number),
        }
    }

    /// The bit that is 1 if a state may be one of those in which such a path stays.
    ///
    /// SOUND: after a reset a promise begins anew. Stores that are not known may reach its registers.
    pub(crate) fn stays<'g>(&self, machine: &Machine, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        match self {
            Self::Interrupt(interrupt) => {
                let comes = is_handled(state, interrupt.number) && !is_on(Fault::FiringForgotten);
                let enabled = match is_on(Fault::EnabledForgotten) {
                    true => SymbolicBit::ONE,
                    false => interrupt.is_enabled(state),
                };
                SymbolicBit::constant(!comes).and(&enabled)
            }
            Self::Promised { promise, .. } => {
                let comes = match promise.event {
                    Promised::Interrupt(number) => is_handled(state, number) && !is_on(Fault::FiringForgotten),
                    Promised::Change(_) => false,
                };
                let is_reset = state.control.pc == machine.options().start;
                let stays = SymbolicBit::constant(!comes && !is_reset);
                let lasts = match is_on(Fault::LastsForgotten) {
                    true => SymbolicBit::ONE,
                    false => holds(&promise.lasts, state),
                };
                let untouched = match is_on(Fault::TouchedForgotten) {
                    true => SymbolicBit::ONE,
                    false => may_write(machine, state, promise).not(),
                };
                stays.and(&lasts).and(&untouched)
            }
        }
    }

    /// The bit that is 1 if a state is one of those to which such a path comes again and again.
    pub(crate) fn shows<'g>(&self, machine: &Machine, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
        if is_on(Fault::LetInForgotten) {
            return SymbolicBit::ONE;
        }
        let is_let_in = || state.data.get(machine.status_address()).bit(INTERRUPTS);
        match self {
            Self::Interrupt(_) => is_let_in(),
            Self::Promised { promise: Promise { event: Promised::Interrupt(_), .. }, .. } => {
                let control = &state.control;
                let is_late =
                    control.interrupt_delay || control.fresh_request || machine.windows_hold_interrupts(control);
                let is_late = is_late && !is_on(Fault::DelayForgotten);
                SymbolicBit::constant(!is_late).and(&is_let_in())
            }
            Self::Promised { promise: Promise { event: Promised::Change(bit), .. }, .. } => {
                SymbolicBit::constant(!state.control.sleeping).and(&reads(machine, state, *bit))
            }
        }
    }
}

/// True if a handler of an interrupt is on the stack.
fn is_handled(state: &SymbolicState<'_>, number: u8) -> bool {
    let is_own = |frame: &Frame| frame.kind == FrameKind::Interrupt(number);
    state.calls.frames().iter().any(is_own)
}

/// The bit that is 1 if the bits of a byte under a mask have a value.
fn has_bits<'g>(byte: &SymbolicByte<'g>, mask: u8, value: u8) -> SymbolicBit<'g> {
    byte.and(&SymbolicByte::constant(mask)).equals(&SymbolicByte::constant(value))
}

/// The bit that is 1 if a condition is true of the stored bits of a state.
fn holds<'g>(condition: &Condition, state: &SymbolicState<'g>) -> SymbolicBit<'g> {
    match condition {
        Condition::Always => SymbolicBit::ONE,
        Condition::Never => SymbolicBit::ZERO,
        Condition::All(parts) => parts.iter().fold(SymbolicBit::ONE, |all, part| all.and(&holds(part, state))),
        Condition::Any(parts) => parts.iter().fold(SymbolicBit::ZERO, |any, part| any.or(&holds(part, state))),
        Condition::Not(part) => holds(part, state).not(),
        Condition::Bit(bit) | Condition::Moving { bit, .. } => state.data.get(bit.address).bit(bit.bit),
        Condition::Field { address, mask, equals } => has_bits(&state.data.get(*address).clone(), *mask, *equals),
    }
}

/// The bit that is 1 if the step of a state may write a register that is to be untouched.
fn may_write<'g>(machine: &Machine, state: &SymbolicState<'g>, promise: &Promise) -> SymbolicBit<'g> {
    let first = machine.sram().start.wrapping_add(MOST_PUSHED);
    // An interrupt may come before each instruction, and stores on the stack.
    let is_stack_far = machine.stack_pointer().value_in(&state.data).is_some_and(|pointer| pointer >= first);
    let Fetched::Instruction { instruction, .. } = machine.program.fetch(state.control.pc) else {
        return SymbolicBit::ONE;
    };
    let stored = match instruction.memory_access() {
        MemoryAccess::StoreIo { address } | MemoryAccess::StoreIoBit { address, .. } => Addressing::Direct(address),
        MemoryAccess::Store(addressing) => addressing,
        MemoryAccess::None
        | MemoryAccess::Load(_)
        | MemoryAccess::LoadIo { .. }
        | MemoryAccess::LoadIoBit { .. }
        | MemoryAccess::Push
        | MemoryAccess::Pop
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::LoadFlash
        | MemoryAccess::StoreFlash
        | MemoryAccess::ResetWatchdog => return SymbolicBit::constant(!is_stack_far),
    };
    let all = promise.untouched.iter().map(|register| is_at(state, stored, *register));
    all.fold(SymbolicBit::constant(!is_stack_far), |any, one| any.or(&one))
}

/// The bit that is 1 if the instruction of a state reads a bit.
fn reads<'g>(machine: &Machine, state: &SymbolicState<'g>, bit: BitRef) -> SymbolicBit<'g> {
    let Fetched::Instruction { instruction, .. } = machine.program.fetch(state.control.pc) else {
        return SymbolicBit::ZERO;
    };
    let loaded = match instruction.memory_access() {
        MemoryAccess::LoadIo { address } => Addressing::Direct(address),
        // SOUND: of the other bits of the register nothing is asked.
        MemoryAccess::LoadIoBit { address, bit: read } if read == bit.bit || is_on(Fault::OtherBitsRead) => {
            Addressing::Direct(address)
        }
        MemoryAccess::Load(addressing) => addressing,
        MemoryAccess::None
        | MemoryAccess::LoadIoBit { .. }
        | MemoryAccess::Store(_)
        | MemoryAccess::StoreIo { .. }
        | MemoryAccess::StoreIoBit { .. }
        | MemoryAccess::Push
        | MemoryAccess::Pop
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::LoadFlash
        | MemoryAccess::StoreFlash
        | MemoryAccess::ResetWatchdog => return SymbolicBit::ZERO,
    };
    is_at(state, loaded, bit.address)
}

/// The bit that is 1 if an access is one to an address.
fn is_at<'g>(state: &SymbolicState<'g>, addressing: Addressing, address: DataAddress) -> SymbolicBit<'g> {
    match addressing {
        Addressing::Direct(direct) => SymbolicBit::constant(direct == address),
        Addressing::Indirect { pointer, mode } => {
            // The value of the pointer with which the access is one to the address.
            let pointed = match mode {
                PointerMode::Displacement(displacement) => address.wrapping_sub(u16::from(displacement)),
                PointerMode::PostIncrement => address,
                PointerMode::PreDecrement => address.wrapping_add(1),
            };
            points_to(state, pointer, pointed)
        }
    }
}

fn points_to<'g>(state: &SymbolicState<'g>, pointer: Pointer, address: DataAddress) -> SymbolicBit<'g> {
    let is = |register: Register, value| state.data.get(register.address()).equals(&SymbolicByte::constant(value));
    is(pointer.low(), address.low()).and(&is(pointer.high(), address.high()))
}
