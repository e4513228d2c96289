//! Tracking of concrete runs: it observes stores through pointers that leave their object, or that hit what a caller keeps on the
//! stack, and handlers that write a variable between two accesses to its bytes.
//!
//! An observation is no hazard and no part of a formula. It says what one run does.

mod interleaving;
mod objects;
mod provenance;
mod stack_cells;
#[cfg(test)]
mod tests;

use avr_isa::{Addressing, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Pointer, PointerMode, Register};
use avr_machine::{Fetched, FrameKind, Machine, MachineState};
use interleaving::Interleaving;
use provenance::Provenance;
use rustc_hash::FxHashMap;
use stack_cells::StackCells;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

pub use interleaving::Window;
pub use objects::Objects;

/// The subjects of tracking: the parts of a program that observations are about.
#[derive(Clone, Debug, Default)]
pub struct Subjects {
    /// Arrays and structures in data memory.
    pub objects: Objects,
    /// The flash word addresses of each function; saved registers are looked for in these.
    pub functions: Vec<Range<u32>>,
    /// Code in which an address is no pointer to an object: it clears and copies whole sections.
    pub section_code: Vec<Range<u32>>,
    /// Accesses to variables in several instructions.
    pub windows: Vec<Window>,
    /// True if return addresses and saved registers are looked at.
    pub has_stack_cells: bool,
}

/// An observation of a run, at an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A store through a pointer that was made from the address of an object hits another address.
    OutOfObject {
        /// The store.
        pc: FlashWordAddress,
        /// The object, by its number in [`Subjects::objects`].
        object: usize,
        /// The data address that is hit.
        address: DataAddress,
    },
    /// A store through a pointer hits a return address.
    ReturnAddress {
        /// The store.
        pc: FlashWordAddress,
        /// The data address that is hit.
        address: DataAddress,
        /// The return address that was there.
        returns_to: FlashWordAddress,
    },
    /// A store through a pointer hits a register that a function keeps for its caller.
    SavedRegister {
        /// The store.
        pc: FlashWordAddress,
        /// The data address that is hit.
        address: DataAddress,
        /// The number of the register.
        register: u8,
        /// The PUSH that keeps it.
        pushed_at: FlashWordAddress,
    },
    /// A handler wrote a variable between two accesses to its bytes.
    Torn {
        /// The later access.
        pc: FlashWordAddress,
        /// The number of the window in [`Subjects::windows`].
        window: usize,
        /// The number of the interrupt.
        vector: u8,
    },
}

/// The identity of observations: two with the same one are the same finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A store leaves its object.
    Object(FlashWordAddress),
    /// A store hits the stack of a caller.
    Stack(FlashWordAddress),
    /// A window.
    Window(usize),
}

impl Observation {
    pub(crate) fn key(&self) -> Key {
        match self {
            Self::OutOfObject { pc, .. } => Key::Object(*pc),
            Self::ReturnAddress { pc, .. } | Self::SavedRegister { pc, .. } => Key::Stack(*pc),
            Self::Torn { window, .. } => Key::Window(*window),
        }
    }

    /// The instruction.
    #[must_use]
    pub fn pc(&self) -> FlashWordAddress {
        match self {
            Self::OutOfObject { pc, .. }
            | Self::ReturnAddress { pc, .. }
            | Self::SavedRegister { pc, .. }
            | Self::Torn { pc, .. } => *pc,
        }
    }
}

/// An instruction that is executed from a state.
struct Executed<'a> {
    pc: FlashWordAddress,
    instruction: Instruction,
    before: &'a MachineState<u8>,
    stack_pointer: DataAddress,
    /// The access to data memory by a load or store, if there is one.
    access: Option<Access>,
}

/// A load or store of a byte.
#[derive(Clone, Copy)]
struct Access {
    address: DataAddress,
    is_store: bool,
    /// The pointer that it goes through.
    pointer: Option<Pointer>,
}

/// Follows one run. A clone follows another one from the same state on, and shares what was observed.
#[derive(Clone)]
pub(crate) struct Tracker {
    subjects: Rc<Subjects>,
    provenance: Provenance,
    stack_cells: StackCells,
    interleaving: Interleaving,
    /// True before the main program, whose start-up code speaks of whole sections.
    in_startup: bool,
    /// True after a store that was observed: nothing that comes after it is of the program's making.
    has_ended: bool,
    /// The observations so far, each with true if the run rests on the model.
    known: Rc<RefCell<FxHashMap<Key, bool>>>,
}

impl Tracker {
    pub(crate) fn new(machine: &Machine, subjects: &Rc<Subjects>) -> Self {
        Self {
            subjects: Rc::clone(subjects),
            provenance: Provenance::new(machine),
            stack_cells: StackCells::new(machine, &subjects.functions),
            interleaving: Interleaving::default(),
            in_startup: machine.options().main.is_some(),
            has_ended: false,
            known: Rc::default(),
        }
    }

    /// The same before the first step, with what is known of the program and without observations.
    pub(crate) fn again(&self, machine: &Machine) -> Self {
        Self {
            in_startup: machine.options().main.is_some(),
            has_ended: false,
            provenance: self.provenance.again(),
            stack_cells: self.stack_cells.again(),
            interleaving: Interleaving::default(),
            known: Rc::default(),
            subjects: Rc::clone(&self.subjects),
        }
    }

