//! Walking along the winning strategy with concrete values.

pub(crate) mod concrete_step;
pub(crate) mod coverage;
pub(crate) mod input_search;
pub(crate) mod view;

use crate::concretise::concrete_step::{Run, Stepper, Tried};
use crate::concretise::coverage::{Arrival, Cover};
use crate::failure::Failure;
use crate::strategy::{Local, Strategy};
use avr_isa::DataAddress;
use avr_machine::{Hazard, MachineState, Stop};
use avr_model::context::Context;
use avr_model::state::AbstractState;
use input_search::Aim;
use mu_calculus::{AtomId, Node, NodeId, StateId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use three_valued::Truth;
use tvar::Watch;

/// The most steps of a run that must come to an end.
const MAX_STEPS: u64 = 10_000_000;
/// The most steps in which a state is expected to come again.
const MAX_LASSO_STEPS: u64 = 300_000;
/// The most steps of waiting for something that the hardware does by itself at some time.
const MAX_WAITING_STEPS: u64 = 200_000;
/// The number of steps that are kept of a run that never ends and does not repeat itself.
const KEPT_STEPS: u64 = 1_000;
/// After so many steps the watch is asked.
const PATIENCE: u64 = 4_096;

/// A walk that failed, with the run so far.
pub(crate) type Broken = Box<(Failure, Run)>;

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In a state in which everything is shown that a run can show.
    Shown,
    /// The step after the last state is a hazard.
    Hazard(Hazard),
    /// The last state is that after so many steps again.
    Lasso(u64),
    /// It goes on for ever; the control states repeat.
    Unending,
}

/// The claims about a state of the run: these atoms have these values.
pub(crate) type Claims = Vec<(AtomId, bool)>;

/// A run along the strategy.
pub(crate) struct Walked {
    /// The state that it begins in; none for the state after power-on.
    pub(crate) start: Option<MachineState<u8>>,
    pub(crate) run: Run,
    pub(crate) ending: Ending,
    /// The last state, where the run was not cut.
    pub(crate) last: Option<MachineState<u8>>,
    /// The claims about the states from a step on, until the next entry.
    pub(crate) claims: Vec<(u64, Claims)>,
    /// Subformulas that speak of all continuations, each with the state and step of its first and its last occurrence.
    pub(crate) universal: Vec<Remainder>,
    /// Claims about other continuations than that of this run, each with where it comes up first.
    pub(crate) branches: Vec<Branch>,
    /// True if the run shows only a claim that another run leaves.
    pub(crate) is_branch: bool,
}

/// A subformula that speaks of all continuations of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remainder {
    pub(crate) node: NodeId,
    pub(crate) value: bool,
    /// The last step after which it is claimed.
    pub(crate) step: u64,
}

/// A claim about another continuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Branch {
    /// The state in which it comes up first.
    pub(crate) state: StateId,
    pub(crate) node: NodeId,
    /// The step after which that is.
    pub(crate) step: u64,
}

/// Walks over one state space.
pub(crate) struct Walker<'a, 'f> {
    pub(crate) context: &'a Context<'f>,
    pub(crate) states: &'a [AbstractState],
    pub(crate) strategy: &'a Strategy<'a>,
    pub(crate) watch: &'a dyn Watch,
}

/// The position of a walk.
#[derive(Clone)]
pub(crate) struct Position<'f> {
    stepper: Stepper<'f>,
    state: StateId,
    node: NodeId,
    is_branch: bool,
}

