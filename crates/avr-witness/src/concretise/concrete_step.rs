//! One concrete step after the other, each tried with different inputs until it leads where it should.

use crate::concretise::coverage::Arrival;
use crate::concretise::view::{ConcreteView, note};
use crate::tracking::{Observation, Tracker};
use avr_isa::{DataAddress, FlashByteAddress, FlashWordAddress};
use avr_machine::device::BitRef;
use avr_machine::simulator::{ExactInput, ExactStep, Peripherals};
use avr_machine::{
    Demand, DeterminedBy, Environment, Event, Happening, Input, Machine, MachineState, PAGE_CELLS, Possibilities,
    Question, SpacedFlag, Stop,
};
use avr_model::context::Context;
use avr_model::state::events::{Occurrences, Recorder, watched};
use avr_properties::Event as Watched;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use three_valued::TvByte;

/// A question of a step with the answer that it got.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// Input bits.
    Input {
        source: Input,
        mask: u8,
        value: u8,
        /// The bits that the peripherals have there by themselves.
        natural: u8,
        who: DeterminedBy,
        /// True if the environment would have had to wait with it.
        too_soon: bool,
    },
    /// The choice of what happens.
    Choice {
        possible: Possibilities,
        chosen: Happening,
        /// The happening if nothing comes from outside.
        natural: Happening,
        /// True if the environment would have had to wait with it.
        too_soon: bool,
        /// True if the peripherals do not know whether the hardware does that.
        inexact: bool,
    },
}

impl Asked {
    /// True if the answer is one that the hardware would determine and does not give by itself. Also true if the
    /// environment would have had to wait for it.
    pub(crate) fn is_abstracted(&self) -> bool {
        let is_of_hardware = match self {
            Self::Input { value, natural, who, .. } => *who == DeterminedBy::Hardware && value != natural,
            Self::Choice { possible, chosen, natural, .. } => {
                let hardware = |happening: Happening| possible.determined_by(happening) == DeterminedBy::Hardware;
                chosen != natural && (hardware(*chosen) || hardware(*natural))
            }
        };
        is_of_hardware || self.is_undefined() || self.is_too_soon()
    }

    /// True if the answer of the hardware is undefined: what the peripherals have by themselves is no evidence then.
    fn is_undefined(&self) -> bool {
        match self {
            Self::Input { who, .. } => *who == DeterminedBy::Undefined,
            Self::Choice { possible, inexact, .. } => {
                *inexact
                    || possible.iter().any(|happening| possible.determined_by(happening) == DeterminedBy::Undefined)
            }
        }
    }

    /// True if the environment would have had to wait.
    pub(crate) fn is_too_soon(&self) -> bool {
        match self {
            Self::Input { too_soon, .. } | Self::Choice { too_soon, .. } => *too_soon,
        }
    }

    /// True if the hardware would determine the answer.
    fn is_of_hardware(&self) -> bool {
        let hardware = |who: DeterminedBy| matches!(who, DeterminedBy::Hardware | DeterminedBy::Undefined);
        match self {
            Self::Input { who, .. } => hardware(*who),
            Self::Choice { possible, .. } => {
                possible.iter().any(|happening| hardware(possible.determined_by(happening)))
            }
        }
    }

    /// True if the answer differs from what comes by itself.
    pub(crate) fn is_chosen(&self) -> bool {
        match self {
            Self::Input { source: Input::Initial(_), value, .. } => *value != 0,
            Self::Input { value, natural, .. } => value != natural,
            Self::Choice { chosen, natural, .. } => chosen != natural,
        }
    }
}

/// An answer that is to be given instead of the natural one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The bits of an input.
    Input(u8),
    /// The happening.
    Happening(Happening),
}

/// Answers by the number of the question in the step.
pub(crate) type Answers = BTreeMap<usize, Answer>;

/// The last times of the flags that the environment cannot set at any time ([`SpacedFlag`]).
#[derive(Clone)]
struct Timing {
    flags: Rc<[SpacedFlag]>,
    /// The clock cycle at which each was last set, or could not be set.
    last: Vec<u64>,
}

