//! The search for a run that shows a decision.

use crate::concretise::{Branch, Position, Walked, Walker};
use crate::confirmation::{self, Confirmation};
use crate::evidence::{Evidence, MAX_BRANCHES, Search, Unshown};
use crate::failure::Failure;
use crate::strategy::Strategy;
use avr_model::context::Context;
use avr_model::state::AbstractState;
use mu_calculus::{HyperGraph, Labels, Modality, Node, NodeId, NormalForm, Problem, Solution, StateId};
use std::borrow::Cow;
use three_valued::Truth;
use tvar::{Decision, Goal, Watch};

/// Looks for a run that shows the decision of a goal.
pub fn find(context: &Context<'_>, goal: &Goal, decision: &Decision<AbstractState>, watch: &dyn Watch) -> Search {
    let (Some(value), Some(solution)) = (decision.verdict.known(), decision.solution.as_ref()) else {
        return Search::NotNeeded;
    };
    if value && speaks_of_all_paths(&goal.formula) {
        return Search::NotNeeded;
    }
    if !context.machine.contracts().is_empty() {
        // Concrete steps go through bodies, and states of the model do not.
        return Search::Missing("no run is looked for on paths through functions with contracts".to_owned());
    }
    if watch.cancelled() {
        return Search::Missing("no time or memory was left for replaying the run".to_owned());
    }
    let states = &decision.space.states;
    let game = Game::free(goal, decision, solution);
    let strategy = Strategy::new(game.problem(goal), &game.solution);
    let confirmation = Confirmation { context, goal, value, watch };
    let finder = Finder { walker: &Walker { context, states, strategy: &strategy, watch }, confirmation };
    if !finder.is_shown_by_a_run() {
        return Search::NotNeeded;
    }
    match Game::open(context, goal, decision, watch) {
        Some(game) => {
            let strategy = Strategy::new(game.problem(goal), &game.solution);
            Finder { walker: &Walker { context, states, strategy: &strategy, watch }, confirmation }.find()
        }
        None => finder.find(),
    }
}

/// True if a run may be needed to show a verdict. It always may where something is violated, and where something that
/// holds may speak of what exists.
pub fn may_need_a_run(formula: &NormalForm, verdict: Truth) -> bool {
    let speaks_of_some = |node: &Node| matches!(node, Node::Modal(Modality::Diamond, _));
    !verdict.is_true() || formula.nodes().iter().any(speaks_of_some) && !speaks_of_all_paths(formula)
}

/// True if a formula that is true certainly speaks of all next states of the first state; told without looking at states.
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

/// The graph on which the verdict is shown, with its solution.
pub(crate) struct Game<'a> {
    graph: HyperGraph,
    labels: Labels,
    pub(crate) solution: Cow<'a, Solution>,
}

impl<'a> Game<'a> {
    pub(crate) fn free(goal: &Goal, decision: &'a Decision<AbstractState>, solution: &'a Solution) -> Self {
        let graph = decision.space.graph(goal.observes_hazards);
        Self { graph, labels: Labels::new(0, 0), solution: Cow::Borrowed(solution) }
    }

    /// The game in which the strategy leaves the choice to the hardware, where the verdict stands whatever the hardware
    /// does.
    fn open(context: &Context<'_>, goal: &Goal, decision: &Decision<AbstractState>, watch: &dyn Watch) -> Option<Self> {
        let space = &decision.space;
        if !decision.robust || !space.has_abstracted_choices() {
            return None;
        }
        let graph = space.open_graph(goal.observes_hazards);
        let labels = labels(context, goal, decision);
        let solved = Problem { graph: &graph, labels: &labels, formula: &goal.formula }.solve(&|| watch.cancelled());
        let solution = solved.ok().filter(|open| open.verdict() == decision.verdict)?;
        Some(Self { graph, labels, solution: Cow::Owned(solution) })
    }

    pub(crate) fn problem<'b>(&'b self, goal: &'b Goal) -> Problem<'b> {
        Problem { graph: &self.graph, labels: &self.labels, formula: &goal.formula }
    }
}

/// The labels of the atoms of a goal.
fn labels(context: &Context<'_>, goal: &Goal, decision: &Decision<AbstractState>) -> Labels {
    let atoms = goal.formula.atoms();
    let count = atoms.last().map_or(0, |last| last.index() + 1);
    let mut labels = Labels::new(count, decision.space.states.len());
    for atom in atoms {
        for (state, id) in decision.space.states.iter().zip(0..) {
            labels.set(atom, StateId(id), context.label(state, atom));
        }
    }
    labels
}

/// Looks for the runs of one goal.
struct Finder<'a, 'f> {
    walker: &'a Walker<'a, 'f>,
    confirmation: Confirmation<'a, 'f>,
}

impl<'f> Finder<'_, 'f> {
    /// True if one run shows the verdict: always when something is violated.
    fn is_shown_by_a_run(&self) -> bool {
        !self.confirmation.value || self.walker.start().is_ok_and(|start| self.walker.is_existential(&start))
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
                return Err(Box::new((failure, Some(confirmation::unconfirmed(&Walked::broken_off(run))))));
            }
        };
        self.confirmation.evidence(walked)
    }

    fn branches(&self, start: &Position<'f>, branches: &[Branch]) -> Result<Vec<Evidence>, Failure> {
        let mut runs = Vec::new();
        for branch in branches.iter().take(MAX_BRANCHES) {
            let position = self.walker.branch(start.clone(), *branch).map_err(|broken| broken.0)?;
            let (mut evidence, _) = self.evidence(position).map_err(|broken| broken.0)?;
            evidence.claim =
                format!("after {} steps {}: {}", branch.step, self.confirmation.statement(branch.node), evidence.claim);
            runs.push(evidence);
        }
        Ok(runs)
    }
}
