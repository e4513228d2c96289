//! The abstract states along a run: it is replayed, and every abstract state that covers a concrete one is noted.

use crate::concretise::coverage::{Arrival, Cover};
use crate::concretise::view::ConcreteView;
use crate::evidence::Evidence;
use crate::replay::Replay;
use avr_machine::MachineState;
use avr_model::context::Context;
use avr_model::state::events::{Occurrences, watched};
use mu_calculus::{HyperGraph, StateId};
use tvar::StateSpace;

use avr_model::state::AbstractState;

/// The most steps of a run that is followed.
const MAX_STEPS: u64 = 100_000;
/// The most abstract states that are noted for each concrete one.
const MAX_COVERING: usize = 16;

/// The abstract states that cover the first state of a run, the state after each step and, at the end, a hazard. None
/// for a run that is too long, or that the state space does not cover.
pub fn along(
    context: &Context<'_>,
    space: &StateSpace<AbstractState>,
    graph: &HyperGraph,
    evidence: &Evidence,
) -> Option<Vec<Vec<StateId>>> {
    if evidence.steps > MAX_STEPS {
        return None;
    }
    let machine = context.machine;
    let watched = watched(context.atoms);
    let mut world = Replay::new(evidence.stimulus.clone(), &watched);
    let mut state: MachineState<u8> = machine.power_on(&mut world);
    state.data.clear_changed();
    world.begin();
    let covering = Covering { cover: Cover::new(context), space, graph };
    let mut did = Occurrences::default();
    let first = ConcreteView { machine, state: &state, watched: &watched, did: &did };
    let mut all = vec![covering.after(&[graph.initial()], &Arrival::State(first), false)?];
    for step in 0..evidence.steps {
        world.before_step(&watched, &state);
        machine.step(&mut state, &mut world).ok()?;
        did = world.occurrences();
        world.after_step(step + 1);
        let reached = ConcreteView { machine, state: &state, watched: &watched, did: &did };
        let here = covering.after(all.last()?, &Arrival::State(reached), true)?;
        state.data.clear_changed();
        all.push(here);
    }
    if evidence.end.hazard.is_some() {
        world.before_step(&watched, &state);
        let stop = machine.step(&mut state, &mut world).err()?;
        all.push(covering.after(all.last()?, &Arrival::Stop(stop), true)?);
    }
    Some(all)
}

struct Covering<'a> {
    cover: Cover<'a>,
    space: &'a StateSpace<AbstractState>,
    graph: &'a HyperGraph,
}

impl Covering<'_> {
    /// The successors of some states that cover where a step led. With `near` only what changed is compared.
    fn after(&self, before: &[StateId], arrival: &Arrival<'_>, near: bool) -> Option<Vec<StateId>> {
        let mut found = Vec::new();
        for from in before {
            let state = near.then(|| &self.space.states[from.index()]);
            for to in self.graph.may(*from) {
                let covers = || self.cover.distance(state, &self.space.states[to.index()], arrival) == 0;
                if found.len() < MAX_COVERING && !found.contains(to) && covers() {
                    found.push(*to);
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }
}
