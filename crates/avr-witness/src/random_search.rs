//! Concrete random runs, for what a large state space does not show soon: a state that refutes a goal, and a deep stack.
//!
//! Runs go on from where earlier ones came to a new place, as greybox fuzzers do. The same instruction with another
//! stack pointer or in another nesting of interrupts is another place. Inputs and happenings are the natural ones or others that
//! are possible; of some runs only what the environment determines is chosen. Everything is the same in every run of the
//! tool: the random numbers are, and work is counted in steps.

use crate::concretise::concrete_step::{Answer, Answers, Asked, Run, Stepper, Tracking, Tried};
use crate::concretise::view::ConcreteView;
use crate::concretise::{Claims, Ending, Walked};
use crate::confirmation::Confirmation;
use crate::evidence::{Evidence, Search};
use avr_isa::FlashByteAddress;
use avr_machine::device::BitRef;
use avr_machine::{DeterminedBy, Happening, Input, Stop};
use avr_model::context::Context;
use avr_model::state::stack_depth;
use avr_properties::StateView;
use fastrand::Rng;
use mu_calculus::state_formula::{parts, truth};
use mu_calculus::{AtomId, Node, NodeId, NormalForm};
use rustc_hash::{FxHashSet, FxHasher};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use tvar::{Goal, Watch};

/// The steps of a run from where it begins; one of eight runs is longer, for waiting loops.
const RUN_STEPS: u64 = 4_096;
const LONG_RUN_STEPS: u64 = 65_536;
/// The most places that runs go on from.
const MAX_PLACES: usize = 256;
/// So many steps lie between two places of a run at least.
const PLACE_STEPS: u64 = 8;
/// Runs with more inputs are not gone on with, because each place keeps them.
const MAX_INPUTS: usize = 1_000;
/// A run of the hardware that stays at an instruction for so many steps without waiting for anything is given up.
const STEPS_AT_END: u64 = 256;
/// After a run so many steps are taken to find a better one.
const STEPS_FOR_BETTER: u64 = 400_000;

/// The manner of a random run: one question out of so many gets another answer than the natural one, 0 for none.
#[derive(Clone, Copy)]
struct Manner {
    happenings: u32,
    inputs: u32,
    /// True if what the hardware determines stays as it comes.
    only_environment: bool,
    /// True if a run ends where it rests on the model.
    only_hardware: bool,
}

/// A goal that one state refutes: a run to such a state is looked for.
struct Aim<'a> {
    number: usize,
    goal: &'a Goal,
    parts: Vec<NodeId>,
}

/// Random runs of one firmware.
pub struct Sampler<'m> {
    random: Rng,
    /// The places that runs go on from: those of runs that only the environment determined, and those of the others.
    places: [Vec<Stepper<'m>>; 2],
    /// The places that runs came to, as numbers.
    seen: FxHashSet<u64>,
    steps: u64,
    /// The deepest that the stack was, in bytes below RAMEND.
    deepest: Option<u32>,
    /// Inputs that are tried more often than others, by data address.
    likely: BTreeMap<u16, Vec<u8>>,
    /// The tracking of all runs, where findings are looked for.
    tracking: Option<Tracking>,
}

impl fmt::Debug for Sampler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("places", &self.places.each_ref().map(Vec::len))
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl Default for Sampler<'_> {
    fn default() -> Self {
        Self {
            random: Rng::with_seed(0),
            places: [Vec::new(), Vec::new()],
            seen: FxHashSet::default(),
            steps: 0,
            deepest: None,
            likely: BTreeMap::new(),
            tracking: None,
        }
    }
}

impl<'m> Sampler<'m> {
    /// A sampler whose runs are tracked.
    pub(crate) fn tracking(tracking: Tracking) -> Self {
        Self { tracking: Some(tracking), ..Self::default() }
    }

