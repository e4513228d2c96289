//! A run step by step, from its inputs.

use std::sync::Arc;

use avr_isa::DataAddress;
use avr_machine::simulator::Script;
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Frame, FrameKind, Happening, Input, Machine, MachineState, Possibilities,
    Question,
};
use avr_verify::Evidence;

/// The world of a run, with a note of what a step does.
struct World {
    script: Script,
    reads: Vec<(DataAddress, u8)>,
    writes: Vec<(DataAddress, u8)>,
    io_end: DataAddress,
}

impl World {
    fn of(machine: &Machine, evidence: &Evidence) -> Self {
        Self {
            script: Script::new(Arc::new(evidence.stimulus.clone())),
            reads: Vec::new(),
            writes: Vec::new(),
            io_end: machine.device.memory.sram_start,
        }
    }
}

impl Environment<u8> for World {
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> u8 {
        self.script.input(source, mask, demand, by)
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possible: &Possibilities) -> usize {
        Environment::<u8>::choose_among(&mut self.script, possible)
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, event: Event<'_, u8>) {
        match event {
            Event::Read(address, value) if address < self.io_end => self.reads.push((address, *value)),
            Event::Write(address, value) if address < self.io_end => self.writes.push((address, *value)),
            _ => {}
        }
        self.script.event(event);
    }
}

/// The events of one step.
pub(super) struct Moment<'a> {
    /// The number of the step.
    pub(super) step: u64,
    /// Clock cycles at its end.
    pub(super) cycles: u64,
    /// Flash byte address before it.
    pub(super) pc: u32,
    pub(super) happened: Happening,
    /// True if nothing happened because the processor slept.
    pub(super) asleep: bool,
    /// The reads and writes of the program in the I/O area.
    pub(super) reads: &'a [(DataAddress, u8)],
    pub(super) writes: &'a [(DataAddress, u8)],
    /// The state after it, whose changed pages are noted.
    pub(super) state: &'a MachineState<u8>,
}

/// A run under way.
pub(super) struct Player<'a> {
    machine: &'a Machine,
    state: MachineState<u8>,
    world: World,
    step: u64,
    steps: u64,
    cycles: u64,
}

impl<'a> Player<'a> {
    /// A run from power-on.
    pub(super) fn new(machine: &'a Machine, evidence: &Evidence) -> Self {
        let mut world = World::of(machine, evidence);
        let state = machine.power_on(&mut world);
        Self::at(machine, evidence, world, state)
    }

    /// A run from a state.
    pub(super) fn from_state(machine: &'a Machine, evidence: &Evidence, state: MachineState<u8>) -> Self {
        Self::at(machine, evidence, World::of(machine, evidence), state)
    }

    fn at(machine: &'a Machine, evidence: &Evidence, mut world: World, mut state: MachineState<u8>) -> Self {
        state.data.clear_changed();
        world.script.begin();
        Self { machine, state, world, step: 0, steps: evidence.steps, cycles: 0 }
    }

    /// The state that was reached.
    pub(super) fn state(&self) -> &MachineState<u8> {
        &self.state
    }

    /// Takes the next step; none at the end of the run.
    pub(super) fn next(&mut self) -> Option<Moment<'_>> {
        if self.step >= self.steps {
            return None;
        }
        self.state.data.clear_changed();
        self.world.reads.clear();
        self.world.writes.clear();
        let (pc, was_asleep) = (self.state.control.pc.byte().0, self.state.control.sleeping);
        let cycles = self.machine.step(&mut self.state, &mut self.world).ok()?;
        self.cycles += u64::from(cycles);
        self.step += 1;
        let happened = self.world.script.happened();
        self.world.script.after_step(self.step);
        let asleep = was_asleep && happened == Happening::Continue;
        Some(Moment {
            step: self.step - 1,
            cycles: self.cycles,
            pc,
            happened,
            asleep,
            reads: &self.world.reads,
            writes: &self.world.writes,
            state: &self.state,
        })
    }
}

/// The number of interrupt handlers that were entered and not left.
pub(super) fn interrupt_level(state: &MachineState<u8>) -> usize {
    let is_interrupt = |frame: &&Frame| matches!(frame.kind, FrameKind::Interrupt(_));
    state.calls.frames().iter().filter(is_interrupt).count()
}

/// The stack pointer.
pub(super) fn stack_pointer(machine: &Machine, state: &MachineState<u8>) -> DataAddress {
    machine.stack_pointer().concrete(&state.data)
}
