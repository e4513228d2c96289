//! AVR firmware as a system for abstraction refinement.

use crate::certificate::Advised;
use crate::cut::cut;
use crate::decay::Forgetting;
use crate::events::{Occurrences, Recorder, occurrence, watched};
use crate::evidence::{self, Search};
use crate::reduction::{Before, Footsteps, Postponed, Reduction, Turn};
use crate::script::{
    Answer, FEW_COMBINATIONS, HardwareChoice, MAX_COMBINATIONS, Scripted, Unknowns, hyper_edges,
    uses_abstracted_freedom,
};
use crate::state::{AbstractState, Location, Running};
use crate::store::Store;
use crate::trace::Tracer;
use crate::workspace::Workspace;
use avr_machine::{Environment, Event, FrameKind, Input, Limit, Machine, MachineState, Stop};
use avr_properties::{Atom, AtomKind, Event as WatchedEvent, Occurrence, StateView};
use mu_calculus::AtomId;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use three_valued::{Truth, TvByte};
use tvar::{
    Blame, Candidate, Decision, Difference, Goal, HyperEdges, LocationPrecision, Lookup, StepPrecision, System,
    Variable, Watch,
};

/// Firmware in a machine, with the atoms that its properties speak of.
#[derive(Debug)]
pub struct Firmware<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) atoms: &'a [Atom],
    pub(crate) store: Store,
    pub(crate) forgetting: Forgetting,
    workspace: Workspace,
    /// The events that atoms speak of.
    watched: Rc<[WatchedEvent]>,
    /// The runs that show decided goals, by the number of the goal.
    pub(crate) shown: RefCell<BTreeMap<usize, Search>>,
    /// What was split and cut in each step, if a certificate is wanted.
    pub(crate) advised: Option<Advised>,
    /// Where interrupts are looked at only where they can be seen.
    pub(crate) reduction: Option<Reduction>,
}

/// Unknown inputs as three-valued bytes, and events noted.
struct Open<'a> {
    events: Recorder<'a>,
    /// What the step did, where interrupts are reduced.
    steps: Option<Footsteps>,
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
}

/// The most outcomes of one step that are told apart.
const MAX_LEAVES: usize = 4096;

/// A script of one step and what it leads to.
pub(crate) struct Leaf {
    pub(crate) script: Vec<Answer>,
    pub(crate) state: AbstractState,
}

impl<'a> Firmware<'a> {
    /// The system of a machine.
    #[must_use]
    pub fn new(machine: &'a Machine, atoms: &'a [Atom]) -> Self {
        let mut store = Store::default();
        let workspace = Workspace::new(machine.cells(), &mut store);
        let watched = watched(atoms).into();
        let forgetting = Forgetting::new(machine, atoms);
        let shown = RefCell::default();
        Self { machine, atoms, store, forgetting, workspace, watched, shown, advised: None, reduction: None }
    }

    /// The same where interrupts are looked at only where they can be seen: for goals that speak of nothing but hazards and
    /// how deep the stack gets.
    #[must_use]
    pub fn with_reduced_interrupts(mut self) -> Self {
        self.reduction = Reduction::new(self.machine);
        self
    }