    /// Looks for runs that refute goals, each with its number, until so many steps were taken in all.
    pub fn refute(
        &mut self,
        context: &Context<'m>,
        open: &[(usize, &Goal)],
        steps: u64,
        watch: &dyn Watch,
    ) -> Vec<(usize, Search)> {
        let mut aims: Vec<Aim<'_>> = open.iter().filter_map(|(number, goal)| Aim::new(*number, goal)).collect();
        let mut found = Vec::new();
        while !aims.is_empty() && self.steps < steps && !watch.cancelled() {
            let manner = self.manner();
            let Some((index, walked)) = self.run(context, manner, &aims, u64::MAX) else { continue };
            let aim = aims.swap_remove(index);
            let confirmation = Confirmation { context, goal: aim.goal, value: false, watch };
            found.push((aim.number, confirmation.search(self.better(context, &aim, walked, watch))));
        }
        found
    }

    /// Looks for a run that refutes a goal and rests on no more than the hardware, until so many steps were taken in all. Inputs of a
    /// run that rests on the model are likely ones.
    pub fn on_hardware(
        &mut self,
        (context, watch): (&Context<'m>, &dyn Watch),
        goal: &Goal,
        on_model: Option<&Evidence>,
        steps: u64,
    ) -> Option<Evidence> {
        for step in on_model.and_then(|run| run.stimulus.exact.as_ref()).into_iter().flatten() {
            step.inputs.iter().for_each(|input| self.likely.entry(input.register).or_default().push(input.value));
        }
        let aim = Aim::new(0, goal)?;
        while self.steps < steps && !watch.cancelled() {
            let manner = self.manner_of_hardware();
            let Some((_, walked)) = self.run(context, manner, std::slice::from_ref(&aim), u64::MAX) else { continue };
            match (Confirmation { context, goal, value: false, watch }).search(walked) {
                Search::Found(evidence) if evidence.is_of_hardware() => return Some(*evidence),
                _ => {}
            }
        }
        None
    }

    /// Takes runs that rest on no more than the hardware until nothing is left to be shown, or so many steps were taken. Inputs of
    /// runs that rest on the model are likely ones.
    pub(crate) fn track_on_hardware<'r>(
        &mut self,
        (context, watch): (&Context<'m>, &dyn Watch),
        on_model: impl IntoIterator<Item = &'r Run>,
        steps: u64,
        is_done: &dyn Fn() -> bool,
    ) {
        for input in on_model.into_iter().flat_map(|run| &run.inputs).flat_map(|step| &step.inputs) {
            self.likely.entry(input.register).or_default().push(input.value);
        }
        let last = self.steps + steps;
        while self.steps < last && !watch.cancelled() && !is_done() {
            let manner = self.manner_of_hardware();
            self.run(context, manner, &[], u64::MAX);
        }
    }

    /// A run that refutes a goal and is better than another one, if one is found soon. A run that only the environment
    /// determines is better, and then a shorter one.
    fn better(&mut self, context: &Context<'m>, aim: &Aim<'_>, mut best: Walked, watch: &dyn Watch) -> Walked {
        let last = self.steps + STEPS_FOR_BETTER;
        while self.steps < last && !watch.cancelled() {
            let on_model = best.run.abstracted.is_some();
            let manner = Manner { only_environment: true, only_hardware: !on_model, ..self.manner() };
            let longest = if on_model { u64::MAX } else { best.run.steps };
            best = self.run(context, manner, std::slice::from_ref(aim), longest).map_or(best, |(_, walked)| walked);
        }
        best
    }

    /// The deepest that the stack was in runs, in bytes below RAMEND. More runs are tried until it is as deep as
    /// `target`, or so many steps were taken in all.
    pub fn deepest(
        &mut self,
        context: &Context<'m>,
        target: Option<u32>,
        steps: u64,
        watch: &dyn Watch,
    ) -> Option<u32> {
        while target.is_none_or(|target| self.deepest < Some(target)) && self.steps < steps && !watch.cancelled() {
            let manner = self.manner();
            self.run(context, manner, &[], u64::MAX);
        }
        self.deepest
    }

    /// One run from a place, until it refutes a goal: the index of that, and the run if it has fewer steps than `longest`.
    fn run(
        &mut self,
        context: &Context<'m>,
        manner: Manner,
        aims: &[Aim<'_>],
        longest: u64,
    ) -> Option<(usize, Walked)> {
        let mut stepper = self.begin(context, manner);
        let (mut since_place, mut is_new) = (0, false);
        let steps = if self.is_time(8) { LONG_RUN_STEPS } else { RUN_STEPS };
        let mut at_end = 0;
        for _ in 0..steps {
            self.steps += 1;
            let before = standing_at(&stepper);
            if stepper.run.steps + 1 >= longest {
                return None;
            }
            let tried = self.step(&mut stepper, manner);
            match tried.result {
                Ok(_) => stepper.accept(tried),
                Err(Stop::Hazard(hazard)) if !context.machine.ends_path(hazard.kind) => {
                    let index = aims.iter().position(|aim| aim.is_refuted_by_hazard(context))?;
                    stepper.accept(tried);
                    if manner.only_hardware && stepper.run.abstracted.is_some() {
                        return None;
                    }
                    return Some((index, walked(stepper, Ending::Hazard(hazard), Vec::new())));
                }
                Err(_) => return None,
            }
            if manner.only_hardware && stepper.run.abstracted.is_some() {
                return None;
            }
            at_end = if before.is_some() && standing_at(&stepper) == before { at_end + 1 } else { 0 };
            if manner.only_hardware && at_end > STEPS_AT_END {
                return None;
            }
            let view = stepper.view();
            self.deepest = self.deepest.max(stack_depth::depth(context.machine, &view));
            let refuted = aims.iter().enumerate().find_map(|(index, aim)| Some((index, aim.refuted(context, &view)?)));
            if let Some((index, claims)) = refuted {
                return Some((index, walked(stepper, Ending::Shown, claims)));
            }
            is_new |= self.seen.insert(place(&stepper));
            since_place += 1;
            if is_new && at_end == 0 && since_place >= PLACE_STEPS && stepper.run.inputs.len() < MAX_INPUTS {
                self.add_place(&stepper);
                (since_place, is_new) = (0, false);
            }
        }
        None
    }

    /// The place at which a run begins: one that was found lately, more often than others.
    fn begin(&mut self, context: &Context<'m>, manner: Manner) -> Stepper<'m> {
        let rests_on_model = !manner.only_environment && self.random.bool();
        let places = &self.places[usize::from(rests_on_model)];
        let chance = self.random.f64();
        let back = (chance * chance * places.len() as f64) as usize;
        match places.len().checked_sub(1 + back) {
            Some(index) => places[index].clone(),
            None => Stepper::new(context, &|_| 0).tracked(self.tracking.clone()),
        }
    }

    fn add_place(&mut self, stepper: &Stepper<'m>) {
        let places = &mut self.places[usize::from(stepper.run.abstracted.is_some())];
        if places.len() == MAX_PLACES {
            places.remove(self.random.usize(..MAX_PLACES / 2));
        }
        places.push(stepper.clone());
    }

    fn manner(&mut self) -> Manner {
        Manner {
            happenings: self.random.choice([0, 4, 16, 64, 256]).unwrap_or(0),
            inputs: self.random.choice([0, 1, 2, 8]).unwrap_or(0),
            only_environment: self.random.bool(),
            only_hardware: false,
        }
    }

    /// The manner of a run that is to rest on no more than the hardware: its inputs differ now and then.
    fn manner_of_hardware(&mut self) -> Manner {
        let inputs = self.random.choice([1, 2, 8, 32]).unwrap_or(1);
        Manner { inputs, only_environment: true, only_hardware: true, ..self.manner() }
    }

    /// Tries a step; it must be accepted unless it ends the run.
    fn step(&mut self, stepper: &mut Stepper<'m>, manner: Manner) -> Tried {
        let natural = stepper.attempt(&Answers::new(), &|_| 0);
        let questions = natural.asked.iter().enumerate();
        let mut others: Answers =
            questions.filter_map(|(index, asked)| Some((index, self.other(asked, manner)?))).collect();
        others.extend(stepper.wanted_interrupt(&natural));
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

    /// Another answer than the natural one, now and then.
    fn other(&mut self, asked: &Asked, manner: Manner) -> Option<Answer> {
        let is_free = |who: DeterminedBy| {
            !matches!(who, DeterminedBy::Hardware | DeterminedBy::Undefined) || !manner.only_environment
        };
        match asked {
            Asked::Input { source: Input::Initial(_), .. } => None,
            Asked::Input { mask, who, .. } => {
                (is_free(*who) && self.is_time(manner.inputs)).then(|| Answer::Input(self.value(asked) & mask))
            }
            Asked::Choice { possible, natural, .. } => {
                if !self.is_time(manner.happenings) || !is_free(possible.determined_by(*natural)) {
                    return None;
                }
                let others: Vec<Happening> =
                    possible.iter().filter(|one| one != natural && is_free(possible.determined_by(*one))).collect();
                self.random.choice(others).map(Answer::Happening)
            }
        }
    }

    /// The value of an input, which may be a likely one.
    fn value(&mut self, asked: &Asked) -> u8 {
        let likely = match asked {
            Asked::Input { source: Input::Register(address), .. } => self.likely.get(address),
            _ => None,
        };
        let likely = likely.filter(|_| self.random.bool()).and_then(|values| self.random.choice(values));
        likely.copied().unwrap_or_else(|| self.random.u8(..))
    }

    fn is_time(&mut self, one_out_of: u32) -> bool {
        one_out_of > 0 && self.random.u32(..one_out_of) == 0
    }
}

impl<'a> Aim<'a> {
    /// An aim, if one state refutes the goal.
    fn new(number: usize, goal: &'a Goal) -> Option<Self> {
        Some(Self { number, goal, parts: parts(&goal.formula, false)? })
    }

    fn is_refuted_by_hazard(&self, context: &Context<'_>) -> bool {
        let label = |atom: AtomId| context.atoms[atom.index()].kind().at_hazard(false);
        self.goal.observes_hazards && self.parts.iter().any(|part| truth(&self.goal.formula, *part, &label).is_false())
    }

    /// The atoms with their values that refute the goal in a state, if it does.
    fn refuted(&self, context: &Context<'_>, view: &ConcreteView<'_>) -> Option<Claims> {
        let formula = &self.goal.formula;
        let label = |atom: AtomId| view.label(context.atoms, atom);
        let part = *self.parts.iter().find(|part| truth(formula, **part, &label).is_false())?;
        let mut atoms = BTreeSet::new();
        add_atoms(formula, part, &mut atoms);
        Some(atoms.into_iter().filter_map(|atom| Some((atom, label(atom).known()?))).collect())
    }
}

/// Adds the atoms of a subformula about states.
fn add_atoms(formula: &NormalForm, node: NodeId, atoms: &mut BTreeSet<AtomId>) {
    match formula.node(node) {
        Node::Atom(atom) | Node::NegatedAtom(atom) => _ = atoms.insert(atom),
        other => other.children().iter().for_each(|child| add_atoms(formula, *child, atoms)),
    }
}

/// The place of a run, as a number.
fn place(stepper: &Stepper<'_>) -> u64 {
    let view = stepper.view();
    let mut hasher = FxHasher::default();
    (view.pc(), view.stack_pointer(), view.interrupt_depth(), stepper.run.abstracted.is_some()).hash(&mut hasher);
    hasher.finish()
}

/// The instruction and the stack pointer, where neither an interrupt nor the watchdog can take a run away from an instruction that jumps
/// to itself.
fn standing_at(stepper: &Stepper<'_>) -> Option<(FlashByteAddress, u16)> {
    let (machine, state) = (stepper.machine, stepper.state());
    let is_set = |bit: BitRef| state.data.get(bit.address) & bit.mask() != 0;
    let interrupts = state.data.get(machine.status_address()) >> 7 & 1 == 1;
    let watchdog = machine.device.watchdog.as_ref().is_some_and(|watchdog| is_set(watchdog.reset_enable));
    let view = stepper.view();
    (!interrupts && !watchdog && !state.control.sleeping).then(|| (view.pc(), view.stack_pointer()))
}

fn walked(stepper: Stepper<'_>, ending: Ending, claims: Claims) -> Walked {
    let last = Some(stepper.state().clone());
    let claims = vec![(0, Vec::new()), (stepper.run.steps, claims)];
    Walked { run: stepper.run, ending, last, claims, universal: Vec::new(), branches: Vec::new(), is_branch: false }
}
