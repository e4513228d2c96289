//! The abstract state space as data, for drawing.

use crate::diagnosis::root_cause::address;
use crate::diagnosis::subformulas::Effort;
use crate::pipeline::property_result::{Purpose, Work};
use crate::pipeline::verified::verified;
use crate::request::{InvariantUse, Request};
use crate::results::{PropertyResult, Results, Verdict};
use avr_machine::{Hazard, Limit};
use avr_model::state::AbstractState;
use avr_properties::{PropertyError, StateView};
use mu_calculus::StateId;
use three_valued::Truth;
use tvar::System;

/// The state space in which a property was decided, or was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateGraph {
    /// The number of the property among those of the request.
    pub property: usize,
    /// The atoms of its formula.
    pub atoms: Vec<String>,
    /// The states; the first one is the dummy in which the initial content is chosen.
    pub nodes: Vec<GraphNode>,
    /// The path to what stands in the way of a verdict, or the run that shows it, as numbers of states.
    pub marked: Vec<u32>,
}

/// A state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The kind of the state.
    pub kind: NodeKind,
    /// Flash byte address of the next instruction, or of the one that led into a sink; none before the start.
    pub pc: Option<u32>,
    /// The number of interrupt handlers that are being executed.
    pub interrupts: usize,
    /// The label of each atom.
    pub labels: Vec<Truth>,
    /// The hyper-edges, each with the numbers of its members. A sink has none.
    pub edges: Vec<Vec<u32>>,
}

/// Kinds of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Before the start.
    Start,
    /// The program runs.
    Running,
    /// It was not followed further because a limit ended the work.
    Waiting,
    /// The sink of a hazard.
    Hazard(Hazard),
    /// The sink of a path that the engine could not follow.
    Limit(Limit),
}

/// Verifies the properties of an image, and gives the state space of the first property that is unknown. If there is
/// none, it is that of the first property; none if no property could be checked at all.
///
/// # Errors
/// As [`verify`](crate::verify).
pub fn graph(request: &Request<'_>) -> Result<(Results, Option<StateGraph>), PropertyError> {
    verified(
        &Request { invariants: InvariantUse::Off, ..request.with_all_states() },
        (Effort::LITTLE, Purpose::Results),
        |work, goals, results| {
            let checked = || results.properties.iter().zip(goals).enumerate().filter(|(_, (_, goals))| goals.is_some());
            let unknown = checked().find(|(_, (result, _))| matches!(result.verdict, Verdict::Unknown(_)));
            let found = unknown.or_else(|| checked().next());
            let graph = found.and_then(|(number, (result, goals))| Some(work.graph(number, (*goals)?.formula, result)));
            (results, graph)
        },
    )
}

impl Work<'_, '_> {
    fn graph(&self, property: usize, goal: usize, result: &PropertyResult) -> StateGraph {
        let (decision, formula) = (&self.outcome.decisions[goal], &self.asked.goals[goal].formula);
        let atoms = formula.atoms();
        let space = &decision.space;
        let node = |(number, state): (usize, &AbstractState)| GraphNode {
            kind: match state {
                AbstractState::Dummy => NodeKind::Start,
                AbstractState::Hazard { hazard, .. } => NodeKind::Hazard(*hazard),
                AbstractState::Limit { limit, .. } => NodeKind::Limit(*limit),
                AbstractState::Running(_) if !space.is_expanded(number) => NodeKind::Waiting,
                AbstractState::Running(_) => NodeKind::Running,
            },
            pc: address(&self.firmware.model.context, state),
            interrupts: self.firmware.model.context.view(state).map_or(0, |view| view.interrupt_depth()),
            labels: atoms.iter().map(|atom| self.firmware.label(state, *atom)).collect(),
            edges: space.edges(number).map(<[u32]>::to_vec).collect(),
        };
        StateGraph {
            property,
            atoms: atoms.iter().map(|atom| self.firmware.model.context.atoms[atom.index()].text().to_owned()).collect(),
            nodes: space.states.iter().enumerate().map(node).collect(),
            marked: self.marked(goal, result),
        }
    }

    /// The states on the path to what stands in the way, or of the run that shows the verdict.
    fn marked(&self, goal: usize, result: &PropertyResult) -> Vec<u32> {
        if let Some(way) = &self.ways[goal] {
            return way.states.iter().map(|state| state.0).collect();
        }
        let space = &self.outcome.decisions[goal].space;
        let graph = space.graph(self.asked.goals[goal].observes_hazards);
        let run = result.evidence.as_ref();
        let Some(covering) = run.and_then(|run| avr_witness::along(&self.firmware.model.context, space, &graph, run))
        else {
            return Vec::new();
        };
        let mut marked: Vec<StateId> = Vec::new();
        // Backwards, because each state has a predecessor among those that cover the one before.
        for states in covering.iter().rev() {
            let leads_on = |state: &&StateId| marked.last().is_none_or(|next| graph.may(**state).contains(next));
            marked.extend(states.iter().find(leads_on).copied());
        }
        marked.push(graph.initial());
        marked.iter().rev().map(|state| state.0).collect()
    }
}
