//! Path compression: states between two that are kept are skipped.
//!
//! From a state that is kept, a run goes on without being looked at while each step has one outcome. The outcome must
//! be the same whatever the inputs and the unknown stored values. No goal can tell that the states in between are
//! skipped. Hazards are kept, and so are states where the stack is deeper than ever before. A state is also kept where
//! the label of a goal changes. If it matters what can be reached from there, so is the state just before the change.
//! See `docs/soundness.md`, section "Path compression".

use super::interface::Reduction;
use super::notes::PathNotes;
use super::skipped_paths::{Log, Spot};
use crate::context::Context;
use crate::faults::path_compression::{Fault, is_on};
use crate::pass::Pass;
use crate::state::cell_variable::variable_of;
use crate::state::stack_depth;
use crate::state::view::WorkingView;
use crate::state::{AbstractState, Location, PrecisionLookup, Running};
use avr_isa::{ControlFlow, DataAddress, FlashWordAddress};
use avr_machine::{Control, FrameKind, Machine, MachineState};
use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;
use three_valued::{ByteDomain, Truth, TvByte};
use tvar::LocationPrecision;

/// The most steps after which a state is kept, whatever it is.
pub(crate) const MAX_STEPS: u32 = 4096;
/// The number of times that the heads of loops are passed in one state space where no interrupt can come.
const FREE_ROUNDS: u32 = 200_000;

/// Path compression of one run: it decides which states are kept.
#[derive(Clone, Debug)]
pub(crate) struct PathCompression {
    /// Instructions (flash word addresses) that some jump leads back to.
    loop_heads: FixedBitSet,
    /// The least value of the stack pointer in the present state space.
    deepest: DataAddress,
    /// The number of times that the heads of loops may still be passed.
    rounds: u32,
    /// True if goals see more than hazards and the depth of the stack.
    observes_content: bool,
    /// The skipped paths since the present state space was begun.
    passed: Log,
    /// The notes of the present expansion.
    pub(crate) noted: PathNotes,
}

impl Reduction for PathCompression {
    fn passes(&self) -> &'static [Pass] {
        &[Pass::PathCompression, Pass::CaseMerging]
    }

    fn begin(&mut self, machine: &Machine) {
        (self.deepest, self.rounds) = (machine.data_end(), FREE_ROUNDS);
        (self.passed, self.noted) = (Log::default(), PathNotes::default());
    }
}

impl PathCompression {
    /// The compression for a machine.
    pub(crate) fn new(machine: &Machine, observes_content: bool) -> Self {
        let mut loop_heads = FixedBitSet::with_capacity(machine.program.words() as usize);
        for address in machine.program.addresses() {
            let flow = machine.program.control_flow(address);
            if let Some(target) = flow.and_then(ControlFlow::jump_target).filter(|target| *target <= address) {
                loop_heads.insert(target.index());
            }
        }
        let (deepest, rounds, passed) = (machine.data_end(), FREE_ROUNDS, Log::default());
        Self { loop_heads, deepest, rounds, observes_content, passed, noted: PathNotes::default() }
    }

    /// The least value of the stack pointer in the present state space.
    pub(crate) fn deepest(&self) -> DataAddress {
        self.deepest
    }

    /// Takes back what was noted of the stack pointer.
    pub(crate) fn set_deepest(&mut self, pointer: DataAddress) {
        self.deepest = pointer;
    }

    /// The skipped paths since the present state space was begun.
    pub(crate) fn passed(&self) -> &Log {
        &self.passed
    }

    /// Takes note of an expansion in the present state space.
    pub(crate) fn enter(&mut self, notes: &PathNotes) {
        notes.enter(&mut self.passed);
    }
}

/// A run between two states that are kept.
#[derive(Clone)]
pub(crate) struct Passage<'a> {
    /// The labels of the state where it began.
    labels: &'a [Truth],
    /// The spot where it began.
    from: Spot,
    /// The spot where it is, or was before the last step.
    at: Spot,
    /// The number of steps that were taken.
    steps: u32,
    /// The least value of the stack pointer on the way.
    lowest: DataAddress,
    /// The stack pointer, where it is not torn: no half of it waits for the other one.
    pointer: Option<DataAddress>,
    /// The stack pointer for which the labels were compared last, and whether a half of it waited for the other one.
    compared: Option<(DataAddress, bool)>,
    /// True if goals see that the last step was taken: it changed the label of one of them.
    is_seen: bool,
    /// The fewest frames of the call string; with fewer the run ends.
    floor: usize,
}

impl<'a> Passage<'a> {
    /// The beginning of a run from a state with these labels, at this place.
    pub(crate) fn new(labels: &'a [Truth], from: Spot) -> Self {
        let (steps, lowest, pointer, compared, is_seen, floor) = (0, DataAddress(u16::MAX), None, None, false, 0);
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

    /// True if some steps were skipped before one that goals see.
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
        if is_on(Fault::NotTakenBack) {
            return;
        }
        state.data.put_back();
        state.calls.put_back();
        state.control = control;
    }
}

/// True if the working state has these labels.
fn has_labels(context: &Context<'_>, labels: &[Truth]) -> bool {
    let view = WorkingView { state: &context.working.state, predicates: context.predicates.as_ref() };
    context.atoms.iter().zip(labels).all(|(atom, label)| atom.evaluate(&view) == *label)
}

/// True if the working state is distinguished from states with these labels.
fn differs(context: &Context<'_>, labels: &[Truth]) -> bool {
    !has_labels(context, labels)
}

