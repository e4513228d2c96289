//! A state of the machine, and what instructions do to registers, flags, memory and the stack.

use crate::board::Interrupt;
use crate::machine::Fault;
use crate::program::{CELLS, EICRA, EIMSK, GPIOR0, One, PCICR, PCMSK0, PORTB, Program, SREG};

/// The most bytes on the stack; a program that wants more is not looked at.
const STACK: usize = 20;
/// The bits of r16 to r19, r24 and the cells among those that tell what was written.
const WRITTEN: u16 = 0x70f;

const C: u8 = 0;
const Z: u8 = 1;
const N: u8 = 2;
const V: u8 = 3;
const S: u8 = 4;
const H: u8 = 5;
pub(crate) const T: u8 = 6;
pub(crate) const I: u8 = 7;

/// The reason why a program is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misstep {
    /// Something is read that nothing has written.
    Unwritten,
    /// The stack becomes too deep, or something is popped that nobody pushed.
    Stack,
    /// No instruction begins there.
    NoInstruction,
    /// An address that the generator must not use.
    Address,
    /// Too many states.
    States,
}

/// A state. What was popped from the stack cannot be read any more, so it is not kept.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) pc: u16,
    registers: [u8; 9],
    cells: [u8; 2],
    pub(crate) portb: u8,
    pub(crate) gpior0: u8,
    /// EIMSK, or GIMSK.
    pub(crate) eimsk: u8,
    pcicr: u8,
    pub(crate) sreg: u8,
    /// The instruction before set I: one more runs before an interrupt.
    pub(crate) delayed: bool,
    /// The number of handlers that run.
    pub(crate) handlers: u8,
    stack: [u8; STACK],
    pub(crate) depth: u8,
    /// The registers and cells that were written, a bit each.
    written: u16,
}

/// The place of a register: r16 to r24.
fn index(register: u8) -> usize {
    usize::from(register) - 16
}

impl State {
    /// The state after a reset, with nothing written.
    pub(crate) fn reset() -> Self {
        Self {
            pc: 0,
            registers: [0; 9],
            cells: [0; 2],
            portb: 0,
            gpior0: 0,
            eimsk: 0,
            pcicr: 0,
            sreg: 0,
            delayed: false,
            handlers: 0,
            stack: [0; STACK],
            depth: 0,
            written: 0,
        }
    }

    /// True if all that a program uses was written.
    pub(crate) fn is_initialised(&self) -> bool {
        self.written & WRITTEN == WRITTEN
    }

    pub(crate) fn register(&self, register: u8) -> u8 {
        self.registers[index(register)]
    }

    pub(crate) fn cell(&self, address: u16) -> u8 {
        self.cells[usize::from(address - CELLS[0])]
    }

    /// Gives a register a content without writing it.
    pub(crate) fn set_content(&mut self, register: u8, value: u8) {
        self.registers[index(register)] = value;
    }

    /// Gives a cell a content without writing it.
    pub(crate) fn set_cell(&mut self, address: u16, value: u8) {
        self.cells[usize::from(address - CELLS[0])] = value;
    }

    pub(crate) fn flag(&self, flag: u8) -> bool {
        self.sreg >> flag & 1 == 1
    }

    /// True if an interrupt is enabled by its own bit.
    pub(crate) fn enables(&self, interrupt: Interrupt) -> bool {
        let register = if interrupt.is_in_pcicr { self.pcicr } else { self.eimsk };
        register & interrupt.mask != 0
    }

    pub(crate) fn set_flag(&mut self, flag: u8, value: bool) {
        self.sreg = self.sreg & !(1 << flag) | u8::from(value) << flag;
    }

    pub(crate) fn read(&self, register: u8) -> Result<u8, Misstep> {
        let known = self.written >> index(register) & 1 == 1;
        if known { Ok(self.register(register)) } else { Err(Misstep::Unwritten) }
    }

    pub(crate) fn write(&mut self, register: u8, value: u8) {
        self.set_content(register, value);
        self.written |= 1 << index(register);
    }

    pub(crate) fn push(&mut self, value: u8) -> Result<(), Misstep> {
        *self.stack.get_mut(usize::from(self.depth)).ok_or(Misstep::Stack)? = value;
        self.depth += 1;
        Ok(())
    }

    pub(crate) fn pop(&mut self) -> Result<u8, Misstep> {
        self.depth = self.depth.checked_sub(1).ok_or(Misstep::Stack)?;
        Ok(std::mem::take(&mut self.stack[usize::from(self.depth)]))
    }

    /// Pushes a return address of two or three bytes, the least significant first, and goes elsewhere.
    pub(crate) fn call(&mut self, target: u16, bytes: u8) -> Result<(), Misstep> {
        let all = u32::from(self.pc).to_le_bytes();
        all.into_iter().take(bytes.into()).try_for_each(|byte| self.push(byte))?;
        self.pc = target;
        Ok(())
    }

