//! The pointers that are used later: what they are is kept apart.

use avr_isa::{Addressing, ControlFlow, FlashWordAddress, Instruction, MemoryAccess, Pointer, Register};
use avr_machine::{Fetched, Machine};

/// Pairs of registers, by half the number of the lower one.
pub(crate) type Pairs = u16;

/// The pairs that functions give back as they found them: r2 to r17, and Y.
const KEPT: Pairs = 0b0100_0001_1111_1110;

/// The pairs of registers that are used as pointers behind each instruction before they are written.
#[derive(Debug)]
pub(crate) struct LivePointers {
    live: Vec<Pairs>,
    /// Those of them behind some call that the function keeps.
    returned: Pairs,
}

impl LivePointers {
    /// Those of a program.
    pub(crate) fn new(machine: &Machine) -> Self {
        let program = &machine.program;
        let mut all = Self { live: vec![0; program.words() as usize], returned: 0 };
        loop {
            let mut is_changed = false;
            for address in (0..program.words()).rev().map(FlashWordAddress) {
                let Fetched::Instruction { instruction, .. } = program.fetch(address) else { continue };
                let behind = all.behind(instruction.control_flow(address, program));
                let now = before(instruction, behind);
                is_changed |= std::mem::replace(&mut all.live[address.index()], now) != now;
            }
            if !is_changed {
                return all;
            }
        }
    }

    /// The pairs that are used from an instruction on.
    pub(crate) fn at(&self, address: FlashWordAddress) -> Pairs {
        self.live.get(address.index()).copied().unwrap_or_default()
    }

    fn behind(&mut self, flow: ControlFlow) -> Pairs {
        match flow {
            ControlFlow::Call { next, .. } | ControlFlow::IndirectCall { next } => {
                let kept = self.at(next) & KEPT;
                self.returned |= kept;
                let target = flow.destinations().map_or(0, |[target, _]| self.at(target));
                target | kept
            }
            ControlFlow::Return | ControlFlow::InterruptReturn | ControlFlow::IndirectJump => self.returned,
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

/// The pair that a register belongs to.
fn pair(register: Register) -> Pairs {
    1 << (register.index() / 2)
}

/// The pairs that are used from an instruction on, if these are behind it.
fn before(instruction: Instruction, behind: Pairs) -> Pairs {
    let moved = match instruction {
        // A copy is a pointer if what it is copied to is one.
        Instruction::Movw { rd, rr } if behind & pair(rd) != 0 => pair(rr),
        Instruction::Mov { rd, rr } if behind & pair(rd) != 0 && rd.index() % 2 == rr.index() % 2 => pair(rr),
        _ => 0,
    };
    used(instruction) | moved | behind & !written(instruction)
}

/// The pairs that an instruction uses as pointers.
fn used(instruction: Instruction) -> Pairs {
    match instruction.memory_access() {
        MemoryAccess::Load(Addressing::Indirect { pointer, .. })
        | MemoryAccess::Store(Addressing::Indirect { pointer, .. }) => pair(pointer.low()),
        MemoryAccess::LoadFlash | MemoryAccess::StoreFlash => pair(Pointer::Z.low()),
        _ => match instruction {
            Instruction::Ijmp | Instruction::Icall | Instruction::Eijmp | Instruction::Eicall => pair(Pointer::Z.low()),
            _ => 0,
        },
    }
}

/// The pairs whose upper register an instruction writes without reading it.
fn written(instruction: Instruction) -> Pairs {
    let read = instruction.registers_read();
    let is_upper = |register: &Register| register.index() % 2 == 1 && !read.iter().any(|one| one == *register);
    instruction.registers_written().iter().filter(is_upper).fold(0, |all, register| all | pair(register))
}
