//! Runs that do what claims about loops say, until they come to a target.
//!
//! The claims come from outside and are not trusted: what a run shows is confirmed by its replay, like that of any other run.

use crate::concretise::concrete_step::{Answer, Answers, Asked, Stepper, Tried};
use crate::concretise::{Claims, Ending, Remainder, Walked};
use crate::confirmation::Confirmation;
use crate::evidence::{Continuation, Evidence, Search};
use avr_isa::DataAddress;
use avr_machine::{DeterminedBy, Happening, Input, MachineState, Possibilities};
use avr_model::context::Context;
use mu_calculus::state_formula::{parts, truth};
use mu_calculus::{AtomId, Node, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use three_valued::TvByte;
use tvar::{Goal, Watch};

/// Most steps of a run in which everything comes by itself.
const STEPS_BY_ITSELF: u64 = 300_000;
/// Most steps that are tried for a run that does what claims say, and steps between two looks at the limits.
const STEPS: u64 = 1_000_000;
const STEPS_BETWEEN_LOOKS: u64 = 4_096;
/// Runs with more inputs are cut: every one is told.
const MOST_INPUTS: usize = 4_000;

/// The choices from a head of a loop on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The interrupts whose handlers are entered one after the other, each as soon as it is possible; nothing else comes that need not. None
    /// if everything comes by itself.
    pub interrupts: Option<Vec<u8>>,
    /// Levels of inputs, by the data address of their register. The other inputs come by themselves.
    pub held: BTreeMap<DataAddress, TvByte>,
    /// The inputs of registers in the steps that ask for them, before they are as `held` says.
    pub sequences: BTreeMap<DataAddress, Vec<u8>>,
    /// The number of rounds, until the head is the end.
    pub rounds: usize,
}

/// Claims about the heads of loops, each by its number.
pub trait Guide {
    /// The head at which a state is.
    fn head(&self, state: &MachineState<u8>) -> Option<usize>;
    /// The plans from the start of the program to a head.
    fn first(&self) -> &[Plan];
    /// The plans at a head.
    fn plans(&self, head: usize) -> &[Plan];
    /// True if rounds from a head pass another one.
    fn passes(&self, head: usize, other: usize) -> bool;
    /// True if a state at a head is nearer to the target than another one at a head.
    fn is_nearer(&self, from: (usize, &MachineState<u8>), to: (usize, &MachineState<u8>)) -> bool;
    /// The claim about a head, in words.
    fn words(&self, head: usize) -> String;
    /// A state at a head in which its loop is left, and which differs little from another one there; none if none is found.
    fn exit(&self, head: usize, near: &MachineState<u8>) -> Option<MachineState<u8>>;
}

/// The end of a part of a run.
enum Part {
    /// The target.
    Reached,
    /// A head that is nearer.
    Nearer(usize),
    /// Nothing of use.
    Useless,
}