    pub(crate) fn return_from_call(&mut self, bytes: u8) -> Result<(), Misstep> {
        let mut address: u32 = 0;
        for _ in 0..bytes {
            address = address << 8 | u32::from(self.pop()?);
        }
        self.pc = address.try_into().map_err(|_| Misstep::NoInstruction)?;
        Ok(())
    }

    /// The content of a data address that is no pin.
    pub(crate) fn load(&self, address: u16) -> Result<u8, Misstep> {
        match address {
            PORTB => Ok(self.portb),
            GPIOR0 => Ok(self.gpior0),
            EIMSK => Ok(self.eimsk),
            SREG => Ok(self.sreg),
            PCICR => Ok(self.pcicr),
            _ if CELLS.contains(&address) => match self.written >> (9 + address - CELLS[0]) & 1 {
                0 => Err(Misstep::Unwritten),
                _ => Ok(self.cell(address)),
            },
            _ => Err(Misstep::Address),
        }
    }

    pub(crate) fn store(&mut self, address: u16, value: u8, fault: Option<Fault>) -> Result<(), Misstep> {
        match address {
            PORTB => self.portb = value,
            GPIOR0 => self.gpior0 = value,
            EIMSK => self.eimsk = value,
            PCICR => self.pcicr = value,
            // The cause of a request, and the pins that make it, make no difference to whether it may come.
            EICRA | PCMSK0 => {}
            SREG => {
                self.delayed = !self.flag(I) && value >> I & 1 == 1 && fault != Some(Fault::NoDelayAfterSei);
                self.sreg = value;
            }
            _ if CELLS.contains(&address) => {
                if fault != Some(Fault::StoreIsLost) || self.handlers == 0 {
                    self.set_cell(address, value);
                }
                self.written |= 1 << (9 + address - CELLS[0]);
            }
            _ => return Err(Misstep::Address),
        }
        Ok(())
    }

    fn set_sign_and_zero(&mut self, result: u8) {
        self.set_flag(N, result & 0x80 != 0);
        self.set_flag(Z, result == 0);
        let sign = self.flag(N) != self.flag(V);
        self.set_flag(S, sign);
    }

    fn logic(&mut self, result: u8) -> u8 {
        self.set_flag(V, false);
        self.set_sign_and_zero(result);
        result
    }

    pub(crate) fn subtract(&mut self, a: u8, b: u8) -> u8 {
        let result = a.wrapping_sub(b);
        self.set_flag(C, b > a);
        self.set_flag(H, b & 0xf > a & 0xf);
        self.set_flag(V, (a ^ b) & (a ^ result) & 0x80 != 0);
        self.set_sign_and_zero(result);
        result
    }

    pub(crate) fn add(&mut self, a: u8, b: u8) -> u8 {
        let result = a.wrapping_add(b);
        self.set_flag(C, u16::from(a) + u16::from(b) > 0xff);
        self.set_flag(H, (a & 0xf) + (b & 0xf) > 0xf);
        self.set_flag(V, !(a ^ b) & (a ^ result) & 0x80 != 0);
        self.set_sign_and_zero(result);
        result
    }

    pub(crate) fn one(&mut self, one: One, a: u8, fault: Option<Fault>) -> u8 {
        let zero = self.flag(Z);
        let result = match one {
            One::Inc => {
                self.set_flag(V, a == 0x7f);
                a.wrapping_add(1)
            }
            One::Dec => {
                self.set_flag(V, a == 0x80);
                a.wrapping_sub(1)
            }
            One::Com => {
                self.set_flag(V, false);
                self.set_flag(C, true);
                !a
            }
            One::Lsr => {
                self.set_flag(C, a & 1 == 1);
                self.set_flag(V, a & 1 == 1);
                a >> 1
            }
        };
        self.set_sign_and_zero(result);
        if one == One::Inc && fault == Some(Fault::IncKeepsZ) {
            self.set_flag(Z, zero);
        }
        result
    }

    /// Leaves out the next instruction.
    pub(crate) fn skip(&mut self, program: &Program, fault: Option<Fault>) -> Result<(), Misstep> {
        if fault != Some(Fault::SkipNever) {
            self.pc += program.at(self.pc).ok_or(Misstep::NoInstruction)?.words();
        }
        Ok(())
    }
}

impl State {
    pub(crate) fn add_to(&mut self, d: u8, a: u8, b: u8) {
        let result = self.add(a, b);
        self.write(d, result);
    }

    pub(crate) fn subtract_from(&mut self, d: u8, a: u8, b: u8) {
        let result = self.subtract(a, b);
        self.write(d, result);
    }

    pub(crate) fn write_logic(&mut self, d: u8, result: u8) {
        let result = self.logic(result);
        self.write(d, result);
    }
}