impl PathCompression {
    /// True if goals can tell the working state from a state with these labels.
    pub(crate) fn can_tell(&self, context: &Context<'_>, labels: &[Truth]) -> bool {
        self.observes_content && differs(context, labels)
    }

    /// True if the working state is to be stored as it is.
    pub(crate) fn is_kept(&mut self, context: &Context<'_>, passage: &mut Passage<'_>) -> bool {
        let state = &context.working.state;
        let pointer = context.decay_rules.whole_pointer(state);
        passage.pointer = pointer;
        let compared = context.decay_rules.pointer_in(&state.data).map(|pointer| (pointer, state.control.torn));
        if compared.is_none() || passage.compared != compared || self.observes_content {
            passage.compared = compared;
            passage.is_seen = differs(context, passage.labels) && !is_on(Fault::LabelsUnseen);
        }
        if let Some(pointer) = pointer {
            passage.lowest = passage.lowest.min(pointer);
            if pointer < self.deepest && !is_on(Fault::DeepestLeftOut) {
                self.deepest = pointer;
                self.noted.keep(pointer);
                return true;
            }
        }
        if passage.is_seen {
            return true;
        }
        if passage.steps >= MAX_STEPS || state.control.sleeping || state.calls.frames().len() < passage.floor {
            return true;
        }
        if !self.loop_heads.contains(state.control.pc.index()) {
            return false;
        }
        let is_alone = state.data.get(context.machine.status_address()).bit(7).known() == Some(false)
            && state.calls.frames().iter().all(|frame| frame.kind == FrameKind::Call);
        let is_free = is_alone && self.rounds > 0;
        self.rounds -= u32::from(is_free);
        !is_free
    }

    /// Takes note of the outcome of the last step.
    pub(crate) fn note_move(&mut self, context: &mut Context<'_>, passage: &mut Passage<'_>) {
        let here = Spot { pc: context.working.state.control.pc, calls: context.working.save_calls(&mut context.store) };
        self.noted.step(passage.at, here);
        passage.at = here;
    }

    /// Takes note of a run of some steps, by way of several places, to where the working state is.
    pub(crate) fn note_merged(
        &mut self,
        context: &Context<'_>,
        passage: &mut Passage<'_>,
        moves: &BTreeSet<(FlashWordAddress, FlashWordAddress)>,
        steps: u32,
    ) {
        let pointer = context.decay_rules.whole_pointer(&context.working.state);
        self.noted.skip(pointer);
        let depth = context.depth_at(pointer);
        let spot = |pc| Spot { pc, calls: passage.from.calls };
        let last = spot(context.working.state.control.pc);
        for (from, to) in moves {
            self.noted.step(spot(*from), spot(*to));
            if spot(*to) != last {
                self.noted.spot(spot(*to), depth);
            }
        }
        passage.at = last;
        passage.steps += steps.saturating_sub(1);
    }

    /// True if some jump leads back to an instruction (flash word address).
    pub(crate) fn is_loop_head(&self, pc: FlashWordAddress) -> bool {
        self.loop_heads.contains(pc.index())
    }

    /// Takes note of the spot where a run ended.
    pub(crate) fn note_length(&mut self, passage: &Passage<'_>) {
        self.noted.length(passage.from, passage.at, passage.steps);
    }

    /// Takes note that the state before the last step is skipped.
    pub(crate) fn note_left_out(&mut self, context: &Context<'_>, passage: &Passage<'_>) {
        self.noted.skip(passage.pointer);
        self.noted.spot(passage.at, context.depth_at(passage.pointer));
    }

    /// Takes note of a state of a handler that is summarised.
    pub(crate) fn note_kept(&mut self, context: &Context<'_>, spot: Spot, state: &AbstractState) {
        let depth = context.view(state).and_then(|view| stack_depth::depth(context.machine, &view));
        self.noted.spot(spot, depth);
    }

    /// Takes note that a summary is used for the handler that the working state has just entered from a state.
    pub(crate) fn note_passed(&mut self, context: &mut Context<'_>, from: &Running) {
        let entry =
            Spot { pc: context.working.state.control.pc, calls: context.working.save_calls(&mut context.store) };
        let interrupted = Spot { pc: from.control.pc, calls: from.calls };
        let depth = context.depth_at(context.decay_rules.whole_pointer(&context.working.state));
        self.noted.spot(entry, depth);
        self.noted.step(interrupted, entry);
        self.noted.step(entry, interrupted);
    }
}

/// The precision where the working state is.
pub(crate) fn precision_here<'p>(
    context: &mut Context<'_>,
    precision: &'p PrecisionLookup<'_>,
) -> &'p LocationPrecision {
    if let Some(common) = precision.common(&Location::everywhere_at(context.working.state.control.pc)) {
        return common;
    }
    let location = context.location_at_work();
    precision.at(&location).expect("paths are compressed only where precision is kept per location")
}

/// Forgets what was popped on the way: nothing reads it, and refinement brings back what is read all the same.
pub(crate) fn forget_popped(context: &mut Context<'_>, passage: &Passage<'_>, precision: &PrecisionLookup<'_>) {
    let Some(pointer) = context.decay_rules.whole_pointer(&context.working.state) else { return };
    if passage.lowest >= pointer {
        return;
    }
    let location = context.location_at_work();
    let step = precision.step_at(&location).expect("paths are compressed only where precision is kept per location");
    let pinned = &step.pinned;
    for address in passage.lowest.wrapping_add(1).through(pointer.min(context.machine.data_end())) {
        if context.machine.sram().contains(&address) {
            let mask = !(pinned.get(variable_of(address)) as u8);
            let cell = context.working.state.data.get(address).forget(mask);
            context.working.state.data.set(address, cell);
        }
    }
}