impl<'f> Walker<'_, 'f> {
    fn cover(&self) -> Cover<'_> {
        Cover::new(self.context)
    }

    fn state(&self, id: StateId) -> &AbstractState {
        &self.states[id.index()]
    }

    /// Chooses the initial content of the cells: zeros, unless the strategy needs others.
    pub(crate) fn start(&self) -> Result<Position<'f>, Failure> {
        let (dummy, root) = (self.strategy.graph().initial(), self.strategy.formula().root());
        let Node::Modal(_, node) = self.strategy.formula().node(root) else {
            return Err(Failure::Fault("the goal does not begin with the choice of the initial content".to_owned()));
        };
        let aim = self.aim(dummy, root);
        let cover = self.cover();
        let zeros: &dyn Fn(DataAddress) -> u8 = &|_| 0;
        let hints = aim.chosen.iter().map(|member| move |cell: DataAddress| (*member, cell));
        let begin = |content: &dyn Fn(DataAddress) -> u8| {
            let stepper = Stepper::new(self.context, content);
            let arrival = Arrival::State(stepper.view());
            let covers = |id: &&StateId| cover.distance(None, self.state(**id), &arrival) == 0;
            let state = aim.welcome.iter().find(covers).copied()?;
            Some(Position { stepper, state, node, is_branch: false })
        };
        let hinted = hints.map(|hint| {
            begin(&|cell| {
                let (member, cell) = hint(cell);
                cover.hint(self.state(member), cell)
            })
        });
        let mut all = std::iter::once(begin(zeros)).chain(hinted);
        let fault = || Failure::Fault("no initial content is covered by the first states of the proof".to_owned());
        all.find_map(|position| position).ok_or_else(fault)
    }

    fn aim(&self, from: StateId, node: NodeId) -> Aim<'_> {
        let chosen = self.strategy.members(from, node);
        let Node::Modal(_, child) = self.strategy.formula().node(node) else {
            return Aim { states: self.states, from, welcome: Vec::new(), chosen };
        };
        let progress = |to: &StateId| self.strategy.is_progress(from, node, *to, &chosen);
        let may = self.strategy.graph().may(from);
        let mut welcome: Vec<StateId> = may.iter().copied().filter(progress).collect();
        if welcome.len() > 1 {
            welcome.sort_by_key(|to| (self.strategy.rank(*to, child, node).unwrap_or(u32::MAX), *to));
            welcome.dedup();
        }
        Aim { states: self.states, from, welcome, chosen }
    }

    /// The aim of a step that need not lead on.
    fn waiting(&self, from: StateId, node: NodeId) -> Aim<'_> {
        let may = self.strategy.graph().may(from).iter().copied();
        let welcome = may.filter(|to| self.strategy.is_kept(from, node, *to)).collect();
        Aim { states: self.states, from, welcome, chosen: Vec::new() }
    }

    /// True if a verdict that something holds is shown by one run from here.
    pub(crate) fn is_existential(&self, position: &Position<'_>) -> bool {
        let local = self.strategy.local(position.state, position.node);
        !local.moves.is_empty() && local.universal.is_empty()
    }

    /// Walks on to the end.
    pub(crate) fn walk(&self, position: Position<'f>) -> Result<Walked, Broken> {
        let mut walk = Walk::new(self, position);
        match walk.reach_the_end() {
            Ok(ending) => Ok(walk.finish(ending)),
            Err(failure) => Err(Box::new((failure, walk.stepper.run))),
        }
    }

    /// Goes along a walk again to where a branch leaves it.
    pub(crate) fn branch(&self, start: Position<'f>, branch: Branch) -> Result<Position<'f>, Broken> {
        let mut walk = Walk::new(self, start);
        match walk.reach_step(branch.step) {
            Ok(()) => Ok(Position { stepper: walk.stepper, state: branch.state, node: branch.node, is_branch: true }),
            Err(failure) => Err(Box::new((failure, walk.stepper.run))),
        }
    }
}