    /// A state as formulas see it; none for the dummy and for sinks.
    #[must_use]
    pub fn view(&self, state: &AbstractState) -> Option<View<'_>> {
        match state {
            AbstractState::Running(running) => {
                Some(View { store: &self.store, watched: &self.watched, running: *running })
            }
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => None,
        }
    }

    /// Everything that one step from a state can come to under a precision, in the order of enumeration.
    pub(crate) fn leaves(&mut self, state: &AbstractState, precision: &LocationPrecision) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        let watched = Rc::clone(&self.watched);
        let pc = match state {
            AbstractState::Running(running) => running.control.pc * 2,
            _ => 0,
        };
        let steps = self.reduction.is_some().then(Footsteps::default);
        let mut environment = Scripted::new(precision, Open { events: Recorder::new(&watched, pc), steps });
        loop {
            environment.unknowns.events.clear();
            environment.unknowns.steps.as_mut().map(Footsteps::clear);
            environment.postponed = false;
            let mut target = self.run(state, precision, &mut environment);
            if precision.stops_at_cases && environment.retract_cases() {
                // SOUND: a sink says nothing of what comes after it, whatever the case.
                target = Some(AbstractState::Limit { limit: Limit::TooManyCases, pc: pc / 2 });
            }
            leaves.extend(target.map(|state| Leaf { script: environment.script.clone(), state }));
            if leaves.len() > MAX_LEAVES {
                // SOUND: a sink says nothing of what comes after it.
                let state = AbstractState::Limit { limit: Limit::TooManyCases, pc: pc / 2 };
                return vec![Leaf { script: Vec::new(), state }];
            }
            if !environment.advance() {
                return leaves;
            }
        }
    }

    /// Runs one step with the answers of the environment; none when no concrete state gives these answers.
    fn run(
        &mut self,
        state: &AbstractState,
        precision: &LocationPrecision,
        environment: &mut Scripted<'_, Open<'_>>,
    ) -> Option<AbstractState> {
        match state {
            AbstractState::Running(running) => {
                self.workspace.load(&self.store, running);
                let before = self
                    .reduction
                    .as_ref()
                    .map(|reduction| reduction.before(self.machine, &self.workspace.state, running.postponed));
                environment.turn = before.map_or(Turn::Now, |before| before.turn);
                cut(self.machine, &mut self.workspace.state, precision, environment);
                let stepped = self.machine.step(&mut self.workspace.state, environment);
                let postponed = before.map(|before| self.reduced(&before, environment, stepped.is_ok()));
                match stepped {
                    Ok(_) => {
                        Some(self.arrived(environment.unknowns.events.occurrences(), postponed.unwrap_or_default()))
                    }
                    Err(stop) => stopped(stop, running.control.pc),
                }
            }
            AbstractState::Dummy => Some(self.power_on(environment)),
            AbstractState::Hazard { .. } | AbstractState::Limit { .. } => None,
        }
    }

    /// Takes note of what a step did that was reduced, forgets what is garbage then, and gives what is postponed.
    fn reduced(&mut self, before: &Before, environment: &mut Scripted<'_, Open<'_>>, went_on: bool) -> Postponed {
        let (Some(reduction), Some(steps)) = (&mut self.reduction, &mut environment.unknowns.steps) else {
            return Postponed::default();
        };
        steps.postponed = environment.postponed;
        reduction.note_touched(self.machine, steps, before, &self.workspace.state);
        if !went_on {
            return Postponed::default();
        }
        reduction.note_depth(self.machine, &self.workspace.state);
        for cell in reduction.garbage(self.machine, steps.all_written(), before, &self.workspace.state) {
            self.workspace.state.data.set(cell, TvByte::UNKNOWN);
        }
        reduction.after(self.machine, steps, before, &self.workspace.state)
    }

    fn arrived(&mut self, occurrences: Occurrences, postponed: Postponed) -> AbstractState {
        let did = self.store.intern_occurrences(occurrences);
        AbstractState::Running(self.workspace.save(&mut self.store, did, postponed))
    }

    /// The first step: the machine gets its initial content.
    fn power_on(&mut self, environment: &mut impl Environment<TvByte>) -> AbstractState {
        let fresh: MachineState<TvByte> = self.machine.power_on(environment);
        for (address, cell) in fresh.data.cells().iter().enumerate() {
            self.workspace.state.data.set(address as u16, *cell);
        }
        self.workspace.state.control = fresh.control;
        self.workspace.state.calls.clear();
        self.arrived(Occurrences::default(), Postponed::default())
    }
}

/// How a cell differs in two states.
fn difference(address: u16, one: TvByte, other: TvByte) -> Difference {
    let bits = (one.known_mask() ^ other.known_mask()) | (one.value() ^ other.value());
    let content = u16::from_le_bytes([other.value(), other.known_mask()]);
    Difference { variable: Variable(address.into()), bits: bits.into(), other: content.into() }
}

/// The sink of a step that led nowhere; none when no concrete state takes it.
fn stopped(stop: Stop, pc: u32) -> Option<AbstractState> {
    match stop {
        Stop::Hazard(hazard) => Some(AbstractState::Hazard { hazard, pc }),
        Stop::Limit(limit) => Some(AbstractState::Limit { limit, pc }),
        Stop::Infeasible => None,
    }
}

