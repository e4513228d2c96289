//! Instructions as this oracle knows them: their code and their text, after the instruction set manual.

use crate::board::{BOARDS, Board};
use avr_testkit::Random;
use std::fmt;

/// Data addresses of the I/O registers that programs use, on the ATmega328P.
pub(crate) const PINB: u16 = 0x23;
pub(crate) const PORTB: u16 = 0x25;
pub(crate) const EIMSK: u16 = 0x3d;
pub(crate) const GPIOR0: u16 = 0x3e;
pub(crate) const SREG: u16 = 0x5f;
pub(crate) const PCICR: u16 = 0x68;
pub(crate) const EICRA: u16 = 0x69;
pub(crate) const PCMSK0: u16 = 0x6b;
/// The cells of SRAM that programs use.
pub(crate) const CELLS: [u16; 2] = [0x100, 0x101];

/// An operation on two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Two {
    Mov,
    Add,
    Sub,
    And,
    Or,
    Eor,
    Cp,
}

/// An operation on a register and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constant {
    Ldi,
    Cpi,
    Andi,
    Ori,
}

/// An operation on one register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum One {
    Inc,
    Dec,
    Com,
    Lsr,
}

/// An instruction. Targets are absolute word addresses, and I/O registers have data addresses, those of the ATmega328P.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Two(Two, u8, u8),
    Constant(Constant, u8, u8),
    One(One, u8),
    In(u8, u16),
    Out(u16, u8),
    /// SBI and CBI.
    SetBit(u16, u8, bool),
    /// SBIS and SBIC: skips if the bit has the value.
    SkipIo(u16, u8, bool),
    /// SBRS and SBRC.
    SkipRegister(u8, u8, bool),
    Lds(u8, u16),
    Sts(u16, u8),
    Push(u8),
    Pop(u8),
    /// BST and BLD.
    Bst(u8, u8),
    Bld(u8, u8),
    /// BRBS and BRBC: jumps if the flag has the value.
    Branch(u8, bool, u16),
    Rjmp(u16),
    Rcall(u16),
    Jmp(u16),
    Ret,
    Reti,
    Sei,
    Cli,
    Nop,
}

impl Op {
    /// Its length in words.
    pub(crate) fn words(self) -> u16 {
        if matches!(self, Self::Lds(..) | Self::Sts(..) | Self::Jmp(_)) { 2 } else { 1 }
    }

    /// The instruction with the data addresses of a device.
    fn on(self, board: &Board) -> Self {
        let place = |address| board.address(address);
        match self {
            Self::In(d, address) => Self::In(d, place(address)),
            Self::Out(address, r) => Self::Out(place(address), r),
            Self::SetBit(address, bit, value) => Self::SetBit(place(address), bit, value),
            Self::SkipIo(address, bit, value) => Self::SkipIo(place(address), bit, value),
            Self::Lds(d, address) => Self::Lds(d, place(address)),
            Self::Sts(address, r) => Self::Sts(place(address), r),
            other => other,
        }
    }

