//! Partial-order reduction of interrupts: see `docs/soundness.md`, section "Partial-order reduction".
//!
//! A handler is *transparent* if it gives back registers and flags as it found them, and does not look at them. Its
//! interrupt may as well come one instruction later. The condition is that this instruction touches no memory that
//! handlers touch, does not make the stack shallower, and changes nothing that properties see. So it is looked at only
//! before instructions for which that is not so. The read and write sets of handlers are assumed while a state space is
//! built, noted meanwhile, and compared in the end. If something was missing, the space is built anew.

use super::handler_footprint::Footprint;
use super::interface::Reduction;
use super::notes::AccessNotes;
use super::visibility::{Next, Visibility};
use crate::faults::partial_order::{Fault, is_on};
use crate::pass::Pass;
use crate::state::deferral::Deferral;
use crate::transfer::interrupt_timing::InterruptTiming;
use crate::transfer::step_accesses::StepAccesses;
use avr_analysis::control_flow::goes_forward;
use avr_analysis::handler_transparency::{is_processor, is_transparent};
use avr_analysis::instruction_class::{is_memory_instruction, raises};
use avr_analysis::interrupts::lets_interrupts_in;
use avr_isa::{
    Addressing, ControlFlow, DataAddress, FlashWordAddress, Instruction, MemoryAccess, Pointer, PointerMode,
};
use avr_machine::{Fetched, FrameKind, Machine, MachineState, flag};
use three_valued::{BitDomain, ByteDomain, fault};

/// The number of times that assumptions may be wrong before none are made any more.
const MAX_ATTEMPTS: u32 = 24;
/// The most candidates of an unknown address that are looked at.
const MAX_CANDIDATES: u32 = 6;

/// The reduction of one run.
#[derive(Clone, Debug)]
pub(crate) struct PartialOrder {
    /// The handlers that give everything back, by interrupt number.
    transparent: u128,
    /// The read and write sets of handlers, as the present state space assumes.
    assumed: Footprint,
    /// The read and write sets of handlers since it was begun.
    seen: Footprint,
    /// The visibility of properties besides hazards and the depth of the stack.
    visibility: Visibility,
    attempts: u32,
    /// The notes of the present expansion.
    pub(crate) noted: AccessNotes,
    /// The number of times that the assumptions changed.
    assumptions: u32,
}

impl Reduction for PartialOrder {
    fn passes(&self) -> &'static [Pass] {
        &[Pass::PartialOrderReduction]
    }

    /// Begins a state space: it assumes what was seen until now as well.
    fn begin(&mut self, machine: &Machine) {
        let noted = std::mem::take(&mut self.noted);
        self.enter(&noted);
        let mut seen = std::mem::replace(&mut self.seen, Footprint::new(machine));
        if self.assumed.covers(&seen) {
            // A handler that only a coarser space could not exclude does not disturb a finer one.
            self.assumptions += u32::from(self.assumed.disturbing != seen.disturbing);
            self.assumed.disturbing = seen.disturbing;
        } else {
            seen.widen(machine);
            self.assumed.add(&seen);
            self.attempts += 1;
            self.assumptions += 1;
        }
        if self.attempts > MAX_ATTEMPTS {
            self.transparent = 0;
        }
    }

    fn is_discharged(&self) -> bool {
        self.assumed.covers(&self.seen)
    }
}

impl PartialOrder {
    /// A reduction for a machine; none where it brings nothing, or where resets may come at any moment.
    pub(crate) fn new(machine: &Machine, visibility: Visibility) -> Option<Self> {
        let is_useful = lets_interrupts_in(machine) && machine.options().resets.is_empty();
        is_useful.then(|| {
            let vectors = machine.device.interrupts.iter();
            let transparent =
                vectors.filter(|interrupt| is_transparent(machine, FlashWordAddress(interrupt.vector.into())));
            Self {
                transparent: transparent.fold(0, |all, interrupt| all | 1 << interrupt.number),
                assumed: Footprint::new(machine),
                seen: Footprint::new(machine),
                visibility,
                attempts: 0,
                noted: AccessNotes::default(),
                assumptions: 0,
            }
        })
    }