/// A walk under way.
#[derive(Clone)]
struct Walk<'a, 'b, 'f> {
    walker: &'b Walker<'a, 'f>,
    cover: Cover<'b>,
    stepper: Stepper<'f>,
    state: StateId,
    node: NodeId,
    claims: Vec<(u64, Claims)>,
    universal: Vec<Remainder>,
    branches: Vec<Branch>,
    is_branch: bool,
    /// The step of each content seen from the point on where the play may go on for ever.
    seen: FxHashMap<u64, u64>,
    /// The step at which the play began that may go on for ever.
    begun: Option<u64>,
    /// The steps at which the abstract state of a later moment came again.
    rounds: Vec<(StateId, NodeId, u64)>,
    /// True if waiting for the hardware may make a difference.
    is_patient: bool,
}

impl<'a, 'b, 'f> Walk<'a, 'b, 'f> {
    fn new(walker: &'b Walker<'a, 'f>, position: Position<'f>) -> Self {
        let Position { stepper, state, node, is_branch } = position;
        Self {
            walker,
            cover: walker.cover(),
            stepper,
            state,
            node,
            claims: Vec::new(),
            universal: Vec::new(),
            branches: Vec::new(),
            is_branch,
            seen: FxHashMap::default(),
            begun: None,
            rounds: Vec::new(),
            is_patient: true,
        }
    }

    fn reach_the_end(&mut self) -> Result<Ending, Failure> {
        loop {
            let Some(modal) = self.look()? else { return Ok(Ending::Shown) };
            if let Some(ending) = self.advance(modal)? {
                return Ok(ending);
            }
            if let Some(ending) = self.unending(modal)? {
                return Ok(ending);
            }
        }
    }

