//! The cells of the stack that belong to callers: return addresses, and the registers that functions and handlers keep there.
//!
//! A register is kept by a PUSH at the beginning of a function or handler that has a POP of the same register. In a function only
//! registers count that the calling convention of avr-gcc preserves. Locals, arguments and what `rcall .` reserves are not among them.

use super::{Executed, Observation};
use avr_isa::{ControlFlow, DataAddress, FlashWordAddress, Instruction, RegisterSet};
use avr_machine::{Fetched, Frame, Machine, MachineState};
use std::ops::Range;
use std::rc::Rc;

/// I/O address of SREG.
const SREG: u8 = 0x3f;

/// A function with the registers that it pops.
struct Function {
    words: Range<u32>,
    popped: RegisterSet,
}

/// A register that is kept on the stack.
#[derive(Clone, Copy)]
struct Kept {
    address: DataAddress,
    register: u8,
    pushed_at: FlashWordAddress,
}

/// The beginning of a function or handler.
#[derive(Clone, Copy)]
struct Prologue {
    is_handler: bool,
    pushed: RegisterSet,
}

/// The registers that are kept on the stack.
#[derive(Clone)]
pub(super) struct StackCells {
    functions: Rc<Vec<Function>>,
    kept: Vec<Kept>,
    prologue: Option<Prologue>,
}

impl StackCells {
    pub(super) fn new(machine: &Machine, functions: &[Range<u32>]) -> Self {
        let function = |words: &Range<u32>| {
            let popped = words.clone().filter_map(|word| match machine.program.fetch(FlashWordAddress(word)) {
                Fetched::Instruction { instruction: Instruction::Pop { rd }, .. } => Some(rd),
                _ => None,
            });
            Function { words: words.clone(), popped: popped.fold(RegisterSet::EMPTY, RegisterSet::with) }
        };
        Self { functions: Rc::new(functions.iter().map(function).collect()), kept: Vec::new(), prologue: None }
    }

    /// The same with nothing on the stack.
    pub(super) fn again(&self) -> Self {
        Self { functions: Rc::clone(&self.functions), kept: Vec::new(), prologue: None }
    }

    /// Follows the entry into a handler.
    pub(super) fn enter_handler(&mut self) {
        self.prologue = Some(Prologue { is_handler: true, pushed: RegisterSet::EMPTY });
    }

    /// Takes away what is no longer on the stack.
    pub(super) fn keep_above(&mut self, stack_pointer: DataAddress) {
        while self.kept.last().is_some_and(|kept| kept.address <= stack_pointer) {
            self.kept.pop();
        }
    }

    /// The cell of a caller that a store through a pointer hits.
    pub(super) fn hit(&self, machine: &Machine, executed: &Executed<'_>) -> Option<Observation> {
        let access = executed.access.filter(|access| access.is_store && access.pointer.is_some())?;
        let (pc, address) = (executed.pc, access.address);
        if address <= executed.stack_pointer {
            return None;
        }
        if let Some(kept) = self.kept.iter().find(|kept| kept.address == address) {
            let Kept { register, pushed_at, .. } = *kept;
            return Some(Observation::SavedRegister { pc, address, register, pushed_at });
        }
        let bytes = u16::from(machine.device.core.pc_bytes);
        let contains = |frame: &&Frame| frame.position.offset_from(address).is_some_and(|above| above < bytes);
        let frame = executed.before.calls.frames().iter().rev().find(contains)?;
        let is_call = !reserved(machine, frame);
        is_call.then_some(Observation::ReturnAddress { pc, address, returns_to: frame.return_address })
    }

    /// Follows an instruction.
    pub(super) fn execute(&mut self, executed: &Executed<'_>, machine: &Machine, after: &MachineState<u8>) {
        let Executed { pc, instruction, stack_pointer, .. } = *executed;
        let flow = instruction.control_flow(pc, &machine.program);
        if matches!(flow, ControlFlow::Call { .. } | ControlFlow::IndirectCall { .. }) {
            let is_call = !instruction.only_reserves_stack() && after.control.pc != pc;
            self.prologue = is_call.then_some(Prologue { is_handler: false, pushed: RegisterSet::EMPTY });
            return;
        }
        let Some(prologue) = &mut self.prologue else { return };
        match instruction {
            Instruction::Push { rr } => {
                let is_first = !prologue.pushed.contains(rr);
                prologue.pushed = prologue.pushed.with(rr);
                let is_preserved = prologue.is_handler || is_preserved(rr.index());
                let function = self.functions.iter().find(|function| function.words.contains(&pc.0));
                if is_first && is_preserved && function.is_some_and(|function| function.popped.contains(rr)) {
                    self.kept.push(Kept { address: stack_pointer, register: rr.index(), pushed_at: pc });
                }
            }
            // Vectors jump to their handlers, which also keep SREG and clear r1.
            Instruction::In { io: SREG, .. } | Instruction::Jmp { .. } | Instruction::Rjmp { .. }
                if prologue.is_handler => {}
            Instruction::Eor { rd, rr } if prologue.is_handler && rd == rr => {}
            _ => self.prologue = None,
        }
    }
}

/// True for a register that functions preserve for their callers.
fn is_preserved(register: u8) -> bool {
    matches!(register, 2..=17 | 28 | 29)
}

/// True where `rcall .` took the bytes of a return address from the stack.
fn reserved(machine: &Machine, frame: &Frame) -> bool {
    let call = FlashWordAddress(frame.return_address.0.wrapping_sub(1));
    matches!(machine.program.fetch(call), Fetched::Instruction { instruction, .. } if instruction.only_reserves_stack())
}