    /// The number of times that the assumptions changed.
    pub(crate) fn assumptions(&self) -> u32 {
        self.assumptions
    }

    /// The read and write sets of the present state space.
    #[cfg(any(test, feature = "faults"))]
    pub(crate) fn seen(&self) -> Footprint {
        self.seen.clone()
    }

    /// Takes note of an expansion in the present state space.
    pub(crate) fn enter(&mut self, notes: &AccessNotes) {
        self.seen.read.extend(notes.read.iter().map(|cell| cell.index()));
        self.seen.written.extend(notes.written.iter().map(|cell| cell.index()));
        self.seen.deepest = notes.deepest.map_or(self.seen.deepest, |deepest| deepest.min(self.seen.deepest));
        self.seen.disturbing |= notes.disturbing;
    }

    /// True if the handler of an interrupt gives everything back, as far as the present state space assumes.
    pub(crate) fn is_transparent(&self, number: u8) -> bool {
        (self.transparent & !self.assumed.disturbing) >> number & 1 == 1
    }

    /// The cells that properties see; none if they may see any.
    pub(crate) fn seen_cells(&self) -> Option<impl Iterator<Item = DataAddress> + '_> {
        self.visibility.cells()
    }

    /// The timing of the interrupts that are possible before a step from a state.
    pub(crate) fn timing<V: ByteDomain>(
        &self,
        machine: &Machine,
        state: &MachineState<V>,
        before: Deferral,
    ) -> InterruptTiming {
        let control = &state.control;
        if interrupts(state).next().is_some() || control.sleeping || !is_enabled(machine, state) {
            return InterruptTiming::Now;
        }
        if control.interrupt_delay {
            let is_lost = is_on(Fault::NothingPending) || fault::is_on(fault::Fault::NothingOwed);
            return if before.pending && !is_lost { InterruptTiming::Pending } else { InterruptTiming::Now };
        }
        let is_calm = !control.fresh_request && control.windows.iter().all(|left| *left == 0);
        let Some(pointer) = whole_pointer(machine, state).filter(|_| is_calm && self.all_transparent(machine, state))
        else {
            return InterruptTiming::Now;
        };
        if before.granted != DataAddress(0) && (before.granted <= pointer || is_on(Fault::GrantedShallower)) {
            return InterruptTiming::Granted;
        }
        match machine.program.fetch(control.pc) {
            Fetched::Instruction { instruction, words, .. }
                if (!raises(instruction) || is_on(Fault::ShallowerLater))
                    && goes_forward(machine, instruction, control.pc, words)
                    && !self.conflicts(machine, state, instruction, pointer) =>
            {
                InterruptTiming::Deferred
            }
            _ => InterruptTiming::Now,
        }
    }

    /// The deferral after a step.
    pub(crate) fn after<V: ByteDomain>(
        &self,
        machine: &Machine,
        steps: &StepAccesses,
        before: &Before,
        state: &MachineState<V>,
    ) -> Deferral {
        let Before { deferral, timing, .. } = *before;
        if steps.interrupted || before.in_handler {
            return Deferral { granted: DataAddress(0), ..deferral };
        }
        let executed = before.executed.filter(|_| !state.control.sleeping && is_enabled(machine, state));
        let (Some((_, false)), Some(pointer)) = (executed, before.pointer) else { return Deferral::default() };
        let after = whole_pointer(machine, state);
        let is_kept =
            |granted: DataAddress| after.is_some_and(|after| granted <= after || is_on(Fault::GrantedShallower));
        // SOUND: where it matters from where a state can be reached, a later chance is none that was given before.
        let is_late = self.visibility.branches && !is_on(Fault::GrantedBefore);
        let kept = |granted: DataAddress| if is_kept(granted) && !is_late { granted } else { DataAddress(0) };
        match timing {
            InterruptTiming::Deferred => {
                Deferral { pending: deferral.pending || steps.skipped, granted: DataAddress(0) }
            }
            InterruptTiming::Granted => Deferral { granted: kept(deferral.granted), ..deferral },
            InterruptTiming::Now if before.held_off => Deferral::default(),
            InterruptTiming::Now | InterruptTiming::Pending => Deferral { pending: false, granted: kept(pointer) },
        }
    }

    /// The facts about the state before a step, in which stored values are cut into cases or not.
    pub(crate) fn before<V: ByteDomain>(
        &self,
        machine: &Machine,
        state: &MachineState<V>,
        deferral: Deferral,
        is_cut: bool,
    ) -> Before {
        let timing = match self.timing(machine, state, deferral) {
            // Handlers need not run in every case, if they have their chance before.
            InterruptTiming::Deferred if is_cut => InterruptTiming::Now,
            timing => timing,
        };
        let pointer = whole_pointer(machine, state);
        let handler = interrupts(state).next();
        let executed = match (machine.program.fetch(state.control.pc), pointer) {
            (Fetched::Instruction { instruction, .. }, Some(pointer)) if handler.is_none() => {
                Some((instruction, self.conflicts(machine, state, instruction, pointer)))
            }
            (Fetched::Instruction { instruction, .. }, _) => Some((instruction, true)),
            (Fetched::Reserved | Fetched::Outside, _) => None,
        };
        Before {
            deferral,
            timing,
            pointer,
            executed,
            in_handler: handler.is_some(),
            held_off: state.control.interrupt_delay && timing != InterruptTiming::Pending
                || !is_enabled(machine, state)
                || state.control.windows.iter().any(|left| *left != 0),
            handler,
        }
    }

    /// Takes note of where a step led.
    pub(crate) fn note_depth<V: ByteDomain>(&mut self, machine: &Machine, state: &MachineState<V>) {
        if let Some(pointer) = whole_pointer(machine, state) {
            self.noted.deepest = self.noted.deepest.into_iter().chain([pointer]).min();
        }
    }

    /// Forgets the facts that a step that wrote or cut these cells made known below the stack pointer: contents, and
    /// what they are copies of. Handlers may have used that memory meanwhile. `pointer` is the stack pointer before the
    /// step; without it everything below the stack pointer is forgotten.
    pub(crate) fn forget_below<V: ByteDomain>(
        &self,
        machine: &Machine,
        changed: impl Iterator<Item = DataAddress>,
        pointer: Option<DataAddress>,
        state: &mut MachineState<V>,
        unknown: &V,
    ) {
        let after = whole_pointer(machine, state);
        if !is_on(Fault::CopiesOfGarbage) {
            state.control.copies.forget(self.garbage(machine, state));
        }
        let Some(after) = after else { return };
        let mut sets_pointer = false;
        let forget = |cell: DataAddress, state: &mut MachineState<V>| {
            if machine.sram().contains(&cell) {
                state.data.set(cell, unknown.clone());
            }
        };
        for cell in changed {
            sets_pointer |= machine.stack_pointer().contains(cell);
            if (self.assumed.deepest..=after).contains(&cell) {
                forget(cell, state);
            }
        }
        let left = match pointer {
            Some(pointer) if !sets_pointer => pointer.saturating_add(1),
            _ => self.assumed.deepest,
        };
        left.through(after).for_each(|cell| forget(cell, state));
    }

    /// The cells below the stack pointer that handlers may have used meanwhile.
    pub(crate) fn garbage<V: ByteDomain>(
        &self,
        machine: &Machine,
        state: &MachineState<V>,
    ) -> impl Fn(DataAddress) -> bool + use<V> {
        let (deepest, pointer) = (self.assumed.deepest, whole_pointer(machine, state));
        move |cell| cell >= deepest && pointer.is_none_or(|pointer| cell <= pointer)
    }

    /// Takes note of what the handler touched, if the step was one of a handler.
    pub(crate) fn note_accesses<V: ByteDomain>(
        &mut self,
        machine: &Machine,
        steps: &StepAccesses,
        before: &Before,
        state: &MachineState<V>,
    ) {
        let Some((number, position)) = before.handler.filter(|_| !is_on(Fault::NothingNoted)) else { return };
        let lowest = before.pointer.into_iter().chain(whole_pointer(machine, state)).min();
        let is_own = |cell: DataAddress| lowest.is_some_and(|lowest| lowest < cell) && cell <= position;
        let uses_stack = before.executed.is_some_and(|(instruction, _)| instruction.uses_stack());
        let through_pointer = before.executed.is_some_and(|(instruction, _)| is_memory_instruction(instruction));
        for cell in steps.read.iter().chain(&steps.perhaps_read) {
            if through_pointer && is_processor(*cell) {
                self.noted.disturbing = u128::MAX;
            }
            if !is_own(*cell) {
                self.noted.read.push(*cell);
            }
        }
        for cell in steps.written.iter().chain(&steps.perhaps_written) {
            if through_pointer && is_processor(*cell) {
                self.noted.disturbing = u128::MAX;
            }
            if is_own(*cell) && !uses_stack {
                // The cell may be one where the handler keeps a value that it is to give back.
                self.noted.disturbing |= 1 << number;
            } else if !is_own(*cell) {
                self.noted.written.push(*cell);
            }
        }
    }

    /// True if every interrupt that may be enabled has a transparent handler.
    fn all_transparent<V: ByteDomain>(&self, machine: &Machine, state: &MachineState<V>) -> bool {
        let transparent =
            if is_on(Fault::AllTransparent) { u128::MAX } else { self.transparent & !self.assumed.disturbing };
        let is_enabled =
            |bit: avr_machine::device::BitRef| state.data.get(bit.address).bit(bit.bit).known() != Some(false);
        let moved = machine.vectors_moved_by().is_some_and(is_enabled);
        let mut all = machine.device.interrupts.iter();
        !moved && all.all(|interrupt| transparent >> interrupt.number & 1 == 1 || !is_enabled(interrupt.enable))
    }

    /// True if it matters whether handlers run before or after an instruction.
    fn conflicts<V: ByteDomain>(
        &self,
        machine: &Machine,
        state: &MachineState<V>,
        instruction: Instruction,
        pointer: DataAddress,
    ) -> bool {
        if is_on(Fault::NoConflicts) {
            return false;
        }
        let hits = |pointer: Pointer, mode: PointerMode, is_seen: &dyn Fn(DataAddress) -> bool| {
            !self.all_addresses(machine, state, pointer, mode, |cell| !is_seen(cell))
        };
        let next = Next { pc: state.control.pc, instruction, pointer };
        if self.visibility.observes(machine, next, hits) && !is_on(Fault::NothingSeen) {
            return true;
        }
        let pushed = machine.device.core.pc_bytes.into();
        // It changes whether interrupts can come, or halts the processor.
        let changes_interrupts = instruction.flags_written().contains(flag::I);
        if changes_interrupts || halts(instruction, state.control.pc, machine) {
            return true;
        }
        // SOUND: handlers may change the bits above Z.
        if machine.extension_read(instruction).is_some_and(|register| !self.is_unwritten(register)) {
            return true;
        }
        match instruction.memory_access() {
            MemoryAccess::None => false,
            MemoryAccess::Load(Addressing::Indirect { pointer, mode }) => {
                !self.all_addresses(machine, state, pointer, mode, |cell| self.is_unwritten(cell))
            }
            MemoryAccess::Store(Addressing::Indirect { pointer, mode }) => {
                !self.all_addresses(machine, state, pointer, mode, |cell| self.is_untouched(cell))
            }
            MemoryAccess::Load(Addressing::Direct(address)) => {
                !(machine.sram().contains(&address) && self.is_unwritten(address))
            }
            MemoryAccess::Store(Addressing::Direct(address)) => {
                !(machine.sram().contains(&address) && self.is_untouched(address))
            }
            MemoryAccess::Push => !self.is_untouched(pointer),
            MemoryAccess::PushReturnAddress => {
                (0..pushed).any(|offset| !self.is_untouched(pointer.wrapping_sub(offset)))
            }
            MemoryAccess::Pop => !self.is_unwritten(pointer.wrapping_add(1)),
            MemoryAccess::PopReturnAddress => {
                (1..=pushed).any(|offset| !self.is_unwritten(pointer.wrapping_add(offset)))
            }
            // SREG and SP are as they were when a handler has returned.
            MemoryAccess::LoadIo { address } => !is_processor(address),
            MemoryAccess::LoadFlash => {
                let programming = machine.device.self_programming.as_ref();
                programming.is_some_and(|programming| !self.is_unwritten(programming.enable.address))
            }
            MemoryAccess::StoreIo { .. }
            | MemoryAccess::StoreIoBit { .. }
            | MemoryAccess::LoadIoBit { .. }
            | MemoryAccess::StoreFlash
            | MemoryAccess::ResetWatchdog => true,
        }
    }

    fn is_unwritten(&self, cell: DataAddress) -> bool {
        !self.assumed.written.contains(cell.index())
    }

    fn is_untouched(&self, cell: DataAddress) -> bool {
        self.is_unwritten(cell) && !self.assumed.read.contains(cell.index())
    }

    /// True if all cells that an access may hit are SRAM and as wanted.
    fn all_addresses<V: ByteDomain>(
        &self,
        machine: &Machine,
        state: &MachineState<V>,
        pointer: Pointer,
        mode: PointerMode,
        wanted: impl Fn(DataAddress) -> bool,
    ) -> bool {
        let byte = |register: avr_isa::Register| state.data.get(register.address()).bits();
        let (low, high) = (byte(pointer.low()), byte(pointer.high()));
        let unknown = u16::from_le_bytes([low.unknown_mask(), high.unknown_mask()]);
        if unknown.count_ones() > MAX_CANDIDATES {
            return false;
        }
        let base = u16::from_le_bytes([low.value(), high.value()]);
        let offset = match mode {
            PointerMode::Displacement(offset) => offset.into(),
            PointerMode::PostIncrement => 0,
            PointerMode::PreDecrement => u16::MAX,
        };
        let mut bits = 0u16;
        loop {
            let cell = DataAddress((base | bits).wrapping_add(offset));
            if !(machine.sram().contains(&cell) && wanted(cell)) {
                return false;
            }
            bits = (bits | !unknown).wrapping_add(1) & unknown;
            if bits == 0 {
                return true;
            }
        }
    }
}