impl System for Firmware<'_> {
    type State = AbstractState;
    type Location = Location;

    fn initial(&mut self) -> AbstractState {
        if let Some(reduction) = &mut self.reduction {
            reduction.begin(self.machine);
        }
        AbstractState::Dummy
    }

    fn is_settled(&self) -> bool {
        self.reduction.as_ref().is_none_or(Reduction::is_settled)
    }

    fn location(&self, state: &AbstractState) -> Location {
        match state {
            AbstractState::Dummy => Location::Dummy,
            AbstractState::Hazard { .. } | AbstractState::Limit { .. } => Location::Sink,
            AbstractState::Running(running) => {
                let (low, high) = self.machine.stack_pointer_addresses();
                let byte = |address: u16| self.store.cell(running.memory, address).known();
                let high = high.map_or(Some(0), byte);
                let stack_pointer = byte(low).zip(high).map(|(low, high)| u16::from_le_bytes([low, high]));
                Location::Running { control: running.control, stack_pointer, calls: running.calls.0 }
            }
        }
    }

    fn expand(&mut self, state: &AbstractState, precision: &LocationPrecision, edges: &mut HyperEdges<AbstractState>) {
        if let Some(advised) = &mut self.advised {
            advised.note(state, precision);
        }
        let leaves = self.leaves(state, precision);
        if let [only] = leaves.as_slice() {
            edges.add([only.state]);
            return;
        }
        let (scripts, states): (Vec<_>, Vec<_>) = leaves.into_iter().map(|leaf| (leaf.script, leaf.state)).unzip();
        let most = if precision.coarse { FEW_COMBINATIONS } else { MAX_COMBINATIONS };
        let free = hyper_edges(&scripts, HardwareChoice::Free, most);
        for edge in &free {
            edges.add(edge.iter().map(|leaf| states[*leaf]));
        }
        if scripts.iter().any(|script| uses_abstracted_freedom(script)) {
            // Every leaf is a member of some hyper-edge; its first place among them stands for it.
            let members: Vec<usize> = free.into_iter().flatten().collect();
            let position = |leaf: usize| members.iter().position(|member| *member == leaf).expect("a member");
            let open = hyper_edges(&scripts, HardwareChoice::Open, most);
            edges.set_open(open.into_iter().map(|edge| edge.into_iter().map(position).collect()).collect());
        }
    }

    fn decay(&mut self, state: AbstractState, precision: &StepPrecision) -> AbstractState {
        let AbstractState::Running(running) = state else { return state };
        let lost = self.forgetting.lost_bits(self.machine, &self.store, &running, precision);
        if lost.is_empty() {
            return state;
        }
        self.workspace.load(&self.store, &running);
        for (address, mask) in lost {
            let cell = self.workspace.state.data.get(address).forget(mask);
            self.workspace.state.data.set(address, cell);
        }
        AbstractState::Running(self.workspace.save(&mut self.store, running.did, running.postponed))
    }

    fn covers(&self, coarse: &AbstractState, fine: &AbstractState) -> bool {
        let (AbstractState::Running(coarse), AbstractState::Running(fine)) = (coarse, fine) else {
            return coarse == fine;
        };
        coarse.control == fine.control
            && coarse.calls == fine.calls
            && coarse.postponed == fine.postponed
            && self.store.memory_covers(coarse.memory, fine.memory)
            && self.store.occurrences_cover(coarse.did, fine.did)
    }

    fn rank(&self, state: &AbstractState) -> u32 {
        // Handlers last: what they interrupt has lost by then what it loses.
        match state {
            AbstractState::Running(running) => {
                let frames = self.store.frames(running.calls);
                frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count() as u32
            }
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => 0,
        }
    }

    fn crowd(&self, state: &AbstractState) -> u64 {
        match state {
            AbstractState::Running(running) => self.forgetting.addresses(self.machine, &self.store, running),
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => 0,
        }
    }

    fn differences(&self, one: &AbstractState, other: &AbstractState) -> Vec<Difference> {
        match (one, other) {
            (AbstractState::Running(one), AbstractState::Running(other)) => {
                let cells = self.store.differing_cells(one.memory, other.memory);
                cells.map(|(address, one, other)| difference(address, one, other)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        let atom = &self.atoms[atom.index()];
        match state {
            AbstractState::Hazard { .. } if *atom.kind() == AtomKind::Hazard => Truth::True,
            _ => self.view(state).map_or(Truth::Unknown, |view| atom.evaluate(&view)),
        }
    }

    fn is_hazard(&self, state: &AbstractState) -> bool {
        matches!(state, AbstractState::Hazard { .. })
    }

    fn is_limit(&self, state: &AbstractState) -> bool {
        matches!(state, AbstractState::Limit { .. })
    }

    fn blame(&mut self, path: &[AbstractState], cause: Blame, precision: &dyn Lookup<Self>) -> Vec<Candidate<Self>> {
        Tracer::new(self, path, precision).blame(cause)
    }

    fn decided(&mut self, number: usize, goal: &Goal, decision: &Decision<AbstractState>, watch: &dyn Watch) {
        let search = evidence::find(self, goal, decision, watch);
        self.shown.get_mut().insert(number, search);
    }
}

/// A running state as formulas see it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    store: &'a Store,
    watched: &'a [WatchedEvent],
    running: Running,
}

impl StateView for View<'_> {
    fn cell(&self, address: u16) -> TvByte {
        self.store.cell(self.running.memory, address)
    }

    fn pc(&self) -> u32 {
        self.running.control.pc * 2
    }

    fn stack_pointer_torn(&self) -> bool {
        self.running.control.torn.is_some()
    }

    fn interrupt_depth(&self) -> usize {
        let frames = self.store.frames(self.running.calls);
        frames.filter(|frame| matches!(frame.kind, FrameKind::Interrupt(_))).count()
    }

    fn sleeping(&self) -> Truth {
        Truth::from(self.running.control.sleeping)
    }

    fn hazard(&self) -> Truth {
        Truth::False
    }

    fn event(&self, event: &WatchedEvent) -> Occurrence {
        occurrence(self.watched, self.store.occurrences.get(self.running.did.0), event)
    }
}
