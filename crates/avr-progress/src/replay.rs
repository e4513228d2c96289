//! Runs to states from which something is out of reach, taken again.

use avr_isa::{DataAddress, FlashByteAddress};
use avr_machine::simulator::{Script, Stimulus};
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, FrameKind, Happening, Input, Machine, MachineState, Possibilities,
    Question, Stop,
};
use avr_properties::StateView;
use std::sync::Arc;
use thiserror::Error;
use three_valued::{Truth, TvByte};

/// The most steps of a run.
pub const MOST_STEPS: u64 = 10_000_000;

/// A run that was taken again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Its last state.
    pub last: MachineState<u8>,
    /// True if the hardware, or nobody of whom that is known, determines something in it.
    pub rests_on_choices: bool,
}

/// Its last state as atoms see it. Of the events of the last step nothing is known.
impl StateView for Replayed {
    fn cell(&self, address: DataAddress) -> TvByte {
        TvByte::constant(*self.last.data.get(address))
    }

    fn pc(&self) -> FlashByteAddress {
        self.last.control.pc.byte()
    }

    fn stack_pointer_torn(&self) -> bool {
        self.last.control.torn
    }

    fn stack(&self) -> u8 {
        self.last.control.stack
    }

    fn interrupt_depth(&self) -> usize {
        let frames = self.last.calls.frames().iter();
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.last.control.sleeping)
    }

    fn in_startup(&self) -> Truth {
        Truth::from(self.last.control.in_startup)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }
}

/// The reason why a run cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// Its inputs are no stimulus.
    #[error("its inputs cannot be read: {0}")]
    Inputs(String),
    /// It has too many steps.
    #[error("it has {0} steps, and {MOST_STEPS} are followed at most")]
    TooLong(u64),
    /// It ends before.
    #[error("it ends after {0} steps with {1:?}")]
    Ends(u64, Stop),
    /// Something that it says does not happen.
    #[error("{1:?} is not possible after {0} steps")]
    Impossible(u64, Happening),
}

/// Takes so many steps from power-on, with the inputs of an exact stimulus as files have it.
///
/// # Errors
/// The reason why they cannot be followed.
pub fn replayed(machine: &Machine, stimulus: &str, steps: u64) -> Result<Replayed, RunError> {
    if steps > MOST_STEPS {
        return Err(RunError::TooLong(steps));
    }
    let stimulus = Stimulus::parse("the run", stimulus, machine.device);
    let stimulus = stimulus.map_err(|error| RunError::Inputs(error.to_string()))?;
    let mut world = World { script: Script::new(Arc::new(stimulus)), rests_on_choices: false };
    let mut last: MachineState<u8> = machine.power_on(&mut world);
    world.script.begin();
    for step in 0..steps {
        machine.step(&mut last, &mut world).map_err(|stop| RunError::Ends(step, stop))?;
        world.script.after_step(step + 1);
        last.data.clear_changed();
        if let Some(wanted) = world.script.impossible() {
            return Err(RunError::Impossible(step, wanted));
        }
    }
    Ok(Replayed { last, rests_on_choices: world.rests_on_choices })
}

/// The world of a run.
///
/// SOUND: each answer is one that the model has, whatever the script says, so that the run is one of the firmware in the model. It is one
/// on the hardware if nobody but the environment was asked.
struct World {
    script: Script,
    rests_on_choices: bool,
}

impl World {
    fn note(&mut self, by: DeterminedBy) {
        self.rests_on_choices |= by != DeterminedBy::Environment;
    }
}

impl Environment<u8> for World {
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> u8 {
        self.note(by);
        self.script.input(source, mask, demand, by) & mask
    }

    fn choose(&mut self, count: usize) -> usize {
        Environment::<u8>::choose(&mut self.script, count).min(count.saturating_sub(1))
    }

    fn choose_among(&mut self, possible: &Possibilities) -> usize {
        possible.iter().for_each(|happening| self.note(possible.determined_by(happening)));
        Environment::<u8>::choose_among(&mut self.script, possible).min(possible.count().saturating_sub(1))
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, event: Event<'_, u8>) {
        self.script.event(event);
    }
}
