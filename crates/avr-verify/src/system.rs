//! AVR firmware as a system for abstraction refinement.

use crate::asked::Asked;
use crate::certificate::Advised;
use crate::compression::Compression;
use crate::decay::Forgetting;
use crate::events::{occurrence, watched};
use crate::evidence::{self, Sampler, Search};
use crate::handlers::Handlers;
use crate::invariant::parts;
use crate::liveness::Learning;
use crate::reduction::{Fault, Reduction, faulty};
use crate::script::{FEW_COMBINATIONS, HardwareChoice, MAX_COMBINATIONS, hyper_edges, uses_abstracted_freedom};
use crate::sight::Sight;
use crate::state::{AbstractState, Location, Running};
use crate::step::Leaf;
use crate::store::Store;
use crate::thresholds::Thresholds;
use crate::trace::Tracer;
use crate::turns::Turns;
use crate::workspace::Workspace;
use avr_machine::{FrameKind, Machine};
use avr_properties::{Atom, Event as WatchedEvent, Occurrence, StateView};
use mu_calculus::AtomId;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use three_valued::fault::{self, is_on};
use three_valued::{Truth, TvByte};
use tvar::{
    Blame, Candidate, Decided, Decision, Difference, Goal, HyperEdges, LocationPrecision, Lookup, Place, StepPrecision,
    System, Turn, Variable, Watch,
};

/// The search for a run that shows a goal, and what was decided without leaving out states, if some were left out.
pub(crate) type Shown = (Search, Option<Decision<AbstractState>>);

/// One step is taken at random for so many abstract ones.
const STEPS_PER_SAMPLED: u64 = 2;
/// Fewer steps at random are not worth it: the state space tells soon.
const FEWEST_SAMPLED: u64 = 50_000;

/// The flags of SREG that arithmetic and comparisons set: H, S, V, N, Z and C.
const COMPUTED_FLAGS: u64 = 0b0011_1111;

/// Firmware in a machine, with the atoms that its properties speak of.
#[derive(Debug)]
pub struct Firmware<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) atoms: &'a [Atom],
    pub(crate) store: Store,
    pub(crate) forgetting: Forgetting,
    pub(crate) workspace: Workspace,
    /// In which order states are expanded.
    pub(crate) turns: Turns,
    /// Which bits of a byte in memory are dropped together.
    thresholds: Thresholds,
    /// The events that atoms speak of.
    pub(crate) watched: Rc<[WatchedEvent]>,
    /// The properties that are to be told what is decided.
    pub(crate) asked: Option<&'a Asked<'a>>,
    /// The runs that show decided goals, by the number of the goal.
    pub(crate) shown: RefCell<BTreeMap<usize, Shown>>,
    /// How many refinements were made for causes at each location.
    pub(crate) refined_for: FxHashMap<Location, usize>,
    /// What was split and cut in each step, if a certificate is wanted.
    pub(crate) advised: Option<Advised>,
    /// Where interrupts are looked at only where they can be seen.
    pub(crate) reduction: Option<Reduction>,
    /// Where states are kept only where something is decided.
    pub(crate) compression: Option<Compression>,
    /// Where handlers are passed in one step.
    pub(crate) handlers: Option<Handlers>,
    /// Whether it matters from where which states can be reached, where something is left out.
    pub(crate) branches: bool,
    /// Whether a part of a state space may tell that something holds.
    is_told_by_parts: bool,
    /// Whether comparisons narrow what they compare.
    pub(crate) learns: bool,
    /// Where runs at random are tried as well.
    pub(crate) sampler: Option<Sampler<'a>>,
}

impl<'a> Firmware<'a> {
    /// The system of a machine.
    #[must_use]
    pub fn new(machine: &'a Machine, atoms: &'a [Atom]) -> Self {
        let mut store = Store::default();
        let workspace = Workspace::new(machine.cells(), &mut store);
        let watched = watched(atoms).into();
        let forgetting = Forgetting::new(machine, atoms);
        let (shown, refined_for) = (RefCell::default(), FxHashMap::default());
        Self {
            machine,
            atoms,
            store,
            forgetting,
            workspace,
            turns: Turns::new(&machine.program),
            thresholds: Thresholds::new(&machine.program),
            watched,
            asked: None,
            shown,
            refined_for,
            advised: None,
            reduction: None,
            compression: None,
            handlers: None,
            branches: false,
            is_told_by_parts: false,
            learns: false,
            sampler: None,
        }
    }

