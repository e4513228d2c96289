//! A system whose exploration can be watched and whose blame can be replaced.

use crate::toy::{Location, State, Toy};
use mu_calculus::AtomId;
use std::collections::BTreeSet;
use three_valued::Truth;
use tvar::{Abstraction, Blame, Candidate, HyperEdges, LocationPrecision, LookupOf, StepPrecision, System};

/// Makes its own candidates of those that the toy blames.
type Opinion = dyn Fn(Vec<Candidate<Location>>) -> Vec<Candidate<Location>>;

/// A system that notes the state spaces that are built of it, and may have its own ideas of blame.
pub struct Observed {
    pub toy: Toy,
    pub blame: Box<Opinion>,
    /// Per pass the steps that were taken: from where to where, before and after decay.
    pub passes: Vec<Vec<(State, Vec<State>)>>,
}

impl Observed {
    pub fn new(toy: &Toy) -> Self {
        Self { toy: toy.clone(), blame: Box::new(|candidates| candidates), passes: Vec::new() }
    }

    fn note(&mut self, from: State, to: Vec<State>) {
        self.passes.last_mut().expect("the initial state comes first").push((from, to));
    }
}

impl System for Observed {
    type State = State;
    type Location = Location;

    fn initial(&mut self) -> State {
        self.passes.push(Vec::new());
        self.toy.initial()
    }

    fn location(&self, state: &State) -> Location {
        self.toy.location(state)
    }

    fn expand(&mut self, state: &State, precision: &LocationPrecision, edges: &mut HyperEdges<State>) {
        self.toy.expand(state, precision, edges);
        // A set, because two hyper-edges with the same members are no more than one.
        let reached: BTreeSet<Vec<State>> = edges.iter().map(<[State]>::to_vec).collect();
        self.note(*state, reached.into_iter().flatten().collect());
    }

    fn decay(&mut self, state: State, precision: &StepPrecision) -> State {
        let decayed = self.toy.decay(state, precision);
        self.note(state, vec![decayed]);
        decayed
    }

    fn covers(&self, coarse: &State, fine: &State) -> bool {
        self.toy.covers(coarse, fine)
    }

    fn label(&self, state: &State, atom: AtomId) -> Truth {
        self.toy.label(state, atom)
    }

    fn blame(&mut self, path: &[State], cause: Blame, precision: &LookupOf<'_, Self>) -> Vec<Candidate<Location>> {
        (self.blame)(self.toy.blame(path, cause, precision))
    }
}

impl Abstraction for Observed {}
