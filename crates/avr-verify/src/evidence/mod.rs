//! Evidence: a concrete run that shows a verdict, found by following the winning strategy and checked by a replay.
//!
//! 1. [`walk`] follows the strategy ([`strategy`], [`ranks`]) with concrete values: it picks initial content and inputs
//!    ([`search`]), steps concretely ([`stepper`]) and goes on in whichever abstract state covers the result ([`cover`]).
//! 2. Where the proof is not at hand yet, [`sampling`] looks for a run at random.
//! 3. [`confirm`] replays the inputs from the beginning, looks up everything that is claimed in the states that are
//!    reached, and evaluates the formula on the run alone.
//!
//! A run whose claim does not show is a fault of our own: no verdict rests on it.

mod along;
mod concrete;
mod confirm;
mod cover;
mod minimise;
mod ranks;
mod reach;
mod sampling;
mod search;
mod stepper;
mod story;
mod strategy;
mod teller;
#[cfg(test)]
mod tests;
mod walk;
mod wording;

use crate::last_pass::aside;
use crate::state::AbstractState;
use crate::system::Firmware;
pub(crate) use along::along;
use avr_machine::simulator::Stimulus;
use avr_machine::{Frame, Hazard};
use mu_calculus::{HyperGraph, Labels, Modality, Node, NodeId, NormalForm, Problem, Solution, StateId};
pub use reach::Condition;
pub(crate) use sampling::Sampler;
use std::borrow::Cow;
pub use story::{Change, Chosen, Item, Line, Told};
use strategy::Strategy;
use teller::Teller;
use three_valued::Truth;
use tvar::{Decision, Goal, System, Watch};
use walk::{Branch, Failure, Position, Walked, Walker};

/// The most claims about other continuations that get runs of their own.
const MAX_BRANCHES: usize = 3;

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceKind {
    /// The way to a state.
    Path,
    /// The way to a hazard: the step after the last state is one.
    Hazard,
    /// The way into a loop that repeats for ever.
    Lasso,
    /// The beginning of a run that goes on for ever without repeating itself exactly, some rounds of it.
    Unending,
}

/// The state after the last step of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastState {
    /// Flash byte address of the next instruction.
    pub pc: u32,
    /// The stack pointer.
    pub stack_pointer: u16,
    /// SREG.
    pub status: u8,
    /// The hazard that the next step is.
    pub hazard: Option<Hazard>,
}

/// A concrete run that shows a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What it shows.
    pub kind: EvidenceKind,
    /// The number of its steps: instructions, entries into interrupt handlers, resets, cycles of sleep. A hazard is not
    /// counted.
    pub steps: u64,
    /// Clock cycles of these steps.
    pub cycles: u64,
    /// The step after which the state is that at the end; for a lasso.
    pub loop_start: Option<u64>,
    /// All inputs of the run, for repeating it exactly.
    pub stimulus: Stimulus,
    /// The inputs that differ from what comes by itself.
    pub chosen: Vec<Chosen>,
    /// The first step that rests on a choice which the hardware would determine and does not make in a simulation cycle
    /// by cycle.
    pub abstracted: Option<u64>,
    /// The last step in which the hardware would determine something.
    pub left_to_hardware: Option<u64>,
    /// Whether the environment has time enough for what repeats for ever; true where nothing does.
    pub is_repeated_in_time: bool,
    /// What the run shows, as a sentence without a full stop.
    pub claim: String,
    /// What the run alone cannot show and rests on the proof, as sentences without full stops.
    pub proved: Vec<String>,
    /// Whether a replay confirmed the run.
    pub replayed: bool,
    /// The state at the end.
    pub end: LastState,
    /// The return addresses on the stack at the end, oldest first.
    pub calls: Vec<Frame>,
    /// The atoms of the property with their values at the end, where they are known.
    pub atoms: Vec<(String, bool)>,
    /// The data addresses of the cells that the property speaks of, by rising address.
    pub cells: Vec<u16>,
    /// What the run does.
    pub story: Told,
    /// What makes a state show the verdict whatever the way to it; none where the way matters or the state cannot be told.
    pub reached: Option<Vec<Condition>>,
    /// The clock cycle at which another simulator showed the verdict by itself.
    pub confirmed: Option<u64>,
    /// Runs that show claims about other continuations.
    pub branches: Vec<Evidence>,
}

