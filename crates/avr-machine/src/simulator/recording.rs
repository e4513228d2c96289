//! A note of everything that a world answered, from which the run can be repeated.

use std::collections::BTreeMap;

use avr_isa::DataAddress;

use super::stimulus::{ExactInput, ExactStep, Stimulus};
use crate::environment::{Happening, Input};

/// The answers of a run.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    initial: BTreeMap<DataAddress, u8>,
    steps: Vec<ExactStep>,
    /// The step that is under way.
    current: ExactStep,
}

impl Recording {
    /// A note of a run that begins with this content of cells.
    pub fn new(initial: BTreeMap<DataAddress, u8>) -> Self {
        Self { initial, steps: Vec::new(), current: ExactStep::default() }
    }

    /// Takes note of an input. What is 0 is not worth a note where nothing else is asked about the register.
    pub fn input(&mut self, source: Input, mask: u8, value: u8) {
        match source {
            Input::Register(register) => self.current.inputs.push(ExactInput { register, mask, value }),
            Input::Initial(cell) if value != 0 => {
                self.current.initial.insert(cell, value);
            }
            Input::Initial(_) => {}
        }
    }

    /// Takes note of a choice.
    pub fn choice(&mut self, choice: Option<Happening>) {
        self.current.choice = choice;
    }

    /// A step ends; so many were taken.
    pub fn end_step(&mut self, steps: u64) {
        let step = ExactStep { step: steps - 1, ..std::mem::take(&mut self.current) };
        let continues = step.choice.is_none_or(|choice| choice == Happening::Continue);
        let silent = continues && step.initial.is_empty() && step.inputs.iter().all(|input| input.value == 0);
        if !silent {
            self.steps.push(step);
        }
    }

    /// Forgets everything from a step on.
    pub fn truncate(&mut self, steps: u64) {
        self.current = ExactStep::default();
        let kept = self.steps.partition_point(|entry| entry.step < steps);
        self.steps.truncate(kept);
    }

    /// The run as a stimulus.
    pub fn stimulus(&self) -> Stimulus {
        Stimulus::exact(self.initial.clone(), self.steps.clone())
    }
}