impl Timing {
    fn new(machine: &Machine) -> Self {
        let flags: Rc<[SpacedFlag]> = machine.spaced_flags().into();
        Self { last: vec![0; flags.len()], flags }
    }

    /// The numbers of the flags among some bits of a register.
    fn among(&self, address: DataAddress, mask: u8) -> impl Iterator<Item = usize> {
        let is_there = move |flag: &SpacedFlag| flag.bit.address == address && flag.bit.mask() & mask != 0;
        (0..self.flags.len()).filter(move |index| is_there(&self.flags[*index]))
    }

    /// The flag that an interrupt sets when its handler is entered, because it was not set.
    fn set_by_entry(&self, machine: &Machine, number: u8, state: &MachineState<u8>) -> Option<usize> {
        let interrupt = machine.device.interrupts.iter().find(|interrupt| interrupt.number == number)?;
        let flag = interrupt.flag()?;
        let is_set = state.data.get(flag.address) & flag.mask() != 0;
        self.among(flag.address, flag.mask()).next().filter(|_| !is_set)
    }

    /// True if the environment may set a flag at a clock cycle.
    fn is_time(&self, flag: usize, cycle: u64) -> bool {
        cycle - self.last[flag] >= self.flags[flag].cycles.into()
    }
}

/// The world of a step that is tried.
struct Trial<'a> {
    machine: &'a Machine,
    timing: &'a Timing,
    /// The clock cycle at which the step begins.
    cycle: u64,
    /// The interrupts whose handlers would be entered too soon.
    too_soon: u128,
    peripherals: &'a mut Peripherals,
    answers: &'a Answers,
    /// The initial content of cells.
    content: &'a dyn Fn(DataAddress) -> u8,
    asked: Vec<Asked>,
    events: Recorder<'a>,
    /// True if the instruction at PC is executed.
    executes: bool,
}

impl Trial<'_> {
    /// True if the environment would have to wait with bits of a register.
    fn is_too_soon(&self, source: Input, value: u8, natural: u8) -> bool {
        let Input::Register(address) = source else { return false };
        let waits = self.timing.among(address, value & !natural).any(|flag| !self.timing.is_time(flag, self.cycle));
        waits || natural & !value != 0
    }

    /// The party that determines an input, as far as the peripherals know what hardware does.
    fn known(&self, source: Input, mask: u8, who: DeterminedBy) -> DeterminedBy {
        match source {
            Input::Register(address) if who == DeterminedBy::Hardware && !self.peripherals.is_exact(address, mask) => {
                DeterminedBy::Undefined
            }
            _ => who,
        }
    }

    /// True if hardware determines what happens just now, and the peripherals do not know it. They may not know the
    /// moment of an interrupt that is taken, or know nothing of another one that is not taken.
    fn is_inexact(&self, possible: &Possibilities, taken: [Happening; 2]) -> bool {
        let flag = |happening| match happening {
            Happening::Interrupt(number) if possible.determined_by(happening) == DeterminedBy::Hardware => {
                let interrupt = self.machine.device.interrupts.iter().find(|interrupt| interrupt.number == number);
                interrupt.and_then(|interrupt| interrupt.flag())
            }
            _ => None,
        };
        let is_inexact = |flag: BitRef| !self.peripherals.is_exact(flag.address, flag.mask());
        let is_unknown = |flag: BitRef| !self.peripherals.knows(flag.address, flag.mask());
        taken.into_iter().filter_map(flag).any(is_inexact) || possible.iter().filter_map(flag).any(is_unknown)
    }

    fn answer(&self) -> Option<Answer> {
        self.answers.get(&self.asked.len()).copied()
    }

    /// The content of a register in the peripherals; where the property file assumes bits, those are constant anyway.
    fn natural(&mut self, source: Input, mask: u8, demand: Demand, by: DeterminedBy) -> u8 {
        match source {
            Input::Initial(cell) => (self.content)(cell) & mask,
            Input::Register(_) => self.peripherals.input(source, mask, demand, by),
        }
    }
}

