//! The effects of instructions on registers and flags.

use crate::control_flow::Flow;
use avr_isa::{Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Pointer};
use avr_machine::{Fetched, Program};

/// Registers and flags: bit n is rn, bit 32 + n is the flag with bit n in SREG.
pub type Cells = u64;

/// Every register and flag.
pub(crate) const ALL: Cells = (1 << 40) - 1;
/// The registers.
pub(crate) const REGISTERS: Cells = (1 << 32) - 1;
/// Data address of SREG.
const SREG: DataAddress = DataAddress(0x5f);

/// The effect of an instruction on registers and flags, with its successors.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) read: Cells,
    pub(crate) written: Cells,
    /// Of the registers that it reads, the one that it stores: what it writes into registers does not hang on it.
    pub(crate) stored: Cells,
    /// The pointer registers that it goes through.
    pub(crate) pointers: Cells,
    pub(crate) flow: Flow,
}

/// The effect of the instruction at a flash word address; none where there is no instruction.
pub(crate) fn effect(program: &Program, address: FlashWordAddress) -> Option<Effect> {
    let Fetched::Instruction { instruction, .. } = program.fetch(address) else { return None };
    let flags = |bits: u8| Cells::from(bits) << 32;
    let mut read = Cells::from(instruction.registers_read().bits()) | flags(instruction.flags_read().bits());
    let mut written = Cells::from(instruction.registers_written().bits()) | flags(instruction.flags_written().bits());
    match instruction.memory_access() {
        MemoryAccess::LoadIo { address: SREG } | MemoryAccess::Load(Addressing::Direct(SREG)) => read |= flags(0xff),
        MemoryAccess::StoreIo { address: SREG } => written |= flags(0xff),
        // Other cells are not among those that are live or not, and what is reached through pointers is not known.
        MemoryAccess::LoadIo { .. } | MemoryAccess::StoreIo { .. } | MemoryAccess::Load(_) | MemoryAccess::Store(_) => {
        }
        MemoryAccess::LoadIoBit { .. } | MemoryAccess::StoreIoBit { .. } => {}
        MemoryAccess::Push
        | MemoryAccess::Pop
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::LoadFlash
        | MemoryAccess::StoreFlash
        | MemoryAccess::ResetWatchdog
        | MemoryAccess::None => {}
    }
    // A register combined with itself is a constant.
    if let Instruction::Eor { rd, rr } | Instruction::Sub { rd, rr } = instruction
        && rd == rr
    {
        read &= !(1 << rd.index());
    }
    Some(Effect {
        read,
        written,
        stored: stored(instruction),
        pointers: pointers(program, instruction, address),
        flow: Flow::of(program, instruction, address),
    })
}

/// The register that a store through a pointer stores, unless it is part of the pointer.
fn stored(instruction: Instruction) -> Cells {
    match instruction.memory_access() {
        MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => {
            Cells::from(instruction.registers_read().bits()) & !(0b11 << pointer.low().index())
        }
        MemoryAccess::Store(Addressing::Direct(_))
        | MemoryAccess::None
        | MemoryAccess::Load(_)
        | MemoryAccess::LoadIo { .. }
        | MemoryAccess::StoreIo { .. }
        | MemoryAccess::LoadIoBit { .. }
        | MemoryAccess::StoreIoBit { .. }
        | MemoryAccess::Push
        | MemoryAccess::Pop
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::LoadFlash
        | MemoryAccess::StoreFlash
        | MemoryAccess::ResetWatchdog => 0,
    }
}

/// The pointer registers that an instruction accesses data or flash through, or jumps through.
fn pointers(program: &Program, instruction: Instruction, address: FlashWordAddress) -> Cells {
    let pair = |pointer: Pointer| 0b11 << pointer.low().index();
    let jumps_through = match instruction.control_flow(address, program) {
        ControlFlow::IndirectJump | ControlFlow::IndirectCall { .. } => pair(Pointer::Z),
        ControlFlow::Next { .. }
        | ControlFlow::Skip { .. }
        | ControlFlow::Branch { .. }
        | ControlFlow::Jump { .. }
        | ControlFlow::Call { .. }
        | ControlFlow::Return
        | ControlFlow::InterruptReturn
        | ControlFlow::Sleep { .. }
        | ControlFlow::Break { .. } => 0,
    };
    let accesses_through = match instruction.memory_access() {
        MemoryAccess::Load(Addressing::Indirect { pointer, .. })
        | MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => pair(pointer),
        MemoryAccess::LoadFlash | MemoryAccess::StoreFlash => pair(Pointer::Z),
        MemoryAccess::Load(Addressing::Direct(_))
        | MemoryAccess::Store(Addressing::Direct(_))
        | MemoryAccess::None
        | MemoryAccess::LoadIo { .. }
        | MemoryAccess::StoreIo { .. }
        | MemoryAccess::LoadIoBit { .. }
        | MemoryAccess::StoreIoBit { .. }
        | MemoryAccess::Push
        | MemoryAccess::Pop
        | MemoryAccess::PushReturnAddress
        | MemoryAccess::PopReturnAddress
        | MemoryAccess::ResetWatchdog => 0,
    };
    jumps_through | accesses_through
}
