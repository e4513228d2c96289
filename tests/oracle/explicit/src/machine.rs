//! The machine: what a step leads to, with every choice of the environment. After the data sheets and the instruction set
//! manual, with nothing of the engine.
//!
//! A step is one instruction or the entry into a handler. A request for INT0, INT1 or PCINT0 may come just before any
//! instruction, and programs never look at its flag. So an enabled interrupt may be taken or not.

use crate::board::Interrupt;
use crate::program::{Constant, Op, PINB, Program, SREG, Two};
use crate::state::{I, Misstep, State, T};

/// Something done wrongly on purpose, to show that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoDelayAfterSei,
    NoDelayAfterReti,
    RetiKeepsI,
    EntryKeepsI,
    EntryTakesTwoSteps,
    BranchInverted,
    InputsAreZero,
    NoInterrupts,
    InterruptsAreCertain,
    OnlyTheFirstInterrupt,
    SkipNever,
    IncKeepsZ,
    StoreIsLost,
    RestoreKeepsSreg,
    VectorsOfTwoWords,
    ReturnsOfTwoBytes,
}

impl Fault {
    pub(crate) const ALL: [Self; 16] = [
        Self::NoDelayAfterSei,
        Self::NoDelayAfterReti,
        Self::RetiKeepsI,
        Self::EntryKeepsI,
        Self::EntryTakesTwoSteps,
        Self::BranchInverted,
        Self::InputsAreZero,
        Self::NoInterrupts,
        Self::InterruptsAreCertain,
        Self::OnlyTheFirstInterrupt,
        Self::SkipNever,
        Self::IncKeepsZ,
        Self::StoreIsLost,
        Self::RestoreKeepsSreg,
        Self::VectorsOfTwoWords,
        Self::ReturnsOfTwoBytes,
    ];
}

/// A program with the rules by which it runs.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) fault: Option<Fault>,
}