/// What became of the search for evidence.
#[derive(Clone, Debug)]
pub(crate) enum Search {
    /// No single run can show the verdict.
    NotNeeded,
    /// A run that was replayed.
    Found(Box<Evidence>),
    /// A limit was reached.
    Missing(String),
    /// The run does not show what the proof claims: our own code is wrong somewhere.
    Failed(String, Option<Box<Evidence>>),
}

impl Search {
    fn failed((failure, partial): (Failure, Option<Evidence>)) -> Self {
        match failure {
            Failure::Fault(reason) => Self::Failed(reason, partial.map(Box::new)),
            Failure::Limit(reason) => Self::Missing(reason),
        }
    }
}

/// Looks for a run that shows the decision of a goal.
pub(crate) fn find(
    firmware: &Firmware<'_>,
    goal: &Goal,
    decision: &Decision<AbstractState>,
    watch: &dyn Watch,
) -> Search {
    aside(|| searched(firmware, goal, decision, watch))
}

fn searched(firmware: &Firmware<'_>, goal: &Goal, decision: &Decision<AbstractState>, watch: &dyn Watch) -> Search {
    let (Some(value), Some(solution)) = (decision.verdict.known(), decision.solution.as_ref()) else {
        return Search::NotNeeded;
    };
    if value && speaks_of_all_paths(&goal.formula) {
        return Search::NotNeeded;
    }
    if watch.cancelled() {
        return Search::Missing("no time or memory was left for replaying the run".to_owned());
    }
    let states = &decision.space.states;
    let game = Game::free(goal, decision, solution);
    let strategy = Strategy::new(game.problem(goal), &game.solution);
    let teller = Teller { firmware, goal, value, watch };
    let finder = Finder { walker: &Walker { firmware, states, strategy: &strategy, watch }, teller };
    if !finder.is_shown_by_a_run() {
        return Search::NotNeeded;
    }
    match Game::open(firmware, goal, decision, watch) {
        Some(game) => {
            let strategy = Strategy::new(game.problem(goal), &game.solution);
            Finder { walker: &Walker { firmware, states, strategy: &strategy, watch }, teller }.find()
        }
        None => finder.find(),
    }
}

/// Whether a run may be needed to show a verdict: always where something is violated, and where something that holds may speak of
/// what exists.
pub(crate) fn may_need_a_run(formula: &NormalForm, verdict: Truth) -> bool {
    let speaks_of_some = |node: &Node| matches!(node, Node::Modal(Modality::Diamond, _));
    !verdict.is_true() || formula.nodes().iter().any(speaks_of_some) && !speaks_of_all_paths(formula)
}

/// Whether a formula that is true certainly speaks of all next states of the first state; told without looking at states.
fn speaks_of_all_paths(formula: &NormalForm) -> bool {
    fn universal(formula: &NormalForm, node: NodeId, seen: &mut Vec<NodeId>) -> bool {
        if seen.contains(&node) {
            return false;
        }
        seen.push(node);
        match formula.node(node) {
            Node::Modal(modality, _) => modality == Modality::Box,
            Node::And(left, right) => universal(formula, left, seen) || universal(formula, right, seen),
            Node::Or(left, right) => {
                let mut other = seen.clone();
                universal(formula, left, seen) && universal(formula, right, &mut other)
            }
            Node::Fixed(_, body) => universal(formula, body, seen),
            Node::Constant(_) | Node::Atom(_) | Node::NegatedAtom(_) => false,
        }
    }
    match formula.node(formula.root()) {
        // The choice of the initial content comes first.
        Node::Modal(_, inner) => universal(formula, inner, &mut Vec::new()),
        _ => false,
    }
}

/// Why a run does not show what it should, with what there is of it.
type Unshown = Box<(Failure, Option<Evidence>)>;

/// The graph on which the verdict is shown, with its solution.
struct Game<'a> {
    graph: HyperGraph,
    labels: Labels,
    solution: Cow<'a, Solution>,
}

impl<'a> Game<'a> {
    fn free(goal: &Goal, decision: &'a Decision<AbstractState>, solution: &'a Solution) -> Self {
        let graph = decision.space.graph(goal.sees_hazards);
        Self { graph, labels: Labels::new(0, 0), solution: Cow::Borrowed(solution) }
    }