    /// Its code at a word address: the first word, and the second if there is one.
    fn code(self, at: u16) -> (u16, Option<u16>) {
        let relative = |target: u16| target.wrapping_sub(at).wrapping_sub(1);
        let (d5, io5) = (|d: u8| u16::from(d) << 4, |io: u16| (io - 0x20) << 3);
        let io6 = |io: u16| ((io - 0x20) & 0x30) << 5 | ((io - 0x20) & 0xf);
        let bit = u16::from;
        let first = match self {
            Self::Two(two, d, r) => {
                let base = match two {
                    Two::Mov => 0x2c00,
                    Two::Add => 0x0c00,
                    Two::Sub => 0x1800,
                    Two::And => 0x2000,
                    Two::Or => 0x2800,
                    Two::Eor => 0x2400,
                    Two::Cp => 0x1400,
                };
                base | d5(d) | (u16::from(r) & 0x10) << 5 | u16::from(r) & 0xf
            }
            Self::Constant(constant, d, k) => {
                let base = match constant {
                    Constant::Ldi => 0xe000,
                    Constant::Cpi => 0x3000,
                    Constant::Andi => 0x7000,
                    Constant::Ori => 0x6000,
                };
                base | (u16::from(k) & 0xf0) << 4 | (u16::from(d) - 16) << 4 | u16::from(k) & 0xf
            }
            Self::One(one, d) => {
                let base = match one {
                    One::Com => 0x9400,
                    One::Inc => 0x9403,
                    One::Lsr => 0x9406,
                    One::Dec => 0x940a,
                };
                base | d5(d)
            }
            Self::In(d, io) => 0xb000 | io6(io) | d5(d),
            Self::Out(io, r) => 0xb800 | io6(io) | d5(r),
            Self::SetBit(io, b, value) => (if value { 0x9a00 } else { 0x9800 }) | io5(io) | bit(b),
            Self::SkipIo(io, b, value) => (if value { 0x9b00 } else { 0x9900 }) | io5(io) | bit(b),
            Self::SkipRegister(r, b, value) => (if value { 0xfe00 } else { 0xfc00 }) | d5(r) | bit(b),
            Self::Lds(d, _) => 0x9000 | d5(d),
            Self::Sts(_, r) => 0x9200 | d5(r),
            Self::Push(r) => 0x920f | d5(r),
            Self::Pop(d) => 0x900f | d5(d),
            Self::Bst(d, b) => 0xfa00 | d5(d) | bit(b),
            Self::Bld(d, b) => 0xf800 | d5(d) | bit(b),
            Self::Branch(flag, value, target) => {
                (if value { 0xf000 } else { 0xf400 }) | (relative(target) & 0x7f) << 3 | bit(flag)
            }
            Self::Rjmp(target) => 0xc000 | relative(target) & 0xfff,
            Self::Rcall(target) => 0xd000 | relative(target) & 0xfff,
            Self::Jmp(_) => 0x940c,
            Self::Ret => 0x9508,
            Self::Reti => 0x9518,
            Self::Sei => 0x9478,
            Self::Cli => 0x94f8,
            Self::Nop => 0,
        };
        let second = match self {
            Self::Lds(_, address) | Self::Sts(address, _) | Self::Jmp(address) => Some(address),
            _ => None,
        };
        (first, second)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name: String| name.to_lowercase();
        match *self {
            Self::Two(two, d, r) => write!(f, "{} r{d}, r{r}", name(format!("{two:?}"))),
            Self::Constant(constant, d, k) => write!(f, "{} r{d}, {k:#04x}", name(format!("{constant:?}"))),
            Self::One(one, d) => write!(f, "{} r{d}", name(format!("{one:?}"))),
            Self::In(d, io) => write!(f, "in r{d}, {:#04x}", io - 0x20),
            Self::Out(io, r) => write!(f, "out {:#04x}, r{r}", io - 0x20),
            Self::SetBit(io, b, value) => write!(f, "{} {:#04x}, {b}", if value { "sbi" } else { "cbi" }, io - 0x20),
            Self::SkipIo(io, b, value) => write!(f, "{} {:#04x}, {b}", if value { "sbis" } else { "sbic" }, io - 0x20),
            Self::SkipRegister(r, b, value) => write!(f, "{} r{r}, {b}", if value { "sbrs" } else { "sbrc" }),
            Self::Lds(d, address) => write!(f, "lds r{d}, {address:#06x}"),
            Self::Sts(address, r) => write!(f, "sts {address:#06x}, r{r}"),
            Self::Push(r) => write!(f, "push r{r}"),
            Self::Pop(d) => write!(f, "pop r{d}"),
            Self::Bst(d, b) => write!(f, "bst r{d}, {b}"),
            Self::Bld(d, b) => write!(f, "bld r{d}, {b}"),
            Self::Branch(flag, value, target) => {
                write!(f, "{} {flag}, {:#06x}", if value { "brbs" } else { "brbc" }, 2 * target)
            }
            Self::Rjmp(target) => write!(f, "rjmp {:#06x}", 2 * target),
            Self::Rcall(target) => write!(f, "rcall {:#06x}", 2 * target),
            Self::Jmp(target) => write!(f, "jmp {:#06x}", 2 * target),
            Self::Ret | Self::Reti | Self::Sei | Self::Cli | Self::Nop => f.write_str(&name(format!("{self:?}"))),
        }
    }
}

