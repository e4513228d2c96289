//! Path compression: states are kept only where something is decided.
//!
//! From a state that is kept, a run goes on without being looked at as long as each step has one outcome, whatever the
//! inputs and whatever the stored values that are unknown. No goal can tell that the states in between are left out:
//! hazards are kept, and a state is kept where the label of a goal changes, or has just not changed yet if it matters what can be
//! reached from there, and where the stack is deeper than ever before. See `docs/soundness.md`, section "States that are left out".

mod log;
#[cfg(test)]
mod tests;
mod unfolding;

use crate::stack;
use crate::state::{AbstractState, Location, Running};
use crate::system::Firmware;
use avr_isa::Instruction;
use avr_machine::{Control, Fetched, FrameKind, Machine, MachineState, Program};
use avr_properties::{Atom, StateView};
use fixedbitset::FixedBitSet;
pub(crate) use log::{Log, Spot};
use mu_calculus::AtomId;
use std::collections::BTreeSet;
use three_valued::{ByteDomain, Truth, TvByte};
use tvar::{LocationPrecision, Lookup, System, Variable};

/// The most steps after which a state is kept, whatever it is.
const MAX_STEPS: u32 = 4096;
/// How often the heads of loops are passed in one state space where no interrupt can come.
const FREE_ROUNDS: u32 = 200_000;

/// Deliberate faults, to see that the tests find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Of a step with several outcomes one is followed.
    FirstOutcomeOnly,
    /// States with the deepest stack are left out.
    DeepestLeftOut,
    /// A step with several outcomes is kept as the first of them.
    NotTakenBack,
    /// Of cases that are to be joined the first stands for all.
    FirstCaseOnly,
    /// Labels are not compared.
    LabelsUnseen,
    /// The state before a label changes is left out although it matters what can be reached from it.
    LastLeftOut,
}

#[cfg(not(test))]
pub(crate) const fn faulty(_: Fault) -> bool {
    false
}

#[cfg(test)]
avr_testkit::thread_faults!(Fault);

/// Where states are kept.
#[derive(Debug)]
pub(crate) struct Compression {
    /// Instructions (flash word addresses) that some jump leads back to.
    loop_heads: FixedBitSet,
    /// The least value of the stack pointer in the present state space.
    deepest: u16,
    /// How often the heads of loops may still be passed.
    rounds: u32,
    /// Whether goals see more than hazards and how deep the stack gets.
    sees_content: bool,
    /// What was passed since the present state space was begun.
    passed: Log,
}

impl Compression {
    /// The compression for a machine.
    pub(crate) fn new(machine: &Machine, sees_content: bool) -> Self {
        let mut loop_heads = FixedBitSet::with_capacity(machine.program.words() as usize);
        for address in 0..machine.program.words() {
            if let Some(target) = jump(&machine.program, address).filter(|target| *target <= address) {
                loop_heads.insert(target as usize);
            }
        }
        let (deepest, rounds, passed) = (machine.data_end(), FREE_ROUNDS, Log::default());
        Self { loop_heads, deepest, rounds, sees_content, passed }
    }

    /// Begins a state space.
    pub(crate) fn begin(&mut self, machine: &Machine) {
        (self.deepest, self.rounds) = (machine.data_end(), FREE_ROUNDS);
        self.passed = Log::default();
    }

    /// The least value of the stack pointer in the present state space.
    pub(crate) fn deepest(&self) -> u16 {
        self.deepest
    }

    /// Takes back what was noted of the stack pointer.
    pub(crate) fn set_deepest(&mut self, pointer: u16) {
        self.deepest = pointer;
    }

    /// What was passed since the present state space was begun.
    pub(crate) fn passed(&self) -> &Log {
        &self.passed
    }
}

/// Where a jump or branch at a flash word address leads.
fn jump(program: &Program, address: u32) -> Option<u32> {
    let Fetched::Instruction { instruction, .. } = program.fetch(address) else { return None };
    let relative = |offset: i32| (address + 1).wrapping_add_signed(offset) & (program.words() - 1);
    match instruction {
        Instruction::Rjmp { offset } => Some(relative(offset.into())),
        Instruction::Jmp { target } => Some(target),
        Instruction::Brbs { offset, .. } | Instruction::Brbc { offset, .. } => Some(relative(offset.into())),
        _ => None,
    }
}

/// A run between two states that are kept.
#[derive(Clone)]
pub(crate) struct Passage<'a> {
    /// The labels of the state where it began.
    labels: &'a [Truth],
    /// Where it began.
    from: Spot,
    /// Where it is, or was before the last step.
    at: Spot,
    /// How many steps were taken.
    steps: u32,
    /// The least value of the stack pointer on the way.
    lowest: u16,
    /// The stack pointer, where no half of it waits for the other one.
    pointer: Option<u16>,
    /// The stack pointer for which the labels were compared last, and whether a half of it waited for the other one.
    compared: Option<(u16, bool)>,
    /// Whether goals see that the last step was taken: it changed the label of one of them.
    is_seen: bool,
    /// The fewest frames of the call string; with fewer the run ends.
    floor: usize,
}