impl Environment<u8> for Trial<'_> {
    fn input(&mut self, source: Input, mask: u8, demand: Demand, who: DeterminedBy) -> u8 {
        let who = self.known(source, mask, who);
        let natural = self.natural(source, mask, demand, who) & mask;
        let value = match self.answer() {
            Some(Answer::Input(value)) => value & mask,
            _ => natural,
        };
        let too_soon = who == DeterminedBy::EnvironmentInTime && self.is_too_soon(source, value, natural);
        self.asked.push(Asked::Input { source, mask, value, natural, who, too_soon });
        value
    }

    /// A value that is in none of the parts stands for one that is: so each answer is a value that is possible.
    fn input_among(
        &mut self,
        source: Input,
        mask: u8,
        parts: &[TvByte],
        demand: Demand,
        who: DeterminedBy,
    ) -> Result<(usize, u8), Stop> {
        let natural = within(parts, self.natural(source, mask, demand, who) & mask);
        let value = match self.answer() {
            Some(Answer::Input(value)) => within(parts, value & mask),
            _ => natural,
        };
        self.asked.push(Asked::Input { source, mask, value, natural, who, too_soon: false });
        let part = parts.iter().position(|part| part.contains(value)).ok_or(Stop::Infeasible)?;
        Ok((part, value))
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
        let too_soon = match chosen {
            Happening::Interrupt(number) => chosen != natural && self.too_soon >> number & 1 == 1,
            _ => false,
        };
        let inexact = self.is_inexact(possible, [chosen, natural]);
        self.asked.push(Asked::Choice { possible: *possible, chosen, natural, too_soon, inexact });
        index
    }

    fn case(&mut self, _count: usize, _about: Question<'_, u8>) -> usize {
        0
    }

    fn event(&mut self, event: Event<'_, u8>) {
        self.peripherals.event(event);
        note(&mut self.events, event);
    }

    fn moves(&mut self, from: FlashWordAddress, to: FlashWordAddress) -> u64 {
        self.events.moves(from, to)
    }

    fn before_instruction(&mut self, _machine: &Machine, _state: &mut MachineState<u8>) {
        self.executes = true;
    }
}

/// A value in some parts: this one if it is in one of them.
fn within(parts: &[TvByte], value: u8) -> u8 {
    if parts.is_empty() || parts.iter().any(|part| part.contains(value)) {
        return value;
    }
    let part = parts[usize::from(value) % parts.len()];
    part.value() | value & part.unknown_mask()
}

/// A step that was tried.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) result: Result<u32, Stop>,
    pub(crate) asked: Vec<Asked>,
    did: Occurrences,
    executes: bool,
}

/// The tracking of a run for findings.
#[derive(Clone)]
pub(crate) struct Tracking {
    pub(crate) tracker: Tracker,
    /// The observations, each with the run that ends with it and its last state.
    pub(crate) found: Rc<RefCell<Vec<Observed>>>,
}

/// An observation, with the run that ends with it and its last state.
pub(crate) type Observed = (Observation, Run, MachineState<u8>);

/// A concrete run that grows step by step.
#[derive(Clone)]
pub(crate) struct Stepper<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) watched: Rc<[Watched]>,
    before: MachineState<u8>,
    /// The same as `before` while no step is tried.
    after: MachineState<u8>,
    peripherals: Peripherals,
    did: Occurrences,
    timing: Timing,
    pub(crate) cycles: u64,
    pub(crate) run: Run,
    /// The tracking of the run, where findings are looked for.
    tracking: Option<Tracking>,
}

/// A step in which something was chosen: its number, and the questions with their numbers in the step.
pub(crate) type ChosenStep = (u64, Vec<(usize, Asked)>);

