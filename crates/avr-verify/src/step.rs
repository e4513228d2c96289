//! One step of firmware, over all answers to all open questions.

use crate::compression::{Fault, Passage, Spot, faulty};
use crate::cut::{cells_cut, is_cut};
use crate::events::{Occurrences, Recorder};
use crate::joined::Cut;
use crate::reduction::{Before, Footsteps, Postponed, Turn};
use crate::script::{Answer, Scripted, Unknowns};
use crate::state::{AbstractState, PrecisionLookup};
use crate::system::Firmware;
use avr_machine::{Environment, Event, Input, Limit, MachineState, Stop};
use std::rc::Rc;
use three_valued::TvByte;
use tvar::{LocationPrecision, System};

/// Unknown inputs as three-valued bytes, and events noted.
pub(crate) struct Open<'a> {
    pub(crate) events: Recorder<'a>,
    /// What the step did, where interrupts are reduced.
    pub(crate) steps: Option<Footsteps>,
}

impl Unknowns<TvByte> for Open<'_> {
    fn unknown(&mut self, _: Input, mask: u8) -> TvByte {
        TvByte::new(0, !mask)
    }

    fn event(&mut self, event: Event<'_, TvByte>) {
        self.events.note(event);
        if let Some(steps) = &mut self.steps {
            steps.note(event);
        }
    }

    fn moves(&mut self, from: u32, to: u32) -> u64 {
        self.events.moves(from, to)
    }
}

impl Scripted<'_, Open<'_>> {
    /// Forgets what was noted of the last step.
    pub(crate) fn clear_notes(&mut self) {
        self.unknowns.events.clear();
        self.unknowns.steps.as_mut().map(Footsteps::clear);
        self.begin();
    }
}

/// The most outcomes of one step that are told apart.
const MAX_LEAVES: usize = 4096;

/// A script of one step and what it leads to.
pub(crate) struct Leaf {
    pub(crate) script: Vec<Answer>,
    pub(crate) state: AbstractState,
    /// Whether an interrupt that is certain on the way was left for later, which the hardware does not do.
    pub(crate) is_deferred: bool,
}

/// The passage on which outcomes are followed, and the precision of what comes then.
pub(crate) type Far<'a> = (&'a Passage<'a>, &'a PrecisionLookup<'a>);

/// What a step came to; where it went on, the machine at work is behind it.
pub(crate) enum Stepped {
    On(Postponed),
    Ended(AbstractState),
    /// No concrete state takes it.
    Infeasible,
}

/// What one script leads to, if nobody chooses among several states.
fn as_cases(script: &[Answer], states: Vec<AbstractState>, is_deferred: bool) -> impl Iterator<Item = Leaf> {
    let count = states.len();
    states.into_iter().enumerate().map(move |(index, state)| {
        let case = (count > 1).then(|| Answer::case(index, count));
        Leaf { script: script.iter().copied().chain(case).collect(), state, is_deferred }
    })
}