/// The facts that matter of the state before a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    deferral: Deferral,
    pub(crate) timing: InterruptTiming,
    /// The stack pointer, unless it is torn or unknown.
    pointer: Option<DataAddress>,
    /// The instruction that the step executes if it executes one, and whether it conflicts with handlers, as far as it
    /// is none of a handler.
    executed: Option<(Instruction, bool)>,
    in_handler: bool,
    /// True if no interrupt could come, whatever is requested.
    held_off: bool,
    /// The youngest handler that runs: the number of its interrupt, and the stack pointer before it was entered.
    handler: Option<(u8, DataAddress)>,
}

impl Before {
    /// The stack pointer, unless it is torn or unknown.
    pub(crate) fn pointer(&self) -> Option<DataAddress> {
        self.pointer
    }
}

/// The handlers that run, youngest first.
fn interrupts<V: ByteDomain>(state: &MachineState<V>) -> impl Iterator<Item = (u8, DataAddress)> + '_ {
    state.calls.frames().iter().rev().filter_map(|frame| match frame.kind {
        FrameKind::Interrupt(number) => Some((number, frame.position)),
        FrameKind::Call => None,
    })
}

/// True if the I flag is known to be set.
fn is_enabled<V: ByteDomain>(machine: &Machine, state: &MachineState<V>) -> bool {
    state.data.get(machine.status_address()).bit(7).known() == Some(true)
}

fn whole_pointer<V: ByteDomain>(machine: &Machine, state: &MachineState<V>) -> Option<DataAddress> {
    machine.stack_pointer().value_in(&state.data).filter(|_| !state.control.torn)
}

/// True for an instruction that may halt the processor.
fn halts(instruction: Instruction, pc: FlashWordAddress, machine: &Machine) -> bool {
    match instruction.control_flow(pc, &machine.program) {
        ControlFlow::Sleep { .. } | ControlFlow::Break { .. } => true,
        ControlFlow::Next { .. }
        | ControlFlow::Skip { .. }
        | ControlFlow::Branch { .. }
        | ControlFlow::Jump { .. }
        | ControlFlow::IndirectJump
        | ControlFlow::Call { .. }
        | ControlFlow::IndirectCall { .. }
        | ControlFlow::Return
        | ControlFlow::InterruptReturn => false,
    }
}