/// The inputs of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    /// The content of cells before the program starts, where it is not 0.
    pub(crate) initial: BTreeMap<DataAddress, u8>,
    /// The inputs of steps.
    pub(crate) inputs: Vec<ExactStep>,
    /// The number of steps.
    pub(crate) steps: u64,
    /// The steps in which inputs or happenings differ from what comes by itself.
    pub(crate) chosen: Vec<ChosenStep>,
    /// The first step that rests on a choice that the hardware would determine and does not make by itself.
    pub(crate) abstracted: Option<u64>,
    /// The last step in which the hardware would determine something.
    pub(crate) left_to_hardware: Option<u64>,
    /// The clock cycles of all steps.
    pub(crate) cycles: u64,
    /// The times at which flags were set for which the environment has to wait.
    pub(crate) spaced: Vec<Spaced>,
}

/// A flag was set for which the environment has to wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaced {
    /// The flag.
    pub(crate) flag: SpacedFlag,
    /// The number of the step.
    pub(crate) step: u64,
    /// The clock cycle at which the step began.
    pub(crate) cycle: u64,
}

impl Run {
    /// True if the environment has time enough in what is repeated for ever from a step on.
    pub(crate) fn is_repeated_in_time(&self, start: u64) -> bool {
        let repeated = || self.spaced.iter().filter(|one| one.step >= start);
        repeated().all(|last| {
            let same = |one: &&Spaced| one.flag.bit == last.flag.bit;
            let first = repeated().find(same).expect("it is one of them");
            // Every step takes a cycle at least.
            let pause = self.cycles - last.cycle + (first.step - start);
            repeated().rev().find(same).is_none_or(|latest| latest.step != last.step)
                || pause >= last.flag.cycles.into()
        })
    }
}

impl Tried {
    /// True if something was chosen that the hardware would determine and does not do by itself. Also true if the
    /// environment would have had to wait with it.
    pub(crate) fn is_abstracted(&self) -> bool {
        self.asked.iter().any(Asked::is_abstracted)
    }

    /// True if the environment would have had to wait.
    pub(crate) fn is_too_soon(&self) -> bool {
        self.asked.iter().any(Asked::is_too_soon)
    }
}

impl<'a> Stepper<'a> {
    /// A run that begins with cells as `content` says.
    pub(crate) fn new(context: &Context<'a>, content: &dyn Fn(DataAddress) -> u8) -> Self {
        let machine = context.machine;
        let mut peripherals = Peripherals::new(machine);
        let watched: Rc<[Watched]> = watched(context.atoms).into();
        let answers = Answers::new();
        let timing = Timing::new(machine);
        let mut trial = Trial {
            machine,
            timing: &timing,
            cycle: 0,
            too_soon: 0,
            peripherals: &mut peripherals,
            answers: &answers,
            content,
            asked: Vec::new(),
            events: Recorder::new(&watched, FlashByteAddress(0)),
            executes: false,
        };
        let state: MachineState<u8> = machine.power_on(&mut trial);
        let asked = trial.asked;
        let mut stepper = Self::beginning(machine, (state, peripherals), (watched, timing));
        stepper.run.initial.extend(asked.iter().filter_map(|one| match one {
            Asked::Input { source: Input::Initial(cell), value, .. } if *value != 0 => Some((*cell, *value)),
            _ => None,
        }));
        stepper.settle();
        stepper
    }

    /// A run that begins in a state, with the peripherals as they are after power-on.
    pub(crate) fn at(context: &Context<'a>, state: MachineState<u8>) -> Self {
        let machine = context.machine;
        let known = (watched(context.atoms).into(), Timing::new(machine));
        let mut stepper = Self::beginning(machine, (state, Peripherals::new(machine)), known);
        stepper.settle();
        stepper
    }

    fn beginning(
        machine: &'a Machine,
        (state, peripherals): (MachineState<u8>, Peripherals),
        (watched, timing): (Rc<[Watched]>, Timing),
    ) -> Self {
        Self {
            machine,
            watched,
            before: state.clone(),
            after: state,
            peripherals,
            did: Occurrences::default(),
            timing,
            cycles: 0,
            run: Run::default(),
            tracking: None,
        }
    }

