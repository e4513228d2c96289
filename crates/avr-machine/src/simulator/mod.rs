//! Running firmware with concrete values, one step after the other.
//!
//! The steps are those of [`Machine::step`], the same that verification takes. The questions of the machine are
//! answered by a model of the peripherals (`environment`) or, for replaying a run, by a list of all inputs (`script`).
//! A [`Stimulus`] says what comes from outside. Runs are deterministic: nothing depends on the host.

mod adc;
mod environment;
mod peripheral;
mod peripherals;
mod pins;
mod recording;
mod script;
mod spi;
pub mod stimulus;
mod system;
mod timers;
mod twi;
mod usart;
mod world;

use std::sync::Arc;

use crate::data_space::PAGE_CELLS;
use crate::hazard::{Hazard, HazardKind, Limit, Stop};
use crate::machine::Machine;
use crate::program::Fetched;
use crate::state::MachineState;
use avr_isa::{DataAddress, FlashWordAddress, Instruction};
pub use peripherals::Peripherals;
pub use script::Script;
pub use stimulus::{ExactInput, ExactStep, Stimulus, StimulusError, StimulusErrorKind};
use world::World;

use crate::environment::Happening;

/// So many steps of a run are repeated at most when it must go back to the state before its last step.
const CHECKPOINT_STEPS: u64 = 1 << 20;

/// The limits of the length of a run: it ends in the first state that reaches one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps: instructions, interrupt entries, resets, cycles of sleep.
    pub steps: u64,
    /// Clock cycles.
    pub cycles: u64,
}

impl Default for Limits {
    /// A million steps.
    fn default() -> Self {
        Self { steps: 1_000_000, cycles: u64::MAX }
    }
}

/// The reason why a run ended. The simulator then stands in the last state that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The limit of steps was reached.
    Steps,
    /// The limit of cycles was reached.
    Cycles,
    /// The next instruction is BREAK.
    Break,
    /// The processor sleeps, and nothing that could wake it will come in this run.
    Asleep,
    /// The next step is a hazard.
    Hazard(Hazard),
    /// The next step is beyond the model.
    Limit(Limit),
    /// The exact stimulus asks for something in the next step that is not possible there.
    Impossible(Happening),
}

/// A run of a machine.
#[derive(Debug)]
pub struct Simulator<'a> {
    machine: &'a Machine,
    moment: Moment,
    /// An earlier moment, for going back.
    checkpoint: Moment,
    sent: Vec<u8>,
    has_breaks: bool,
}

/// Everything that determines how a run goes on.
#[derive(Clone, Debug)]
struct Moment {
    state: MachineState<u8>,
    world: World,
    steps: u64,
    cycles: u64,
    /// Bytes sent so far.
    sent: usize,
}

impl<'a> Simulator<'a> {
    /// A machine just after power-on. For resets other than by the watchdog to happen, the machine must have been made
    /// with those of [`Stimulus::resets`].
    #[must_use]
    pub fn new(machine: &'a Machine, stimulus: Stimulus) -> Self {
        let mut world = World::new(machine, Arc::new(stimulus));
        let mut state = machine.power_on(&mut world);
        state.data.clear_changed();
        world.begin(&state);
        let moment = Moment { state, world, steps: 0, cycles: 0, sent: 0 };
        let is_break = |(_, instruction)| instruction == Instruction::Break;
        let has_breaks = machine.program.instructions().any(is_break);
        Self { machine, checkpoint: moment.clone(), moment, sent: Vec::new(), has_breaks }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The state that was reached.
    #[must_use]
    pub fn state(&self) -> &MachineState<u8> {
        &self.moment.state
    }

    /// Steps so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.moment.steps
    }