impl<'a> Passage<'a> {
    /// The beginning of a run from a state with these labels, at this place.
    pub(crate) fn new(labels: &'a [Truth], from: Spot) -> Self {
        let (steps, lowest, pointer, compared, is_seen, floor) = (0, u16::MAX, None, None, false, 0);
        Self { labels, from, at: from, steps, lowest, pointer, compared, is_seen, floor }
    }

    /// The same that ends as soon as the call string has fewer frames.
    pub(crate) fn until_return(self, floor: usize) -> Self {
        Self { floor, ..self }
    }

    /// The labels of the state where it began.
    pub(crate) fn labels(&self) -> &'a [Truth] {
        self.labels
    }

    /// Whether some steps were left out before one that goals see.
    pub(crate) fn ends_with_what_is_seen(&self) -> bool {
        self.is_seen && self.steps > 0
    }

    /// Begins a step that may be taken back.
    pub(crate) fn begin_step(&mut self, state: &mut MachineState<TvByte>) {
        self.steps += 1;
        state.data.remember();
        state.calls.remember();
    }

    /// Ends the run: no step is taken back any more.
    pub(crate) fn end(&self, state: &mut MachineState<TvByte>) {
        state.data.forget();
        state.calls.forget();
    }

    /// Takes the last step back.
    pub(crate) fn take_back(&self, state: &mut MachineState<TvByte>, control: Control) {
        if faulty(Fault::NotTakenBack) {
            return;
        }
        state.data.put_back();
        state.calls.put_back();
        state.control = control;
    }
}

/// The machine at work as atoms see it.
struct AtWork<'a>(&'a MachineState<TvByte>);

impl StateView for AtWork<'_> {
    fn cell(&self, address: u16) -> TvByte {
        *self.0.data.get(address)
    }

    fn pc(&self) -> u32 {
        self.0.control.pc * 2
    }

    fn stack_pointer_torn(&self) -> bool {
        self.0.control.torn
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.0.control.sleeping)
    }

    fn interrupt_depth(&self) -> usize {
        self.0.calls.frames().iter().filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}

/// Whether the machine at work has these labels.
fn has_labels(atoms: &[Atom], labels: &[Truth], state: &MachineState<TvByte>) -> bool {
    atoms.iter().zip(labels).all(|(atom, label)| atom.evaluate(&AtWork(state)) == *label)
}

