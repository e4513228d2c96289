//! The stack and its pointer.

use super::Step;
use crate::environment::{Environment, Question};
use crate::hazard::{HazardKind, Limit, Stop};
use crate::program::Fetched;
use crate::state::{Frame, FrameKind};
use avr_isa::DataAddress;
use three_valued::fault::{Fault, is_on};
use three_valued::{ByteDomain, TvByte};

/// The most values of the stack pointer that are distinguished.
const MAX_STACK_POINTERS: usize = 256;

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// The stack pointer, which using it makes whole; an unknown one is cut into its cases.
    pub(crate) fn stack_pointer(&mut self) -> Result<DataAddress, Stop> {
        let was_torn = std::mem::take(&mut self.state.control.torn);
        let pointer = self.known_stack_pointer()?;
        if was_torn {
            self.select_stack(pointer)?;
        }
        Ok(pointer)
    }

    /// Goes to the stack that SP was set to, where tasks have stacks of their own.
    fn select_stack(&mut self, pointer: DataAddress) -> Result<(), Stop> {
        if !self.machine.has_stacks() {
            return Ok(());
        }
        let control = &mut self.state.control;
        let selected = self.machine.stack_selected(control.stack, pointer);
        let stack =
            selected.ok_or(Stop::Limit(Limit::Unsupported("a stack pointer between the stacks of two tasks")))?;
        if stack != control.stack {
            control.stack = stack;
            if !is_on(Fault::StackKept) {
                self.state.calls.switch_to(stack);
            }
        }
        Ok(())
    }

    fn known_stack_pointer(&mut self) -> Result<DataAddress, Stop> {
        let (low, high) = (self.machine.stack_low, self.machine.stack_high);
        self.machine.stack_pointer().cells().for_each(|half| self.decide_bits(half, 0xff));
        let Some(high) = high else {
            return self.known_byte(low).map(|low| DataAddress::of_bytes(low, 0));
        };
        let candidates = self.candidates(low, high);
        if let Some(value) = candidates.single().map(DataAddress) {
            return Ok(value);
        }
        let bytes = [self.state.data.get(low), self.state.data.get(high)];
        if candidates.count() > MAX_STACK_POINTERS {
            self.environment.stuck(&bytes);
            return Err(Stop::Limit(Limit::UnknownStackPointer));
        }
        let index = self.environment.case(candidates.count(), Question::Bytes(&bytes));
        let value = candidates.iter().nth(index).map(DataAddress).unwrap_or_default();
        self.set_stack_pointer(value);
        Ok(value)
    }

    /// The content of a cell; an unknown one is cut into its cases.
    pub(super) fn known_byte(&mut self, address: DataAddress) -> Result<u8, Stop> {
        let byte = self.state.data.get(address);
        let candidates: Vec<u8> = byte.bits().concretisations().collect();
        let count = candidates.len();
        let index = if count == 1 { 0 } else { self.environment.case(count, Question::Bytes(&[byte])) };
        let value = candidates[index];
        self.state.data.set(address, V::constant(value));
        Ok(value)
    }

    /// Sets both halves of the stack pointer.
    pub(crate) fn set_stack_pointer(&mut self, address: DataAddress) {
        self.state.data.set(self.machine.stack_low, V::constant(address.low()));
        if let Some(high) = self.machine.stack_high {
            self.state.data.set(high, V::constant(address.high()));
        }
    }

    /// The program set the stack pointer, by writing SPL: it is part of every location, so it must be known from here
    /// on. Return addresses that are no longer on the stack are forgotten, and the stack must not lie in static data.
    ///
    /// SPL alone is a whole change as well; a change that began with SPH ends with it.
    pub(crate) fn stack_pointer_moved(&mut self) -> Result<(), Stop> {
        let is_half = self.machine.has_stacks() && self.machine.sets_high_half_next(self.state.control.pc);
        if is_half && !is_on(Fault::HalfPointerWhole) {
            self.state.control.torn = true;
            return Ok(());
        }
        let pointer = self.stack_pointer()?;
        self.select_stack(pointer)?;
        if !is_on(Fault::FramesKept) {
            self.forget_frames(pointer);
        }
        if is_on(Fault::DataUnchecked) || self.state.control.stack != 0 {
            return Ok(());
        }
        self.check_static_data(pointer.wrapping_add(1))
    }

    /// A torn stack pointer that the next instruction uses counts as it stands.
    pub(crate) fn take_torn_pointer(&mut self) -> Result<(), Stop> {
        let is_used = match self.machine.program.fetch(self.state.control.pc) {
            Fetched::Instruction { instruction, .. } => instruction.uses_stack() && !is_on(Fault::LowByteUncounted),
            Fetched::Reserved | Fetched::Outside => false,
        };
        if is_used { self.stack_pointer_moved() } else { Ok(()) }
    }

    /// True if all bytes of a return address are on the stack.
    fn is_whole(&self, frame: &Frame, pointer: DataAddress) -> bool {
        frame.position.index() >= pointer.index() + self.machine.pc_bytes
    }

    /// Forgets the youngest return addresses that are not whole on the stack.
    pub(crate) fn forget_frames(&mut self, pointer: DataAddress) {
        while self.state.calls.top().is_some_and(|frame| !self.is_whole(frame, pointer)) {
            self.state.calls.pop();
        }
    }

    /// Forgets the youngest return addresses after POP. One that a call pushed may be pushed again; that of an interrupt
    /// tells that its handler runs, so it is forgotten.
    fn forget_popped_frames(&mut self, pointer: DataAddress) {
        let may_come_back = |frame: &Frame| frame.kind == FrameKind::Call && pointer <= frame.position;
        while self.state.calls.top().is_some_and(|frame| !self.is_whole(frame, pointer) && !may_come_back(frame)) {
            self.state.calls.pop();
        }
    }

    /// Stores at the stack pointer, then lowers it (PUSH).
    pub(crate) fn push(&mut self, value: V) -> Result<(), Stop> {
        let pointer = self.stack_pointer()?;
        self.check_stack_access(pointer)?;
        self.check_static_data(pointer)?;
        self.write_data(pointer, value)?;
        self.set_stack_pointer(pointer.wrapping_sub(1));
        Ok(())
    }

    /// POP.
    pub(crate) fn pop(&mut self) -> Result<V, Stop> {
        let value = self.pop_byte()?;
        let pointer = self.stack_pointer()?;
        self.forget_popped_frames(pointer);
        Ok(value)
    }

    /// Raises the stack pointer, then loads from it.
    pub(crate) fn pop_byte(&mut self) -> Result<V, Stop> {
        let pointer = self.stack_pointer()?.wrapping_add(1);
        self.check_stack_access(pointer)?;
        if self.state.control.stack != 0 {
            self.check_static_data(pointer)?;
        }
        let value = self.read_data(pointer)?;
        self.set_stack_pointer(pointer);
        Ok(value)
    }

    /// The lowest byte of the stack must not be one of static data, nor lie outside of the stack of the task that runs.
    fn check_static_data(&self, lowest: DataAddress) -> Result<(), Stop> {
        let is_wrong = match self.machine.stack_area(self.state.control.stack) {
            Some(area) => !area.contains(lowest) && !is_on(Fault::TaskOverflowUnseen),
            None => self.machine.static_data_end.is_some_and(|end| lowest < end),
        };
        if is_wrong {
            self.hazard(HazardKind::StackIntoData, Some(lowest.0.into()))?;
        }
        Ok(())
    }

    /// The byte that the stack touches must lie in SRAM.
    fn check_stack_access(&self, address: DataAddress) -> Result<(), Stop> {
        if self.machine.sram.contains(&address) {
            return Ok(());
        }
        self.hazard(HazardKind::StackOutsideSram, Some(address.0.into()))
    }

    /// Narrows a stored cell to what is known of it in this case.
    pub(crate) fn assume_cell(&mut self, address: DataAddress, fact: TvByte) -> Result<(), Stop> {
        let value = self.state.data.get(address).assume(fact).ok_or(Stop::Infeasible)?;
        self.state.data.set(address, value);
        Ok(())
    }
}
