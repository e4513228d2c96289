//! The pointers that are used later: what they are is kept apart.

use avr_isa::{Addressing, ControlFlow, FlashWordAddress, Instruction, MemoryAccess, Pointer, Register};
use avr_machine::{Fetched, Frame, FrameKind, Machine};

/// Pairs of registers, by half the number of the lower one.
pub(crate) type Pairs = u16;

/// The pairs that functions give back as they found them: r2 to r17, and Y.
const KEPT: Pairs = 0b0100_0001_1111_1110;

/// The pair that hands nothing over to functions: r0 and r1.
const UNUSED: Pairs = 1;

/// The pairs of registers that are used as pointers behind each instruction before they are written.
#[derive(Debug)]
pub(crate) struct LivePointers {
    /// Those that are used before the function returns.
    own: Vec<Pairs>,
    /// Those as well that are not written before it returns, if its caller uses them.
    through: Vec<Pairs>,
    /// The pairs that are used behind some call that the function keeps.
    returned: Pairs,
}

/// Those of each instruction, given those behind it.
fn closed(machine: &Machine, behind: impl Fn(ControlFlow, &[Pairs]) -> Pairs) -> Vec<Pairs> {
    let program = &machine.program;
    let mut all = vec![0; program.words() as usize];
    loop {
        let mut is_changed = false;
        for address in (0..program.words()).rev().map(FlashWordAddress) {
            let Fetched::Instruction { instruction, .. } = program.fetch(address) else { continue };
            let now = before(instruction, behind(instruction.control_flow(address, program), &all));
            is_changed |= std::mem::replace(&mut all[address.index()], now) != now;
        }
        if !is_changed {
            return all;
        }
    }
}

/// The pairs of an instruction.
fn of(all: &[Pairs], address: FlashWordAddress) -> Pairs {
    all.get(address.index()).copied().unwrap_or_default()
}

/// The pairs behind an instruction, given those at the beginning of functions and those that returns pass on.
fn behind(flow: ControlFlow, all: &[Pairs], begins: &[Pairs], returned: Pairs) -> Pairs {
    match flow {
        ControlFlow::Call { next, .. } | ControlFlow::IndirectCall { next } => {
            let target = flow.destinations().map_or(0, |[target, _]| of(begins, target));
            target | of(all, next) & KEPT
        }
        ControlFlow::Return | ControlFlow::InterruptReturn | ControlFlow::IndirectJump => returned,
        ControlFlow::Next { .. }
        | ControlFlow::Skip { .. }
        | ControlFlow::Branch { .. }
        | ControlFlow::Jump { .. }
        | ControlFlow::Sleep { .. }
        | ControlFlow::Break { .. } => {
            flow.destinations().into_iter().flatten().fold(0, |pairs, address| pairs | of(all, address))
        }
    }
}

impl LivePointers {
    /// Those of a program.
    pub(crate) fn new(machine: &Machine) -> Self {
        let own = closed(machine, |flow, all| behind(flow, all, all, 0));
        let through = closed(machine, |flow, all| behind(flow, all, &own, KEPT));
        let mut all = Self { own, through, returned: 0 };
        let calls: Vec<FlashWordAddress> = (0..machine.program.words())
            .filter_map(|address| match machine.program.control_flow(FlashWordAddress(address)) {
                Some(ControlFlow::Call { next, .. } | ControlFlow::IndirectCall { next }) => Some(next),
                _ => None,
            })
            .collect();
        loop {
            let returned = calls.iter().fold(0, |pairs, next| pairs | all.at(*next) & KEPT);
            if std::mem::replace(&mut all.returned, returned) == returned {
                return all;
            }
        }
    }

    /// The pairs that are used from an instruction on, whoever has called the function that it is in.
    pub(crate) fn at(&self, address: FlashWordAddress) -> Pairs {
        self.behind_return(address, self.returned)
    }

    /// The pairs that are used from an instruction on, where these calls are on the stack, the oldest first.
    pub(crate) fn within(&self, frames: &[Frame], address: FlashWordAddress) -> Pairs {
        self.behind_return(address, self.returned_to(frames))
    }

    /// The pairs that are used where a function begins or behind its return, also if it keeps them on the stack, where these calls are there.
    pub(crate) fn around(&self, frames: &[Frame], function: FlashWordAddress) -> Pairs {
        of(&self.own, function) & !UNUSED | self.returned_to(frames)
    }

    /// The pairs that the function uses to which the youngest of these calls returns.
    fn returned_to(&self, frames: &[Frame]) -> Pairs {
        frames.iter().fold(0, |pairs, frame| match frame.kind {
            FrameKind::Interrupt(_) => 0,
            _ => self.behind_return(frame.return_address, pairs) & KEPT,
        })
    }

    /// The pairs that are used from an instruction on, given those that the caller uses.
    fn behind_return(&self, address: FlashWordAddress, returned: Pairs) -> Pairs {
        of(&self.own, address) | of(&self.through, address) & returned
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

#[cfg(test)]
mod tests {
    use super::*;
    use avr_isa::{DataAddress, Instruction as I, PointerMode};
    use avr_machine::device::Device;
    use avr_machine::{Options, Program};
    use avr_testkit::image::{Code, r};

    #[test]
    fn pointers_of_callers_are_those_of_the_calls_on_the_stack() {
        const FUNCTION: u32 = 0x40;
        const MAIN: u32 = 0x80;
        let mut code = Code::with_vectors(MAIN, &[]);
        code.place(FUNCTION);
        code.add(I::Ret);
        code.place(MAIN);
        code.add(I::Rcall { offset: (FUNCTION as i16) - (MAIN as i16) - 1 });
        code.add(I::Ld { rd: r(24), pointer: Pointer::Y, mode: PointerMode::Displacement(0) });
        code.add(I::Rcall { offset: (FUNCTION as i16) - (MAIN as i16) - 3 });
        code.add(I::Ldi { rd: r(29), k: 1 });
        code.add(I::Ld { rd: r(24), pointer: Pointer::Y, mode: PointerMode::Displacement(0) });
        code.add(I::Rjmp { offset: -1 });
        let device = Device::named("atmega328p").expect("the device exists");
        let word = |address: u32| code.words.get(address as usize).copied();
        let program = Program::decode(device.memory.flash_words(), device.core.features, word);
        let machine = Machine::new(device, program, Options::default());
        let live = LivePointers::new(&machine);
        let from = |return_address: u32| Frame {
            position: DataAddress(0x8ff),
            return_address: FlashWordAddress(return_address),
            kind: FrameKind::Call,
            stack: 0,
            left: 0,
        };
        let y = pair(Pointer::Y.low());
        let within = |frames: &[Frame]| live.within(frames, FlashWordAddress(FUNCTION));
        assert_eq!([within(&[from(MAIN + 1)]), within(&[from(MAIN + 3)])], [y, 0]);
        assert_eq!(live.at(FlashWordAddress(FUNCTION)), y);
        let interrupt = Frame { kind: FrameKind::Interrupt(1), ..from(MAIN + 1) };
        assert_eq!(within(&[interrupt]), 0);
    }
}
