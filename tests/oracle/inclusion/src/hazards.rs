//! Hazards that a run in libsimavr commits, told without the verifier: from the stack pointer, the addresses that calls pushed, and where execution is.
//!
//! The stack in use is the one that SP was set to: a write of SP goes to another stack, pushes and pops do not. Return addresses on the others stay
//! until a write of SP comes back to their stack.

use avr_machine::{HazardKind, StackArea};

use crate::runs::{Led, State};
use crate::subjects::Subject;
use crate::world::Application;

/// The I/O and data addresses of the halves of SP.
const SPL: (u16, u16) = (0x3d, 0x5d);
const SPH: (u16, u16) = (0x3e, 0x5e);
/// A return address on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pushed {
    /// The stack pointer before its push.
    pointer: u16,
    /// The target of the return, as a flash byte address.
    address: u32,
    is_interrupt: bool,
    /// The number of the stack: 0 for the main one.
    stack: usize,
}

/// Follows the calls of a run.
pub struct Watcher<'a> {
    subject: &'a Subject,
    /// The first and the last address of SRAM.
    sram: (u16, u16),
    /// The bytes of a return address.
    return_bytes: u16,
    /// The end of static data; none where another program may have data of its own.
    static_data_end: Option<u16>,
    /// The return addresses that calls and interrupt entries pushed, oldest first. That of a call stays when POP takes its bytes, until something is
    /// called or SP is written: they may be pushed again.
    pushed: Vec<Pushed>,
    before: Option<State>,
    /// True if one half of SP was written and the other has not followed.
    is_torn: bool,
    /// The number of the stack in use.
    stack: usize,
    /// The deepest that a whole stack pointer was on each stack, in bytes.
    pub deepest: Vec<u32>,
}

impl<'a> Watcher<'a> {
    /// Before the first state of a run.
    #[must_use]
    pub fn new(subject: &'a Subject) -> Self {
        let memory = &subject.device.memory;
        let sram = (memory.sram_start.0, memory.sram_end.0);
        let return_bytes = subject.device.core.pc_bytes.into();
        let end = subject.image.static_data_end().map_or(sram.0, |end| end.0);
        let static_data_end = subject.world.merged.is_empty().then_some(end);
        let deepest = vec![0; 1 + subject.world.stacks.len()];
        Self {
            subject,
            sram,
            return_bytes,
            static_data_end,
            pushed: Vec::new(),
            before: None,
            is_torn: false,
            stack: 0,
            deepest,
        }
    }

    /// Before a state that is not the first one of a run, in which these return addresses are on the main stack.
    #[must_use]
    pub fn amid(subject: &'a Subject, pushed: &[(u16, u32)], is_torn: bool) -> Self {
        let pushed = pushed.iter().map(|(pointer, address)| Pushed {
            pointer: *pointer,
            address: *address,
            is_interrupt: false,
            stack: 0,
        });
        Self { pushed: pushed.collect(), is_torn, ..Self::new(subject) }
    }

    /// Looks at the next state; the hazards that the step into it commits.
    pub fn look(&mut self, state: &State) -> Vec<HazardKind> {
        let mut found = Vec::new();
        if let Some(before) = self.before.take() {
            match state.led {
                Led::Reset => (self.stack, self.is_torn, self.pushed) = (0, false, Vec::new()),
                Led::Entry | Led::Instruction(_) => self.follow(&before, state, &mut found),
            }
        }
        // The target of a return without a call is no hazard of its own.
        if found.is_empty() {
            found.extend(self.outside(state.pc));
        }
        self.before = Some(state.clone());
        found
    }

    /// The return addresses that are on the stacks, oldest first, each with the stack pointer before its push: those on the stack in use come last.
    #[must_use]
    pub fn calls(&self, state: &State) -> Vec<(u16, u32)> {
        let end = state.stack_pointer().saturating_add(self.return_bytes);
        let is_there = |pushed: &&Pushed| pushed.stack != self.stack || pushed.pointer >= end;
        let mut all: Vec<&Pushed> = self.pushed.iter().filter(is_there).collect();
        all.sort_by_key(|pushed| (pushed.stack == self.stack, pushed.stack));
        all.into_iter().map(|pushed| (pushed.pointer, pushed.address)).collect()
    }

