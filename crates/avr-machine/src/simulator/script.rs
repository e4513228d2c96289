//! The world of an exact run: every step gets the inputs that the stimulus lists and nothing else.

use std::sync::Arc;

use avr_isa::DataAddress;

use super::stimulus::{ExactStep, Stimulus};
use crate::environment::{Demand, DeterminedBy, Environment, Event, Happening, Input, Possibilities, Question};

/// The world of an exact run: it answers with what an exact [`Stimulus`] lists. [`Self::begin`] is called after
/// power-on, [`Self::after_step`] after each step.
#[derive(Clone, Debug)]
pub struct Script {
    stimulus: Arc<Stimulus>,
    /// The next entry that is not past.
    next: usize,
    /// The number of the step.
    step: u64,
    /// True if the run has begun: before that, cells get their initial content.
    begun: bool,
    /// The number of inputs of this step that were used up.
    used: Vec<usize>,
    /// The event that the step was spent on.
    happened: Happening,
    impossible: Option<Happening>,
}

impl Script {
    /// The world of a stimulus that is exact.
    #[must_use]
    pub fn new(stimulus: Arc<Stimulus>) -> Self {
        let used = Vec::new();
        Self { stimulus, next: 0, step: 0, begun: false, used, happened: Happening::Continue, impossible: None }
    }

    /// The first step begins.
    pub fn begin(&mut self) {
        self.begun = true;
    }

    /// Takes note of the end of a step; so many were taken.
    #[inline]
    pub fn after_step(&mut self, steps: u64) {
        if let Some(wanted) = self.entry().and_then(|entry| entry.choice).filter(|wanted| *wanted != self.happened) {
            self.impossible = Some(wanted);
        }
        self.happened = Happening::Continue;
        self.step = steps;
        self.used.clear();
        if self.entries().get(self.next).is_some_and(|entry| entry.step < steps) {
            self.next += 1;
        }
    }

    /// The stimulus.
    #[must_use]
    pub fn stimulus(&self) -> &Stimulus {
        &self.stimulus
    }

    /// The event that the present step was spent on, until its end is noted.
    #[must_use]
    pub fn happened(&self) -> Happening {
        self.happened
    }

    /// The event that was to happen in the step and was not possible.
    #[must_use]
    pub fn impossible(&self) -> Option<Happening> {
        self.impossible
    }

    fn entries(&self) -> &[ExactStep] {
        self.stimulus.exact.as_deref().unwrap_or_default()
    }

    /// The entry for this step.
    fn entry(&self) -> Option<&ExactStep> {
        self.entries().get(self.next).filter(|entry| entry.step == self.step)
    }

    /// The entries about a register serve one question each, the last one all that remain.
    fn register(&mut self, address: DataAddress) -> u8 {
        let Some(entry) = self.entry() else { return 0 };
        let about = |index: &usize| entry.inputs[*index].register == address;
        let mut open = (0..entry.inputs.len()).filter(about).filter(|index| !self.used.contains(index));
        let Some(first) = open.next() else { return 0 };
        let value = entry.inputs[first].value;
        if open.next().is_some() {
            self.used.push(first);
        }
        value
    }
}

impl Environment<u8> for Script {
    fn input(&mut self, source: Input, mask: u8, _demand: Demand, _: DeterminedBy) -> u8 {
        let value = match source {
            Input::Register(address) => self.register(address),
            Input::Initial(cell) if self.begun => {
                self.entry().and_then(|entry| entry.initial.get(&cell)).copied().unwrap_or(0)
            }
            Input::Initial(cell) => self.stimulus.initial.get(&cell).copied().unwrap_or(0),
        };
        value & mask
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possibilities: &Possibilities) -> usize {
        let wanted = self.entry().and_then(|entry| entry.choice);
        let found = wanted.and_then(|wanted| possibilities.iter().position(|happening| happening == wanted));
        let index = found.unwrap_or(0);
        self.happened = possibilities.iter().nth(index).unwrap_or(Happening::Continue);
        index
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    #[inline]
    fn event(&mut self, event: Event<'_, u8>) {
        if let Event::Interrupt(number) = event {
            self.happened = Happening::Interrupt(number);
        }
    }
}
