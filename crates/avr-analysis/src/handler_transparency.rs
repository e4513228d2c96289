//! Transparent interrupt handlers: they give back every register and flag as they found them, and never look at what was in them.
//!
//! The code is followed from the vector to RETI, through calls. A tag for each register, flag and byte on the stack
//! says which original content is there. A handler that cannot be followed is taken for not transparent, which is always
//! safe: it has indirect jumps or calls, or a stack pointer that is written or looked at.

use avr_isa::{
    Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Register, io_address,
};
use avr_machine::{Fetched, Machine, Program};
use std::collections::HashMap;

/// The most steps that the analysis of one handler may take.
const MAX_STEPS: usize = 20_000;
/// Data address of SREG.
const STATUS: DataAddress = DataAddress(0x5f);
/// The flags but I, which is cleared on entry and set by RETI.
const FLAGS: u8 = 0x7f;

/// The flags that hold what they held on entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Originals {
    /// On every way here.
    surely: u8,
    /// On some way here.
    perhaps: u8,
}

impl Originals {
    const NONE: Self = Self { surely: 0, perhaps: 0 };
    const ALL: Self = Self { surely: FLAGS, perhaps: FLAGS };

    fn without(self, flags: u8) -> Self {
        Self { surely: self.surely & !flags, perhaps: self.perhaps & !flags }
    }

    fn join(self, other: Self) -> Self {
        Self { surely: self.surely & other.surely, perhaps: self.perhaps | other.perhaps }
    }
}

/// The tag of a byte: the original content that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// Nothing of what registers or flags held on entry.
    Own,
    /// The content of this register on entry.
    Register(u8),
    /// A status with these original flags.
    Status(Originals),
    /// A byte of a return address that the handler pushed.
    Return,
    /// On some ways here something original.
    Mixed,
}

impl Tag {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Status(one), Self::Status(other)) => Self::Status(one.join(other)),
            _ => Self::Mixed,
        }
    }

    /// True if computing with it does not look at anything original.
    fn may_be_used(self) -> bool {
        match self {
            Self::Own | Self::Return => true,
            Self::Status(originals) => originals.perhaps == 0,
            Self::Register(_) | Self::Mixed => false,
        }
    }
}

/// The place of the analysis: instruction, the return addresses of calls, and the height of the stack.
type Place = (FlashWordAddress, Vec<FlashWordAddress>, usize);

/// The contents of registers, flags and stack at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contents {
    registers: [Tag; 32],
    flags: Originals,
    stack: Vec<Tag>,
}

impl Contents {
    fn join(&self, other: &Self) -> Self {
        Self {
            registers: std::array::from_fn(|register| self.registers[register].join(other.registers[register])),
            flags: self.flags.join(other.flags),
            stack: self.stack.iter().zip(&other.stack).map(|(one, other)| one.join(*other)).collect(),
        }
    }

    /// True if everything is as it was on entry.
    fn is_restored(&self) -> bool {
        let mut registers = self.registers.iter().zip(0u8..);
        self.stack.is_empty()
            && self.flags.surely == FLAGS
            && registers.all(|(tag, register)| *tag == Tag::Register(register))
    }
}

/// Not transparent.
struct Disturbs;

/// True if the handler at a flash word address is transparent.
pub fn is_transparent(machine: &Machine, entry: FlashWordAddress) -> bool {
    Analysis { program: &machine.program, pc_bytes: machine.device.core.pc_bytes.into(), known: HashMap::new() }
        .run(entry)
        .is_ok()
}

struct Analysis<'a> {
    program: &'a Program,
    pc_bytes: usize,
    known: HashMap<Place, Contents>,
}

impl Analysis<'_> {
    fn run(mut self, entry: FlashWordAddress) -> Result<(), Disturbs> {
        let registers = std::array::from_fn(|register| Tag::Register(register as u8));
        let start = Contents { registers, flags: Originals::ALL, stack: Vec::new() };
        let mut waiting = vec![(entry, Vec::new(), start)];
        for _ in 0..MAX_STEPS {
            let Some((address, calls, contents)) = waiting.pop() else { return Ok(()) };
            let place = (address, calls, contents.stack.len());
            let joined = self.known.get(&place).map_or_else(|| contents.clone(), |known| known.join(&contents));
            if self.known.get(&place) == Some(&joined) {
                continue;
            }
            self.known.insert(place.clone(), joined.clone());
            self.step(place.0, place.1, joined, &mut waiting)?;
        }
        Err(Disturbs)
    }

    /// Executes the instruction at an address and adds where it leads.
    fn step(
        &self,
        address: FlashWordAddress,
        mut calls: Vec<FlashWordAddress>,
        mut contents: Contents,
        waiting: &mut Vec<(FlashWordAddress, Vec<FlashWordAddress>, Contents)>,
    ) -> Result<(), Disturbs> {
        let Fetched::Instruction { instruction, .. } = self.program.fetch(address) else { return Err(Disturbs) };
        match instruction.control_flow(address, self.program) {
            ControlFlow::InterruptReturn => {
                return if calls.is_empty() && contents.is_restored() { Ok(()) } else { Err(Disturbs) };
            }
            ControlFlow::Return => {
                let target = self.pop_return(&mut calls, &mut contents)?;
                waiting.push((target, calls, contents));
            }
            ControlFlow::Call { next, .. } if instruction.only_reserves_stack() => {
                contents.stack.extend(std::iter::repeat_n(Tag::Own, self.pc_bytes));
                waiting.push((next, calls, contents));
            }
            ControlFlow::Call { next, target } => {
                contents.stack.extend(std::iter::repeat_n(Tag::Return, self.pc_bytes));
                calls.push(next);
                waiting.push((target, calls, contents));
            }
            ControlFlow::Jump { target } => waiting.push((target, calls, contents)),
            ControlFlow::Branch { next, target } | ControlFlow::Skip { next, target } => {
                compute(instruction, &mut contents)?;
                waiting.push((next, calls.clone(), contents.clone()));
                waiting.push((target, calls, contents));
            }
            ControlFlow::Next { next } => {
                move_or_compute(instruction, &mut contents)?;
                waiting.push((next, calls, contents));
            }
            ControlFlow::IndirectJump
            | ControlFlow::IndirectCall { .. }
            | ControlFlow::Sleep { .. }
            | ControlFlow::Break { .. } => return Err(Disturbs),
        }
        Ok(())
    }

    fn pop_return(
        &self,
        calls: &mut Vec<FlashWordAddress>,
        contents: &mut Contents,
    ) -> Result<FlashWordAddress, Disturbs> {
        let target = calls.pop().ok_or(Disturbs)?;
        let rest = contents.stack.len().checked_sub(self.pc_bytes).ok_or(Disturbs)?;
        let popped = contents.stack.split_off(rest);
        if popped.iter().all(|tag| *tag == Tag::Return) { Ok(target) } else { Err(Disturbs) }
    }
}

