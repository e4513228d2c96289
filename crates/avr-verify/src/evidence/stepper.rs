//! One concrete step after the other, each tried with different inputs until it leads where it should.

use super::concrete::{ConcreteView, note};
use super::cover::Arrival;
use crate::events::{Occurrences, Recorder, watched};
use crate::system::Firmware;
use avr_machine::simulator::{ExactInput, ExactStep, Peripherals};
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Happening, Input, Machine, MachineState, Possibilities, Question, Stop,
};
use avr_properties::Event as Watched;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A question of a step with the answer that it got.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// Input bits.
    Input {
        source: Input,
        mask: u8,
        value: u8,
        /// What the peripherals have there by themselves.
        natural: u8,
        who: DeterminedBy,
    },
    /// What happens.
    Choice {
        possible: Possibilities,
        chosen: Happening,
        /// What happens if nothing comes from outside.
        natural: Happening,
    },
}

impl Asked {
    /// Whether the answer is one that the hardware would determine and does not give by itself.
    pub(super) fn is_abstracted(&self) -> bool {
        match self {
            Self::Input { value, natural, who, .. } => *who == DeterminedBy::Hardware && value != natural,
            Self::Choice { possible, chosen, natural } => {
                let hardware = |happening: Happening| possible.determined_by(happening) == DeterminedBy::Hardware;
                chosen != natural && (hardware(*chosen) || hardware(*natural))
            }
        }
    }

    /// Whether the hardware would determine the answer.
    fn is_of_hardware(&self) -> bool {
        match self {
            Self::Input { who, .. } => *who == DeterminedBy::Hardware,
            Self::Choice { possible, .. } => {
                possible.iter().any(|happening| possible.determined_by(happening) == DeterminedBy::Hardware)
            }
        }
    }

    /// Whether the answer differs from what comes by itself.
    pub(super) fn is_chosen(&self) -> bool {
        match self {
            Self::Input { source: Input::Initial(_), value, .. } => *value != 0,
            Self::Input { value, natural, .. } => value != natural,
            Self::Choice { chosen, natural, .. } => chosen != natural,
        }
    }
}

/// An answer that is to be given instead of the natural one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The bits of an input.
    Input(u8),
    /// What happens.
    Happening(Happening),
}

/// Answers by the number of the question in the step.
pub(super) type Answers = BTreeMap<usize, Answer>;

/// The world of a step that is tried.
struct Trial<'a> {
    peripherals: &'a mut Peripherals,
    answers: &'a Answers,
    /// The initial content of cells.
    content: &'a dyn Fn(u16) -> u8,
    asked: Vec<Asked>,
    who: DeterminedBy,
    events: Recorder<'a>,
}

impl Trial<'_> {
    fn answer(&self) -> Option<Answer> {
        self.answers.get(&self.asked.len()).copied()
    }

    /// What the peripherals have in a register; where the property file assumes bits, those are constant anyway.
    fn natural(&mut self, source: Input, mask: u8, demand: Demand) -> u8 {
        match source {
            Input::Initial(cell) => (self.content)(cell) & mask,
            Input::Register(_) => self.peripherals.input(source, mask, demand),
        }
    }
}

impl Environment<u8> for Trial<'_> {
    fn input(&mut self, source: Input, mask: u8, demand: Demand) -> u8 {
        let who = std::mem::take(&mut self.who);
        let natural = self.natural(source, mask, demand) & mask;
        let value = match self.answer() {
            Some(Answer::Input(value)) => value & mask,
            _ => natural,
        };
        self.asked.push(Asked::Input { source, mask, value, natural, who });
        value
    }

    fn determined_by(&mut self, who: DeterminedBy) {
        self.who = who;
    }

    fn choose(&mut self, _count: usize) -> usize {
        0
    }

    fn choose_among(&mut self, possible: &Possibilities) -> usize {
        let index = self.peripherals.choose_among(possible);
        let natural = possible.iter().nth(index).unwrap_or(Happening::Continue);
        let wanted = match self.answer() {
            Some(Answer::Happening(wanted)) => possible.iter().position(|happening| happening == wanted),
            _ => None,
        };
        let index = wanted.unwrap_or(index);
        let chosen = possible.iter().nth(index).unwrap_or(natural);
        self.asked.push(Asked::Choice { possible: *possible, chosen, natural });
        index
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, event: Event<'_, u8>) {
        self.peripherals.event(event);
        note(&mut self.events, event);
    }
}