    /// Where the verdict stands whatever the hardware does, the game in which the strategy leaves the choice to it.
    fn open(
        firmware: &Firmware<'_>,
        goal: &Goal,
        decision: &Decision<AbstractState>,
        watch: &dyn Watch,
    ) -> Option<Self> {
        let space = &decision.space;
        if !decision.robust || !space.has_abstracted_choices() {
            return None;
        }
        let graph = space.open_graph(goal.sees_hazards);
        let labels = labels(firmware, goal, decision);
        let solved = Problem { graph: &graph, labels: &labels, formula: &goal.formula }.solve(&|| watch.cancelled());
        let solution = solved.ok().filter(|open| open.verdict() == decision.verdict)?;
        Some(Self { graph, labels, solution: Cow::Owned(solution) })
    }

    fn problem<'b>(&'b self, goal: &'b Goal) -> Problem<'b> {
        Problem { graph: &self.graph, labels: &self.labels, formula: &goal.formula }
    }
}

/// The labels of the atoms of a goal.
fn labels(firmware: &Firmware<'_>, goal: &Goal, decision: &Decision<AbstractState>) -> Labels {
    let atoms = goal.formula.atoms();
    let count = atoms.last().map_or(0, |last| last.index() + 1);
    let mut labels = Labels::new(count, decision.space.states.len());
    for atom in atoms {
        for (state, id) in decision.space.states.iter().zip(0..) {
            labels.set(atom, StateId(id), firmware.label(state, atom));
        }
    }
    labels
}

/// Looks for the runs of one goal.
struct Finder<'a, 'f> {
    walker: &'a Walker<'a, 'f>,
    teller: Teller<'a, 'f>,
}

impl<'f> Finder<'_, 'f> {
    /// Whether one run shows the verdict: always when something is violated.
    fn is_shown_by_a_run(&self) -> bool {
        !self.teller.value || self.walker.start().is_ok_and(|start| self.walker.is_existential(&start))
    }

    fn find(&self) -> Search {
        let start = match self.walker.start() {
            Ok(start) => start,
            Err(failure) => return Search::failed((failure, None)),
        };
        match self.evidence(start.clone()) {
            Ok((mut evidence, branches)) => {
                match self.branches(&start, &branches) {
                    Ok(runs) => evidence.branches = runs,
                    Err(failure) => return Search::failed((failure, Some(evidence))),
                }
                Search::Found(Box::new(evidence))
            }
            Err(broken) => Search::failed(*broken),
        }
    }

    /// The run from a position, replayed, and the claims about other continuations that it leaves.
    fn evidence(&self, start: Position<'f>) -> Result<(Evidence, Vec<Branch>), Unshown> {
        let walked = match self.walker.walk(start) {
            Ok(walked) => walked,
            Err(broken) => {
                let (failure, run) = *broken;
                return Err(Box::new((failure, Some(teller::unconfirmed(&Walked::broken_off(run))))));
            }
        };
        self.teller.evidence(walked)
    }

    fn branches(&self, start: &Position<'f>, branches: &[Branch]) -> Result<Vec<Evidence>, Failure> {
        let mut runs = Vec::new();
        for branch in branches.iter().take(MAX_BRANCHES) {
            let position = self.walker.branch(start.clone(), *branch).map_err(|broken| broken.0)?;
            let (mut evidence, _) = self.evidence(position).map_err(|broken| broken.0)?;
            evidence.claim =
                format!("after {} steps {}: {}", branch.step, self.teller.statement(branch.node), evidence.claim);
            runs.push(evidence);
        }
        Ok(runs)
    }
}

impl Evidence {
    /// Whether a run uses only what the environment can do at any time, or what the hardware does by itself.
    pub(crate) fn is_of_hardware(&self) -> bool {
        // What the peripherals do is known as far as the run was replayed, not for what repeats for ever.
        let is_known = match self.kind {
            EvidenceKind::Path | EvidenceKind::Hazard => true,
            EvidenceKind::Lasso => self.left_to_hardware.is_none_or(|last| Some(last) < self.loop_start),
            EvidenceKind::Unending => self.left_to_hardware.is_none(),
        };
        is_known
            && self.is_repeated_in_time
            && self.abstracted.is_none()
            && self.branches.iter().all(Self::is_of_hardware)
    }
}
