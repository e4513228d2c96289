//! Refuted paths: the comparisons by whose outcomes no run goes along a path.
//!
//! The path is followed symbolically from the power-on state, and a SAT solver says which of its steps contradict each other ([`feasibility`]).
//! Nothing rests on what is found here: it says which comparisons are worth keeping, and which run is worth a trial.

use crate::reduction::passes::Model;
use crate::reduction::successors::leaves;
use crate::state::{AbstractState, PrecisionLookup, Running};
use avr_machine::Comparison;
use avr_symbolic::{ConcreteRun, Feasibility, Graph, QueryLimits, Waypoint, feasibility, power_on};

/// The most nodes of its formula.
const MOST_NODES: usize = 1 << 17;

/// The limits of one query.
const LIMITS: QueryLimits = QueryLimits { steps: 20_000, nodes: MOST_NODES };

/// The feasibility of a path.
pub(crate) enum PathFeasibility {
    /// Refuted by the comparisons that the steps rest on that no run takes together: before each of them the one that was executed last.
    Infeasible(Vec<Comparison>),
    /// Some run goes along the path, as far as its conditions are known: this one, unless they are known in part only.
    Feasible(Option<Box<ConcreteRun>>),
}

/// The comparisons that refute a path, or a run along it; none if neither can be told.
pub(crate) fn path_feasibility(
    model: &mut Model<'_>,
    path: &[AbstractState],
    precision: &PrecisionLookup<'_>,
) -> Option<PathFeasibility> {
    let predicates = model.passes.predicates().cloned()?;
    let running: Vec<Running> = path
        .iter()
        .filter_map(|state| match state {
            AbstractState::Running(running) => Some(*running),
            AbstractState::Dummy | AbstractState::Hazard { .. } | AbstractState::Limit { .. } => None,
        })
        .collect();
    let store = &model.context.store;
    let waypoint = |state: &Running| Waypoint::Place { pc: state.control.pc, depth: store.depth(state.calls) };
    let hazard = path.last().and_then(|state| match state {
        AbstractState::Hazard { hazard, .. } => Some(Waypoint::Hazard(hazard.kind)),
        AbstractState::Dummy | AbstractState::Running(_) | AbstractState::Limit { .. } => None,
    });
    let way: Vec<Waypoint> = running.iter().skip(1).map(waypoint).chain(hazard).collect();
    if way.len() > predicates.get().steps_to_refute() {
        return None;
    }
    predicates.get().count_refuting(way.len());
    let graph = Graph::new(MOST_NODES);
    let start = power_on(model.context.machine, &graph);
    let steps = match feasibility(model.context.machine, &graph, start, &way, LIMITS)? {
        Feasibility::Infeasible(steps) => steps,
        Feasibility::Feasible(run) => return Some(PathFeasibility::Feasible(run)),
        Feasibility::Unanswered(_) => return None,
    };
    let last = steps.iter().copied().max()?;
    let mut executed = Vec::with_capacity(last + 1);
    for state in &running[..=last] {
        let state = AbstractState::Running(*state);
        predicates.get().listen();
        leaves(model, &state, precision.leaving(&state, &model.context.location(&state)));
        executed.push(predicates.get().heard());
    }
    let before = |step: usize| executed[..=step].iter().rev().find_map(|comparisons| comparisons.last()).cloned();
    Some(PathFeasibility::Infeasible(steps.into_iter().filter_map(before).collect()))
}
