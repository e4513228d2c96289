//! The root cause of an unknown verdict: the limit, the path to the nearest cause, the provenance of its unknown bits,
//! and what would help.

use super::explosion::{Explosion, explosion};
use super::refinement_counts::RefinementCounts;
use super::unknown_reason::cause;
use avr_isa::DataAddress;
use avr_machine::{Hazard, HazardKind, Limit};
use avr_model::Firmware;
use avr_model::context::Context;
use avr_model::state::AbstractState;
use avr_model::state::cell_variable::cell_of;
use mu_calculus::{Cause, Culprit as RootCause, Problem, StateId};
use rustc_hash::FxHashMap;
use std::time::Duration;
use tvar::{Blame, Decision, Exhausted, Goal, Knob, Precision, Source, System, Undecided, Variable, Watch};

use avr_model::state::Location;

/// The most of the last steps of a path that are reported.
const MAX_STEPS: usize = 64;
/// The most origins of unknown bits that are reported.
const MAX_BITS: usize = 8;
/// The most causes that are looked at for one that is more than a state that was not expanded.
const MAX_CAUSES: usize = 100;
/// The largest state space that is searched for causes when a limit has ended the work.
const MAX_STATES: usize = 200_000;
/// The longest path that is run again when a limit has ended the work.
const MAX_TRACED: usize = 2_000;
/// The number of the first cell among inputs that are initial content.
const INITIAL: u32 = 0x1_0000;

/// The culprit: what stands in the way of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// The obstacle that ended the work.
    pub obstacle: Obstacle,
    /// The cause, which is what is unknown at the end of the path, as a sentence without a full stop.
    pub cause: String,
    /// The number of steps that lead from the start to the cause.
    pub steps: usize,
    /// Flash byte addresses of the instructions on the path, the last of them that of the cause; of long paths the last.
    pub path: Vec<u32>,
    /// The provenance of the unknown bits that the cause depends on, those nearest to the cause first.
    pub bits: Vec<UnknownBits>,
    /// The number of other origins that are left out of `bits`.
    pub more_bits: usize,
    /// The refinements that were made for what is unknown at the place of the cause; those for the property, where no cause
    /// was found.
    pub refinements: usize,
    /// The remedies that would help, the best first.
    pub help: Vec<Help>,
    /// The explosion of the state space, where a limit ended the work.
    pub explosion: Option<Explosion>,
}

/// The obstacle that ended the work on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The limit on time.
    Time(Duration),
    /// The limit on memory, in bytes.
    Memory(usize),
    /// The user.
    Interrupted,
    /// No refinement removes the cause.
    Abstraction,
    /// A limit of the engine or of the device model.
    Engine(Limit),
    /// A hazard, after which nothing is defined.
    Hazard(Hazard),
}

/// Bits that are unknown at the end of a path, with their provenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownBits {
    /// The way in which they became unknown.
    pub origin: Origin,
    /// The data address of the cell, or of the register that was read.
    pub cell: DataAddress,
    /// The bits.
    pub mask: u8,
    /// The number of the step on the path.
    pub step: usize,
    /// Flash byte address of the instruction of that step; none before the start.
    pub pc: Option<u32>,
}

/// The way in which bits became unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// An input was read.
    Input,
    /// The initial content is unknown.
    Initial,
    /// The abstraction forgot them there (decay).
    Decay,
    /// They are stored and unknown, and could be distinguished there case by case.
    CaseSplit,
}

/// A remedy that would help towards an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// A larger limit on time.
    RaiseTime(Duration),
    /// A larger limit on memory, in bytes.
    RaiseMemory(usize),
    /// To let it run to its end.
    Resume,
    /// To assume something of the bits of an input register, at this data address.
    Assume(DataAddress, u8),
    /// To name the variable at this data address in a property, so that it is distinguished.
    Name(DataAddress),
    /// To initialise a cell before it is used.
    Initialise(DataAddress),
    /// To repair the program or allow the hazard.
    Hazard(HazardKind),
    /// To bound what the engine could not follow: a pointer, a jump, the number of cases.
    Bound(Limit),
}

/// The way to a cause.
pub(crate) struct Way {
    /// The states that were kept, by number, from the initial one to that of the cause.
    pub(crate) states: Vec<StateId>,
    /// The expanded path: the same with the skipped states.
    path: Vec<AbstractState>,
    pub(crate) blame: Blame,
    sources: Vec<Source>,
    /// The refinements that were made for causes at the place of this one.
    refinements: usize,
}

