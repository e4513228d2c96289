//! Concrete runs along the paths of an execution.
//!
//! An assignment to the variables is a concrete state with all inputs and events. The concrete machine must come to the same end, ask
//! for nothing that the symbolic one did not ask for, and have the same events to choose from.

use super::run::{Execution, Target};
use super::world::StepRecord;
use crate::domain::assignment::Valuation;
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Happening, Input, Machine, MachineState, Possibilities, Question, Stop,
};
use thiserror::Error;
use three_valued::ByteDomain;

/// The inputs and events of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcreteStep {
    /// The inputs: source, bits that were asked for, value.
    pub inputs: Vec<(Input, u8, u8)>,
    /// The event that the step is spent on; none where there was no choice.
    pub happening: Option<Happening>,
    /// The events that were possible, where there was a choice.
    pub possible: Vec<Happening>,
}

/// A concrete run along a path.
#[derive(Clone, Debug)]
pub struct ConcreteRun {
    /// The state in which it begins.
    pub start: MachineState<u8>,
    /// The steps.
    pub steps: Vec<ConcreteStep>,
}

/// The difference between a concrete run and its path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// The condition of no path is 1, or that of several is, or an open bit decides it.
    #[error("not exactly one path")]
    Path,
    /// The machine asked for an input that the path does not have.
    #[error("an input {0:?} of bits {1:#04x} that the path does not have, in step {2}")]
    Input(Input, u8, usize),
    /// The machine had other events to choose from.
    #[error("the events {0:?} in step {1}")]
    Events(Vec<Happening>, usize),
    /// The run stopped.
    #[error("a stop in step {1}: {0:?}")]
    Stop(Stop, usize),
}

impl<'g> Execution<'g> {
    /// The concrete run under an assignment, with the number of the end of its path.
    ///
    /// # Errors
    /// If there is not exactly one.
    pub fn concrete(&self, values: &mut Valuation<'g>) -> Result<(ConcreteRun, usize), Mismatch> {
        let start = concrete_state(&self.start, values).ok_or(Mismatch::Path)?;
        let mut steps = Vec::new();
        let mut point = 0;
        loop {
            let outcomes = self.outcomes[point].iter().map(|(record, target)| (record, *target));
            let (step, target) = taken(outcomes, values).ok_or(Mismatch::Path)?;
            steps.push(step);
            match target {
                Target::Point(next) => point = next,
                Target::End(end) => return Ok((ConcreteRun { start, steps }, end)),
            }
        }
    }
}

/// The step of the outcome that an assignment takes, with what belongs to it; none if it takes no or several ones, or an open bit decides.
pub(super) fn taken<'r, 'g: 'r, T>(
    outcomes: impl IntoIterator<Item = (&'r StepRecord<'g>, T)>,
    values: &mut Valuation<'g>,
) -> Option<(ConcreteStep, T)> {
    let mut found = None;
    for (record, with) in outcomes {
        if is_taken(record, values)? && found.replace((record, with)).is_some() {
            return None;
        }
    }
    let (record, with) = found?;
    Some((concrete_step(record, values)?, with))
}

fn is_taken<'g>(record: &StepRecord<'g>, values: &mut Valuation<'g>) -> Option<bool> {
    record.decisions.iter().try_fold(true, |all, bit| Some(all && values.bit(bit)?))
}

fn concrete_step<'g>(record: &StepRecord<'g>, values: &mut Valuation<'g>) -> Option<ConcreteStep> {
    let inputs = record.inputs.iter().map(|asked| Some((asked.source, asked.mask, values.byte(&asked.value)?)));
    Some(ConcreteStep {
        inputs: inputs.collect::<Option<_>>()?,
        happening: record.happening,
        possible: record.possible.clone(),
    })
}

/// A state under an assignment; none if a bit is open.
#[must_use]
pub fn concrete_state<'g>(
    state: &MachineState<crate::SymbolicByte<'g>>,
    values: &mut Valuation<'g>,
) -> Option<MachineState<u8>> {
    let mut concrete: MachineState<u8> = MachineState::new(state.data.len(), 0);
    for (cell, address) in state.data.cells().iter().zip((0..).map(avr_isa::DataAddress)) {
        concrete.data.set(address, cell.known().or_else(|| values.byte(cell))?);
    }
    concrete.control = state.control;
    concrete.calls = state.calls.clone();
    Some(concrete)
}

/// Takes the steps of a run on a machine, and gives the state after them, or the stop of the last one.
///
/// # Errors
/// The first difference between the run and the machine.
pub fn replay(machine: &Machine, run: &ConcreteRun) -> Result<Result<MachineState<u8>, Stop>, Mismatch> {
    let mut state = run.start.clone();
    for (number, step) in run.steps.iter().enumerate() {
        let mut world = Replaying { step, number, used: vec![false; step.inputs.len()], mismatch: None };
        let result = machine.step(&mut state, &mut world);
        if let Some(mismatch) = world.mismatch {
            return Err(mismatch);
        }
        match result {
            Ok(_) => {}
            Err(stop) if number + 1 == run.steps.len() => return Ok(Err(stop)),
            Err(stop) => return Err(Mismatch::Stop(stop, number)),
        }
    }
    Ok(Ok(state))
}

/// Answers with the inputs and the event of a step.
struct Replaying<'a> {
    step: &'a ConcreteStep,
    number: usize,
    used: Vec<bool>,
    mismatch: Option<Mismatch>,
}

impl Environment<u8> for Replaying<'_> {
    fn input(&mut self, source: Input, mask: u8, _: Demand, _: DeterminedBy) -> u8 {
        // Bits that are 1 already were not asked for again, if hardware only sets them.
        let serves = |(asked, bits, _): &(Input, u8, u8)| *asked == source && bits & mask == mask;
        let found = self.step.inputs.iter().zip(&self.used).position(|(input, used)| !used && serves(input));
        let Some(found) = found else {
            self.mismatch.get_or_insert(Mismatch::Input(source, mask, self.number));
            return 0;
        };
        self.used[found] = true;
        self.step.inputs[found].2 & mask
    }

    fn choose(&mut self, _: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let possible: Vec<Happening> = possibilities.iter().collect();
        let wanted = possible.iter().position(|happening| Some(*happening) == self.step.happening);
        match wanted {
            Some(wanted) if possible == self.step.possible => wanted,
            _ => {
                self.mismatch.get_or_insert(Mismatch::Events(possible, self.number));
                0
            }
        }
    }

    fn case(&mut self, _: usize, _: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, _: Event<'_, u8>) {}
}
