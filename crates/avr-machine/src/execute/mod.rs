//! One step of the machine: the semantics of every instruction, written once for all value domains.
//!
//! The executor never looks at a domain value to decide what to do next: known values decide themselves. For the others
//! it asks the [`Environment`], which tries every answer when it explores; concrete values never raise the question.

mod arithmetic;
mod contract;
mod control;
mod eeprom;
mod exact;
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
use avr_isa::{FlashWordAddress, Instruction, Register, io_address};
use flags::{ZeroFlag, flag};
use three_valued::fault::{Fault, is_on};
use three_valued::{BitDomain, ByteDomain, Signedness};

/// A step in progress.
pub(crate) struct Step<'a, V: ByteDomain, E> {
    pub(crate) machine: &'a Machine,
    pub(crate) state: &'a mut MachineState<V>,
    pub(crate) environment: &'a mut E,
    /// Address of the instruction that is executed; none from the entry into a handler on.
    pub(crate) place: Option<FlashWordAddress>,
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
    /// The register whose driven bits are read, and those of them that are left to automata.
    pub(crate) driving: Option<(avr_isa::DataAddress, u8)>,
    /// True where the step ends in a function with a contract, in place of its body.
    pub(crate) in_body: bool,
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
        let (asked, lapsed, crossed, driving, in_body) = (Vec::new(), 0, false, None, false);
        let place = Some(state.control.pc);
        let cycles = 0;
        let mut step = Step {
            machine: self,
            state,
            environment,
            place,
            cycles,
            settling,
            asked,
            lapsed,
            crossed,
            driving,
            in_body,
        };
        let has_ended = self.has_ended(step.state.control.pc);
        let goes_on = !has_ended || is_on(Fault::EndedRunsGoOn);
        if let Some(contract) = step.contract_here() {
            step.step_of_body(contract)?;
            step.environment.stepped(None, Copies::default(), &mut step.state.data);
        } else if goes_on && self.can_be_interrupted() && step.interrupted()? {
            step.age_windows(step.cycles);
            step.environment.stepped(None, Copies::default(), &mut step.state.data);
        } else {
            step.environment.before_instruction(self, step.state);
            let executed = step.instruction(copies)?;
            step.environment.stepped(Some(executed), step.state.control.copies, &mut step.state.data);
            if step.state.control.torn && !has_ended {
                step.take_torn_pointer()?;
            }
        }
        step.check_entry()?;
        let cycles = step.cycles;
        state.control.in_startup &= self.startup_end() != Some(state.control.pc);
        Ok(cycles)
    }
}

