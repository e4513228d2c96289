//! Branches, skips, jumps, calls and returns.
//!
//! The mnemonics name the sections of the AVR Instruction Set Manual (DS40002198), chapter "Instruction Description".

use super::Step;
use super::flags::flag;
use crate::device::{BitKind, BitRef, Changes};
use crate::environment::{Demand, Environment, Event, Question};
use crate::hazard::{HazardKind, Limit, Stop};
use crate::state::{Frame, FrameKind};
use avr_isa::{DataAddress, FlashWordAddress, Pointer, Register};
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, TvByte};

/// The most targets of an indirect jump that are distinguished.
const MAX_TARGETS: usize = 256;

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Settles a question about the stored state; unknown ones are cut into cases (0: no, 1: yes).
    pub(super) fn decide(&mut self, bit: &V::Bit) -> bool {
        match bit.known() {
            Some(value) => value,
            None => self.environment.case(2, Question::Bit(bit)) == 1,
        }
    }

    /// Moves PC by an offset in words, round the end of the flash.
    fn jump_relative(&mut self, offset: i32) {
        self.jump(self.state.control.pc.wrapping_add_signed(offset));
    }

    /// Sets PC; bits that it does not have are lost.
    pub(super) fn jump(&mut self, target: FlashWordAddress) {
        self.state.control.pc = target.masked(self.machine.pc_mask);
    }

    /// BRBS, BRBC and all their aliases.
    pub(super) fn branch(&mut self, flag: u8, wanted: bool, offset: i8) {
        let bit = self.flag(flag);
        let value = self.decide(&bit);
        // The case is a fact about the flag from here on.
        self.set_flags(&[(flag, &V::Bit::constant(value))]);
        if value == wanted {
            self.cycles += 1;
            self.jump_relative(i32::from(offset));
        }
    }

    /// RJMP.
    pub(super) fn relative_jump(&mut self, offset: i16) {
        self.jump_relative(i32::from(offset));
    }

    /// Passes over the next instruction, both words of it.
    fn skip(&mut self) {
        let words = self.machine.program.words_at(self.state.control.pc);
        let words = if is_on(Fault::SkipOneWord) { words.min(1) } else { words };
        self.cycles += words;
        self.jump_relative(words as i32);
    }

    /// CPSE.
    pub(super) fn compare_and_skip(&mut self, rd: Register, rr: Register) -> Result<(), Stop> {
        let equal = self.register(rd).equals(self.register(rr));
        let equal = if rd == rr { V::Bit::constant(true) } else { equal };
        if self.decide(&equal) {
            let (a, b) = (self.register(rd).bits(), self.register(rr).bits());
            self.assume_register(rd, b)?;
            self.assume_register(rr, a)?;
            self.skip();
        }
        Ok(())
    }

    /// SBRC, SBRS.
    pub(super) fn skip_if_register_bit(&mut self, rr: Register, bit: u8, wanted: bool) {
        let value = self.register(rr).bit(bit);
        let value = self.decide(&value);
        let known = self.register(rr).with_bit(bit, &V::Bit::constant(value));
        self.set_register(rr, known);
        if value == wanted {
            self.skip();
        }
    }

    /// SBIC, SBIS: what hardware supplies is chosen in this very step.
    pub(super) fn skip_if_io_bit(&mut self, address: DataAddress, bit: u8, wanted: bool) -> Result<(), Stop> {
        let value = self.read_io(address, 1 << bit, Demand::Decides)?.bit(bit);
        let decided = self.decide(&value);
        if value.known().is_none() && self.reads_what_is_stored(address, bit) {
            self.assume_stored_bit(address, bit, decided);
        }
        if decided == wanted {
            self.skip();
        }
        Ok(())
    }

    /// True if the bit that a read just gave is still what the register stores: then deciding it says something about
    /// the state. It is not where each read asks the hardware afresh, where the clock stands still, and where the read
    /// itself changed the bit.
    fn reads_what_is_stored(&mut self, address: DataAddress, bit: u8) -> bool {
        let machine = self.machine;
        let Some(register) = machine.device.register_at(address) else { return false };
        let cleared = machine.cleared_by_access(address).iter().any(|(flag, _)| *flag == BitRef { address, bit });
        let asked = match &register.bits[usize::from(bit)].kind {
            BitKind::Input(input) => input.changes == Changes::Both,
            _ => false,
        };
        !cleared && !asked && self.holds(&register.clocked_while)
    }

    fn assume_register(&mut self, register: Register, fact: TvByte) -> Result<(), Stop> {
        let value = self.register(register).assume(fact).ok_or(Stop::Infeasible)?;
        self.set_register(register, value);
        Ok(())
    }

    /// The target in Z for IJMP and ICALL; an unknown Z is cut into its cases.
    pub(super) fn indirect_target(&mut self) -> Result<FlashWordAddress, Stop> {
        let (low, high) = (Pointer::Z.low(), Pointer::Z.high());
        self.decide_pointer(Pointer::Z);
        let known = self.candidates(low.address(), high.address());
        let target = known.single().map_or_else(|| self.cut_target(low, high), Ok)?;
        Ok(FlashWordAddress(target.into()))
    }

    fn cut_target(&mut self, low: Register, high: Register) -> Result<u16, Stop> {
        let candidates = self.candidates(low.address(), high.address());
        let bytes = [self.state.data.get(low.address()), self.state.data.get(high.address())];
        if candidates.count() > MAX_TARGETS.min(self.environment.most_targets()) {
            self.environment.stuck(&bytes);
            return Err(Stop::Limit(Limit::UnknownTarget));
        }
        let index = self.environment.case(candidates.count(), Question::Bytes(&bytes));
        let target = candidates.iter().nth(index).unwrap_or_default();
        let [low_byte, high_byte] = target.to_le_bytes();
        self.assume_register(low, TvByte::constant(low_byte))?;
        self.assume_register(high, TvByte::constant(high_byte))?;
        Ok(target)
    }

    /// CALL, RCALL, ICALL: PC already points behind the instruction.
    pub(super) fn call(&mut self, target: FlashWordAddress) -> Result<(), Stop> {
        self.push_return_address(FrameKind::Call)?;
        self.jump(target);
        self.crossed = true;
        self.environment.event(Event::Call(self.state.control.pc));
        self.enter_body()
    }

    /// RCALL: the target is relative to the next instruction.
    pub(super) fn relative_call(&mut self, offset: i16) -> Result<(), Stop> {
        let target = self.state.control.pc.wrapping_add_signed(i32::from(offset));
        self.call(target)
    }

    /// Pushes PC, least significant byte first, and notes the frame.
    pub(super) fn push_return_address(&mut self, kind: FrameKind) -> Result<(), Stop> {
        let return_address = self.state.control.pc;
        let position = self.stack_pointer()?;
        if kind == FrameKind::Call {
            // Bytes that were popped and not pushed again are overwritten now.
            self.forget_frames(position);
        }
        let mut bytes = return_address.0.to_le_bytes();
        let bytes = &mut bytes[..self.machine.pc_bytes];
        if is_on(Fault::LongReturnReversed) && bytes.len() > 2 {
            bytes.reverse();
        }
        for byte in bytes {
            self.push(V::constant(*byte))?;
        }
        self.state.calls.push(Frame { position, return_address, kind, stack: self.state.control.stack, left: 0 });
        Ok(())
    }

    /// RET, and the return of RETI.
    pub(super) fn return_from_call(&mut self) -> Result<(), Stop> {
        let expected = self.expected_return()?;
        let mut bytes: [V; 4] = std::array::from_fn(|_| V::constant(0));
        let bytes = &mut bytes[..self.machine.pc_bytes];
        for byte in bytes.iter_mut().rev() {
            *byte = self.pop_byte()?;
        }
        if is_on(Fault::LongReturnReversed) && bytes.len() > 2 {
            bytes.reverse();
        }
        let left = expected.and(self.state.calls.top()).map_or(0, |frame| frame.left);
        match expected {
            Some(_) => self.state.calls.pop(),
            None => {
                let pointer = self.stack_pointer()?;
                self.forget_frames(pointer);
            }
        }
        let target = self.return_target(bytes, expected)?;
        self.jump(target);
        // A return to what no call pushed, where that is allowed, is a jump.
        self.crossed = expected == Some(target);
        self.environment.event(Event::Return(self.state.control.pc, left));
        Ok(())
    }

    /// The return address that a call pushed where the stack pointer is now, if one did.
    fn expected_return(&mut self) -> Result<Option<FlashWordAddress>, Stop> {
        let pointer = self.stack_pointer()?;
        if !is_on(Fault::FramesKept) {
            self.forget_frames(pointer);
        }
        let position = pointer.wrapping_add(self.machine.pc_bytes as u16);
        match self.state.calls.top().copied() {
            Some(frame) if frame.position == position => Ok(Some(frame.return_address)),
            Some(frame) => {
                self.hazard(HazardKind::ReturnToNonCall, Some(frame.return_address.byte().0))?;
                Ok(None)
            }
            // The first entry of a task: its address was stored on the stack, not pushed by a call.
            None if self.is_stored_on_task_stack(position) => Ok(None),
            None => {
                self.hazard(HazardKind::CallStackUnderflow, None)?;
                Ok(None)
            }
        }
    }

    /// True if a return address whose least significant byte lies at `position` is whole on the stack of the task that runs.
    fn is_stored_on_task_stack(&self, position: DataAddress) -> bool {
        self.machine.stack_area(self.state.control.stack).is_some_and(|area| area.contains(position))
    }

    /// The target of a return that popped these bytes (least significant first): they must be what the call pushed.
    fn return_target(&mut self, bytes: &[V], expected: Option<FlashWordAddress>) -> Result<FlashWordAddress, Stop> {
        if let Some(expected) = expected {
            let pushed = expected.0.to_le_bytes();
            let same = bytes
                .iter()
                .zip(pushed)
                .fold(V::Bit::constant(true), |same, (byte, pushed)| same.and(&byte.equals(&V::constant(pushed))));
            let is_trusted = is_on(Fault::SavedReturnTrusted) && self.state.control.stack != 0;
            if is_trusted || self.decide(&same) {
                return Ok(expected);
            }
            self.hazard(HazardKind::ReturnToNonCall, Some(expected.byte().0))?;
        }
        let address = bytes.iter().rev().try_fold(0, |address, byte| Some(address << 8 | u32::from(byte.known()?)));
        if address.is_none() {
            self.environment.stuck(&bytes.iter().collect::<Vec<_>>());
        }
        address.map(FlashWordAddress).ok_or(Stop::Limit(Limit::UnknownTarget))
    }

    /// RETI: returns, sets I, and one more instruction runs before the next interrupt.
    pub(super) fn return_from_interrupt(&mut self) -> Result<(), Stop> {
        if !self.machine.interrupts_exist() {
            return Err(Stop::hazard(HazardKind::InterruptsUnavailable, None));
        }
        self.return_from_call()?;
        self.set_flags(&[(flag::I, &V::Bit::constant(true))]);
        self.state.control.interrupt_delay = !is_on(Fault::NoDelayAfterReti);
        Ok(())
    }
}
