//! One step of the machine: the semantics of every instruction, written once for all value domains.
//!
//! The executor never looks at a domain value to decide what to do next: known values decide themselves, and for the
//! others it asks the [`Environment`], which tries every answer when it explores and never meets the question when
//! values are concrete.

mod arithmetic;
mod control;
mod eeprom;
pub mod flags;
mod interrupt;
mod io;
mod learn;
mod memory;
mod stack;

use crate::copies::Copies;
use crate::device::BitRef;
use crate::environment::{Demand, Environment};
use crate::hazard::{HazardKind, Stop};
use crate::machine::Machine;
use crate::program::Fetched;
use crate::state::{MAX_WINDOWS, MachineState};
use avr_isa::{Instruction, Register};
use flags::{ZeroFlag, flag};
use three_valued::{BitDomain, ByteDomain, Signedness};

/// A step in progress.
pub(crate) struct Step<'a, V: ByteDomain, E> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a mut MachineState<V>,
    pub(crate) environment: &'a mut E,
    /// Clock cycles so far.
    pub(crate) cycles: u32,
    /// True where pins that became inputs just now have not settled.
    pub(crate) settling: bool,
    /// The bits with which something else changes for which hardware was asked in this step.
    pub(crate) asked: Vec<BitRef>,
    /// The windows that closed while this instruction was executed, by number.
    pub(crate) lapsed: u8,
    /// True where the instruction called something, or returned to what a call pushed.
    pub(crate) crossed: bool,
}

impl Machine {
    /// Takes one step and returns the clock cycles that it took: the instruction at PC, or the entry into an interrupt
    /// handler, a reset, or another moment of sleep, as the environment chooses among what is possible.
    ///
    /// # Errors
    /// A [`Stop`] when the step does not lead to a state; the state is then of no further use.
    pub fn step<V: ByteDomain, E: Environment<V>>(
        &self,
        state: &mut MachineState<V>,
        environment: &mut E,
    ) -> Result<u32, Stop> {
        state.steps += 1;
        let copies = std::mem::take(&mut state.control.copies);
        let settling = std::mem::take(&mut state.control.settling);
        let (asked, lapsed, crossed) = (Vec::new(), 0, false);
        let mut step = Step { machine: self, state, environment, cycles: 0, settling, asked, lapsed, crossed };
        if self.can_be_interrupted() && step.interrupted()? {
            step.age_windows(step.cycles);
        } else {
            step.environment.before_instruction(self, step.state);
            step.instruction(copies)?;
            if step.state.control.torn {
                step.take_torn_pointer()?;
            }
        }
        Ok(step.cycles)
    }
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Fetches and executes one instruction.
    fn instruction(&mut self, copies: Copies) -> Result<(), Stop> {
        let address = self.state.control.pc;
        let (instruction, words, cycles) = match self.machine.program.fetch(address) {
            Fetched::Instruction { instruction, words, cycles } => (instruction, words, cycles),
            Fetched::Reserved => return Err(Stop::hazard(HazardKind::ReservedOpcode, address * 2)),
            Fetched::Outside => return Err(Stop::hazard(HazardKind::OutsideImage, address * 2)),
        };
        self.state.control.interrupt_delay = false;
        self.state.control.fresh_request = false;
        let cycles = u32::from(cycles);
        self.cycles = cycles;
        self.jump(address + u32::from(words));
        let expiring = self.age_windows_before(cycles);
        self.execute_and_learn(instruction, copies)?;
        for index in expiring {
            self.close_expired(index);
        }
        // A branch that is taken, a skip, and what halts the processor after an access to the EEPROM.
        self.age_windows(self.cycles - cycles);
        if !self.crossed {
            let left = self.environment.moves(address, self.state.control.pc);
            self.state.calls.leave(left);
        }
        Ok(())
    }

    /// Takes the cycles of an instruction from the time that windows have left. Those that close before the instruction is
    /// done are closed; those that close with it are returned.
    fn age_windows_before(&mut self, cycles: u32) -> Vec<usize> {
        let mut expiring = Vec::new();
        for index in self.open_windows() {
            let left = u32::from(self.state.control.windows[index]);
            self.state.control.windows[index] = left.saturating_sub(cycles) as u8;
            if left < cycles {
                self.lapsed |= 1 << index;
                self.clear_window(index);
            } else if left == cycles {
                expiring.push(index);
            }
        }
        expiring
    }

    /// Takes cycles in which no instruction is executed from the time that windows have left, and closes those whose time is
    /// over.
    fn age_windows(&mut self, cycles: u32) {
        for index in self.open_windows() {
            let left = u32::from(self.state.control.windows[index]);
            self.state.control.windows[index] = left.saturating_sub(cycles) as u8;
            self.close_expired(index);
        }
    }