/// A step that was tried.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) result: Result<u32, Stop>,
    pub(super) asked: Vec<Asked>,
    did: Occurrences,
}

/// A concrete run that grows step by step.
#[derive(Clone)]
pub(super) struct Stepper<'a> {
    pub(super) machine: &'a Machine,
    pub(super) watched: Rc<[Watched]>,
    before: MachineState<u8>,
    /// The same as `before` while no step is tried.
    after: MachineState<u8>,
    peripherals: Peripherals,
    did: Occurrences,
    pub(super) cycles: u64,
    pub(super) run: Run,
}

/// A step in which something was chosen: its number, and the questions with their numbers in the step.
pub(super) type ChosenStep = (u64, Vec<(usize, Asked)>);

/// The inputs of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// The content of cells before the program starts, where it is not 0.
    pub(super) initial: BTreeMap<u16, u8>,
    /// The inputs of steps.
    pub(super) inputs: Vec<ExactStep>,
    /// The number of steps.
    pub(super) steps: u64,
    /// The steps in which inputs or happenings differ from what comes by itself.
    pub(super) chosen: Vec<ChosenStep>,
    /// The first step that rests on a choice that the hardware would determine and does not make by itself.
    pub(super) abstracted: Option<u64>,
    /// The last step in which the hardware would determine something.
    pub(super) left_to_hardware: Option<u64>,
}

impl Tried {
    /// Whether something was chosen that the hardware would determine and does not do by itself.
    pub(super) fn is_abstracted(&self) -> bool {
        self.asked.iter().any(Asked::is_abstracted)
    }
}

impl<'a> Stepper<'a> {
    /// A run that begins with cells as `content` says.
    pub(super) fn new(firmware: &Firmware<'a>, content: &dyn Fn(u16) -> u8) -> Self {
        let machine = firmware.machine;
        let mut peripherals = Peripherals::new(machine);
        let watched: Rc<[Watched]> = watched(firmware.atoms).into();
        let answers = Answers::new();
        let mut trial = Trial {
            peripherals: &mut peripherals,
            answers: &answers,
            content,
            asked: Vec::new(),
            who: DeterminedBy::Environment,
            events: Recorder::new(&watched, 0),
        };
        let state: MachineState<u8> = machine.power_on(&mut trial);
        let asked = trial.asked;
        let mut run = Run::default();
        run.initial.extend(asked.iter().filter_map(|one| match one {
            Asked::Input { source: Input::Initial(cell), value, .. } if *value != 0 => Some((*cell, *value)),
            _ => None,
        }));
        let mut stepper = Self {
            machine,
            watched,
            before: state.clone(),
            after: state,
            peripherals,
            did: Occurrences::default(),
            cycles: 0,
            run,
        };
        stepper.settle();
        stepper
    }

    /// The state that was reached.
    pub(super) fn state(&self) -> &MachineState<u8> {
        &self.before
    }

    /// What the step into that state did.
    pub(super) fn did(&self) -> &Occurrences {
        &self.did
    }