impl<V: ByteDomain, E: Environment<V>> Step<'_, V, E> {
    /// Fetches and executes one instruction, and gives it.
    fn instruction(&mut self, copies: Copies) -> Result<Instruction, Stop> {
        let address = self.state.control.pc;
        let (instruction, words, cycles) = match self.machine.program.fetch(address) {
            Fetched::Instruction { instruction, words, cycles } => (instruction, words, cycles),
            Fetched::Reserved => {
                return Err(Stop::hazard(HazardKind::ReservedOpcode, address.byte().0));
            }
            Fetched::Outside => return Err(Stop::hazard(self.machine.outside(address), address.byte().0)),
        };
        self.state.control.interrupt_delay = false;
        self.state.control.fresh_request = false;
        let cycles = u32::from(cycles);
        self.cycles = cycles;
        self.jump(address.wrapping_add(words.into()));
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
        Ok(instruction)
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
        self.state.data.get(register.address())
    }

    /// Sets a general-purpose register.
    pub(crate) fn set_register(&mut self, register: Register, value: V) {
        let value = if self.environment.has_ranges() { value } else { value.without_range() };
        self.state.data.set(register.address(), value);
    }

    /// Reports a hazard, unless the user allows it, everywhere or at the instruction that is executed.
    pub(crate) fn hazard(&self, kind: HazardKind, address: Option<u32>) -> Result<(), Stop> {
        if self.machine.allows(kind, self.place) { Ok(()) } else { Err(Stop::hazard(kind, address)) }
    }

    /// Executes an instruction, with what is to be learned from it.
    fn execute_and_learn(&mut self, instruction: Instruction, copies: Copies) -> Result<(), Stop> {
        let next = self.state.control.pc;
        let told = self.flag_told(instruction, copies);
        let relation = self.relation_after(instruction, copies);
        let learned = self.learn(instruction, copies, relation);
        let difference = self.difference_after(instruction, copies);
        let kept = self.copies_after(instruction, copies);
        let sum = self.sum_after(instruction, copies, kept);
        let kept = kept.with_sum(sum).with_relation(relation).with_difference(difference);
        self.execute(instruction)?;
        if self.state.control.pc == next || told.is_some() {
            self.state.control.copies = kept;
        }
        if let Some((flag, value)) = learned {
            self.set_flags(&[(flag, &V::Bit::constant(value))]);
        }
        if let Some(flag) = told {
            self.keep_outcome(copies, flag);
        }
        Ok(())
    }

    /// The semantics of every instruction, in the order of the table. The match has an arm for each and no other, so that
    /// a row of the table without semantics does not compile.
    #[expect(clippy::too_many_lines, reason = "one arm for each instruction")]
    fn execute(&mut self, instruction: Instruction) -> Result<(), Stop> {
        use Instruction as I;
        use Signedness::{Signed, Unsigned};
        use ZeroFlag::{Chained, Fresh};
        let no_carry = V::Bit::constant(false);
        match instruction {
            I::Add { rd, rr } => self.add(rd, rr, &no_carry),
            I::Adc { rd, rr } => self.add(rd, rr, &self.carry()),
            I::Adiw { rd, k } => self.add_immediate_to_word(rd, k),
            I::Sub { rd, rr } => {
                let result = self.subtract_register(rd, rr, &no_carry, Fresh);
                self.set_register(rd, result);
            }
            I::Subi { rd, k } => {
                let result = self.subtract(rd, &V::constant(k), &no_carry, Fresh);
                self.set_register(rd, result);
            }
            I::Sbc { rd, rr } => {
                let result = self.subtract_register(rd, rr, &self.carry(), Chained);
                self.set_register(rd, result);
            }
            I::Sbci { rd, k } => {
                let result = self.subtract(rd, &V::constant(k), &self.carry(), Chained);
                self.set_register(rd, result);
            }
            I::Sbiw { rd, k } => self.subtract_immediate_from_word(rd, k),
            I::And { rd, rr } => self.logic(rd, self.register(rd).and(self.register(rr))),
            I::Andi { rd, k } => self.logic(rd, self.register(rd).and(&V::constant(k))),
            I::Or { rd, rr } => self.logic(rd, self.register(rd).or(self.register(rr))),
            I::Ori { rd, k } => self.logic(rd, self.register(rd).or(&V::constant(k))),
            I::Eor { rd, rr } => self.exclusive_or(rd, rr),
            I::Com { rd } => self.complement(rd),
            I::Neg { rd } => self.negate(rd),
            I::Inc { rd } => self.increment(rd),
            I::Dec { rd } => self.decrement(rd),
            I::Mul { rd, rr } => self.multiply((rd, Unsigned), (rr, Unsigned)),
            I::Muls { rd, rr } => self.multiply((rd, Signed), (rr, Signed)),
            I::Mulsu { rd, rr } => self.multiply((rd, Signed), (rr, Unsigned)),
            I::Fmul { rd, rr } => self.multiply_fractional((rd, Unsigned), (rr, Unsigned)),
            I::Fmuls { rd, rr } => self.multiply_fractional((rd, Signed), (rr, Signed)),
            I::Fmulsu { rd, rr } => self.multiply_fractional((rd, Signed), (rr, Unsigned)),
            I::Rjmp { offset } => self.relative_jump(offset),
            I::Ijmp => {
                let target = self.indirect_target()?;
                self.jump(target);
            }
            I::Eijmp => {
                let target = self.extended_target(instruction)?;
                self.jump(target);
            }
            I::Jmp { target } => self.jump(FlashWordAddress(target)),
            I::Rcall { offset } => self.relative_call(offset)?,
            I::Icall => {
                let target = self.indirect_target()?;
                self.call(target)?;
            }
            I::Eicall => {
                let target = self.extended_target(instruction)?;
                self.call(target)?;
            }
            I::Call { target } => self.call(FlashWordAddress(target))?,
            I::Ret => self.return_from_call()?,
            I::Reti => self.return_from_interrupt()?,
            I::Cpse { rd, rr } => self.compare_and_skip(rd, rr)?,
            I::Cp { rd, rr } => drop(self.subtract_register(rd, rr, &no_carry, Fresh)),
            I::Cpc { rd, rr } => drop(self.subtract_register(rd, rr, &self.carry(), Chained)),
            I::Cpi { rd, k } => drop(self.subtract(rd, &V::constant(k), &no_carry, Fresh)),
            I::Sbrc { rr, bit } => self.skip_if_register_bit(rr, bit, false),
            I::Sbrs { rr, bit } => self.skip_if_register_bit(rr, bit, true),
            I::Sbic { io, bit } => self.skip_if_io_bit(io_address(io), bit, false)?,
            I::Sbis { io, bit } => self.skip_if_io_bit(io_address(io), bit, true)?,
            I::Brbs { flag, offset } => self.branch(flag, true, offset),
            I::Brbc { flag, offset } => self.branch(flag, false, offset),
            I::Mov { rd, rr } => self.set_register(rd, self.register(rr).clone()),
            I::Movw { rd, rr } => {
                self.set_register(rd, self.register(rr).clone());
                self.set_register(rd.next(), self.register(rr.next()).clone());
            }
            I::Ldi { rd, k } => self.set_register(rd, V::constant(k)),
            I::Ld { rd, pointer, mode } => self.load_indirect(rd, pointer, mode)?,
            I::Lds { rd, address } => {
                let value = self.read_data(address)?;
                self.set_register(rd, value);
            }
            I::St { pointer, mode, rr } => self.store_indirect(pointer, mode, rr)?,
            I::Sts { address, rr } => self.write_data(address, self.register(rr).clone())?,
            I::Lpm { rd, mode } => self.load_program(rd, mode)?,
            I::Elpm { rd, mode } => self.load_program_extended(rd, mode)?,
            I::Spm => self.store_program()?,
            I::In { rd, io } => {
                let value = self.read_io(io_address(io), 0xff, Demand::Stored)?;
                self.set_register(rd, value);
            }
            I::Out { io, rr } => self.write_io(io_address(io), self.register(rr).clone())?,
            I::Push { rr } => self.push(self.register(rr).clone())?,
            I::Pop { rd } => {
                let value = self.pop()?;
                if self.state.control.stack == 0 || !is_on(Fault::SavedRegisterKept) {
                    self.set_register(rd, value);
                }
            }
            I::Lsr { rd } => self.shift_right(rd, &no_carry),
            I::Ror { rd } => self.shift_right(rd, &self.carry()),
            I::Asr { rd } => self.shift_right(rd, &self.register(rd).bit(7)),
            I::Swap { rd } => self.set_register(rd, self.register(rd).swap_nibbles()),
            I::Bset { flag } => self.write_status_bit(flag, true)?,
            I::Bclr { flag } => self.write_status_bit(flag, false)?,
            I::Sbi { io, bit } => self.write_io_bit(io_address(io), bit, true)?,
            I::Cbi { io, bit } => self.write_io_bit(io_address(io), bit, false)?,
            I::Bst { rd, bit } => self.store_bit_in_t(rd, bit),
            I::Bld { rd, bit } => self.load_bit_from_t(rd, bit),
            // Without a debugger, BREAK does nothing.
            I::Break | I::Nop => {}
            I::Sleep => self.sleep()?,
            I::Wdr => self.watchdog_reset(),
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