/// A program: what begins at each word address.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) board: &'static Board,
    ops: Vec<Option<Op>>,
    /// The cells and registers that formulas may look at, whatever they hold at the start.
    pub(crate) observed: Vec<Place>,
}

/// A place whose content nothing has initialised at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Register(u8),
    Cell(u16),
}

impl Default for Program {
    fn default() -> Self {
        Self::on(&BOARDS[0])
    }
}

impl Program {
    /// A program for a device, still without instructions.
    pub(crate) fn on(board: &'static Board) -> Self {
        Self { board, ops: Vec::new(), observed: Vec::new() }
    }

    /// The next word address to be written.
    pub(crate) fn here(&self) -> u16 {
        self.ops.len() as u16
    }

    pub(crate) fn add(&mut self, op: Op) {
        self.ops.push(Some(op));
        if op.words() == 2 {
            self.ops.push(None);
        }
    }

    pub(crate) fn extend(&mut self, ops: impl IntoIterator<Item = Op>) {
        ops.into_iter().for_each(|op| self.add(op));
    }

    /// Replaces an instruction by one of the same length.
    pub(crate) fn replace(&mut self, at: u16, op: Op) {
        self.ops[usize::from(at)] = Some(op);
    }

    /// The instruction at a word address, if one begins there.
    pub(crate) fn at(&self, address: u16) -> Option<Op> {
        self.ops.get(usize::from(address)).copied().flatten()
    }

    /// The program with one other instruction of the same length, behind the vectors.
    pub(crate) fn mutant(&self, random: &mut Random) -> Self {
        let mut mutant = self.clone();
        let vectors = self.board.vector_words * self.board.vectors();
        let all: Vec<(u16, Op)> = self.instructions().filter(|(address, _)| *address >= vectors).collect();
        let (address, op) = random.pick(&all);
        let other = match op {
            Op::SkipIo(io, bit, value) => Op::SkipIo(io, bit, !value),
            Op::SkipRegister(register, bit, value) => Op::SkipRegister(register, bit, !value),
            Op::Branch(flag, value, target) => Op::Branch(flag, !value, target),
            Op::SetBit(io, bit, value) if random.once_in(2) => Op::SetBit(io, bit, !value),
            Op::Constant(constant, register, k) if random.once_in(2) => Op::Constant(constant, register, k ^ 1),
            Op::Lds(register, address) => Op::Lds(register, address ^ 1),
            Op::Sts(address, register) => Op::Sts(address ^ 1, register),
            _ => Op::Nop,
        };
        mutant.replace(address, other);
        mutant
    }

    /// The instructions with their word addresses.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (u16, Op)> + '_ {
        (0..).zip(&self.ops).filter_map(|(address, op)| op.map(|op| (address, op)))
    }

    /// The machine code.
    pub(crate) fn words(&self) -> Vec<u16> {
        let mut words = Vec::new();
        for (address, op) in self.instructions() {
            let (first, second) = op.on(self.board).code(address);
            words.push(first);
            words.extend(second);
        }
        words
    }

    /// The program as Intel HEX.
    pub(crate) fn hex(&self) -> String {
        avr_testkit::image::hex(&avr_testkit::image::bytes(&self.words()))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  ; {}", self.board.name)?;
        for (address, op) in self.instructions().map(|(address, op)| (address, op.on(self.board))) {
            let code = match op.code(address) {
                (first, None) => format!("{first:04x}"),
                (first, Some(second)) => format!("{first:04x} {second:04x}"),
            };
            writeln!(f, "  {:#06x}  {code:9}  {op}", 2 * address)?;
        }
        Ok(())
    }
}
