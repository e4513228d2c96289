//! One step from an abstract state, with all its outcomes: what both the pass and the closing check take.

use avr_isa::{ControlFlow, DataAddress, FlashWordAddress, Instruction};
use avr_machine::{Control, Copies, Fetched, Frame, FrameKind, Hazard, Machine, MachineState, Stop};
use three_valued::{NumberedByte, TvByte};

use crate::equalities::{Silence, Value};
use crate::equations::Equations;
use crate::faults::{Fault, is_on};
use crate::gap::Reason;
use crate::handler::Interrupt;
use crate::map::{CallStrings, Exit, Place, State, Thread};
use crate::memory::Store;
use crate::workspace::{Step, Workspace};
use crate::world::{Script, World};

/// The most outcomes of a step that are looked at.
const MAX_OUTCOMES: usize = 1 << 12;

/// What a handler's return address is taken for where it returns: all its bytes are 0.
pub(crate) const RETURNED: FlashWordAddress = FlashWordAddress(0);

/// An outcome of a step.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The thread goes on, or the main program begins.
    To(Place, State),
    /// A handler begins.
    Interrupt(Interrupt),
    /// A handler returns.
    Return(Exit),
    /// A hazard.
    Mark(Hazard),
    /// Something that cannot be followed.
    Gap(Reason),
}

/// The state that everything begins in.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// Power-on, with any content of the memory.
    PowerOn,
    /// One concrete state.
    At(&'a MachineState<u8>),
}

/// Takes steps from abstract states of a machine.
pub(crate) struct Stepper<'a> {
    machine: &'a Machine,
    work: Workspace,
    /// The cases of the last step.
    cases: usize,
}

/// The return address of a handler that its next instruction pops.
struct Returning {
    /// The cells that it lies in, with their content.
    cells: Vec<(DataAddress, NumberedByte)>,
    /// The content of SREG, if it is what it was when the handler began.
    status: Option<NumberedByte>,
    /// True for RETI.
    enables: bool,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(machine: &'a Machine) -> Self {
        Self { machine, work: Workspace::new(machine), cases: 0 }
    }

    /// The outcomes of the start.
    pub(crate) fn start(&mut self, start: Start<'_>, store: &mut Store, calls: &mut CallStrings) -> Vec<Outcome> {
        match start {
            Start::PowerOn => self.power_on(store, calls),
            Start::At(state) => vec![self.resume(state, store, calls)],
        }
    }

    /// A concrete state, with all that is on its stack in the main program.
    fn resume(&mut self, state: &MachineState<u8>, store: &mut Store, calls: &mut CallStrings) -> Outcome {
        let mut all = MachineState::new(self.machine.cells(), NumberedByte::new(TvByte::UNKNOWN));
        all.control = Control { copies: Copies::default(), ..state.control };
        all.calls = state.calls.clone();
        for cell in (0..state.data.len()).map(DataAddress::of_index) {
            let content = if is_on(Fault::StartForgotten) { 0 } else { *state.data.get(cell) };
            all.data.set(cell, NumberedByte::new(TvByte::constant(content)));
        }
        let place = Place { thread: Thread::Main, control: all.control, calls: calls.number(state.calls.frames()) };
        self.work.begin(all, store);
        Outcome::To(place, self.work.stored_apart(store))
    }

    fn power_on(&mut self, store: &mut Store, calls: &mut CallStrings) -> Vec<Outcome> {
        let mut script = Script::default();
        let mut all = Vec::new();
        loop {
            let state = self.machine.power_on(&mut World::new(&mut script));
            let place = Place { thread: Thread::Main, control: state.control, calls: calls.number(&[]) };
            self.work.begin(state, store);
            all.push(Outcome::To(place, self.work.stored_apart(store)));
            if script.is_too_long() || all.len() > MAX_OUTCOMES {
                return vec![Outcome::Gap(Reason::TooManyOutcomes)];
            }
            if !script.advance() {
                return all;
            }
        }
    }