/// Looks for a run that shows `EF q` to be true, as claims say. Where it would be long it ends where it first comes to the loop that
/// takes long, rests on the claim about that loop, and goes on from a state in which the loop is left. None for other goals, and where claims
/// lead nowhere.
pub fn claimed_run((context, watch): (&Context<'_>, &dyn Watch), goal: &Goal, guide: &dyn Guide) -> Option<Search> {
    let target = Target { context, goal, parts: parts(&goal.formula, true)? };
    let Node::Modal(_, eventually) = goal.formula.node(goal.formula.root()) else { return None };
    let start = || Stepper::new(context, &|_| 0);
    if let Some(stepper) = Follower::new(&target, guide, watch).by_itself(start()) {
        let confirmation = Confirmation { context, goal, value: true, watch };
        return Some(confirmation.search(target.walked(stepper)));
    }
    target.shown((guide, watch), eventually, start(), None)
}

/// The states in which q of `EF q` is true.
struct Target<'a, 'f> {
    context: &'a Context<'f>,
    goal: &'a Goal,
    parts: Vec<NodeId>,
}

impl Target<'_, '_> {
    /// True if q is true in the last state of a run.
    fn is_reached(&self, stepper: &Stepper<'_>) -> bool {
        let view = stepper.view();
        let label = |atom: AtomId| view.label(self.context.atoms, atom);
        self.parts.iter().any(|part| truth(&self.goal.formula, *part, &label).is_true())
    }

    /// A run that does what claims say, from the start of the program or another state.
    fn shown(
        &self,
        (guide, watch): (&dyn Guide, &dyn Watch),
        eventually: NodeId,
        stepper: Stepper<'_>,
        start: Option<MachineState<u8>>,
    ) -> Option<Search> {
        let confirmation = Confirmation { context: self.context, goal: self.goal, value: true, watch };
        match Follower::new(self, guide, watch).follow(stepper) {
            Followed::Reached(stepper) => Some(confirmation.search(Walked { start, ..self.walked(stepper) })),
            Followed::Nothing => None,
            Followed::Cut(head, stepper) => {
                let last = stepper.state().clone();
                let universal = vec![Remainder { node: eventually, value: true, step: stepper.run.steps }];
                let walked = Walked { start, universal, ..Walked::to_end(stepper, Ending::Shown, Vec::new()) };
                let mut search = confirmation.search(walked);
                if let Search::Found(evidence) = &mut search {
                    let said = confirmation.statement(eventually);
                    evidence.proved = vec![format!("'{said}' holds at the end: {}", guide.words(head))];
                    evidence.continuation = self.continuation((guide, watch), eventually, (head, &last)).map(Box::new);
                }
                Some(search)
            }
        }
    }

    /// The run from a state on in which a loop is left that a run has come to.
    fn continuation(
        &self,
        (guide, watch): (&dyn Guide, &dyn Watch),
        eventually: NodeId,
        (head, last): (usize, &MachineState<u8>),
    ) -> Option<Continuation> {
        let exit = guide.exit(head, last)?;
        let both = exit.data.cells().iter().zip(last.data.cells()).zip((0..).map(DataAddress));
        let cells = both.filter(|((now, before), _)| now != before).map(|((now, _), cell)| (cell, *now)).collect();
        let stepper = Stepper::at(self.context, exit.clone());
        match self.shown((guide, watch), eventually, stepper, Some(exit))? {
            Search::Found(run) => Some(Continuation { cells, run: Evidence { reached: None, ..*run } }),
            _ => None,
        }
    }

    /// A run to such a state.
    fn walked(&self, stepper: Stepper<'_>) -> Walked {
        let view = stepper.view();
        let known = |atom: AtomId| Some((atom, view.label(self.context.atoms, atom).known()?));
        let claims: Claims = self.goal.formula.atoms().into_iter().filter_map(known).collect();
        Walked::to_end(stepper, Ending::Shown, claims)
    }
}

/// The outcome of following claims.
enum Followed<'m> {
    /// The target is reached.
    Reached(Stepper<'m>),
    /// The run would be too long; this is its beginning, up to the first state at the head of a loop that takes long.
    Cut(usize, Stepper<'m>),
    /// The claims lead nowhere.
    Nothing,
}

struct Follower<'a> {
    target: &'a Target<'a, 'a>,
    guide: &'a dyn Guide,
    watch: &'a dyn Watch,
    /// Steps that were taken.
    steps: u64,
    /// True if a run got too long.
    is_cut: bool,
}

impl<'a> Follower<'a> {
    fn new(target: &'a Target<'a, 'a>, guide: &'a dyn Guide, watch: &'a dyn Watch) -> Self {
        Self { target, guide, watch, steps: 0, is_cut: false }
    }

    /// True if a run is not gone on with.
    fn is_over(&mut self, stepper: &Stepper<'_>, most: u64) -> bool {
        self.steps += 1;
        self.is_cut |= self.steps > most || stepper.run.inputs.len() > MOST_INPUTS;
        self.is_cut || self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && self.watch.cancelled()
    }

    /// A run in which everything comes by itself, if it reaches the target.
    fn by_itself<'m>(&mut self, mut stepper: Stepper<'m>) -> Option<Stepper<'m>> {
        while !self.target.is_reached(&stepper) {
            if self.is_over(&stepper, STEPS_BY_ITSELF) {
                return None;
            }
            step(&mut stepper, &Plan::default(), &mut Course::default())?;
        }
        Some(stepper)
    }

    /// Does what claims say, from the start of the program on.
    fn follow<'m>(&mut self, from: Stepper<'m>) -> Followed<'m> {
        let mut first = BTreeMap::new();
        let by_itself = Plan::default();
        let guide = self.guide;
        let mut plans = std::iter::once(&by_itself).chain(guide.first());
        let (mut head, mut stepper) = match plans.find_map(|plan| self.begin(plan, from.clone())) {
            Some((Part::Nearer(head), stepper)) => (head, stepper),
            Some((_, stepper)) => return Followed::Reached(stepper),
            None => return Followed::Nothing,
        };
        loop {
            first.entry(head).or_insert_with(|| stepper.clone());
            let Some((part, next)) = self.next(head, &stepper) else {
                let start = first.remove(&head).filter(|_| self.is_cut);
                return start.map_or(Followed::Nothing, |start| Followed::Cut(head, start));
            };
            stepper = next;
            match part {
                Part::Nearer(at) => head = at,
                _ => return Followed::Reached(stepper),
            }
        }
    }

    /// The part of a run up to the first head about which there is a claim.
    fn begin<'m>(&mut self, plan: &Plan, mut stepper: Stepper<'m>) -> Option<(Part, Stepper<'m>)> {
        let (mut course, most) = (Course::default(), self.steps + STEPS_BY_ITSELF);
        loop {
            if self.target.is_reached(&stepper) {
                return Some((Part::Reached, stepper));
            }
            if let Some(head) = self.guide.head(stepper.state()) {
                return Some((Part::Nearer(head), stepper));
            }
            if self.is_over(&stepper, most) || step(&mut stepper, plan, &mut course).is_none() {
                // Another plan may lead to a head.
                self.is_cut = false;
                return None;
            }
        }
    }

    /// The next part of a run from a head: what comes by itself, or one of the plans.
    fn next<'m>(&mut self, head: usize, from: &Stepper<'m>) -> Option<(Part, Stepper<'m>)> {
        let by_itself = Plan { rounds: 1, ..Plan::default() };
        let guide = self.guide;
        std::iter::once(&by_itself).chain(guide.plans(head)).find_map(|plan| {
            let mut stepper = from.clone();
            let part = self.part(head, plan, &mut stepper);
            (!matches!(part, Part::Useless)).then_some((part, stepper))
        })
    }

    /// The part of a run from a head that a plan gives.
    fn part(&mut self, head: usize, plan: &Plan, stepper: &mut Stepper<'_>) -> Part {
        let before = stepper.state().clone();
        let mut course = Course::default();
        let mut rounds = 0;
        loop {
            if self.is_over(stepper, STEPS) || step(stepper, plan, &mut course).is_none() {
                return Part::Useless;
            }
            if self.target.is_reached(stepper) {
                return Part::Reached;
            }
            let Some(at) = self.guide.head(stepper.state()) else { continue };
            rounds += usize::from(at == head);
            let goes_on = if at == head { rounds < plan.rounds } else { self.guide.passes(head, at) };
            if !goes_on {
                let is_nearer = self.guide.is_nearer((head, &before), (at, stepper.state()));
                return if is_nearer { Part::Nearer(at) } else { Part::Useless };
            }
        }
    }
}