    /// The state that was reached.
    pub(crate) fn state(&self) -> &MachineState<u8> {
        &self.before
    }

    /// The occurrences of the step into that state.
    pub(crate) fn did(&self) -> &Occurrences {
        &self.did
    }

    /// The state that was reached, as properties see it.
    pub(crate) fn view(&self) -> ConcreteView<'_> {
        ConcreteView { machine: self.machine, state: &self.before, watched: &self.watched, did: &self.did }
    }

    /// Tries a step. [`Self::take_back`] or [`Self::accept`] must follow.
    pub(crate) fn attempt(&mut self, answers: &Answers, content: &dyn Fn(DataAddress) -> u8) -> Tried {
        let mut trial = Trial {
            machine: self.machine,
            timing: &self.timing,
            cycle: self.cycles,
            too_soon: self.interrupts_too_soon(),
            peripherals: &mut self.peripherals,
            answers,
            content,
            asked: Vec::new(),
            events: Recorder::new(&self.watched, self.before.control.pc.byte()),
            executes: false,
        };
        let result = self.machine.step(&mut self.after, &mut trial);
        Tried { result, did: trial.events.occurrences(), asked: trial.asked, executes: trial.executes }
    }

    /// The arrival of a step that was tried: a state or the end of the run.
    pub(crate) fn arrival<'b>(&'b self, tried: &'b Tried) -> Arrival<'b> {
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
    pub(crate) fn take_back(&mut self) {
        self.peripherals.forget_step();
        for page in self.after.data.changed_pages().collect::<Vec<_>>() {
            self.after.data.load_page(page, self.before.data.page(page));
        }
        self.after.data.clear_changed();
        if !self.after.calls.agrees(&self.before.calls) {
            self.after.calls = self.before.calls.clone();
        }
        self.after.control = self.before.control;
    }

    /// Makes a step that was tried a step of the run. Of one that ends the run only the inputs are kept.
    pub(crate) fn accept(&mut self, tried: Tried) {
        self.record(&tried.asked);
        let Ok(cycles) = tried.result else { return self.take_back() };
        self.did = tried.did;
        self.cycles += u64::from(cycles);
        self.run.cycles = self.cycles;
        self.run.steps += 1;
        self.note_flags_that_cannot_be_set(&tried.asked);
        self.track(tried.executes);
        for page in self.after.data.changed_pages().collect::<Vec<_>>() {
            self.before.data.load_page(page, self.after.data.page(page));
        }
        self.after.data.clear_changed();
        if !self.after.calls.agrees(&self.before.calls) {
            self.before.calls = self.after.calls.clone();
        }
        self.before.control = self.after.control;
        self.settle();
    }

    /// The same run with tracking from its first step on.
    pub(crate) fn tracked(self, tracking: Option<Tracking>) -> Self {
        Self { tracking, ..self }
    }

    /// The answer that lets an interrupt come where it would show something, if it can come in a step that was tried.
    pub(crate) fn wanted_interrupt(&self, tried: &Tried) -> Option<(usize, Answer)> {
        let wanted = self.tracking.as_ref()?.tracker.wanted_interrupts(&self.before);
        tried.asked.iter().enumerate().find_map(|(index, asked)| {
            let Asked::Choice { possible, .. } = asked else { return None };
            let can_come = |vector: &&u8| possible.iter().any(|one| one == Happening::Interrupt(**vector));
            Some((index, Answer::Happening(Happening::Interrupt(*wanted.iter().find(can_come)?))))
        })
    }

    /// Lets the tracking see the step.
    fn track(&mut self, executes: bool) {
        let Some(tracking) = &mut self.tracking else { return };
        let on_model = self.run.abstracted.is_some();
        let states = (&self.before, &self.after);
        if let Some(observed) = tracking.tracker.step(self.machine, states, executes, on_model) {
            tracking.found.borrow_mut().push((observed, self.run.clone(), self.after.clone()));
        }
    }

    /// Lets the peripherals see the state.
    fn settle(&mut self) {
        self.after.data.clear_changed();
        self.before.data.clear_changed();
        self.peripherals.after_step(&self.before, self.cycles, self.run.steps);
    }

    /// The interrupts whose handlers the environment cannot have entered yet.
    fn interrupts_too_soon(&self) -> u128 {
        let mut all = 0;
        for flag in (0..self.timing.flags.len()).filter(|flag| !self.timing.is_time(*flag, self.cycles)) {
            let bit = self.timing.flags[flag].bit;
            let requests = |interrupt: &&avr_machine::device::Interrupt| interrupt.flag() == Some(bit);
            let is_set = self.before.data.get(bit.address) & bit.mask() != 0;
            if let Some(interrupt) = self.machine.device.interrupts.iter().find(requests).filter(|_| !is_set) {
                all |= 1 << interrupt.number;
            }
        }
        all
    }

    /// From now on the environment has to wait for flags that it cannot set now. Nor could it before, if a step asked for the register.
    fn note_flags_that_cannot_be_set(&mut self, asked: &[Asked]) {
        let io_pages = self.machine.sram().start.index().div_ceil(PAGE_CELLS);
        let is_asked = |one: &Asked| matches!(one, Asked::Input { source: Input::Register(_), .. });
        if self.after.data.changed_pages().any(|page| page < io_pages) || asked.iter().any(is_asked) {
            for (flag, last) in self.timing.flags.iter().zip(&mut self.timing.last) {
                if !flag.can_be_set(&self.after) {
                    *last = self.cycles;
                }
            }
        }
    }

    /// Takes note of the flags that are set in a step, and for which the environment has to wait next time.
    fn note_flags_that_are_set(&mut self, asked: &[Asked]) {
        for one in asked {
            let set = match one {
                Asked::Input { source: Input::Register(address), value, who, .. } => {
                    let is_spaced = *who != DeterminedBy::Environment;
                    self.timing.among(*address, if is_spaced { *value } else { 0 }).collect()
                }
                Asked::Choice { chosen: Happening::Interrupt(number), .. } => {
                    self.timing.set_by_entry(self.machine, *number, &self.before).into_iter().collect()
                }
                _ => Vec::new(),
            };
            for index in set {
                self.timing.last[index] = self.cycles;
                let flag = self.timing.flags[index];
                self.run.spaced.push(Spaced { flag, step: self.run.steps, cycle: self.cycles });
            }
        }
    }

    fn record(&mut self, asked: &[Asked]) {
        let step = self.run.steps;
        self.note_flags_that_are_set(asked);
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

/// The entry of a stimulus for a step. Bits that the property file assumes are in it as well, and those that machines drive are with
/// the others of their register, so that the run is the same without the assumptions and the machines.
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
    for driven in machine.options().automata.iter().flat_map(|automaton| automaton.drives.keys()) {
        join_parts(&mut exact.inputs, *driven);
    }
    exact
}

/// Puts together the bits of a register that one read asked for in parts.
fn join_parts(inputs: &mut [ExactInput], register: DataAddress) {
    let parts = || inputs.iter().filter(|input| input.register == register);
    let mask = parts().fold(0, |all, part| all | part.mask);
    let count: u32 = parts().map(|part| part.mask.count_ones()).sum();
    let value = parts().fold(0, |all, part| all | part.value);
    if count == mask.count_ones() {
        inputs.iter_mut().filter(|input| input.register == register).for_each(|part| {
            (part.mask, part.value) = (mask, value);
        });
    }
}

/// True if a step gets what it gets without an entry.
fn is_silent(step: &ExactStep) -> bool {
    step.choice.is_none_or(|choice| choice == Happening::Continue)
        && step.initial.is_empty()
        && step.inputs.iter().all(|input| input.value == 0)
}