    /// The number of cases that were looked at for the outcomes of the last step.
    pub(crate) fn cases(&self) -> usize {
        self.cases
    }

    /// All outcomes of the step from a state. Those in which the same handler begins are joined.
    pub(crate) fn outcomes(
        &mut self,
        place: &Place,
        state: &State,
        store: &mut Store,
        calls: &mut CallStrings,
    ) -> Vec<Outcome> {
        let frames = calls.frames(place.calls).to_vec();
        let mut script = Script::default();
        let mut all: Vec<Outcome> = Vec::new();
        for cases in 1..=MAX_OUTCOMES {
            self.cases = cases;
            if let Some(outcome) = self.outcome(place, state, &frames, &mut script, store, calls) {
                add(&mut all, outcome, place.thread.silence(), store);
            }
            if script.is_too_long() {
                break;
            }
            if !script.advance() {
                return all;
            }
        }
        all.push(Outcome::Gap(Reason::TooManyOutcomes));
        all
    }

    /// The outcome with these answers; none if no concrete state gives them.
    fn outcome(
        &mut self,
        place: &Place,
        state: &State,
        frames: &[Frame],
        script: &mut Script,
        store: &mut Store,
        calls: &mut CallStrings,
    ) -> Option<Outcome> {
        self.work.load(state, place.thread.silence(), store);
        let working = &mut self.work.state;
        working.control = place.control;
        working.calls.clear();
        frames.iter().for_each(|frame| working.calls.push(*frame));
        let returning = match self.returning(place, state, frames) {
            Ok(returning) => returning,
            Err(reason) => return Some(Outcome::Gap(reason)),
        };
        let mut world = World::new(script);
        let stepped = self.machine.step(&mut self.work.state, &mut world);
        let (entered, is_reset, executed) = (world.entered, world.is_reset, world.executed);
        let step = Step { machine: self.machine, pc: place.control.pc, state, executed };
        match stepped {
            Ok(_) => {}
            Err(Stop::Infeasible) => return None,
            Err(Stop::Limit(limit)) => return Some(Outcome::Gap(Reason::Limit(limit))),
            Err(Stop::Hazard(hazard)) if self.machine.ends_path(hazard.kind, place.control.pc) => {
                return Some(Outcome::Gap(Reason::EndedPath(hazard)));
            }
            Err(Stop::Hazard(hazard)) => return Some(Outcome::Mark(hazard)),
        }
        // What was copied is told by equalities.
        self.work.state.control.copies = Copies::default();
        if let Some(returning) = &returning {
            returning.cells.iter().for_each(|(cell, content)| self.work.state.data.set(*cell, *content));
        }
        if is_reset {
            let (control, frames) = (self.work.state.control, self.work.state.calls.frames().to_vec());
            let place = Place { thread: Thread::Main, control, calls: calls.number(&frames) };
            return Some(Outcome::To(place, self.work.stored_apart(store)));
        }
        if let Some(interrupt) = entered {
            return self.interrupt((place, frames), interrupt, &step, store, calls);
        }
        if let Some(returning) = returning {
            return self.returned(place, &returning, &step, store);
        }
        let after = self.work.state.calls.frames();
        if place.thread != Thread::Main && after.first() != frames.first() {
            return Some(Outcome::Gap(Reason::LeftFrame));
        }
        let place = Place { thread: place.thread, control: self.work.state.control, calls: calls.number(after) };
        Some(Outcome::To(place, self.work.stored(&step, store)?))
    }

