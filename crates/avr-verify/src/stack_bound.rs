//! The worst-case depth of the stack, read off a state space.

use avr_model::Firmware;
use avr_model::context::Context;
use avr_model::state::AbstractState;
use avr_model::state::stack_depth;
use avr_properties::{StateView, TaskStack};
use mu_calculus::{AtomId, Formula, Labels, Modality, NormalForm, PathOperator, PathQuantifier, Problem, StateId};
use std::sync::Arc;
use three_valued::Truth;
use tvar::{Outcome, StateSpace, Watch};

/// The worst-case depth of the stack in bytes below RAMEND.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackBound {
    /// Some run reaches this depth.
    pub lower: Option<u32>,
    /// No run exceeds this depth.
    pub upper: Option<u32>,
}

/// The worst-case depth of the stack of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStackBound {
    /// The stack, as the property file names it.
    pub symbol: String,
    /// The bytes of the stack.
    pub room: u32,
    /// The worst-case depth in bytes below the highest one.
    pub bound: StackBound,
}

impl TaskStackBound {
    /// The bounds that two lists of bounds of the same image give together; the first one is whole where it is not empty.
    #[must_use]
    pub(crate) fn and(some: Vec<Self>, others: Vec<Self>) -> Vec<Self> {
        if some.is_empty() {
            return others;
        }
        let other = |one: &Self| others.iter().find(|other| other.symbol == one.symbol).map(|other| other.bound);
        let both = |one: Self| Self { bound: one.bound.and(other(&one).unwrap_or_default()), ..one };
        some.into_iter().map(both).collect()
    }
}

impl StackBound {
    /// The bound, where both sides agree.
    #[must_use]
    pub fn exact(&self) -> Option<u32> {
        self.lower.filter(|lower| Some(*lower) == self.upper)
    }

    /// True if some run needs more than all runs do, which is a fault of our own.
    #[must_use]
    pub(crate) fn is_contradictory(&self) -> bool {
        self.upper.is_some_and(|upper| self.lower > Some(upper))
    }

    /// The bound that two bounds of the same image give together.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let upper = self.upper.into_iter().chain(other.upper).min();
        Self { lower: self.lower.max(other.lower), upper }
    }
}

/// The bounds of the stacks of tasks that state spaces show.
pub(crate) fn of_tasks<'a>(
    context: &Context<'_>,
    stacks: &[TaskStack],
    spaces: impl Iterator<Item = &'a Arc<StateSpace<AbstractState>>> + Clone,
    watch: &dyn Watch,
) -> Vec<TaskStackBound> {
    let bound = |(stack, number): (&TaskStack, u8)| {
        let area = context.machine.stack_area(number)?;
        let bounds = spaces.clone().map(|space| bound_of(context, space, number, watch));
        let bound = bounds.reduce(StackBound::and).unwrap_or_default();
        Some(TaskStackBound { symbol: stack.name.clone(), room: area.bytes(), bound })
    };
    stacks.iter().zip(1..).filter_map(bound).collect()
}

/// The bound of the main stack that a state space shows.
pub(crate) fn bound(context: &Context<'_>, space: &StateSpace<AbstractState>, watch: &dyn Watch) -> StackBound {
    bound_of(context, space, 0, watch)
}

/// The bound of a stack ([`avr_machine::Control::stack`]) that a state space shows.
///
/// The upper bound speaks of all paths, so it exists only when every path was followed to its end. No engine limit was
/// reached then and no hazard, after which nothing is promised. The lower bound is the greatest depth that some run
/// certainly reaches. States from which every path ends are left out of both.
fn bound_of(context: &Context<'_>, space: &StateSpace<AbstractState>, stack: u8, watch: &dyn Watch) -> StackBound {
    let depth = |state| {
        let view = context.view(state)?;
        // Inside a function with a contract the stack may be as deep as that allows.
        let contract = context.machine.contract_at(view.pc().word());
        let below = contract.map_or(0, |contract| contract.stack.into());
        Some(stack_depth::depth_of(context.machine, &view, stack)? + below)
    };
    let Some(ends) = ends(space, watch) else { return StackBound::default() };
    let depth = |(state, ends): (_, &Truth)| depth(state).filter(|_| !ends.is_true());
    let depths: Vec<Option<u32>> = space.states.iter().zip(&ends).map(depth).collect();
    let greatest = depths.iter().copied().max().flatten();
    let followed = space.is_complete() && space.hazards().is_empty();
    StackBound { lower: reached(space, &depths, &ends, watch), upper: greatest.filter(|_| followed) }
}