impl Firmware<'_> {
    /// Everything that one step from a state can come to under a precision, in the order of enumeration.
    pub(crate) fn leaves(&mut self, state: &AbstractState, precision: &LocationPrecision) -> Vec<Leaf> {
        self.all_leaves(state, precision, None)
    }

    /// The same, each followed until something is decided.
    pub(crate) fn leaves_far(&mut self, state: &AbstractState, precision: &PrecisionLookup<'_>) -> Vec<Leaf> {
        let here = precision.leaving(state, &self.location(state));
        let AbstractState::Running(running) = state else { return self.leaves(state, here) };
        let labels = self.labels(state);
        let passage = Passage::new(&labels, Spot { pc: running.control.pc, calls: running.calls });
        self.all_leaves(state, here, Some((&passage, precision)))
    }

    /// With `far`, each outcome is followed on such a passage.
    pub(crate) fn all_leaves(
        &mut self,
        state: &AbstractState,
        here: &LocationPrecision,
        far: Option<Far<'_>>,
    ) -> Vec<Leaf> {
        // Handlers are followed while what they interrupt is.
        let outer = self.workspace.deferred;
        let leaves = self.collected_leaves(state, here, far);
        self.workspace.deferred = outer;
        leaves
    }

    fn collected_leaves(&mut self, state: &AbstractState, here: &LocationPrecision, far: Option<Far<'_>>) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let watched = Rc::clone(&self.watched);
        let pc = match state {
            AbstractState::Running(running) => running.control.pc,
            _ => 0,
        };
        let steps = self.reduction.is_some().then(Footsteps::default);
        let mut environment = Scripted::new(here, Open { events: Recorder::new(&watched, pc * 2), steps })
            .learning(self.learning(here))
            .telling_branches(self.branches);
        loop {
            environment.clear_notes();
            self.workspace.deferred = false;
            let mut stepped = self.run(state, here, &mut environment);
            if let (AbstractState::Running(running), Some((passage, precision))) = (state, far)
                && environment.is_only_cut()
                && environment.is_at_first_case()
            {
                let cut = Cut { running, here, precision, labels: passage.labels() };
                if let Some((leaf, more)) = self.joined_leaf(cut, &mut environment, passage.clone()) {
                    leaves.extend(leaf);
                    if more {
                        continue;
                    }
                    return leaves;
                }
                environment.clear_notes();
                self.workspace.deferred = false;
                stepped = self.run(state, here, &mut environment);
            }
            if let Some(states) = self.behind_its_handler(state, here, &stepped, &environment, far) {
                leaves.extend(as_cases(&environment.script, states, self.workspace.deferred));
            } else {
                let mut target = self.target(stepped, &mut environment, far);
                if here.stops_at_cases && environment.retract_cases() {
                    // SOUND: a sink says nothing of what comes after it, whatever the case.
                    target = Some(AbstractState::Limit { limit: Limit::TooManyCases, pc });
                }
                let is_deferred = self.workspace.deferred;
                leaves.extend(target.map(|state| Leaf { script: environment.script.clone(), state, is_deferred }));
            }
            if leaves.len() > MAX_LEAVES {
                // SOUND: a sink says nothing of what comes after it.
                let state = AbstractState::Limit { limit: Limit::TooManyCases, pc };
                return vec![Leaf { script: Vec::new(), state, is_deferred: false }];
            }
            if !environment.advance() {
                return leaves;
            }
        }
    }

    /// What all cases into which a step is cut come to, joined, and whether there are more scripts; none if they cannot be joined.
    fn joined_leaf(
        &mut self,
        cut: Cut<'_>,
        environment: &mut Scripted<'_, Open<'_>>,
        mut passage: Passage<'_>,
    ) -> Option<(Option<Leaf>, bool)> {
        let script = environment.script_before_cut();
        let (postponed, more) = self.join_cases(cut, environment, &mut passage)?;
        let target = self.pass(postponed, passage, cut.precision);
        let is_deferred = self.workspace.deferred;
        Some((target.map(|state| Leaf { script, state, is_deferred }), more))
    }

    /// Where the code goes on that a step interrupted; none if the handler is followed step by step.
    fn behind_its_handler(
        &mut self,
        state: &AbstractState,
        here: &LocationPrecision,
        stepped: &Stepped,
        environment: &Scripted<'_, Open<'_>>,
        far: Option<Far<'_>>,
    ) -> Option<Vec<AbstractState>> {
        let (AbstractState::Running(running), Stepped::On(postponed), Some((passage, precision))) =
            (state, stepped, far)
        else {
            return None;
        };
        let is_entered = environment.unknowns.steps.as_ref().is_some_and(|steps| steps.interrupted);
        (here.coarse && is_entered).then(|| self.behind_handler(running, *postponed, passage, precision))?
    }

    /// The state to which a step leads that the machine at work has just taken, or what it leads to after that.
    fn target(
        &mut self,
        stepped: Stepped,
        environment: &mut Scripted<'_, Open<'_>>,
        far: Option<Far<'_>>,
    ) -> Option<AbstractState> {
        match (stepped, far) {
            (Stepped::On(postponed), Some((passage, precision))) => {
                let mut passage = passage.clone();
                self.note_move(&mut passage);
                self.pass(postponed, passage, precision)
            }
            (Stepped::On(postponed), None) => Some(self.arrived(environment.unknowns.events.occurrences(), postponed)),
            (Stepped::Ended(state), _) => Some(state),
            (Stepped::Infeasible, _) => None,
        }
    }

    /// Runs one step from a state with the answers of the environment.
    fn run(
        &mut self,
        state: &AbstractState,
        precision: &LocationPrecision,
        environment: &mut Scripted<'_, Open<'_>>,
    ) -> Stepped {
        match state {
            AbstractState::Running(running) => {
                self.workspace.load(&self.store, running);
                self.step(running.postponed, precision, environment)
            }
            AbstractState::Dummy => {
                self.power_on(environment);
                Stepped::On(Postponed::default())
            }
            AbstractState::Hazard { .. } | AbstractState::Limit { .. } => Stepped::Infeasible,
        }
    }

    /// Runs one step of the machine at work with the answers of the environment.
    pub(crate) fn step(
        &mut self,
        postponed: Postponed,
        precision: &LocationPrecision,
        environment: &mut Scripted<'_, Open<'_>>,
    ) -> Stepped {
        let pc = self.workspace.state.control.pc;
        let reduction = self.reduction.as_ref();
        let is_cut = is_cut(&self.workspace.state, precision);
        let before =
            reduction.map(|reduction| reduction.before(self.machine, &self.workspace.state, postponed, is_cut));
        environment.turn = before.map_or(Turn::Now, |before| before.turn);
        let depth = self.workspace.state.calls.frames().len();
        let stepped = self.machine.step(&mut self.workspace.state, environment);
        self.workspace.deferred |= environment.deferred;
        let state = &self.workspace.state;
        self.workspace.entered = (state.calls.frames().len() > depth).then_some(state.control.pc);
        let postponed = before.map(|before| self.reduced(&before, precision, environment, stepped.is_ok()));
        match stepped {
            Ok(_) => Stepped::On(postponed.unwrap_or_default()),
            Err(Stop::Hazard(hazard)) => Stepped::Ended(AbstractState::Hazard { hazard, pc }),
            Err(Stop::Limit(limit)) => Stepped::Ended(AbstractState::Limit { limit, pc }),
            Err(Stop::Infeasible) => Stepped::Infeasible,
        }
    }

    /// Goes on with the machine at work while nothing is decided, and stores it where something is.
    pub(crate) fn pass(
        &mut self,
        mut postponed: Postponed,
        mut passage: Passage<'_>,
        precision: &PrecisionLookup<'_>,
    ) -> Option<AbstractState> {
        let mut steps = self.reduction.is_some().then(Footsteps::default);
        let mut before = (postponed, passage.clone(), self.workspace.state.control, self.workspace.deferred);
        while !self.is_kept(&mut passage) {
            let (control, deferred) = (self.workspace.state.control, self.workspace.deferred);
            before = (postponed, passage.clone(), control, deferred);
            passage.begin_step(&mut self.workspace.state);
            let (stepped, has_answered) = self.next_step(postponed, precision, &mut steps);
            if has_answered && !faulty(Fault::FirstOutcomeOnly) {
                self.workspace.deferred = deferred;
                passage.take_back(&mut self.workspace.state, control);
                self.workspace.entered = None;
                break;
            }
            self.note_left_out(&passage);
            match stepped {
                Stepped::On(next) => {
                    postponed = next;
                    self.note_move(&mut passage);
                }
                Stepped::Ended(state) => {
                    passage.end(&mut self.workspace.state);
                    return Some(state);
                }
                Stepped::Infeasible => {
                    passage.end(&mut self.workspace.state);
                    return None;
                }
            }
        }
        if self.branches && passage.ends_with_what_is_seen() && !faulty(Fault::LastLeftOut) {
            // SOUND: what can be reached from the state before may be less than from where the run began.
            passage.take_back(&mut self.workspace.state, before.2);
            (postponed, passage, _, self.workspace.deferred) = before;
            self.workspace.entered = None;
        }
        passage.end(&mut self.workspace.state);
        self.note_length(&passage);
        self.forget_popped(&passage, precision);
        Some(self.arrived(Occurrences::default(), postponed))
    }

    /// Takes one step of the machine at work with first answers; and whether there are others.
    pub(crate) fn next_step(
        &mut self,
        postponed: Postponed,
        precision: &PrecisionLookup<'_>,
        steps: &mut Option<Footsteps>,
    ) -> (Stepped, bool) {
        let watched = Rc::clone(&self.watched);
        let here = self.precision_here(precision);
        let events = Recorder::new(&watched, self.workspace.state.control.pc * 2);
        let mut environment = Scripted::new(here, Open { events, steps: steps.take() })
            .learning(self.learning(here))
            .telling_branches(self.branches);
        let stepped = self.step(postponed, here, &mut environment);
        *steps = environment.unknowns.steps.take();
        steps.as_mut().map(Footsteps::clear);
        (stepped, environment.has_answered())
    }

    /// Takes note of what a step did that was reduced, forgets what is garbage then, and gives what is postponed.
    fn reduced(
        &mut self,
        before: &Before,
        precision: &LocationPrecision,
        environment: &mut Scripted<'_, Open<'_>>,
        went_on: bool,
    ) -> Postponed {
        let (Some(reduction), Some(steps)) = (&mut self.reduction, &mut environment.unknowns.steps) else {
            return Postponed::default();
        };
        steps.postponed = environment.postponed;
        if let Some(footing) = self.handlers.as_mut().and_then(|handlers| handlers.footing.as_mut()) {
            let after = self.forgetting.whole_pointer(&self.workspace.state);
            footing.note(steps, (before, after), precision);
        }
        reduction.note_touched(self.machine, steps, before, &self.workspace.state);
        if !went_on {
            return Postponed::default();
        }
        reduction.note_depth(self.machine, &self.workspace.state);
        let changed = steps.all_written().chain(cells_cut(precision, steps.all_read()));
        reduction.forget_below(self.machine, changed, before.pointer(), &mut self.workspace.state, &TvByte::UNKNOWN);
        reduction.after(self.machine, steps, before, &self.workspace.state)
    }

    pub(crate) fn arrived(&mut self, occurrences: Occurrences, postponed: Postponed) -> AbstractState {
        let did = self.store.intern_occurrences(occurrences);
        AbstractState::Running(self.workspace.save(&mut self.store, did, postponed))
    }

    /// The first step: the machine gets its initial content.
    fn power_on(&mut self, environment: &mut impl Environment<TvByte>) {
        let fresh: MachineState<TvByte> = self.machine.power_on(environment);
        for (address, cell) in fresh.data.cells().iter().enumerate() {
            self.workspace.state.data.set(address as u16, *cell);
        }
        self.workspace.state.control = fresh.control;
        self.workspace.state.calls.clear();
        if let Some(reduction) = &self.reduction {
            reduction.forget_below(self.machine, std::iter::empty(), None, &mut self.workspace.state, &TvByte::UNKNOWN);
        }
    }
}