impl Firmware<'_> {
    /// Whether goals can tell the machine at work from a state with these labels.
    pub(crate) fn can_tell(&self, labels: &[Truth]) -> bool {
        let sees_content = self.compression.as_ref().is_some_and(|compression| compression.sees_content);
        sees_content && !has_labels(self.atoms, labels, &self.workspace.state)
    }

    /// The labels of a state.
    pub(crate) fn labels(&self, state: &AbstractState) -> Vec<Truth> {
        (0..self.atoms.len()).map(|atom| self.label(state, AtomId(atom as u32))).collect()
    }

    /// Whether the machine at work is to be stored as it is.
    pub(crate) fn is_kept(&mut self, passage: &mut Passage<'_>) -> bool {
        let Some(compression) = &mut self.compression else { return true };
        let state = &self.workspace.state;
        let pointer = self.forgetting.whole_pointer(state);
        passage.pointer = pointer;
        let compared = self.forgetting.pointer_in(&state.data).map(|pointer| (pointer, state.control.torn));
        if compared.is_none() || passage.compared != compared || compression.sees_content {
            passage.compared = compared;
            passage.is_seen = !has_labels(self.atoms, passage.labels, state) && !faulty(Fault::LabelsUnseen);
        }
        if let Some(pointer) = pointer {
            passage.lowest = passage.lowest.min(pointer);
            if pointer < compression.deepest && !faulty(Fault::DeepestLeftOut) {
                compression.deepest = pointer;
                return true;
            }
        }
        if passage.is_seen {
            return true;
        }
        if passage.steps >= MAX_STEPS || state.control.sleeping || state.calls.frames().len() < passage.floor {
            return true;
        }
        if !compression.loop_heads.contains(state.control.pc as usize) {
            return false;
        }
        let is_alone = state.data.get(self.machine.status_address()).bit(7).known() == Some(false)
            && state.calls.frames().iter().all(|frame| frame.kind == FrameKind::Call);
        let is_free = is_alone && compression.rounds > 0;
        compression.rounds -= u32::from(is_free);
        !is_free
    }

    /// The precision where the machine at work is.
    pub(crate) fn precision_here<'p>(&mut self, precision: &'p dyn Lookup<Self>) -> &'p LocationPrecision {
        if let Some(common) = precision.common(&Location::everywhere_at(self.workspace.state.control.pc)) {
            return common;
        }
        let location = self.location_at_work();
        precision.at(&location).expect("paths are compressed only where precision is kept per location")
    }

    /// Takes note of what the last step came to.
    pub(crate) fn note_move(&mut self, passage: &mut Passage<'_>) {
        let here = Spot { pc: self.workspace.state.control.pc, calls: self.workspace.save_calls(&mut self.store) };
        if let Some(compression) = &mut self.compression {
            compression.passed.note_move(passage.at, here);
        }
        passage.at = here;
    }

    /// Takes note of a run of some steps, by way of several places, to where the machine at work is.
    pub(crate) fn note_joined(&mut self, passage: &mut Passage<'_>, moves: &BTreeSet<(u32, u32)>, steps: u32) {
        let pointer = self.forgetting.whole_pointer(&self.workspace.state);
        let depth = self.depth_at(pointer);
        let spot = |pc| Spot { pc, calls: passage.from.calls };
        let last = spot(self.workspace.state.control.pc);
        if let Some(compression) = &mut self.compression {
            for (from, to) in moves {
                compression.passed.note_move(spot(*from), spot(*to));
                if spot(*to) != last {
                    compression.passed.note_spot(spot(*to), depth);
                }
            }
        }
        passage.at = last;
        passage.steps += steps.saturating_sub(1);
    }

    /// Whether some jump leads back to an instruction (flash word address).
    pub(crate) fn is_loop_head(&self, pc: u32) -> bool {
        self.compression.as_ref().is_some_and(|compression| compression.loop_heads.contains(pc as usize))
    }

    /// Takes note of where a run ended.
    pub(crate) fn note_length(&mut self, passage: &Passage<'_>) {
        if let Some(compression) = &mut self.compression {
            compression.passed.note_length(passage.from, passage.at, passage.steps);
        }
    }

    /// Takes note that the state before the last step is left out.
    pub(crate) fn note_left_out(&mut self, passage: &Passage<'_>) {
        let depth = self.depth_at(passage.pointer);
        if let Some(compression) = &mut self.compression {
            compression.passed.note_spot(passage.at, depth);
        }
    }

    /// Takes note of a state of a handler that is passed.
    pub(crate) fn note_kept(&mut self, spot: Spot, state: &AbstractState) {
        let depth = stack::depth(self, state);
        if let Some(compression) = &mut self.compression {
            compression.passed.note_spot(spot, depth);
        }
    }

    /// Takes note that the handler that the machine at work has just entered from a state is passed.
    pub(crate) fn note_passed(&mut self, from: &Running) {
        let entry = Spot { pc: self.workspace.state.control.pc, calls: self.workspace.save_calls(&mut self.store) };
        let interrupted = Spot { pc: from.control.pc, calls: from.calls };
        let depth = self.depth_at(self.forgetting.whole_pointer(&self.workspace.state));
        if let Some(compression) = &mut self.compression {
            compression.passed.note_spot(entry, depth);
            compression.passed.note_move(interrupted, entry);
            compression.passed.note_move(entry, interrupted);
        }
    }

    /// How deep the stack is, in bytes below RAMEND.
    fn depth_at(&self, pointer: Option<u16>) -> Option<u32> {
        pointer.map(|pointer| u32::from(self.machine.data_end()).saturating_sub(pointer.into()))
    }

    /// The location where the machine at work is.
    fn location_at_work(&mut self) -> Location {
        let calls = self.workspace.save_calls(&mut self.store);
        let state = &self.workspace.state;
        Location::Running {
            control: state.control,
            stack_pointer: self.forgetting.pointer_in(&state.data),
            calls: calls.0,
            round: self.forgetting.round_at_work(self.machine, &self.store, state, calls),
        }
    }

    /// Forgets what was popped on the way: nothing reads it, and refinement brings back what is read all the same.
    pub(crate) fn forget_popped(&mut self, passage: &Passage<'_>, precision: &dyn Lookup<Self>) {
        let Some(pointer) = self.forgetting.whole_pointer(&self.workspace.state) else { return };
        if passage.lowest >= pointer {
            return;
        }
        let pinned = &self.precision_here(precision).step.pinned;
        for address in passage.lowest + 1..=pointer.min(self.machine.data_end()) {
            if self.machine.sram().contains(&address) {
                let mask = !(pinned.get(Variable(address.into())) as u8);
                let cell = self.workspace.state.data.get(address).forget(mask);
                self.workspace.state.data.set(address, cell);
            }
        }
    }
}