    /// The windows that are open, by number.
    fn open_windows(&self) -> Vec<usize> {
        let windows = self.state.control.windows;
        if windows == [0; MAX_WINDOWS] {
            return Vec::new();
        }
        (0..MAX_WINDOWS).filter(|index| windows[*index] > 0).collect()
    }

    /// Closes a window whose time is over, unless the instruction opened it anew.
    fn close_expired(&mut self, index: usize) {
        if self.state.control.windows[index] == 0 {
            self.clear_window(index);
        }
    }

    /// Closes a window; the bits that are cleared with it are 0 as well.
    pub(crate) fn clear_window(&mut self, index: usize) {
        self.state.control.close_window(index);
        let bit = self.machine.windows()[index];
        let with_it = self.machine.window(bit).map_or(0, |window| window.clears);
        let closed = self.state.data.get(bit.address).and(&V::constant(!(bit.mask() | with_it)));
        self.state.data.set(bit.address, closed);
    }

    /// A general-purpose register.
    pub(crate) fn register(&self, register: Register) -> &V {
        self.state.data.get(register.index().into())
    }

    /// Sets a general-purpose register.
    pub(crate) fn set_register(&mut self, register: Register, value: V) {
        let value = if self.environment.has_ranges() { value } else { value.without_range() };
        self.state.data.set(register.index().into(), value);
    }

    /// Reports a hazard, unless the user allows it.
    pub(crate) fn hazard(&self, kind: HazardKind, address: Option<u32>) -> Result<(), Stop> {
        if self.machine.allows(kind) { Ok(()) } else { Err(Stop::hazard(kind, address)) }
    }

    /// Executes an instruction, with what is to be learned from it.
    fn execute_and_learn(&mut self, instruction: Instruction, copies: Copies) -> Result<(), Stop> {
        let next = self.state.control.pc;
        let learned = self.learn(instruction, copies);
        let copies = self.copies_after(instruction, copies);
        self.execute(instruction)?;
        if self.state.control.pc == next {
            self.state.control.copies = copies;
        }
        if let Some((flag, value)) = learned {
            self.set_flags(&[(flag, &V::Bit::constant(value))]);
        }
        Ok(())
    }

    /// Every instruction, grouped as the manual groups them.
    fn execute(&mut self, instruction: Instruction) -> Result<(), Stop> {
        use Instruction as I;
        match instruction {
            I::Add { .. } | I::Adc { .. } | I::Adiw { .. } | I::Inc { .. } => self.addition(instruction),
            I::Sub { .. } | I::Subi { .. } | I::Sbc { .. } | I::Sbci { .. } | I::Sbiw { .. } => {
                self.subtraction(instruction);
            }
            I::Cp { .. } | I::Cpc { .. } | I::Cpi { .. } | I::Dec { .. } | I::Neg { .. } => {
                self.subtraction(instruction);
            }
            I::And { .. } | I::Andi { .. } | I::Or { .. } | I::Ori { .. } | I::Eor { .. } | I::Com { .. } => {
                self.logical(instruction);
            }
            I::Mul { .. } | I::Muls { .. } | I::Mulsu { .. } => self.multiplication(instruction),
            I::Fmul { .. } | I::Fmuls { .. } | I::Fmulsu { .. } => self.multiplication(instruction),
            I::Lsr { .. } | I::Ror { .. } | I::Asr { .. } | I::Swap { .. } => self.shift(instruction),
            I::Bset { .. } | I::Bclr { .. } | I::Sbi { .. } | I::Cbi { .. } | I::Bst { .. } | I::Bld { .. } => {
                return self.bit_operation(instruction);
            }
            I::Rjmp { .. } | I::Ijmp | I::Eijmp | I::Jmp { .. } | I::Brbs { .. } | I::Brbc { .. } => {
                return self.jump_operation(instruction);
            }
            I::Cpse { .. } | I::Sbrc { .. } | I::Sbrs { .. } | I::Sbic { .. } | I::Sbis { .. } => {
                return self.skip_operation(instruction);
            }
            I::Rcall { .. } | I::Icall | I::Eicall | I::Call { .. } | I::Ret | I::Reti => {
                return self.call_operation(instruction);
            }
            I::Break | I::Nop | I::Sleep | I::Wdr | I::Spm => return self.processor_control(instruction),
            _ => return self.transfer(instruction),
        }
        Ok(())
    }

