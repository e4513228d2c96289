//! The pointers that are used later: what they are is kept apart.

use avr_isa::{Addressing, ControlFlow, FlashWordAddress, Instruction, MemoryAccess, Pointer};
use avr_machine::{Fetched, Machine};

/// The pointers.
pub(crate) const POINTERS: [Pointer; 3] = [Pointer::X, Pointer::Y, Pointer::Z];

/// Y, which functions keep.
const KEPT: u8 = 1 << 1;

/// The pointers that are used behind each instruction before they are written, as a mask of their numbers.
#[derive(Debug)]
pub(crate) struct LivePointers(Vec<u8>);

impl LivePointers {
    /// Those of a program.
    pub(crate) fn new(machine: &Machine) -> Self {
        let program = &machine.program;
        let mut live = Self(vec![0; program.words() as usize]);
        loop {
            let mut is_changed = false;
            for address in (0..program.words()).rev().map(FlashWordAddress) {
                let Fetched::Instruction { instruction, .. } = program.fetch(address) else { continue };
                let flow = instruction.control_flow(address, program);
                let now = used(instruction) | live.behind(flow) & !written(instruction);
                is_changed |= std::mem::replace(&mut live.0[address.index()], now) != now;
            }
            if !is_changed {
                return live;
            }
        }
    }

    /// The pointers that are used from an instruction on.
    pub(crate) fn at(&self, address: FlashWordAddress) -> u8 {
        self.0.get(address.index()).copied().unwrap_or_default()
    }

    fn behind(&self, flow: ControlFlow) -> u8 {
        match flow {
            ControlFlow::Call { next, target } => self.at(target) | self.at(next) & KEPT,
            ControlFlow::IndirectCall { next } => self.at(next) & KEPT,
            ControlFlow::Return | ControlFlow::InterruptReturn | ControlFlow::IndirectJump => 0,
            ControlFlow::Next { .. }
            | ControlFlow::Skip { .. }
            | ControlFlow::Branch { .. }
            | ControlFlow::Jump { .. }
            | ControlFlow::Sleep { .. }
            | ControlFlow::Break { .. } => {
                flow.destinations().into_iter().flatten().fold(0, |all, address| all | self.at(address))
            }
        }
    }
}

fn mask(pointer: Pointer) -> u8 {
    POINTERS.iter().position(|one| *one == pointer).map_or(0, |index| 1 << index)
}

/// The pointers that an instruction uses.
fn used(instruction: Instruction) -> u8 {
    match instruction.memory_access() {
        MemoryAccess::Load(Addressing::Indirect { pointer, .. })
        | MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => mask(pointer),
        MemoryAccess::LoadFlash | MemoryAccess::StoreFlash => mask(Pointer::Z),
        _ => match instruction {
            Instruction::Ijmp | Instruction::Icall | Instruction::Eijmp | Instruction::Eicall => mask(Pointer::Z),
            _ => 0,
        },
    }
}

/// The pointers that an instruction writes without reading them.
fn written(instruction: Instruction) -> u8 {
    let (written, read) = (instruction.registers_written(), instruction.registers_read());
    let is_written = |pointer: &&Pointer| {
        let high = pointer.high();
        written.iter().any(|one| one == high) && !read.iter().any(|one| one == high)
    };
    POINTERS.iter().filter(is_written).fold(0, |all, pointer| all | mask(*pointer))
}