    /// The state that was reached, as properties see it.
    pub(super) fn view(&self) -> ConcreteView<'_> {
        ConcreteView { machine: self.machine, state: &self.before, watched: &self.watched, did: &self.did }
    }

    /// Tries a step. [`Self::take_back`] or [`Self::accept`] must follow.
    pub(super) fn attempt(&mut self, answers: &Answers, content: &dyn Fn(u16) -> u8) -> Tried {
        let mut trial = Trial {
            peripherals: &mut self.peripherals,
            answers,
            content,
            asked: Vec::new(),
            who: DeterminedBy::Environment,
            events: Recorder::new(&self.watched, self.before.control.pc * 2),
        };
        let result = self.machine.step(&mut self.after, &mut trial);
        Tried { result, did: trial.events.occurrences(), asked: trial.asked }
    }

    /// Where a step that was tried leads.
    pub(super) fn arrival<'b>(&'b self, tried: &'b Tried) -> Arrival<'b> {
        match tried.result {
            Err(stop) => Arrival::Stop(stop),
            Ok(_) => Arrival::State(ConcreteView {
                machine: self.machine,
                state: &self.after,
                watched: &self.watched,
                did: &tried.did,
            }),
        }
    }

    /// Undoes a step that was tried.
    pub(super) fn take_back(&mut self) {
        self.peripherals.forget_step();
        for page in self.after.data.changed_pages().collect::<Vec<_>>() {
            self.after.data.load_page(page, self.before.data.page(page));
        }
        self.after.data.clear_changed();
        if self.after.calls.frames() != self.before.calls.frames() {
            self.after.calls = self.before.calls.clone();
        }
        self.after.control = self.before.control;
    }

    /// Makes a step that was tried a step of the run. Of one that ends the run only the inputs are kept.
    pub(super) fn accept(&mut self, tried: Tried) {
        self.record(&tried.asked);
        let Ok(cycles) = tried.result else { return self.take_back() };
        self.did = tried.did;
        self.cycles += u64::from(cycles);
        self.run.steps += 1;
        for page in self.after.data.changed_pages().collect::<Vec<_>>() {
            self.before.data.load_page(page, self.after.data.page(page));
        }
        self.after.data.clear_changed();
        if self.after.calls.frames() != self.before.calls.frames() {
            self.before.calls = self.after.calls.clone();
        }
        self.before.control = self.after.control;
        self.settle();
    }

    /// Lets the peripherals see the state.
    fn settle(&mut self) {
        self.after.data.clear_changed();
        self.before.data.clear_changed();
        self.peripherals.after_step(&self.before, self.cycles, self.run.steps);
    }

    fn record(&mut self, asked: &[Asked]) {
        let step = self.run.steps;
        if asked.iter().any(Asked::is_abstracted) {
            self.run.abstracted.get_or_insert(step);
        }
        if asked.iter().any(Asked::is_of_hardware) {
            self.run.left_to_hardware = Some(step);
        }
        let all = asked.iter().cloned().enumerate();
        let chosen: Vec<(usize, Asked)> = all.filter(|(_, one)| one.is_chosen()).collect();
        if !chosen.is_empty() {
            self.run.chosen.push((step, chosen));
        }
        let exact = exact_step(self.machine, step, asked);
        if !is_silent(&exact) {
            self.run.inputs.push(exact);
        }
    }
}

/// The entry of a stimulus for a step. Bits that the property file assumes are in it as well, so that the run is the same
/// without the assumptions.
fn exact_step(machine: &Machine, step: u64, asked: &[Asked]) -> ExactStep {
    let mut exact = ExactStep { step, ..ExactStep::default() };
    for one in asked {
        match one {
            Asked::Input { source: Input::Register(register), mask, value, .. } => {
                let assumed = machine.options().assumed.get(register);
                let (known, fixed) = assumed.map_or((0, 0), |bits| (bits.known_mask(), bits.value()));
                exact.inputs.push(ExactInput { register: *register, mask: mask | known, value: value | fixed & known });
            }
            Asked::Input { source: Input::Initial(cell), value, .. } if *value != 0 => {
                exact.initial.insert(*cell, *value);
            }
            Asked::Input { .. } => {}
            Asked::Choice { chosen, .. } => exact.choice = Some(*chosen),
        }
    }
    exact
}

/// Whether a step gets what it gets without an entry.
fn is_silent(step: &ExactStep) -> bool {
    step.choice.is_none_or(|choice| choice == Happening::Continue)
        && step.initial.is_empty()
        && step.inputs.iter().all(|input| input.value == 0)
}
