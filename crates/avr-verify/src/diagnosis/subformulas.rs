//! The states in which each subformula of a property holds, fails or is unknown. They are told along the run that shows
//! the verdict or the path to what stands in its way, and over the whole state space.

use crate::diagnosis::root_cause::{Way, address};
use crate::diagnosis::vacuity;
use avr_model::context::Context;
use avr_model::state::AbstractState;
use avr_properties::BoundProperty;
use avr_witness::{self, Evidence};
use mu_calculus::{AtomId, Formula, HyperGraph, Labels, PathQuantifier, Problem, StateId, Variable};
use std::convert::Infallible;
use three_valued::Truth;
use tvar::{Decision, Watch};

/// The most subformulas that are explained.
const MAX_SUBFORMULAS: usize = 64;
/// The largest subformula, with fixed points put for their variables, that is evaluated.
const MAX_PARTS: usize = 10_000;
/// The most stretches of a subformula that are reported.
const MAX_STRETCHES: usize = 1_000;

/// The bound on the work of explanations, in pairs of states and subformulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort(pub(crate) usize);

impl Effort {
    /// The work that is done beside a verification.
    pub(crate) const LITTLE: Self = Self(1 << 20);
    /// The work that is done when explanations are asked for.
    pub(crate) const ALL: Self = Self(usize::MAX);
}

/// The explanation of a verdict, subformula by subformula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The states that `stretches` speak of.
    pub along: Along,
    /// The number of states these are.
    pub positions: u64,
    /// The subformulas, each before its own, as they stand in the formula.
    pub subformulas: Vec<Explained>,
    /// The number of subformulas that are left out because there are too many.
    pub left_out: usize,
}

/// A sequence of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// The first state of the run that shows the verdict, and the state after each of its steps.
    Evidence,
    /// The states on the path to what stands in the way of a verdict, from the first one on.
    Culprit,
    /// There is no path to speak of: the first state alone.
    Start,
}

/// A subformula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its text.
    pub text: String,
    /// The depth at which it stands in the formula: 0 for the formula itself.
    pub depth: usize,
    /// Its value along the path.
    pub stretches: Vec<Stretch>,
    /// The numbers of reached abstract states in which it holds, fails and is unknown.
    pub states: Counts,
}

/// States in a row in which a subformula has one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the first of them.
    pub first: u64,
    /// The number of the last of them.
    pub last: u64,
    /// The value. For a path formula: whether all paths from there have it, or none.
    pub value: Truth,
    /// Flash byte address of the next instruction in the first of them.
    pub pc: Option<u32>,
}

/// Numbers of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of states where it holds.
    pub holds: usize,
    /// The number of states where it fails.
    pub fails: usize,
    /// The number of states where it is unknown.
    pub unknown: usize,
}

/// Explains the verdict on a property; none if not even the formula itself can be evaluated with so much effort.
pub(crate) fn explain(
    context: &Context<'_>,
    bound: &BoundProperty,
    decision: &Decision<AbstractState>,
    (evidence, way): (Option<&Evidence>, Option<&Way>),
    (effort, watch): (Effort, &dyn Watch),
) -> Option<Explanation> {
    let space = &decision.space;
    let parts = parts(&bound.formula);
    let left = effort.0.checked_sub(space.states.len().saturating_mul(2 * bound.normal_form.node_count()))?;
    if watch.cancelled() {
        return None;
    }
    let graph = space.graph(bound.observes_hazards);
    let labels = space.labels(context.atoms.len(), |state, atom| context.label(state, atom));
    let (along, path) = path(context, decision, &graph, (evidence, way));
    let mut explainer = Explainer { context, bound, decision, graph, labels, path, watch, left };
    let mut explained: Vec<Explained> = Vec::new();
    let all = parts.len();
    for part in parts.into_iter().take(MAX_SUBFORMULAS) {
        explained.extend(explainer.explained(&part));
    }
    let positions = explainer.path.len() as u64;
    let left_out = all - explained.len();
    (!explained.is_empty()).then_some(Explanation { along, positions, subformulas: explained, left_out })
}

/// The states that are reported, each as the abstract states that cover it.
fn path(
    context: &Context<'_>,
    decision: &Decision<AbstractState>,
    graph: &HyperGraph,
    (evidence, way): (Option<&Evidence>, Option<&Way>),
) -> (Along, Vec<Vec<StateId>>) {
    let run = evidence.and_then(|evidence| avr_witness::along(context, &decision.space, graph, evidence));
    match (run, way) {
        (Some(run), _) => (Along::Evidence, run),
        // The dummy state is none that a formula speaks of.
        (None, Some(way)) if way.states.len() > 1 => {
            (Along::Culprit, way.states[1..].iter().map(|state| vec![*state]).collect())
        }
        _ => (Along::Start, graph.may(graph.initial()).first().map(|state| vec![*state]).into_iter().collect()),
    }
}

/// A subformula as it stands in the formula, and as a formula without free variables.
struct Part {
    written: Formula<AtomId>,
    closed: Formula<AtomId>,
    depth: usize,
}