    fn addition(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Add { rd, rr } => self.add(rd, rr, &V::Bit::constant(false)),
            Instruction::Adc { rd, rr } => self.add(rd, rr, &self.carry()),
            Instruction::Adiw { rd, k } => self.add_immediate_to_word(rd, k),
            Instruction::Inc { rd } => self.increment(rd),
            other => unreachable!("{other:?} is no addition"),
        }
    }

    fn subtraction(&mut self, instruction: Instruction) {
        use ZeroFlag::{Chained, Fresh};
        let no_borrow = V::Bit::constant(false);
        let carry = self.carry();
        let (rd, result) = match instruction {
            Instruction::Sub { rd, rr } => (Some(rd), self.subtract_register(rd, rr, &no_borrow, Fresh)),
            Instruction::Subi { rd, k } => (Some(rd), self.subtract(rd, &V::constant(k), &no_borrow, Fresh)),
            Instruction::Sbc { rd, rr } => (Some(rd), self.subtract_register(rd, rr, &carry, Chained)),
            Instruction::Sbci { rd, k } => (Some(rd), self.subtract(rd, &V::constant(k), &carry, Chained)),
            Instruction::Cp { rd, rr } => (None, self.subtract_register(rd, rr, &no_borrow, Fresh)),
            Instruction::Cpc { rd, rr } => (None, self.subtract_register(rd, rr, &carry, Chained)),
            Instruction::Cpi { rd, k } => (None, self.subtract(rd, &V::constant(k), &no_borrow, Fresh)),
            Instruction::Sbiw { rd, k } => return self.subtract_immediate_from_word(rd, k),
            Instruction::Dec { rd } => return self.decrement(rd),
            Instruction::Neg { rd } => return self.negate(rd),
            other => unreachable!("{other:?} is no subtraction"),
        };
        if let Some(rd) = rd {
            self.set_register(rd, result);
        }
    }

    fn logical(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::And { rd, rr } => self.logic(rd, self.register(rd).and(self.register(rr))),
            Instruction::Andi { rd, k } => self.logic(rd, self.register(rd).and(&V::constant(k))),
            Instruction::Or { rd, rr } => self.logic(rd, self.register(rd).or(self.register(rr))),
            Instruction::Ori { rd, k } => self.logic(rd, self.register(rd).or(&V::constant(k))),
            Instruction::Eor { rd, rr } => self.exclusive_or(rd, rr),
            Instruction::Com { rd } => self.complement(rd),
            other => unreachable!("{other:?} is not logical"),
        }
    }

    fn multiplication(&mut self, instruction: Instruction) {
        use Signedness::{Signed, Unsigned};
        match instruction {
            Instruction::Mul { rd, rr } => self.multiply((rd, Unsigned), (rr, Unsigned)),
            Instruction::Muls { rd, rr } => self.multiply((rd, Signed), (rr, Signed)),
            Instruction::Mulsu { rd, rr } => self.multiply((rd, Signed), (rr, Unsigned)),
            Instruction::Fmul { rd, rr } => self.multiply_fractional((rd, Unsigned), (rr, Unsigned)),
            Instruction::Fmuls { rd, rr } => self.multiply_fractional((rd, Signed), (rr, Signed)),
            Instruction::Fmulsu { rd, rr } => self.multiply_fractional((rd, Signed), (rr, Unsigned)),
            other => unreachable!("{other:?} is no multiplication"),
        }
    }

    fn shift(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Lsr { rd } => self.shift_right(rd, &V::Bit::constant(false)),
            Instruction::Ror { rd } => self.shift_right(rd, &self.carry()),
            Instruction::Asr { rd } => self.shift_right(rd, &self.register(rd).bit(7)),
            Instruction::Swap { rd } => self.set_register(rd, self.register(rd).swap_nibbles()),
            other => unreachable!("{other:?} is no shift"),
        }
    }

    fn bit_operation(&mut self, instruction: Instruction) -> Result<(), Stop> {
        match instruction {
            Instruction::Bset { flag } => self.write_status_bit(flag, true),
            Instruction::Bclr { flag } => self.write_status_bit(flag, false),
            Instruction::Sbi { io, bit } => self.write_io_bit(io_address(io), bit, true),
            Instruction::Cbi { io, bit } => self.write_io_bit(io_address(io), bit, false),
            Instruction::Bst { rd, bit } => {
                self.store_bit_in_t(rd, bit);
                Ok(())
            }
            Instruction::Bld { rd, bit } => {
                self.load_bit_from_t(rd, bit);
                Ok(())
            }
            other => unreachable!("{other:?} is no bit operation"),
        }
    }

    fn jump_operation(&mut self, instruction: Instruction) -> Result<(), Stop> {
        match instruction {
            Instruction::Rjmp { offset } => self.relative_jump(offset),
            Instruction::Jmp { target } => self.jump(target),
            Instruction::Ijmp => {
                let target = self.indirect_target()?;
                self.jump(target);
            }
            Instruction::Eijmp => {
                let target = self.extended_target()?;
                self.jump(target);
            }
            Instruction::Brbs { flag, offset } => self.branch(flag, true, offset),
            Instruction::Brbc { flag, offset } => self.branch(flag, false, offset),
            other => unreachable!("{other:?} is no jump"),
        }
        Ok(())
    }

    fn skip_operation(&mut self, instruction: Instruction) -> Result<(), Stop> {
        match instruction {
            Instruction::Cpse { rd, rr } => return self.compare_and_skip(rd, rr),
            Instruction::Sbrc { rr, bit } => self.skip_if_register_bit(rr, bit, false),
            Instruction::Sbrs { rr, bit } => self.skip_if_register_bit(rr, bit, true),
            Instruction::Sbic { io, bit } => return self.skip_if_io_bit(io_address(io), bit, false),
            Instruction::Sbis { io, bit } => return self.skip_if_io_bit(io_address(io), bit, true),
            other => unreachable!("{other:?} is no skip"),
        }
        Ok(())
    }

    fn call_operation(&mut self, instruction: Instruction) -> Result<(), Stop> {
        match instruction {
            Instruction::Rcall { offset } => self.relative_call(offset),
            Instruction::Call { target } => self.call(target),
            Instruction::Icall => {
                let target = self.indirect_target()?;
                self.call(target)
            }
            Instruction::Eicall => {
                let target = self.extended_target()?;
                self.call(target)
            }
            Instruction::Ret => self.return_from_call(),
            Instruction::Reti => self.return_from_interrupt(),
            other => unreachable!("{other:?} is no call or return"),
        }
    }

    /// BREAK without a debugger and NOP do nothing; the others belong to peripherals.
    fn processor_control(&mut self, instruction: Instruction) -> Result<(), Stop> {
        match instruction {
            Instruction::Break | Instruction::Nop => Ok(()),
            Instruction::Sleep => self.sleep(),
            Instruction::Wdr => {
                self.watchdog_reset();
                Ok(())
            }
            Instruction::Spm => self.store_program(),
            other => unreachable!("{other:?} is no processor control instruction"),
        }
    }

    fn transfer(&mut self, instruction: Instruction) -> Result<(), Stop> {
        match instruction {
            Instruction::Mov { rd, rr } => self.set_register(rd, self.register(rr).clone()),
            Instruction::Movw { rd, rr } => {
                self.set_register(rd, self.register(rr).clone());
                self.set_register(rd.next(), self.register(rr.next()).clone());
            }
            Instruction::Ldi { rd, k } => self.set_register(rd, V::constant(k)),
            Instruction::Ld { rd, pointer, mode } => return self.load_indirect(rd, pointer, mode),
            Instruction::St { pointer, mode, rr } => return self.store_indirect(pointer, mode, rr),
            Instruction::Lds { rd, address } => {
                let value = self.read_data(address)?;
                self.set_register(rd, value);
            }
            Instruction::Sts { address, rr } => return self.write_data(address, self.register(rr).clone()),
            Instruction::Lpm { rd, mode } => self.load_program(rd, mode)?,
            Instruction::Elpm { rd, mode } => self.load_program_extended(rd, mode)?,
            Instruction::In { rd, io } => {
                let value = self.read_io(io_address(io), 0xff, Demand::Stored)?;
                self.set_register(rd, value);
            }
            Instruction::Out { io, rr } => return self.write_io(io_address(io), self.register(rr).clone()),
            Instruction::Push { rr } => return self.push(self.register(rr).clone()),
            Instruction::Pop { rd } => {
                let value = self.pop()?;
                self.set_register(rd, value);
            }
            other => unreachable!("{other:?} is no transfer"),
        }
        Ok(())
    }

    /// BSET, BCLR.
    fn write_status_bit(&mut self, flag: u8, value: bool) -> Result<(), Stop> {
        if flag == flag::I {
            let status = self.status().with_bit(flag, &V::Bit::constant(value));
            return self.write_status(status);
        }
        self.set_flags(&[(flag, &V::Bit::constant(value))]);
        Ok(())
    }
}

/// The data address of an I/O address.
fn io_address(io: u8) -> u16 {
    u16::from(io) + 0x20
}