/// True if every path ends, for each state; none if the user cannot wait.
fn ends(space: &StateSpace<AbstractState>, watch: &dyn Watch) -> Option<Vec<Truth>> {
    if space.ends().is_empty() {
        return Some(vec![Truth::False; space.states.len()]);
    }
    let ended = Formula::Path(PathQuantifier::All, PathOperator::Eventually, Box::new(Formula::Atom(AtomId(0))));
    let (graph, formula) = (space.graph(false), NormalForm::new(&ended).expect("the formula is closed"));
    let mut labels = Labels::new(1, space.states.len());
    (0..space.states.len() as u32).for_each(|state| labels.set(AtomId(0), StateId(state), Truth::False));
    space.ends().iter().for_each(|end| labels.set(AtomId(0), StateId(*end), Truth::True));
    let solution = Problem { graph: &graph, labels: &labels, formula: &formula }.solve(&|| watch.cancelled()).ok()?;
    Some(graph.states().map(|state| solution.truth(state, formula.root())).collect())
}

/// The greatest depth for which `EF depth >= d` holds on the paths that do not end.
fn reached(
    space: &StateSpace<AbstractState>,
    depths: &[Option<u32>],
    ends: &[Truth],
    watch: &dyn Watch,
) -> Option<u32> {
    let graph = space.graph(false);
    let deeper = NormalForm::new(&reachable()).expect("the formula is closed");
    let mut different: Vec<u32> = depths.iter().copied().flatten().collect();
    different.sort_unstable();
    different.dedup();
    let holds = |wanted: u32| {
        let mut labels = Labels::new(2, depths.len());
        for ((depth, ends), state) in depths.iter().zip(ends).zip(0..) {
            let is_deep = Truth::from(depth.is_some_and(|depth| depth >= wanted));
            labels.set(AtomId(0), StateId(state), is_deep & !*ends);
            labels.set(AtomId(1), StateId(state), *ends);
        }
        let problem = Problem { graph: &graph, labels: &labels, formula: &deeper };
        problem.solve(&|| watch.cancelled()).is_ok_and(|solution| solution.verdict().is_true())
    };
    // The deepest point is usually reached for certain; otherwise the depths that are form a prefix.
    if different.last().is_some_and(|deepest| holds(*deepest)) {
        return different.last().copied();
    }
    let certain = different.partition_point(|depth| holds(*depth));
    certain.checked_sub(1).map(|index| different[index])
}

/// `AX (EF p || q)` with the first atom p and the second one q: for every initial content, p can be reached, or every path ends.
fn reachable() -> Formula<AtomId> {
    let eventually =
        Formula::Path(PathQuantifier::Exists, PathOperator::Eventually, Box::new(Formula::Atom(AtomId(0))));
    Formula::Modal(Modality::Box, Box::new(Formula::Or(vec![eventually, Formula::Atom(AtomId(1))])))
}

/// The sources of the stack bound: the most refined state space that decided something and the one that was built last.
pub(crate) fn stack_spaces<'a>(
    outcome: &'a Outcome<Firmware<'_>>,
) -> impl Iterator<Item = &'a Arc<StateSpace<AbstractState>>> + Clone {
    let refined = outcome.decisions.iter().max_by_key(|decision| decision.refinements).map(|decision| &decision.space);
    let latest = outcome.latest.as_ref().filter(|latest| refined.is_none_or(|refined| !Arc::ptr_eq(latest, refined)));
    refined.into_iter().chain(latest)
}