    /// The same for the goals of properties that are to be told what is decided.
    #[must_use]
    pub(crate) fn asked_for(mut self, asked: &'a Asked<'a>) -> Self {
        self.asked = Some(asked);
        self
    }

    /// The same for goals that see so much of what is left out.
    #[must_use]
    pub(crate) fn seen_by(mut self, sight: &Sight) -> Self {
        (self.branches, self.is_told_by_parts) = (sight.branches, sight.is_told_by_parts);
        self
    }

    /// The same where interrupts are looked at only where they can be seen.
    #[must_use]
    pub(crate) fn with_reduced_interrupts(mut self, sight: &Sight) -> Self {
        self.reduction = Reduction::new(self.machine, sight.clone());
        self
    }

    /// The same where states are kept only where something is decided.
    #[must_use]
    pub(crate) fn with_compressed_paths(mut self, sight: &Sight) -> Self {
        self.compression = Some(Compression::new(self.machine, sight.sees_content));
        self
    }

    /// The same where handlers are passed in one step: where both of the other reductions are made.
    #[must_use]
    pub fn with_passed_handlers(mut self) -> Self {
        self.handlers = Some(Handlers::default());
        self
    }

    /// The same where comparisons narrow what they compare.
    #[must_use]
    pub fn with_facts(mut self) -> Self {
        self.learns = true;
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
}

impl Firmware<'_> {
    /// The truth of an atom in a state.
    pub(crate) fn truth(&self, state: &AbstractState, atom: &Atom) -> Truth {
        match state {
            AbstractState::Hazard { hazard, .. } => atom.kind().at_hazard(self.machine.ends_path(hazard.kind)),
            _ => self.view(state).map_or(Truth::Unknown, |view| atom.evaluate(&view)),
        }
    }

    /// What comparisons narrow under a precision.
    pub(crate) fn learning(&self, precision: &LocationPrecision) -> Option<Learning> {
        let learns = self.learns && !precision.stops_at_cases && !precision.splits_all;
        learns.then(|| self.forgetting.learning().clone())
    }

    /// The deepest that the stack was in runs at random, of which more are tried if that `goes_on` and they are not as deep as
    /// `target`.
    pub(crate) fn sampled_depth(&mut self, target: Option<u32>, goes_on: bool, watch: &dyn Watch) -> Option<u32> {
        let most = if goes_on { self.workspace.state.steps / STEPS_PER_SAMPLED } else { 0 };
        let mut sampler = self.sampler.take()?;
        let deepest = sampler.deepest(self, target, most, watch);
        self.sampler = Some(sampler);
        deepest
    }
}

/// How a cell differs in two states.
fn difference(address: u16, one: TvByte, other: TvByte) -> Difference {
    let bits = (one.known_mask() ^ other.known_mask()) | (one.value() ^ other.value());
    let is_in_range = one.is_ranged() || other.is_ranged();
    let bits = if is_in_range { bits | one.unknown_mask() | other.unknown_mask() } else { bits };
    let content = u32::from_le_bytes(content(other));
    Difference { variable: Variable(address.into()), bits: bits.into(), other: content.into() }
}

/// A byte as data that tells it apart from all others.
pub(crate) fn content(byte: TvByte) -> [u8; 4] {
    [byte.value(), byte.known_mask(), byte.low(), byte.high()]
}

