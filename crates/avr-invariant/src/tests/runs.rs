//! Concrete runs in a world that does anything, looked up in a map.

use avr_machine::{Demand, DeterminedBy, Environment, Event, Happening, Hazard, Input, Machine, MachineState};
use avr_machine::{Possibilities, Question, Stop};
use avr_testkit::Random;

use crate::check::Claims;
use crate::division::Divisions;
use crate::lookup::{Contents, Lookup};
use crate::map::{Map, Thread};

/// The cell of SREG.
const STATUS: usize = 0x5f;

/// A world that does anything; once in so many times something other than going on, where it can choose.
pub(super) struct Chaos {
    random: Random,
    rarely: u64,
    entered: bool,
    is_reset: bool,
}

impl Chaos {
    pub(super) fn new(seed: u64, rarely: u64) -> Self {
        Self { random: Random::new(seed), rarely, entered: false, is_reset: false }
    }
}

impl Environment<u8> for Chaos {
    fn input(&mut self, _: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        self.random.byte() & mask
    }

    fn choose(&mut self, count: usize) -> usize {
        self.random.below(count)
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let goes_on = possibilities.iter().position(|one| one == Happening::Continue);
        let chosen = match goes_on {
            Some(index) if !self.random.once_in(self.rarely) => index,
            _ => self.random.below(possibilities.count()),
        };
        self.is_reset = matches!(possibilities.iter().nth(chosen), Some(Happening::Reset(_)));
        chosen
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        panic!("nothing is open in a concrete state")
    }

    fn event(&mut self, event: Event<'_, u8>) {
        self.entered |= matches!(event, Event::Interrupt(_));
    }
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Steps,
    Hazard(Hazard),
    Limit,
}

/// Runs a machine and shows each state, with the cells behind the entry into the handler that is active.
pub(super) fn run(
    machine: &Machine,
    world: &mut Chaos,
    steps: usize,
    look: impl FnMut(&MachineState<u8>, Contents<'_>) -> Result<(), String>,
) -> Result<(End, MachineState<u8>), String> {
    let state: MachineState<u8> = machine.power_on(world);
    run_from(machine, (state, world), steps, look)
}

/// The same from a state, with the cells behind the entries into handlers that are active there left out.
pub(super) fn run_from(
    machine: &Machine,
    (mut state, world): (MachineState<u8>, &mut Chaos),
    steps: usize,
    mut look: impl FnMut(&MachineState<u8>, Contents<'_>) -> Result<(), String>,
) -> Result<(End, MachineState<u8>), String> {
    let divisions = Divisions::new(&machine.program);
    let mut oldest = active(&state);
    let mut entries: Vec<Vec<u8>> = Vec::new();
    for _ in 0..steps {
        let now = state.data.cells();
        let results = divisions.results(&machine.program, state.control.pc, now, now[STATUS]);
        look(&state, Contents { now, entry: entries.last().map_or(now, Vec::as_slice), results })?;
        (world.entered, world.is_reset) = (false, false);
        let before = state.clone();
        let handlers = active(&before);
        match machine.step(&mut state, world) {
            Ok(_) => {}
            Err(Stop::Hazard(hazard)) => return Ok((End::Hazard(hazard), before)),
            Err(Stop::Limit(_) | Stop::Infeasible) => return Ok((End::Limit, before)),
        }
        if world.entered {
            entries.push(state.data.cells().to_vec());
        } else if active(&state) < handlers {
            oldest = oldest.min(active(&state));
            entries.truncate(active(&state) - oldest);
        }
    }
    Ok((End::Steps, state))
}

/// The number of handlers that are active.
fn active(state: &MachineState<u8>) -> usize {
    state.calls.frames().iter().filter(|frame| matches!(frame.kind, avr_machine::FrameKind::Interrupt(_))).count()
}

/// Compares a run with a map and what follows from it.
pub(super) fn compare(
    machine: &Machine,
    map: &Map,
    claims: &Claims,
    seed: u64,
    rarely: u64,
    steps: usize,
) -> Result<End, String> {
    let lookup = Lookup::new(map);
    let bound = claims.stack_bound();
    let look = |state: &MachineState<u8>, contents: Contents<'_>| {
        let at = state.control.pc.byte().0;
        if let Some(difference) = lookup.difference(state, contents) {
            return Err(format!("no state covers one at {at:#06x}: {difference}"));
        }
        let pointer = machine.stack_pointer().concrete(&state.data);
        let depth = u32::from(machine.data_end().offset_from(pointer).unwrap_or_default());
        match bound {
            Some(bound) if depth > bound && !state.control.torn => {
                Err(format!("the stack is {depth} bytes deep at {at:#06x}, and the bound is {bound}"))
            }
            _ => Ok(()),
        }
    };
    let (end, last) = run(machine, &mut Chaos::new(seed, rarely), steps, look)?;
    let thread = lookup.place(&last).map_or(Thread::Main, |place| place.thread);
    let is_marked = |hazard: Hazard| {
        let mut marks = claims.marks.iter();
        marks.any(|mark| {
            mark.thread == thread && mark.address == last.control.pc.byte() && mark.hazard.kind == hazard.kind
        })
    };
    match end {
        End::Hazard(hazard) if !is_marked(hazard) => {
            Err(format!("a run comes to {hazard:?} at {:#06x}, which is not marked", last.control.pc.byte().0))
        }
        End::Limit => Err(format!("a run cannot be followed at {:#06x}", last.control.pc.byte().0)),
        _ => Ok(end),
    }
}