/// The effect of instructions that only move contents, and of those that cannot be followed.
fn move_or_compute(instruction: Instruction, contents: &mut Contents) -> Result<(), Disturbs> {
    use Instruction as I;
    let index = |register: Register| usize::from(register.index());
    match instruction {
        I::Push { rr } => contents.stack.push(contents.registers[index(rr)]),
        I::Pop { rd } => {
            let popped = contents.stack.pop().ok_or(Disturbs)?;
            contents.registers[index(rd)] = if popped == Tag::Return { Tag::Own } else { popped };
        }
        I::Mov { rd, rr } => contents.registers[index(rd)] = contents.registers[index(rr)],
        I::Movw { rd, rr } => {
            contents.registers[index(rd)] = contents.registers[index(rr)];
            contents.registers[index(rd) + 1] = contents.registers[index(rr) + 1];
        }
        I::In { rd, io } if io_address(io) == STATUS => {
            let is_own = contents.flags == Originals::NONE;
            contents.registers[index(rd)] = if is_own { Tag::Own } else { Tag::Status(contents.flags) };
        }
        I::Out { io, rr } if io_address(io) == STATUS => {
            contents.flags = match contents.registers[index(rr)] {
                Tag::Status(originals) => originals,
                Tag::Own | Tag::Return => Originals::NONE,
                Tag::Register(_) | Tag::Mixed => return Err(Disturbs),
            }
        }
        // A register combined with itself is a constant.
        I::Eor { rd, rr } | I::Sub { rd, rr } if rd == rr => {
            contents.registers[index(rd)] = Tag::Own;
            contents.flags = contents.flags.without(instruction.flags_written().bits());
        }
        _ => access_and_compute(instruction, contents)?,
    }
    Ok(())
}

/// An instruction of any kind that goes on with the next one: it must not move contents, nor go where others are.
fn access_and_compute(instruction: Instruction, contents: &mut Contents) -> Result<(), Disturbs> {
    match instruction.memory_access() {
        MemoryAccess::LoadIo { address }
        | MemoryAccess::StoreIo { address }
        | MemoryAccess::LoadIoBit { address, .. }
        | MemoryAccess::StoreIoBit { address, .. }
        | MemoryAccess::Load(Addressing::Direct(address))
        | MemoryAccess::Store(Addressing::Direct(address))
            if is_processor(address) =>
        {
            Err(Disturbs)
        }
        MemoryAccess::Push
        | MemoryAccess::Pop
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::StoreFlash => Err(Disturbs),
        // Loads and stores through pointers are noted while handlers run.
        MemoryAccess::None
        | MemoryAccess::LoadIo { .. }
        | MemoryAccess::StoreIo { .. }
        | MemoryAccess::LoadIoBit { .. }
        | MemoryAccess::StoreIoBit { .. }
        | MemoryAccess::Load(_)
        | MemoryAccess::Store(_)
        | MemoryAccess::LoadFlash
        | MemoryAccess::ResetWatchdog => compute(instruction, contents),
    }
}

/// An instruction that computes: it must not look at anything original, and what it writes is the handler's own.
fn compute(instruction: Instruction, contents: &mut Contents) -> Result<(), Disturbs> {
    let mut read = instruction.registers_read().iter();
    let uses_own = read.all(|register| contents.registers[usize::from(register.index())].may_be_used());
    if !uses_own || instruction.flags_read().bits() & contents.flags.perhaps != 0 {
        return Err(Disturbs);
    }
    for register in instruction.registers_written().iter() {
        contents.registers[usize::from(register.index())] = Tag::Own;
    }
    contents.flags = contents.flags.without(instruction.flags_written().bits());
    Ok(())
}

/// True if a data address is a general-purpose register, SREG or the stack pointer.
pub fn is_processor(address: DataAddress) -> bool {
    address < DataAddress::IO || (DataAddress(0x5d)..=STATUS).contains(&address)
}