/// All subformulas but constants and variables, each before its own.
fn parts(formula: &Formula<AtomId>) -> Vec<Part> {
    let mut found = Vec::new();
    let mut waiting = vec![Part { written: formula.clone(), closed: formula.clone(), depth: 0 }];
    while let Some(part) = waiting.pop() {
        let size = size(&part.closed, MAX_PARTS);
        if matches!(part.written, Formula::Constant(_) | Formula::Variable(_)) || size >= MAX_PARTS {
            continue;
        }
        for (written, closed) in part.written.children().into_iter().zip(part.closed.children()).rev() {
            let closed = match &part.closed {
                Formula::Fixed(_, variable, _) => with(closed, variable, &part.closed),
                Formula::Equations(kind, equations, _) => {
                    equations.iter().fold(closed.clone(), |closed, (variable, _)| {
                        let result = Box::new(Formula::Variable(variable.clone()));
                        with(&closed, variable, &Formula::Equations(*kind, equations.clone(), result))
                    })
                }
                _ => closed.clone(),
            };
            waiting.push(Part { written: written.clone(), closed, depth: part.depth + 1 });
        }
        found.push(part);
    }
    found
}

/// The number of parts of a formula, or `most` if there are more.
fn size<A>(formula: &Formula<A>, most: usize) -> usize {
    let mut count = 0;
    let mut waiting = vec![formula];
    while let Some(part) = waiting.pop().filter(|_| count < most) {
        count += 1;
        waiting.extend(part.children());
    }
    count
}

/// A formula with another one in place of a variable.
fn with(formula: &Formula<AtomId>, variable: &Variable, value: &Formula<AtomId>) -> Formula<AtomId> {
    match formula {
        Formula::Variable(found) if found == variable => value.clone(),
        Formula::Fixed(_, bound, _) if bound == variable => formula.clone(),
        Formula::Equations(_, equations, _) if equations.iter().any(|(bound, _)| bound == variable) => formula.clone(),
        _ => {
            let replaced = formula.try_map_children(&mut |child| Ok::<_, Infallible>(with(child, variable, value)));
            replaced.unwrap_or_else(|never| match never {})
        }
    }
}

/// True if a formula looks back.
fn has_past(formula: &Formula<AtomId>) -> bool {
    use mu_calculus::LinearPairOperator::Since;
    let here = match formula {
        Formula::Linear(operator, _) => operator.is_past(),
        Formula::LinearPair(operator, ..) => *operator == Since,
        _ => false,
    };
    here || formula.children().into_iter().any(has_past)
}

struct Explainer<'a, 'f> {
    context: &'a Context<'f>,
    bound: &'a BoundProperty,
    decision: &'a Decision<AbstractState>,
    graph: HyperGraph,
    labels: Labels,
    path: Vec<Vec<StateId>>,
    watch: &'a dyn Watch,
    /// The work that may still be done.
    left: usize,
}

impl Explainer<'_, '_> {
    fn explained(&mut self, part: &Part) -> Option<Explained> {
        let values = self.values(&part.closed)?;
        let states = self.decision.space.states.iter().zip(&values);
        let mut counts = Counts::default();
        for (_, value) in states.filter(|(state, _)| !matches!(state, AbstractState::Dummy)) {
            match value {
                Truth::True => counts.holds += 1,
                Truth::False => counts.fails += 1,
                Truth::Unknown => counts.unknown += 1,
            }
        }
        let text = vacuity::text(self.context.atoms, &part.written);
        Some(Explained { text, depth: part.depth, stretches: self.stretches(&values), states: counts })
    }

    /// The value of a formula in every state.
    fn values(&mut self, formula: &Formula<AtomId>) -> Option<Vec<Truth>> {
        if !formula.is_path_formula() {
            return self.solved(formula);
        }
        // The past is not known in a state.
        if has_past(formula) {
            return None;
        }
        let always = self.solved(&Formula::quantified(PathQuantifier::All, formula.clone()))?;
        let ever = self.solved(&Formula::quantified(PathQuantifier::Exists, formula.clone()))?;
        let value = |(always, ever): (Truth, Truth)| match (always, ever) {
            (Truth::True, _) => Truth::True,
            (_, Truth::False) => Truth::False,
            _ => Truth::Unknown,
        };
        Some(always.into_iter().zip(ever).map(value).collect())
    }

    fn solved(&mut self, formula: &Formula<AtomId>) -> Option<Vec<Truth>> {
        let formula = self.bound.restricted(formula).ok()?;
        self.left = self.left.checked_sub(self.graph.state_count().saturating_mul(formula.node_count()))?;
        let problem = Problem { graph: &self.graph, labels: &self.labels, formula: &formula };
        let solution = problem.solve(&|| self.watch.cancelled()).ok()?;
        Some(self.graph.states().map(|state| solution.truth(state, formula.root())).collect())
    }

    /// The values along the path, equal ones in a row together.
    ///
    /// SOUND: what an abstract state knows is so in every concrete state that it covers, so the first of several abstract
    /// states that knows will do.
    fn stretches(&self, values: &[Truth]) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = Vec::new();
        for (number, covering) in (0..).zip(&self.path) {
            let known = covering.iter().map(|state| values[state.index()]).find(|value| *value != Truth::Unknown);
            let value = known.unwrap_or(Truth::Unknown);
            if let Some(stretch) = all.last_mut().filter(|stretch| stretch.value == value) {
                stretch.last = number;
                continue;
            }
            if all.len() == MAX_STRETCHES {
                break;
            }
            let state = covering.first().map(|state| &self.decision.space.states[state.index()]);
            let pc = state.and_then(|state| address(self.context, state));
            all.push(Stretch { first: number, last: number, value, pc });
        }
        all
    }
}