/// The way to the obstacle to a decision; none if there is none or a limit left no time to look for it.
pub(crate) fn way<'f>(
    firmware: &mut Firmware<'f>,
    refined: &RefinementCounts,
    goal: &Goal,
    decision: &Decision<AbstractState>,
    precision: &Precision<Location>,
    watch: &dyn Watch,
) -> Option<Way> {
    match decision.undecided.as_ref()? {
        Undecided::Stuck { path, blame, sources } => {
            let refinements = refined.at(&firmware.model.context, path.last()?);
            let states = numbers(decision, path)?;
            let path = firmware.expanded(path, precision);
            Some(Way { states, path, blame: *blame, sources: sources.clone(), refinements })
        }
        Undecided::Exhausted(_) if decision.space.states.len() > MAX_STATES || watch.cancelled() => None,
        Undecided::Exhausted(_) => {
            let mut way = nearest(firmware, refined, goal, decision)?;
            let path: Vec<AbstractState> = way.states.iter().map(|id| decision.space.states[id.index()]).collect();
            way.path = firmware.expanded(&path, precision);
            if way.path.len() <= MAX_TRACED && way.blame != Blame::Sink {
                let candidates = firmware.blame_in_part(&path, way.blame, precision);
                let source =
                    |one: tvar::Candidate<Location>| Source { knob: one.knob, step: one.step, direct: one.direct };
                way.sources = candidates.into_iter().map(source).collect();
            }
            Some(way)
        }
    }
}

/// The numbers of the states of a path.
fn numbers(decision: &Decision<AbstractState>, path: &[AbstractState]) -> Option<Vec<StateId>> {
    let mut wanted: FxHashMap<&AbstractState, Option<StateId>> = path.iter().map(|state| (state, None)).collect();
    for (state, number) in decision.space.states.iter().zip(0..) {
        if let Some(place) = wanted.get_mut(state) {
            *place = Some(StateId(number));
        }
    }
    path.iter().map(|state| wanted[state]).collect()
}

/// The nearest cause: rather one that is more than a state that was not expanded.
fn nearest(
    firmware: &Firmware<'_>,
    refined: &RefinementCounts,
    goal: &Goal,
    decision: &Decision<AbstractState>,
) -> Option<Way> {
    let (space, solution) = (&decision.space, decision.solution.as_ref()?);
    let graph = space.graph(goal.observes_hazards);
    let labels = space.labels(firmware.model.context.atoms.len(), |state, atom| firmware.label(state, atom));
    let problem = Problem { graph: &graph, labels: &labels, formula: &goal.formula };
    let causes: Vec<RootCause> = solution.culprits(&problem).take(MAX_CAUSES).collect();
    let waits = |cause: &RootCause| cause.cause == Cause::Sink && !space.is_expanded(cause.state.index());
    let best = causes.iter().find(|cause| !waits(cause)).or_else(|| causes.first())?;
    let blame = match best.cause {
        Cause::Atom(atom) => Blame::Atom(atom),
        Cause::Edge { edge, .. } => Blame::Edge(edge),
        Cause::Sink => Blame::Sink,
    };
    let states = best.path.iter().map(|step| step.state).chain([best.state]).collect();
    let refinements = refined.at(&firmware.model.context, &space.states[best.state.index()]);
    Some(Way { states, path: Vec::new(), blame, sources: Vec::new(), refinements })
}

/// The culprit that stands in the way of a decision, as the user is told; none if it is decided.
pub(crate) fn culprit(context: &Context<'_>, decision: &Decision<AbstractState>, way: Option<&Way>) -> Option<Culprit> {
    let undecided = decision.undecided.as_ref()?;
    let space = &decision.space;
    let states: &[AbstractState] = way.map_or(&[], |way| &way.path);
    let last = states.last();
    let obstacle = match (undecided, last) {
        (Undecided::Exhausted(Exhausted::Time(limit)), _) => Obstacle::Time(*limit),
        (Undecided::Exhausted(Exhausted::Memory(limit)), _) => Obstacle::Memory(*limit),
        (Undecided::Exhausted(Exhausted::Interrupted), _) => Obstacle::Interrupted,
        (Undecided::Stuck { .. }, Some(AbstractState::Limit { limit, .. })) => Obstacle::Engine(*limit),
        (Undecided::Stuck { .. }, Some(AbstractState::Hazard { hazard, .. })) => Obstacle::Hazard(*hazard),
        (Undecided::Stuck { .. }, _) => Obstacle::Abstraction,
    };
    let is_limit = matches!(undecided, Undecided::Exhausted(_));
    let waiting = space.states.len() - space.expanded;
    let cause = match (way, last) {
        (Some(way), Some(last)) => cause(context, last, way.blame),
        _ => format!("{waiting} states were reached and not followed further"),
    };
    let path: Vec<u32> = states.iter().filter_map(|state| address(context, state)).collect();
    let all = bits(context, way, states);
    let help = help(context, obstacle, last, &all);
    Some(Culprit {
        obstacle,
        cause,
        steps: states.len().saturating_sub(1),
        path: path[path.len().saturating_sub(MAX_STEPS)..].to_vec(),
        more_bits: all.len().saturating_sub(MAX_BITS),
        bits: all.into_iter().take(MAX_BITS).collect(),
        refinements: way.map_or(decision.spent, |way| way.refinements),
        help,
        explosion: is_limit.then(|| explosion(context, space)).flatten(),
    })
}