/// The part of a plan that is over.
#[derive(Default)]
struct Course {
    /// The number of interrupts that came.
    entered: usize,
    /// The number of steps that have asked for the inputs of a register with a sequence.
    asked: BTreeMap<DataAddress, usize>,
}

/// A step with the choices of a plan; none if the run comes to an end.
fn step(stepper: &mut Stepper<'_>, plan: &Plan, course: &mut Course) -> Option<()> {
    let mut answers = Answers::new();
    loop {
        let tried = stepper.attempt(&answers, &|_| 0);
        if let Some((place, answer)) = plan.next_answer(&tried.asked, &answers, course) {
            answers.insert(place, answer);
            stepper.take_back();
            continue;
        }
        if tried.result.is_err() {
            stepper.take_back();
            return None;
        }
        course.go_on(plan, &tried);
        stepper.accept(tried);
        return Some(());
    }
}

impl Plan {
    /// The first answer of a step that has to be another one.
    fn next_answer(&self, asked: &[Asked], given: &Answers, course: &Course) -> Option<(usize, Answer)> {
        let mut entered = course.entered;
        for (place, one) in asked.iter().enumerate() {
            let wanted = match one {
                Asked::Input { source: Input::Register(register), mask, value, .. } => {
                    let level = self.level(*register, course);
                    let wanted = value & level.unknown_mask() | level.value() & level.known_mask() & mask;
                    (wanted != *value).then_some(Answer::Input(wanted))
                }
                Asked::Input { .. } => None,
                Asked::Choice { possible, chosen, .. } => {
                    let wanted = self.happening(possible, entered).filter(|wanted| wanted != chosen);
                    let happens = wanted.unwrap_or(*chosen);
                    entered += usize::from(self.is_next(happens, entered));
                    wanted.map(Answer::Happening)
                }
            };
            if let Some(wanted) = wanted.filter(|wanted| given.get(&place) != Some(wanted)) {
                return Some((place, wanted));
            }
        }
        None
    }

    fn level(&self, register: DataAddress, course: &Course) -> TvByte {
        let asked = course.asked.get(&register).copied().unwrap_or(0);
        match self.sequences.get(&register).and_then(|sequence| sequence.get(asked)) {
            Some(next) => TvByte::constant(*next),
            None => self.held.get(&register).copied().unwrap_or(TvByte::UNKNOWN),
        }
    }

    /// The happening that a plan picks, if it picks one.
    fn happening(&self, possible: &Possibilities, entered: usize) -> Option<Happening> {
        let order = self.interrupts.as_ref()?;
        let is_open = |happening: &Happening| possible.determined_by(*happening) == DeterminedBy::Undefined;
        let wanted = order.get(entered).map(|number| Happening::Interrupt(*number));
        let picked = possible.iter().find(|happening| Some(*happening) == wanted && !is_open(happening));
        picked.or_else(|| possible.iter().find(|happening| !is_open(happening)))
    }

    fn is_next(&self, happening: Happening, entered: usize) -> bool {
        let next = self.interrupts.as_ref().and_then(|order| order.get(entered));
        next.is_some_and(|number| happening == Happening::Interrupt(*number))
    }
}

impl Course {
    /// Takes note of a step.
    fn go_on(&mut self, plan: &Plan, tried: &Tried) {
        let mut registers = BTreeSet::new();
        for one in &tried.asked {
            match one {
                Asked::Input { source: Input::Register(register), .. } => _ = registers.insert(*register),
                Asked::Input { .. } => {}
                Asked::Choice { chosen, .. } => self.entered += usize::from(plan.is_next(*chosen, self.entered)),
            }
        }
        for register in registers.into_iter().filter(|register| plan.sequences.contains_key(register)) {
            *self.asked.entry(register).or_default() += 1;
        }
    }
}