    fn reach_step(&mut self, step: u64) -> Result<(), Failure> {
        while self.stepper.run.steps < step {
            let Some(modal) = self.look()? else { break };
            if self.advance(modal)?.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Checks what is claimed of the present state, and gives the modal subformula along which the run goes on.
    fn look(&mut self) -> Result<Option<NodeId>, Failure> {
        let Local { atoms, moves, universal } = self.walker.strategy.local(self.state, self.node);
        self.claim(atoms)?;
        let step = self.stepper.run.steps;
        for (modal, node) in universal {
            let value = self.walker.strategy.truth(self.state, modal).is_true();
            match self.universal.iter_mut().find(|one| one.node == node) {
                Some(known) => known.step = step,
                None => self.universal.push(Remainder { node, value, step }),
            }
        }
        let main = self.walker.strategy.main_move(self.node, &moves);
        for node in moves.into_iter().filter(|modal| Some(*modal) != main) {
            if !self.branches.iter().any(|branch| branch.node == node) {
                self.branches.push(Branch { state: self.state, node, step });
            }
        }
        Ok(main)
    }

    fn claim(&mut self, atoms: Claims) -> Result<(), Failure> {
        for (atom, value) in &atoms {
            let label = self.label(*atom);
            if label != Truth::from(*value) {
                let text = self.walker.context.atoms[atom.index()].text();
                let (pc, step) = (self.stepper.state().control.pc.byte().0, self.stepper.run.steps);
                let told =
                    format!("the proof says that '{text}' is {value} at {pc:#06x} after {step} steps, and the run");
                return Err(Failure::Fault(format!("{told} shows {label:?}")));
            }
        }
        if self.claims.last().is_none_or(|(_, last)| *last != atoms) {
            self.claims.push((self.stepper.run.steps, atoms));
        }
        Ok(())
    }

    fn label(&self, atom: AtomId) -> Truth {
        let atoms = self.walker.context.atoms;
        match self.walker.state(self.state) {
            AbstractState::Hazard { hazard, pc } => {
                atoms[atom.index()].kind().at_hazard(self.walker.context.machine.ends_path(hazard.kind, *pc))
            }
            _ => self.stepper.view().label(atoms, atom),
        }
    }

    /// Takes a step; gives the end of the run, if the run ends with it.
    fn advance(&mut self, modal: NodeId) -> Result<Option<Ending>, Failure> {
        let steps = self.stepper.run.steps;
        if steps >= MAX_STEPS {
            return Err(Failure::Limit(format!("the run is longer than {MAX_STEPS} steps")));
        }
        if steps.is_multiple_of(PATIENCE) && self.walker.watch.cancelled() {
            return Err(Failure::Limit(format!("the time or memory was up after {steps} steps of the replay")));
        }
        let aim = self.walker.aim(self.state, modal);
        let mut found = input_search::step(&mut self.stepper, &self.cover, &aim);
        if let Some((tried, _)) = found.as_ref().filter(|(tried, _)| self.is_patient && tried.is_abstracted()) {
            let is_too_soon = tried.is_too_soon();
            self.stepper.take_back();
            if self.wait(modal, is_too_soon)? {
                return Ok(None);
            }
            self.is_patient = false;
            found = input_search::step(&mut self.stepper, &self.cover, &aim);
        }
        let Some((tried, state)) = found else {
            let pc = self.stepper.state().control.pc.byte().0;
            let told = "no inputs take the concrete run where the proof says that it can go";
            return Err(Failure::Fault(format!("{told}, at {pc:#06x} after {steps} steps")));
        };
        let (stop, pc) = (tried.result.err(), self.stepper.state().control.pc);
        self.arrive(modal, (tried, state));
        match stop {
            Some(Stop::Hazard(hazard)) if !self.walker.context.machine.ends_path(hazard.kind, pc) => {
                let Local { atoms, .. } = self.walker.strategy.local(self.state, self.node);
                self.claim_at_hazard(&atoms)?;
                Ok(Some(Ending::Hazard(hazard)))
            }
            Some(stop) => Err(Failure::Fault(format!("the concrete run ends with {stop:?}"))),
            None => Ok(None),
        }
    }

    /// Makes a step part of the run.
    fn arrive(&mut self, modal: NodeId, (tried, state): (Tried, StateId)) {
        self.stepper.accept(tried);
        self.state = state;
        if let Node::Modal(_, child) = self.walker.strategy.formula().node(modal) {
            self.node = child;
        }
    }

    /// Waits for what the hardware is to determine. As long as what is claimed stands, the steps that come by
    /// themselves are taken until one of them leads on. If it `is_too_soon` for the environment, they may also end
    /// where it can do what it could not do yet. Gives true if one of both happens; if not, the walk stands where it
    /// stood.
    fn wait(&mut self, modal: NodeId, is_too_soon: bool) -> Result<bool, Failure> {
        let Some(before) = self.walker.strategy.rank(self.state, modal, modal) else { return Ok(false) };
        let saved = self.clone();
        for _ in 0..MAX_WAITING_STEPS {
            let Some(next) = self.look()? else { return Ok(true) };
            if !(is_too_soon && self.acts(next)) {
                let aim = self.walker.waiting(self.state, next);
                let Some((tried, state)) = input_search::natural(&mut self.stepper, &self.cover, &aim) else { break };
                if tried.result.is_err() {
                    self.stepper.take_back();
                    break;
                }
                self.arrive(next, (tried, state));
            }
            let rank = self.walker.strategy.rank(self.state, self.node, modal);
            if rank.is_some_and(|rank| rank < before) {
                return Ok(true);
            }
            if self.stepper.run.steps.is_multiple_of(PATIENCE) && self.walker.watch.cancelled() {
                break;
            }
        }
        *self = saved;
        Ok(false)
    }

    /// Takes a step that leads on and for which the environment has waited, if there is one.
    fn acts(&mut self, modal: NodeId) -> bool {
        let aim = self.walker.aim(self.state, modal);
        match input_search::step(&mut self.stepper, &self.cover, &aim) {
            Some(found) if !found.0.is_abstracted() && found.0.result.is_ok() => {
                self.arrive(modal, found);
                true
            }
            Some(_) => {
                self.stepper.take_back();
                false
            }
            None => false,
        }
    }

    /// At a hazard only the hazard itself can be claimed: the state is gone.
    fn claim_at_hazard(&self, atoms: &Claims) -> Result<(), Failure> {
        let at_hazard = |atom: AtomId| self.walker.context.atoms[atom.index()].kind().at_hazard(false);
        match atoms.iter().find(|(atom, value)| at_hazard(*atom) != Truth::from(*value)) {
            Some((atom, _)) => {
                let text = self.walker.context.atoms[atom.index()].text();
                Err(Failure::Fault(format!("the proof speaks of '{text}' after the end of the run")))
            }
            None => Ok(()),
        }
    }

    /// Watches a play that may go on for ever.
    fn unending(&mut self, modal: NodeId) -> Result<Option<Ending>, Failure> {
        let strategy = self.walker.strategy;
        if strategy.rank(self.state, self.node, modal).is_some() {
            self.begun = None;
            self.seen.clear();
            self.rounds.clear();
            return Ok(None);
        }
        let step = self.stepper.run.steps;
        let begun = *self.begun.get_or_insert(step);
        if let Some(before) = self.seen.insert(self.fingerprint(), step) {
            return Ok(Some(Ending::Lasso(before)));
        }
        match self.rounds.first() {
            Some((state, node, _)) if (*state, *node) == (self.state, self.node) => {
                self.rounds.push((*state, *node, step));
            }
            None if step - begun >= KEPT_STEPS / 4 => self.rounds.push((self.state, self.node, step)),
            _ => {}
        }
        Ok((step - begun >= MAX_LASSO_STEPS).then_some(Ending::Unending))
    }

    /// A number that stands for the concrete state and the place in the proof.
    fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        let state = self.stepper.state();
        hasher.write(state.data.cells());
        (state.control, state.calls.all(), self.stepper.did(), self.state, self.node).hash(&mut hasher);
        hasher.finish()
    }

    fn finish(self, ending: Ending) -> Walked {
        let last = (ending != Ending::Unending).then(|| self.stepper.state().clone());
        let Self { mut claims, universal, branches, is_branch, rounds, .. } = self;
        if let Ending::Lasso(start) = ending {
            // The last state gets the claims of its first occurrence.
            let first = claims.iter().rev().find(|(from, _)| *from <= start).map(|(_, claims)| claims.clone());
            claims.push((self.stepper.run.steps, first.unwrap_or_default()));
        }
        let run = self.stepper.run;
        let mut walked = Walked { start: None, run, ending, last, claims, universal, branches, is_branch };
        if ending == Ending::Unending {
            walked.keep(rounds.get(2).map_or(KEPT_STEPS, |(_, _, step)| *step));
        }
        walked
    }
}

impl Walked {
    /// True if the run alone does not show everything that is claimed.
    pub(crate) fn leaves_a_remainder(&self) -> bool {
        let is_all_claimed = self.universal.is_empty() && self.branches.is_empty() && !self.is_branch;
        self.ending == Ending::Unending || !is_all_claimed
    }

    /// A run to its end, with claims about its last state.
    pub(crate) fn to_end(stepper: Stepper<'_>, ending: Ending, claims: Claims) -> Self {
        let last = Some(stepper.state().clone());
        let claims = vec![(0, Vec::new()), (stepper.run.steps, claims)];
        Self { last, claims, ending, ..Self::broken_off(stepper.run) }
    }

    /// A run that was not brought to its end.
    pub(crate) fn broken_off(run: Run) -> Self {
        let (claims, universal, branches) = (Vec::new(), Vec::new(), Vec::new());
        Self { start: None, run, ending: Ending::Shown, last: None, claims, universal, branches, is_branch: false }
    }

    /// Forgets what comes after a step.
    fn keep(&mut self, steps: u64) {
        self.run.steps = self.run.steps.min(steps);
        self.run.inputs.retain(|input| input.step < steps);
        self.run.chosen.retain(|(step, _)| *step < steps);
        self.claims.retain(|(step, _)| *step <= steps);
    }
}