    /// The number of the stack in use: 0 for the main one.
    #[must_use]
    pub fn stack(&self) -> usize {
        self.stack
    }

    /// The number of handlers that are active, on all stacks. libsimavr counts those on one stack: a task that is entered by RETI ends none.
    #[must_use]
    pub fn handlers(&self, state: &State) -> usize {
        match self.has_tasks() {
            true => self.pushed.iter().filter(|pushed| pushed.is_interrupt).count(),
            false => state.handlers,
        }
    }

    fn has_tasks(&self) -> bool {
        !self.subject.world.stacks.is_empty()
    }

    /// The hazard of execution where no program is.
    fn outside(&self, pc: u32) -> Option<HazardKind> {
        let world = &self.subject.world;
        if world.has_ended(pc) || world.byte(&self.subject.image, pc).is_some() {
            return None;
        }
        let is_absent = world.application == Application::Absent && pc < world.boot;
        Some(if is_absent { HazardKind::AbsentApplication } else { HazardKind::OutsideImage })
    }

    fn follow(&mut self, before: &State, state: &State, found: &mut Vec<HazardKind>) {
        let (old, new) = (before.stack_pointer(), state.stack_pointer());
        let opcode = match state.led {
            Led::Instruction(opcode) => Some(opcode),
            Led::Entry | Led::Reset => None,
        };
        let is_written = |half| opcode.is_some_and(|opcode| self.writes(opcode, before.pc, half));
        let (is_sph, is_spl) = (is_written(SPH), is_written(SPL));
        let is_used = !is_sph && !is_spl && old != new;
        if is_used && self.is_torn {
            self.select(old);
        }
        let is_half = is_sph || is_spl && self.has_tasks() && self.writes_sph_next(state.pc);
        self.is_torn = is_half || self.is_torn && !is_spl && old == new;
        let stack = self.stack;
        match opcode {
            None => self.push(old, before.pc, true),
            Some(opcode) if is_call(opcode) => {
                let words = if opcode & 0xfe0e == 0x940e { 4 } else { 2 };
                self.forget(|pushed| pushed.pointer > old);
                self.push(old, before.pc + words, false);
            }
            Some(opcode) if is_return(opcode) => {
                let is_it = |pushed: &Pushed| (pushed.stack, pushed.pointer, pushed.address) == (stack, new, state.pc);
                let mut own = self.pushed.iter().filter(|pushed| pushed.stack == stack);
                match self.pushed.iter().rposition(is_it) {
                    Some(index) => self.forget_from(index),
                    None if !own.all(|pushed| pushed.pointer < new) => found.push(HazardKind::ReturnToNonCall),
                    // The first entry of a task: its address was stored on its stack.
                    None if self.area().is_some_and(|area| contains(area, new)) => {}
                    None => found.push(HazardKind::CallStackUnderflow),
                }
            }
            Some(_) => {}
        }
        if is_used {
            self.touch(old, new, found);
        }
        // Of several hazards of a step the first one ends the run.
        found.truncate(1);
        if !found.is_empty() {
            return;
        }
        if !self.is_torn {
            self.settle(old, new, is_spl, found);
        } else if self.has_tasks() && self.uses_stack(state.pc) {
            self.is_torn = false;
            self.settle(old, new, true, found);
        }
    }

    /// Looks at a stack pointer that is whole. `is_set`: it was written.
    fn settle(&mut self, old: u16, new: u16, is_set: bool, found: &mut Vec<HazardKind>) {
        if is_set {
            self.select(new);
        }
        let end = self.area().map_or(self.sram.1, |area| area.highest.0);
        let deepest = &mut self.deepest[self.stack];
        *deepest = (*deepest).max(u32::from(end).saturating_sub(new.into()));
        let whole = new.saturating_add(self.return_bytes);
        let has_tasks = self.has_tasks();
        self.forget(|pushed| {
            let least = if is_set || has_tasks && pushed.is_interrupt { whole } else { new };
            pushed.pointer >= least
        });
        if self.stack == 0 {
            let lowest = new.wrapping_add(1);
            let is_data = self.static_data_end.is_some_and(|end| (self.sram.0..end).contains(&lowest));
            if is_data && (new < old || is_set && self.has_tasks()) {
                found.push(HazardKind::StackIntoData);
            }
            if new != old && (new > self.sram.1 || new.wrapping_add(1) < self.sram.0) {
                found.push(HazardKind::StackOutsideSram);
            }
        }
    }

