//! The answers of random runs: the natural ones, those of a script, likely ones, or any.

use super::Sampler;
use super::distances::Rated;
use super::running::Running;
use crate::concretise::concrete_step::{Answer, Answers, Asked, Stepper, Tried};
use avr_isa::DataAddress;
use avr_machine::{DeterminedBy, Happening, Input};
use std::sync::Arc;

/// The most inputs of one register that are tried more often than others.
const MAX_LIKELY: usize = 32;

/// The manner of a random run: one question out of so many gets another answer than the natural one, 0 for none.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) happenings: u32,
    pub(super) inputs: u32,
    /// True if what the hardware determines stays as it comes.
    pub(super) only_environment: bool,
    /// True if a run ends where it rests on the model.
    pub(super) only_hardware: bool,
    /// True if comparisons are looked at.
    pub(super) is_shadowed: bool,
}

impl Manner {
    /// True if what this party determines may come otherwise than by itself.
    fn may_choose(self, who: DeterminedBy) -> bool {
        !matches!(who, DeterminedBy::Hardware | DeterminedBy::Undefined) || !self.only_environment
    }
}

impl<'m> Sampler<'m> {
    /// Takes note that an input is a likely one.
    pub(super) fn expect(&mut self, register: DataAddress, value: u8) {
        let likely = self.likely.entry(register).or_default();
        if !likely.contains(&value) {
            if likely.len() == MAX_LIKELY {
                likely.pop_front();
            }
            likely.push_back(value);
        }
    }

    pub(super) fn manner(&mut self) -> Manner {
        Manner {
            happenings: self.random.choice([0, 4, 16, 64, 256]).unwrap_or(0),
            inputs: self.random.choice([0, 1, 1, 2, 2, 8]).unwrap_or(0),
            only_environment: self.random.bool(),
            only_hardware: false,
            is_shadowed: true,
        }
    }

    /// The manner of a run that is to rest on no more than the hardware: its inputs differ now and then.
    pub(super) fn manner_of_hardware(&mut self) -> Manner {
        let inputs = self.random.choice([1, 2, 8, 32]).unwrap_or(1);
        Manner { inputs, only_environment: true, only_hardware: true, is_shadowed: false, ..self.manner() }
    }

    /// Tries a step; it must be accepted unless it ends the run.
    pub(super) fn step(&mut self, running: &mut Running<'m>, manner: Manner) -> Tried {
        let stepper = &mut running.stepper;
        let natural = stepper.attempt(&Answers::new(), &|_| 0);
        if !running.script.is_over() {
            let before = running.script.waits_for_time().then(|| running.script.clone());
            let answers = running.script.answers(stepper.run.steps, &natural.asked);
            if answers.is_empty() {
                return natural;
            }
            stepper.take_back();
            let tried = stepper.attempt(&answers, &|_| 0);
            let Some(before) = before.filter(|_| tried.is_too_soon()) else { return tried };
            running.script.put_back(before);
            stepper.take_back();
            return stepper.attempt(&Answers::new(), &|_| 0);
        }
        let mut others = self.others(&natural.asked, manner);
        others.extend(stepper.wanted_interrupt(&natural));
        others.extend(self.nearer_interrupt(stepper, &natural.asked, manner));
        if others.is_empty() {
            return natural;
        }
        stepper.take_back();
        let tried = stepper.attempt(&others, &|_| 0);
        if !(manner.only_environment && tried.is_too_soon()) {
            return tried;
        }
        stepper.take_back();
        stepper.attempt(&Answers::new(), &|_| 0)
    }

    /// The rating of the state of a run, where runs are directed at something.
    pub(super) fn rated(&self, stepper: &Stepper<'m>) -> Option<Rated> {
        self.distances.as_ref()?.rated(stepper.state())
    }

    /// The answer that lets an interrupt come which leads nearer to where runs are directed at, every other time.
    fn nearer_interrupt(&mut self, stepper: &Stepper<'m>, asked: &[Asked], manner: Manner) -> Option<(usize, Answer)> {
        let distances = Arc::clone(self.distances.as_ref()?);
        let mut wanted = distances.interrupts(stepper.state(), stepper.view().stack_pointer());
        let answer = wanted.find_map(|number| {
            let wanted = Happening::Interrupt(number);
            let can_come = |one: &Asked| match one {
                Asked::Choice { possible, .. } => {
                    possible.iter().any(|one| one == wanted) && manner.may_choose(possible.determined_by(wanted))
                }
                Asked::Input { .. } => false,
            };
            Some((asked.iter().position(can_come)?, Answer::Happening(wanted)))
        })?;
        self.random.bool().then_some(answer)
    }

    /// Other answers than the natural ones, now and then.
    pub(super) fn others(&mut self, asked: &[Asked], manner: Manner) -> Answers {
        let is_free = |who: DeterminedBy| manner.may_choose(who);
        let mut answers = Answers::new();
        // A register may be asked for in several parts, which are those of one input.
        let mut input: Option<(DataAddress, Option<u8>)> = None;
        for (index, one) in asked.iter().enumerate() {
            match one {
                Asked::Input { source: Input::Initial(_), .. } => {}
                Asked::Input { source: Input::Register(register), mask, who, .. } => {
                    if !is_free(*who) {
                        continue;
                    }
                    let value = match input {
                        Some((known, value)) if known == *register => value,
                        _ if self.is_time(manner.inputs) => Some(self.value(*register, asked)),
                        _ => None,
                    };
                    input = Some((*register, value));
                    answers.extend(value.map(|value| (index, Answer::Input(value & mask))));
                }
                Asked::Choice { possible, natural, .. } => {
                    if !self.is_time(manner.happenings) || !is_free(possible.determined_by(*natural)) {
                        continue;
                    }
                    let free = |one: &Happening| one != natural && is_free(possible.determined_by(*one));
                    let others: Vec<Happening> = possible.iter().filter(free).collect();
                    answers.extend(self.random.choice(others).map(|other| (index, Answer::Happening(other))));
                }
            }
        }
        answers
    }

    /// The value of an input: the next of a string if it is a whole byte, a likely one, a constant of the program, or any.
    pub(super) fn value(&mut self, register: DataAddress, asked: &[Asked]) -> u8 {
        let part = |one: &Asked| match one {
            Asked::Input { source, mask, .. } if *source == Input::Register(register) => *mask,
            _ => 0,
        };
        if !self.string.is_empty() && asked.iter().fold(0, |all, one| all | part(one)) == 0xff {
            return self.string.pop_front().unwrap_or(0);
        }
        let random = &mut self.random;
        let known = match random.u8(..8) {
            0..4 => self.likely.get(&register).and_then(|values| random.choice(values).copied()),
            4 => self.dictionary.as_ref().and_then(|dictionary| dictionary.constant(random)),
            _ => None,
        };
        known.unwrap_or_else(|| self.random.u8(..))
    }

    pub(super) fn is_time(&mut self, one_out_of: u32) -> bool {
        one_out_of > 0 && self.random.u32(..one_out_of) == 0
    }
}