/// Adds the hyper-edges over what steps come to.
fn add_edges(
    leaves: Vec<Leaf>,
    (precision, branches): (&LocationPrecision, bool),
    edges: &mut HyperEdges<AbstractState>,
) {
    let is_deferred = |leaf: &Leaf| leaf.is_deferred && !faulty(Fault::DeferredIsSure);
    if let [only] = leaves.as_slice() {
        edges.add([only.state]);
        edges.set_unsure(is_deferred(only).then_some(0));
        return;
    }
    let deferred: Vec<bool> = leaves.iter().map(is_deferred).collect();
    let (scripts, states): (Vec<_>, Vec<_>) = leaves.into_iter().map(|leaf| (leaf.script, leaf.state)).unzip();
    let most = if precision.coarse && !branches { FEW_COMBINATIONS } else { MAX_COMBINATIONS };
    let free = hyper_edges(&scripts, HardwareChoice::Free, most);
    for edge in &free {
        edges.add(edge.iter().map(|leaf| states[*leaf]));
    }
    let members = free.iter().flatten().enumerate();
    edges.set_unsure(members.filter(|(_, leaf)| deferred[**leaf]).map(|(position, _)| position));
    if scripts.iter().any(|script| uses_abstracted_freedom(script)) {
        // Every leaf is a member of some hyper-edge; its first place among them stands for it.
        let members: Vec<usize> = free.into_iter().flatten().collect();
        let position = |leaf: usize| members.iter().position(|member| *member == leaf).expect("a member");
        let open = hyper_edges(&scripts, HardwareChoice::Open, most);
        edges.set_open(open.into_iter().map(|edge| edge.into_iter().map(position).collect()).collect());
    }
}