/// Flash byte address of the instruction of a state; none before the start.
pub(crate) fn address(context: &Context<'_>, state: &AbstractState) -> Option<u32> {
    match state {
        AbstractState::Hazard { pc, .. } | AbstractState::Limit { pc, .. } => Some(pc.byte().0),
        AbstractState::Running(_) | AbstractState::Dummy => context.location(state).pc().map(|pc| pc.byte().0),
    }
}

/// The provenance of what is unknown at the end of a way: what the cause itself depends on, the latest first. If that
/// is nothing, it is what the way there depends on.
fn bits(context: &Context<'_>, way: Option<&Way>, states: &[AbstractState]) -> Vec<UnknownBits> {
    let sources = way.map_or(&[][..], |way| &way.sources);
    let direct = sources.iter().any(|source| source.direct);
    let mut all: Vec<UnknownBits> = Vec::new();
    for source in sources.iter().filter(|source| source.direct == direct) {
        let (origin, cell, mask) = origin(source.knob);
        if cell.index() >= context.machine.cells() {
            // Predicates have no names.
            continue;
        }
        let known = |one: &&mut UnknownBits| (one.origin, one.cell, one.step) == (origin, cell, source.step);
        match all.iter_mut().find(known) {
            Some(known) => known.mask |= mask,
            None => {
                let pc = states.get(source.step).and_then(|state| address(context, state));
                all.push(UnknownBits { origin, cell, mask, step: source.step, pc });
            }
        }
    }
    all.sort_by_key(|one| (std::cmp::Reverse(one.step), one.origin, one.cell));
    all
}

fn origin(knob: Knob) -> (Origin, DataAddress, u8) {
    match knob {
        // The bits of the same input are candidates as well.
        Knob::Value(variable, _) => origin(Knob::Input(variable, 0)),
        Knob::Input(variable, bits) if variable.0 >= INITIAL => {
            (Origin::Initial, cell_of(Variable(variable.0 - INITIAL)), bits as u8)
        }
        Knob::Input(variable, bits) => (Origin::Input, cell_of(variable), bits as u8),
        Knob::Step(variable, bits) | Knob::Everywhere(variable, bits) => (Origin::Decay, cell_of(variable), bits as u8),
        Knob::Case(variable, bits) => (Origin::CaseSplit, cell_of(variable), bits as u8),
    }
}

/// The remedies that would help: first against the cause, then against the limit.
fn help(context: &Context<'_>, obstacle: Obstacle, last: Option<&AbstractState>, bits: &[UnknownBits]) -> Vec<Help> {
    let mut all: Vec<Help> = Vec::new();
    match last {
        Some(AbstractState::Hazard { hazard, .. }) => all.push(Help::Hazard(hazard.kind)),
        Some(AbstractState::Limit { limit, .. }) => all.push(Help::Bound(*limit)),
        _ => {}
    }
    let device = context.machine.device;
    for one in bits {
        let help = match one.origin {
            Origin::Input => Help::Assume(one.cell, one.mask),
            Origin::Initial if device.is_io_area(one.cell) => continue,
            Origin::Initial => Help::Initialise(one.cell),
            Origin::Decay | Origin::CaseSplit if one.cell < DataAddress::IO || device.is_io_area(one.cell) => continue,
            Origin::Decay | Origin::CaseSplit => Help::Name(one.cell),
        };
        if !all.contains(&help) && all.len() < MAX_BITS {
            all.push(help);
        }
    }
    match obstacle {
        Obstacle::Time(limit) => all.push(Help::RaiseTime(limit)),
        Obstacle::Memory(limit) => all.push(Help::RaiseMemory(limit)),
        Obstacle::Interrupted => all.push(Help::Resume),
        Obstacle::Abstraction | Obstacle::Engine(_) | Obstacle::Hazard(_) => {}
    }
    all
}

impl Culprit {
    /// The culprit where a limit ended the work before anything could be looked at.
    #[must_use]
    pub fn of_limit(limit: Exhausted, cause: String, refinements: usize) -> Self {
        let (obstacle, help) = match limit {
            Exhausted::Time(limit) => (Obstacle::Time(limit), Help::RaiseTime(limit)),
            Exhausted::Memory(limit) => (Obstacle::Memory(limit), Help::RaiseMemory(limit)),
            Exhausted::Interrupted => (Obstacle::Interrupted, Help::Resume),
        };
        let (path, bits) = (Vec::new(), Vec::new());
        Self { obstacle, cause, steps: 0, path, bits, more_bits: 0, refinements, help: vec![help], explosion: None }
    }
}

impl Obstacle {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Time(_) => "time",
            Self::Memory(_) => "memory",
            Self::Interrupted => "interrupted",
            Self::Abstraction => "abstraction",
            Self::Engine(_) => "engine",
            Self::Hazard(_) => "hazard",
        }
    }
}

impl Origin {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Initial => "initial",
            Self::Decay => "decay",
            Self::CaseSplit => "case-split",
        }
    }
}
