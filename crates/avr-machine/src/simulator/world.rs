//! Either world, and the note of what it answered.

use std::sync::Arc;

use super::End;
use super::environment::Board;
use super::recording::Recording;
use super::script::Script;
use super::stimulus::Stimulus;
use crate::environment::{Demand, DeterminedBy, Environment, Event, Input, Possibilities, Question};
use crate::machine::Machine;
use crate::state::MachineState;

/// The world around a machine.
#[derive(Clone, Debug)]
pub(super) struct World {
    answers: Answers,
    recording: Option<Recording>,
}

/// The source of answers.
#[derive(Clone, Debug)]
enum Answers {
    Modelled(Box<Board>),
    Listed(Script),
}

impl World {
    /// The world of a machine before power-on.
    pub fn new(machine: &Machine, stimulus: Arc<Stimulus>) -> Self {
        let answers = match stimulus.exact {
            Some(_) => Answers::Listed(Script::new(stimulus)),
            None => Answers::Modelled(Box::new(Board::new(machine, stimulus))),
        };
        Self { answers, recording: None }
    }

    /// The first step begins in this state.
    pub fn begin(&mut self, state: &MachineState<u8>) {
        match &mut self.answers {
            Answers::Modelled(board) => board.after_step(state, 0, 0),
            Answers::Listed(script) => script.begin(),
        }
    }

    /// Takes note of the end of a step.
    #[inline]
    pub fn after_step(&mut self, state: &MachineState<u8>, cycles: u64, steps: u64) {
        match &mut self.answers {
            Answers::Modelled(board) => board.after_step(state, cycles, steps),
            Answers::Listed(script) => script.after_step(steps),
        }
        if let Some(recording) = &mut self.recording {
            recording.end_step(steps);
        }
    }

    /// The reason for which the run ends before the step that was taken, if it does.
    #[inline]
    pub fn end(&self) -> Option<End> {
        match &self.answers {
            Answers::Modelled(board) => board.is_forsaken().then_some(End::Asleep),
            Answers::Listed(script) => script.impossible().map(End::Impossible),
        }
    }

    /// The bytes that the USART sent since the last call.
    pub fn take_sent(&mut self) -> Vec<u8> {
        match &mut self.answers {
            Answers::Modelled(board) => board.take_sent(),
            Answers::Listed(_) => Vec::new(),
        }
    }

    /// From now on takes note of all answers.
    pub fn record(&mut self) {
        let stimulus = match &self.answers {
            Answers::Modelled(board) => board.stimulus(),
            Answers::Listed(script) => script.stimulus(),
        };
        self.recording = Some(Recording::new(stimulus.initial.clone()));
    }

    /// The answers so far as a stimulus.
    pub fn recorded(&self) -> Option<Stimulus> {
        self.recording.as_ref().map(Recording::stimulus)
    }

    /// Takes the note out, so that the world can be copied without it.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Puts the note back.
    pub fn put_recording(&mut self, recording: Option<Recording>) {
        self.recording = recording;
    }
}

impl Environment<u8> for World {
    #[inline]
    fn input(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> u8 {
        let value = match &mut self.answers {
            Answers::Modelled(board) => board.input(source, mask, demand, by),
            Answers::Listed(script) => script.input(source, mask, demand, by),
        };
        if let Some(recording) = &mut self.recording {
            recording.input(source, mask, value);
        }
        value
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    #[inline]
    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let chosen = match &mut self.answers {
            Answers::Modelled(board) => board.choose_among(possibilities),
            Answers::Listed(script) => script.choose_among(possibilities),
        };
        if let Some(recording) = &mut self.recording {
            recording.choice(possibilities.iter().nth(chosen));
        }
        chosen
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        match &self.answers {
            Answers::Modelled(board) => board.is_quiet(),
            Answers::Listed(_) => false,
        }
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    #[inline]
    fn event(&mut self, event: Event<'_, u8>) {
        match &mut self.answers {
            Answers::Modelled(board) => board.event(event),
            Answers::Listed(script) => script.event(event),
        }
    }
}