impl System for Firmware<'_> {
    type State = AbstractState;
    type Location = Location;

    fn initial(&mut self) -> AbstractState {
        if let Some(reduction) = &mut self.reduction {
            reduction.begin(self.machine);
        }
        if let Some(compression) = &mut self.compression {
            compression.begin(self.machine);
        }
        if let Some(handlers) = &mut self.handlers {
            handlers.begin();
        }
        AbstractState::Dummy
    }

    fn is_settled(&self) -> bool {
        self.reduction.as_ref().is_none_or(Reduction::is_settled)
    }

    fn parts_are_settled(&self) -> bool {
        !self.is_told_by_parts || self.is_settled()
    }

    fn is_worth_keeping_all(&self) -> bool {
        // Where interrupts are left for later, formulas may stay unknown that are known where they come at once.
        !self.branches || self.reduction.is_none()
    }

    fn location(&self, state: &AbstractState) -> Location {
        match state {
            AbstractState::Dummy => Location::Dummy,
            AbstractState::Hazard { .. } | AbstractState::Limit { .. } => Location::Sink,
            AbstractState::Running(running) => {
                let byte = |address: u16| self.store.cell(running.memory, address).known();
                let stack_pointer = self.machine.stack_pointer().value(byte);
                let round = self.forgetting.round(self.machine, &self.store, running);
                Location::Running { control: running.control, stack_pointer, calls: running.calls.0, round }
            }
        }
    }

    fn expand(&mut self, state: &AbstractState, precision: &LocationPrecision, edges: &mut HyperEdges<AbstractState>) {
        if let Some(advised) = &mut self.advised {
            advised.note(state, precision);
        }
        let leaves = self.leaves(state, precision);
        add_edges(leaves, (precision, self.branches), edges);
    }

    fn advance(&mut self, state: &AbstractState, precision: &dyn Lookup<Self>, edges: &mut HyperEdges<AbstractState>) {
        let here = precision.leaving(state, &self.location(state));
        if self.compression.is_none() {
            return self.expand(state, here, edges);
        }
        let leaves = self.leaves_far(state, precision);
        add_edges(leaves, (here, self.branches), edges);
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
            let cell = if is_on(fault::Fault::UnknownIsZero) {
                TvByte::new(cell.value() & !mask, cell.known_mask() | mask)
            } else {
                cell
            };
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

    fn turn(&self, state: &AbstractState) -> Turn {
        match state {
            AbstractState::Running(running) => self.turns.of(&self.store, running.calls, running.control.pc),
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => Turn::default(),
        }
    }

    fn are_neighbours(&self, one: Variable, next: Variable) -> bool {
        // In the SRAM: an array, or a number of several bytes.
        one.0 >= u32::from(self.machine.sram().start) && next.0 == one.0 + 1
    }

    fn widened(&self, variable: Variable, bits: u64) -> u64 {
        let is_memory = variable.0 >= u32::from(self.machine.sram().start);
        if is_memory { self.thresholds.widened(bits as u8).into() } else { bits }
    }

    fn differences(&self, one: &AbstractState, other: &AbstractState) -> Vec<Difference> {
        match (one, other) {
            (AbstractState::Running(one), AbstractState::Running(other)) => {
                let cells = self.store.differing_cells(one.memory, other.memory);
                let status = self.machine.status_address();
                let difference = |(address, one, other)| {
                    let all = difference(address, one, other);
                    // A comparison that a branch has not looked at yet is worth the few states that it tells apart.
                    if address == status { Difference { bits: all.bits & !COMPUTED_FLAGS, ..all } } else { all }
                };
                cells.map(difference).collect()
            }
            _ => Vec::new(),
        }
    }

    fn refute(&mut self, open: &[(usize, &Goal)], watch: &dyn Watch) -> Vec<usize> {
        let most = self.workspace.state.steps / STEPS_PER_SAMPLED;
        let Some(mut sampler) = self.sampler.take_if(|_| most >= FEWEST_SAMPLED) else { return Vec::new() };
        let found = sampler.refute(self, open, most, watch);
        self.sampler = Some(sampler);
        let note = |(number, search)| {
            self.shown.get_mut().insert(number, (search, None));
            number
        };
        found.into_iter().map(note).collect()
    }

    fn label(&self, state: &AbstractState, atom: AtomId) -> Truth {
        self.truth(state, &self.atoms[atom.index()])
    }

    fn is_hazard(&self, state: &AbstractState) -> bool {
        matches!(state, AbstractState::Hazard { hazard, .. } if !self.machine.ends_path(hazard.kind))
    }

    fn is_end(&self, state: &AbstractState) -> bool {
        matches!(state, AbstractState::Hazard { hazard, .. } if self.machine.ends_path(hazard.kind))
    }

    fn is_limit(&self, state: &AbstractState) -> bool {
        matches!(state, AbstractState::Limit { .. })
    }

    fn blame(&mut self, path: &[AbstractState], cause: Blame, precision: &dyn Lookup<Self>) -> Vec<Candidate<Self>> {
        let unfolded = self.unfolded(path, precision);
        Tracer::new(self, &unfolded, precision).blame(cause)
    }

    fn tells_most_apart(&self) -> bool {
        self.forgetting.tells_most
    }

    fn tell_most_apart(&mut self) {
        self.forgetting.tells_most = true;
    }

    fn refined_for(&mut self, state: &AbstractState) {
        *self.refined_for.entry(self.location(state).in_any_round()).or_insert(0) += 1;
    }

    fn decided(&mut self, decided: &Decided<'_, Self>) {
        if let Some((search, _)) = self.shown.borrow().get(&decided.number) {
            // A run at random decided it.
            if let Some(asked) = self.asked {
                asked.tell(self, decided.number, decided.decision, search);
            }
            return;
        }
        let needs_run = evidence::may_need_a_run(&decided.goal.formula, decided.decision.verdict);
        let unfolded = match parts(&decided.goal.formula, false) {
            Some(_) => self.unfolded_decision(decided),
            None if needs_run => self.stepwise_decision(decided),
            None => None,
        };
        let decision = unfolded.as_ref().unwrap_or(decided.decision);
        let search = match &unfolded {
            None if self.compression.is_some() && needs_run => {
                let why = match decided.watch.cancelled() {
                    true => "no time or memory was left for unfolding the run",
                    false => "the run could not be unfolded",
                };
                Search::Missing(why.to_owned())
            }
            _ => evidence::find(self, decided.goal, decision, decided.watch),
        };
        if let Some(asked) = self.asked {
            asked.tell(self, decided.number, decision, &search);
        }
        self.shown.get_mut().insert(decided.number, (search, unfolded));
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
        self.running.control.torn
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