    /// Looks at the bytes that a step pushed or popped on the stack of a task.
    fn touch(&self, old: u16, new: u16, found: &mut Vec<HazardKind>) {
        let Some(area) = self.area() else { return };
        let (below, highest) = (old.min(new), old.max(new));
        if !(below + 1..=highest).all(|address| contains(area, address)) {
            found.push(HazardKind::StackIntoData);
        }
    }

    /// Goes to the stack that SP was set to: the one that contains it. A full one is not left for what lies below it.
    fn select(&mut self, pointer: u16) {
        let stacks = &self.subject.world.stacks;
        let is_full = self.area().is_some_and(|area| pointer.wrapping_add(1) == area.lowest.0);
        match stacks.iter().position(|area| contains(area, pointer)) {
            Some(index) => self.stack = index + 1,
            None if is_full => {}
            None => self.stack = 0,
        }
    }

    /// The bytes of the stack of the task that runs; none for the main stack.
    fn area(&self) -> Option<&'a StackArea> {
        self.stack.checked_sub(1).map(|index| &self.subject.world.stacks[index])
    }

    fn push(&mut self, pointer: u16, address: u32, is_interrupt: bool) {
        self.pushed.push(Pushed { pointer, address, is_interrupt, stack: self.stack });
    }

    /// Forgets the return addresses on the stack in use of which something is not so.
    fn forget(&mut self, stays: impl Fn(&Pushed) -> bool) {
        let stack = self.stack;
        self.pushed.retain(|pushed| pushed.stack != stack || stays(pushed));
    }

    /// Forgets those on the stack in use from this one on.
    fn forget_from(&mut self, index: usize) {
        let (stack, mut number) = (self.stack, 0);
        self.pushed.retain(|pushed| {
            number += 1;
            pushed.stack != stack || number <= index
        });
    }

    /// True if the instruction at a flash byte address uses the stack.
    fn uses_stack(&self, pc: u32) -> bool {
        let opcode = self.word(pc).unwrap_or(0);
        is_call(opcode) || is_return(opcode) || matches!(opcode & 0xfe0f, 0x920f | 0x900f)
    }

    /// True if one of the next two instructions writes SPH, before anything uses the stack: loads and copies may come between.
    fn writes_sph_next(&self, pc: u32) -> bool {
        let Some(opcode) = self.word(pc) else { return false };
        if self.writes(opcode, pc, SPH) {
            return true;
        }
        let is_lds = opcode & 0xfe0f == 0x9000;
        let is_load = opcode & 0xd200 == 0x8000 || opcode & 0xfe00 == 0x9000 && matches!(opcode & 0xf, 1 | 2 | 9..=0xe);
        let is_passed = is_lds || is_load || opcode & 0xfc00 == 0x2c00 || opcode == 0;
        let next = pc + if is_lds { 4 } else { 2 };
        is_passed && self.word(next).is_some_and(|opcode| self.writes(opcode, next, SPH))
    }

    /// True if an instruction, OUT or STS, writes an I/O register.
    fn writes(&self, opcode: u16, pc: u32, (io, address): (u16, u16)) -> bool {
        let is_out = opcode & 0xf800 == 0xb800 && (opcode >> 5 & 0x30 | opcode & 0xf) == io;
        is_out || opcode & 0xfe0f == 0x9200 && self.word(pc + 2) == Some(address)
    }

    fn word(&self, address: u32) -> Option<u16> {
        let byte = |at: u32| self.subject.world.byte(&self.subject.image, at);
        Some(u16::from_le_bytes([byte(address)?, byte(address + 1)?]))
    }
}

/// True if a stack may take a byte.
fn contains(area: &StackArea, address: u16) -> bool {
    (area.lowest.0..=area.highest.0).contains(&address)
}

/// RCALL, CALL, ICALL and EICALL.
fn is_call(opcode: u16) -> bool {
    opcode & 0xf000 == 0xd000 || opcode & 0xfe0e == 0x940e || matches!(opcode, 0x9509 | 0x9519)
}

/// RET and RETI.
fn is_return(opcode: u16) -> bool {
    opcode == 0x9508 || opcode == 0x9518
}