    /// Replaces the return address of a handler by one for all of them where the next instruction pops it: what was pushed is still there.
    fn returning(&mut self, place: &Place, state: &State, frames: &[Frame]) -> Result<Option<Returning>, Reason> {
        let (Thread::Handler { pointer, .. }, [_]) = (place.thread, frames) else { return Ok(None) };
        let enables = match self.machine.program.fetch(place.control.pc) {
            Fetched::Instruction { instruction: Instruction::Reti, .. } => true,
            Fetched::Instruction { instruction: Instruction::Ret, .. } => false,
            _ => return Ok(None),
        };
        let bytes = u16::from(self.machine.device.core.pc_bytes);
        let lowest = pointer.wrapping_sub(bytes);
        if self.machine.stack_pointer().value_in(&self.work.state.data) != Some(lowest) {
            // It returns to something else, which is a hazard, or cannot be followed.
            return Ok(None);
        }
        let silence = place.thread.silence();
        let mut cells = Vec::new();
        for cell in (1..=bytes).map(|offset| lowest.wrapping_add(offset)) {
            // SOUND: the SRAM keeps what is written, so that what the cell held behind the entry is what was pushed.
            let is_kept = state.equalities.value(cell, silence) == Value::Entry(cell);
            if !self.machine.sram().contains(&cell) || !is_kept && !is_on(Fault::ReturnAddressTrusted) {
                return Err(Reason::ReturnAddress);
            }
            let content = *self.work.state.data.get(cell);
            cells.push((cell, content));
            // SOUND: what the step does depends on the address in nothing but where execution goes on, because the frame has it as well.
            self.work.state.data.set(cell, NumberedByte { byte: TvByte::ZERO, ..content });
        }
        let status = self.machine.status_address();
        let is_kept = state.equalities.value(status, silence) == Value::Entry(status);
        let status = is_kept.then(|| *self.work.state.data.get(status));
        Ok(Some(Returning { cells, status, enables }))
    }

    /// The end of a handler.
    fn returned(
        &mut self,
        place: &Place,
        returning: &Returning,
        step: &Step<'_>,
        store: &mut Store,
    ) -> Option<Outcome> {
        if !returning.enables {
            return Some(Outcome::Gap(Reason::PlainReturn));
        }
        if self.work.state.control.pc != RETURNED || !self.work.state.calls.frames().is_empty() {
            return Some(Outcome::Gap(Reason::LeftFrame));
        }
        if let Some(status) = returning.status {
            self.work.state.data.set(self.machine.status_address(), status);
        }
        let control = self.work.state.control;
        let state = State { equations: Equations::default(), ..self.work.stored(step, store)? };
        Some(Outcome::Return(Exit { thread: place.thread, control, state }))
    }

    /// The entry into a handler.
    fn interrupt(
        &mut self,
        (from, frames): (&Place, &[Frame]),
        interrupt: u8,
        step: &Step<'_>,
        store: &mut Store,
        calls: &mut CallStrings,
    ) -> Option<Outcome> {
        if from.control.torn {
            return Some(Outcome::Gap(Reason::TornPointer));
        }
        if from.thread != Thread::Main && is_on(Fault::NestingForgotten) {
            return None;
        }
        // SOUND: what is interrupted has its frames still when the handler returns.
        if !self.work.state.calls.frames().starts_with(frames) {
            return Some(Outcome::Gap(Reason::LeftFrame));
        }
        if is_on(Fault::ClosedAtJumps)
            && !matches!(self.machine.program.control_flow(from.control.pc), Some(ControlFlow::Jump { .. }))
        {
            return None;
        }
        let frame = *self.work.state.calls.top().filter(|frame| frame.kind == FrameKind::Interrupt(interrupt))?;
        let thread = Thread::Handler { interrupt, pointer: frame.position };
        let own = calls.number(&[Frame { return_address: RETURNED, ..frame }]);
        let place = Place { thread, control: self.work.state.control, calls: own };
        Some(Outcome::Interrupt(Interrupt { place, state: self.work.stored(step, store)? }))
    }
}

/// Adds an outcome, joined with the one in which the same handler begins.
fn add(all: &mut Vec<Outcome>, outcome: Outcome, silence: Silence, store: &mut Store) {
    if let Outcome::Interrupt(new) = &outcome {
        let same = all.iter_mut().find_map(|one| match one {
            Outcome::Interrupt(one) if one.place == new.place => Some(one),
            _ => None,
        });
        if let Some(one) = same {
            if one.state != new.state {
                one.state = one.state.join(&new.state, silence, store);
            }
            return;
        }
    }
    all.push(outcome);
}