    /// Clock cycles so far.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.moment.cycles
    }

    /// The bytes that the USART sent.
    #[must_use]
    pub fn sent(&self) -> &[u8] {
        &self.sent
    }

    /// From now on takes note of all inputs.
    pub fn record(&mut self) {
        self.moment.world.record();
    }

    /// The run so far as an exact stimulus, if [`Self::record`] was called before the first step.
    #[must_use]
    pub fn recorded(&self) -> Option<Stimulus> {
        self.moment.world.recorded()
    }

    /// The limit that the run has reached, if it has.
    #[inline]
    #[must_use]
    pub fn reached(&self, limits: Limits) -> Option<End> {
        if self.moment.steps >= limits.steps {
            return Some(End::Steps);
        }
        (self.moment.cycles >= limits.cycles).then_some(End::Cycles)
    }

    /// Runs until a limit is reached or nothing more can happen.
    pub fn run(&mut self, limits: Limits) -> End {
        self.keep_checkpoint();
        let end = loop {
            if let Some(end) = self.reached(limits) {
                break end;
            }
            if self.moment.steps - self.checkpoint.steps >= CHECKPOINT_STEPS {
                self.keep_checkpoint();
            }
            if let Some(end) = self.advance() {
                break end;
            }
        };
        self.collect_sent();
        end
    }

    /// Takes one step.
    ///
    /// # Errors
    /// The end of the run, when there is no step.
    pub fn step(&mut self) -> Result<(), End> {
        self.moment.state.data.clear_changed();
        self.keep_checkpoint();
        let end = self.advance();
        self.collect_sent();
        end.map_or(Ok(()), Err)
    }

    /// The cells of data memory that the last [`Self::step`] changed, with their new content, by rising address.
    #[must_use]
    pub fn changes(&self) -> Vec<(DataAddress, u8)> {
        let (before, after) = (self.checkpoint.state.data.cells(), &self.moment.state.data);
        let pages = after.changed_pages().flat_map(|page| page * PAGE_CELLS..(page + 1) * PAGE_CELLS);
        let cells = pages.filter(|cell| *cell <= self.machine.data_end.index());
        cells
            .filter(|cell| before[*cell] != after.cells()[*cell])
            .map(|cell| (DataAddress::of_index(cell), after.cells()[cell]))
            .collect()
    }

    /// Takes one step; if there is none, the run stands where it stood.
    fn advance(&mut self) -> Option<End> {
        let (steps, pc) = (self.moment.steps, self.moment.state.control.pc);
        let end = match self.moment.step(self.machine) {
            Err(stop) => ended(stop),
            Ok(()) if self.has_breaks && self.executed_break(pc) => End::Break,
            Ok(()) => self.moment.world.end()?,
        };
        self.go_back(steps);
        Some(end)
    }

    /// True if the last step was the BREAK at `pc`.
    fn executed_break(&self, pc: FlashWordAddress) -> bool {
        let fetched = self.machine.program.fetch(pc);
        matches!(fetched, Fetched::Instruction { instruction: Instruction::Break, .. })
            && self.moment.state.control.pc == pc.wrapping_add(1).masked(self.machine.pc_mask)
    }

    fn keep_checkpoint(&mut self) {
        self.collect_sent();
        let recording = self.moment.world.take_recording();
        self.checkpoint = self.moment.clone();
        self.moment.world.put_recording(recording);
    }

    /// Goes back to the state before a step that is not before the checkpoint. The run is deterministic.
    fn go_back(&mut self, steps: u64) {
        let mut recording = self.moment.world.take_recording();
        self.moment = self.checkpoint.clone();
        while self.moment.steps < steps {
            if self.moment.step(self.machine).is_err() {
                break;
            }
        }
        if let Some(recording) = &mut recording {
            recording.truncate(steps);
        }
        self.moment.world.put_recording(recording);
    }

    /// Takes the bytes that were sent since the moment before.
    fn collect_sent(&mut self) {
        self.sent.truncate(self.moment.sent);
        self.sent.extend(self.moment.world.take_sent());
        self.moment.sent = self.sent.len();
    }
}

impl Moment {
    /// Takes one step.
    #[inline]
    fn step(&mut self, machine: &Machine) -> Result<(), Stop> {
        let cycles = machine.step(&mut self.state, &mut self.world)?;
        self.steps += 1;
        self.cycles += u64::from(cycles);
        self.world.after_step(&self.state, self.cycles, self.steps);
        Ok(())
    }
}

fn ended(stop: Stop) -> End {
    match stop {
        Stop::Hazard(Hazard { kind: HazardKind::SleepForEver, .. }) => End::Asleep,
        Stop::Hazard(hazard) => End::Hazard(hazard),
        Stop::Limit(limit) => End::Limit(limit),
        Stop::Infeasible => End::Limit(Limit::Unsupported("an infeasible step")),
    }
}