    /// The interrupts that would show something if one of them came now.
    pub(crate) fn wanted_interrupts(&self, state: &MachineState<u8>) -> &[u8] {
        match self.interleaving.open_window(&self.subjects.windows, state) {
            Some(window) if !self.known.borrow().contains_key(&Key::Window(window)) => {
                &self.subjects.windows[window].vectors
            }
            _ => &[],
        }
    }

    /// True if only runs that rest on the model show some of the observations.
    pub(crate) fn has_some_on_model(&self) -> bool {
        self.known.borrow().values().any(|on_model| *on_model)
    }

    /// The number of windows that nothing was observed in.
    pub(crate) fn open_windows(&self) -> usize {
        let known = self.known.borrow();
        (0..self.subjects.windows.len()).filter(|window| !known.contains_key(&Key::Window(*window))).count()
    }

    /// Follows a step; `is_executed` tells that it is the instruction at PC. Gives what is new.
    pub(crate) fn step(
        &mut self,
        machine: &Machine,
        (before, after): (&MachineState<u8>, &MachineState<u8>),
        is_executed: bool,
        on_model: bool,
    ) -> Option<Observation> {
        if self.has_ended {
            return None;
        }
        let fetched = machine.program.fetch(before.control.pc);
        let observed = match fetched {
            Fetched::Instruction { instruction, .. } if is_executed => {
                self.execute(machine, (before, after), instruction)
            }
            _ => {
                self.enter(machine, before, after);
                None
            }
        };
        self.stack_cells.keep_above(machine.stack_pointer().concrete(&after.data));
        self.has_ended = observed.as_ref().is_some_and(|observed| !matches!(observed, Observation::Torn { .. }));
        observed.filter(|observed| self.is_new(observed, on_model))
    }

    /// True once for each finding, and once more for a run of the hardware.
    fn is_new(&self, observed: &Observation, on_model: bool) -> bool {
        let mut known = self.known.borrow_mut();
        let is_new = known.get(&observed.key()).is_none_or(|was_on_model| *was_on_model && !on_model);
        if is_new {
            known.insert(observed.key(), on_model);
        }
        is_new
    }

    /// A step that executes no instruction: the entry into a handler, a reset, sleep.
    fn enter(&mut self, machine: &Machine, before: &MachineState<u8>, after: &MachineState<u8>) {
        let (frames, depth) = (after.calls.frames(), before.calls.frames().len());
        match frames.last() {
            Some(frame) if frames.len() > depth => {
                if let FrameKind::Interrupt(vector) = frame.kind {
                    self.interleaving.enter(vector, depth);
                }
                self.provenance.enter(machine, frame.position);
                self.stack_cells.enter_handler();
            }
            _ if after.control.pc != before.control.pc || frames.len() < depth => {
                *self = Self { known: Rc::clone(&self.known), ..self.again(machine) };
            }
            _ => {}
        }
    }

    fn execute(
        &mut self,
        machine: &Machine,
        (before, after): (&MachineState<u8>, &MachineState<u8>),
        instruction: Instruction,
    ) -> Option<Observation> {
        let executed = Executed {
            pc: before.control.pc,
            instruction,
            before,
            stack_pointer: machine.stack_pointer().concrete(&before.data),
            access: access(instruction, before),
        };
        self.in_startup &= machine.options().main != Some(executed.pc);
        let speaks_of_sections = |range: &Range<u32>| range.contains(&executed.pc.0);
        let makes_pointers = !self.in_startup && !self.subjects.section_code.iter().any(speaks_of_sections);
        let object = self.provenance.execute(machine, &executed, &self.subjects.objects, makes_pointers);
        let torn = self.interleaving.execute(&self.subjects.windows, &executed);
        let on_stack = match object {
            provenance::Reach::Inside | provenance::Reach::Outside { .. } => None,
            provenance::Reach::Unknown => self.stack_cells.hit(machine, &executed),
        };
        self.stack_cells.execute(&executed, machine, after);
        let outside = match object {
            provenance::Reach::Outside { object, address } => {
                Some(Observation::OutOfObject { pc: executed.pc, object, address })
            }
            provenance::Reach::Inside | provenance::Reach::Unknown => None,
        };
        let on_stack = on_stack.filter(|_| self.subjects.has_stack_cells);
        outside.or(on_stack).or(torn)
    }
}

/// The load or store that an instruction is, with its address.
fn access(instruction: Instruction, before: &MachineState<u8>) -> Option<Access> {
    let (addressing, is_store) = match instruction.memory_access() {
        MemoryAccess::Load(addressing) => (addressing, false),
        MemoryAccess::Store(addressing) => (addressing, true),
        _ => return None,
    };
    Some(match addressing {
        Addressing::Direct(address) => Access { address, is_store, pointer: None },
        Addressing::Indirect { pointer, mode } => {
            let at = pointed(before, pointer);
            let address = match mode {
                PointerMode::Displacement(by) => at.wrapping_add(by.into()),
                PointerMode::PostIncrement => at,
                PointerMode::PreDecrement => at.wrapping_sub(1),
            };
            Access { address, is_store, pointer: Some(pointer) }
        }
    })
}

/// The address that a pointer holds.
fn pointed(state: &MachineState<u8>, pointer: Pointer) -> DataAddress {
    let byte = |register: Register| *state.data.get(register.address());
    DataAddress::of_bytes(byte(pointer.low()), byte(pointer.high()))
}