impl Machine<'_> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Adds all states that one step may lead to.
    pub(crate) fn step(&self, state: &State, next: &mut Vec<State>) -> Result<(), Misstep> {
        if state.flag(I) && !state.delayed && !self.has(Fault::NoInterrupts) {
            for interrupt in self.program.board.interrupts() {
                let interrupt = self.program.board.interrupt(interrupt);
                if state.enables(interrupt) && !(self.has(Fault::EntryKeepsI) && state.depth > 6) {
                    next.push(self.entered(state, interrupt)?);
                    if self.has(Fault::InterruptsAreCertain) {
                        return Ok(());
                    }
                    if self.has(Fault::OnlyTheFirstInterrupt) {
                        break;
                    }
                }
            }
        }
        self.instruction(state, next)
    }

    /// The bytes of a return address.
    fn return_bytes(&self) -> u8 {
        if self.has(Fault::ReturnsOfTwoBytes) { 2 } else { self.program.board.return_bytes }
    }

    fn entered(&self, state: &State, interrupt: Interrupt) -> Result<State, Misstep> {
        let mut entered = state.clone();
        let words = if self.has(Fault::VectorsOfTwoWords) { 2 } else { self.program.board.vector_words };
        entered.call(interrupt.vector / self.program.board.vector_words * words, self.return_bytes())?;
        entered.handlers += 1;
        if !self.has(Fault::EntryKeepsI) {
            entered.set_flag(I, false);
        }
        if self.has(Fault::EntryTakesTwoSteps)
            && let Some(Op::Jmp(target) | Op::Rjmp(target)) = self.program.at(entered.pc)
        {
            entered.pc = target;
        }
        Ok(entered)
    }

    fn instruction(&self, before: &State, next: &mut Vec<State>) -> Result<(), Misstep> {
        let op = self.program.at(before.pc).ok_or(Misstep::NoInstruction)?;
        let mut state = before.clone();
        state.pc += op.words();
        state.delayed = false;
        // The levels of pins are the only choice within an instruction.
        match op {
            Op::In(d, PINB) => {
                let highest = if self.has(Fault::InputsAreZero) { 0 } else { 0xff };
                for value in (0..=highest).filter(|value| value & !self.program.board.pins == 0) {
                    let mut read = state.clone();
                    read.write(d, value);
                    next.push(read);
                }
                return Ok(());
            }
            Op::SkipIo(PINB, _, skipped_if) => {
                for value in [false, true] {
                    if value && self.has(Fault::InputsAreZero) {
                        continue;
                    }
                    let mut read = state.clone();
                    if value == skipped_if {
                        read.skip(self.program, self.fault)?;
                    }
                    next.push(read);
                }
                return Ok(());
            }
            _ => self.execute(op, &mut state)?,
        }
        next.push(state);
        Ok(())
    }

    /// Executes an instruction without a choice.
    fn execute(&self, op: Op, state: &mut State) -> Result<(), Misstep> {
        match op {
            Op::Two(two, d, r) => {
                let b = state.read(r)?;
                let a = if two == Two::Mov { 0 } else { state.read(d)? };
                match two {
                    Two::Mov => state.write(d, b),
                    Two::Cp => _ = state.subtract(a, b),
                    Two::Add => state.add_to(d, a, b),
                    Two::Sub => state.subtract_from(d, a, b),
                    Two::And => state.write_logic(d, a & b),
                    Two::Or => state.write_logic(d, a | b),
                    Two::Eor => state.write_logic(d, a ^ b),
                }
            }
            Op::Constant(Constant::Ldi, d, k) => state.write(d, k),
            Op::Constant(constant, d, k) => {
                let a = state.read(d)?;
                match constant {
                    Constant::Ldi | Constant::Cpi => _ = state.subtract(a, k),
                    Constant::Andi => state.write_logic(d, a & k),
                    Constant::Ori => state.write_logic(d, a | k),
                }
            }
            Op::One(one, d) => {
                let result = state.read(d).map(|a| state.one(one, a, self.fault))?;
                state.write(d, result);
            }
            Op::In(d, address) | Op::Lds(d, address) => {
                let value = state.load(address)?;
                state.write(d, value);
            }
            Op::Out(SREG, _) if self.has(Fault::RestoreKeepsSreg) && state.handlers > 0 => {}
            Op::Out(address, r) | Op::Sts(address, r) => state.store(address, state.read(r)?, self.fault)?,
            // Writing 1 to a pin toggles the output.
            Op::SetBit(PINB, bit, true) => state.portb ^= 1 << bit,
            Op::SetBit(address, bit, value) => {
                let byte = state.load(address)? & !(1 << bit) | u8::from(value) << bit;
                state.store(address, byte, self.fault)?;
            }
            Op::SkipIo(address, bit, value) => {
                if (state.load(address)? >> bit & 1 == 1) == value {
                    state.skip(self.program, self.fault)?;
                }
            }
            Op::SkipRegister(r, bit, value) => {
                if (state.read(r)? >> bit & 1 == 1) == value {
                    state.skip(self.program, self.fault)?;
                }
            }
            Op::Push(r) => state.push(state.read(r)?)?,
            Op::Pop(d) => {
                let value = state.pop()?;
                state.write(d, value);
            }
            Op::Bst(d, bit) => state.set_flag(T, state.read(d)? >> bit & 1 == 1),
            Op::Bld(d, bit) => {
                let value = state.read(d)? & !(1 << bit) | u8::from(state.flag(T)) << bit;
                state.write(d, value);
            }
            Op::Branch(flag, value, target) => {
                if (state.flag(flag) == value) != self.has(Fault::BranchInverted) {
                    state.pc = target;
                }
            }
            Op::Rjmp(target) | Op::Jmp(target) => state.pc = target,
            Op::Rcall(target) => state.call(target, self.return_bytes())?,
            Op::Ret => state.return_from_call(self.return_bytes())?,
            Op::Reti => {
                state.return_from_call(self.return_bytes())?;
                state.handlers = state.handlers.checked_sub(1).ok_or(Misstep::Stack)?;
                if !self.has(Fault::RetiKeepsI) {
                    state.set_flag(I, true);
                }
                state.delayed = !self.has(Fault::NoDelayAfterReti);
            }
            Op::Sei => state.store(SREG, state.sreg | 1 << I, self.fault)?,
            Op::Cli => state.set_flag(I, false),
            Op::Nop => {}
        }
        Ok(())
    }
}
