//! A system that can be verified.

use crate::history::History;
use crate::hyper_edges::HyperEdges;
use crate::precision::{Knob, LocationPrecision, Place, StepPrecision};
use mu_calculus::AtomId;
use std::hash::Hash;
use three_valued::Truth;

/// A system that generates abstract states: a generating automaton (Onderka & Ratschan, Definition 6) whose steps are
/// hyper-edges and whose precision is kept per location.
///
/// Obligations (each implementation has tests for them):
/// * *Initial*: the initial state covers exactly the one concrete dummy initial state.
/// * *Labelling*: a label other than unknown agrees with every covered concrete state.
/// * *Step, may*: for every covered concrete state and every concrete input, some member of some hyper-edge covers the
///   concrete successor. *Step, must*: for every hyper-edge and every covered concrete state, there is an input that
///   leads into some member of it. More precision never covers more.
pub trait System {
    /// An abstract state. States without hyper-edges are sinks.
    type State: Clone + Eq + Hash;
    /// The certain part of an abstract state, to which precision is attached.
    type Location: Place;

    /// The abstract initial state.
    fn initial(&mut self) -> Self::State;

    /// The location of a state.
    fn location(&self, state: &Self::State) -> Self::Location;

    /// Adds the hyper-edges of a state, with inputs and cases split as the precision of its location says.
    fn expand(&mut self, state: &Self::State, precision: &LocationPrecision, edges: &mut HyperEdges<Self::State>);

    /// The state without everything that the step precision of its location does not keep.
    fn decay(&mut self, state: Self::State, precision: &StepPrecision) -> Self::State;

    /// True only if every concrete state that `fine` covers is covered by `coarse`; a false no is allowed. Precision per abstract
    /// state asks this, because a state has at least the precision of those that cover it.
    fn covers(&self, coarse: &Self::State, fine: &Self::State) -> bool;

    /// The label of an atom.
    fn label(&self, state: &Self::State, atom: AtomId) -> Truth;

    /// The refinements that may remove the cause at the end of the path. `path` leads from the initial state to the
    /// state of the cause. Each state is a decayed successor of the one before it.
    fn blame(
        &mut self,
        path: &[Self::State],
        cause: Blame,
        precision: &LookupOf<'_, Self>,
    ) -> Vec<Candidate<Self::Location>>;

    /// The kind of a state.
    fn kind(&self, _state: &Self::State) -> StateKind {
        StateKind::Ordinary
    }
}

/// The kinds of abstract states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateKind {
    /// A state like any other.
    #[default]
    Ordinary,
    /// The sink of something that the inherent property forbids.
    Hazard,
    /// The end of a path that formulas can speak of: it is never left, and its labels tell that it is an end.
    End,
    /// The sink of something that the engine could not follow.
    Limit,
}

/// The precision of the steps of a path.
pub trait Lookup<T, L> {
    /// The precision under which a state at a location takes a step.
    fn leaving(&self, state: &T, location: &L) -> &LocationPrecision;

    /// The step precision for what arrives at a location, one step after a state.
    fn arriving(&self, from: &T, location: &L) -> &StepPrecision;

    /// The precision of every location that shares its part with this one ([`Place::general`]), as long as they all
    /// have the same precision. None where it is to be asked for one by one.
    fn common(&self, _general: &L) -> Option<&LocationPrecision> {
        None
    }

    /// The precision at a location, whatever the state; none where precision is kept per state.
    fn at(&self, _location: &L) -> Option<&LocationPrecision> {
        None
    }

    /// The step precision at a location, whatever the state; none where precision is kept per state.
    fn step_at(&self, location: &L) -> Option<&StepPrecision> {
        self.at(location).map(|local| &local.step)
    }

    /// The changes of the precision; none where it is kept per state.
    fn history(&self) -> Option<&History<L>> {
        None
    }
}

/// The precision of the steps of a system.
pub type LookupOf<'a, S> = dyn Lookup<<S as System>::State, <S as System>::Location> + 'a;

/// Something unknown at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The label of an atom in the last state.
    Atom(AtomId),
    /// The choice between the members of a hyper-edge of the last state.
    Edge(usize),
    /// Everything after the last state, which is a sink.
    Sink,
}

/// Something that could be refined.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<L> {
    /// The location.
    pub location: L,
    /// The bits to refine there.
    pub knob: Knob,
    /// The index on the path of the state at that location.
    pub step: usize,
    /// The number of addresses between the unknown bit and the cause.
    pub indirection: u8,
    /// True if the cause itself depends on it; if not, only the path to it does.
    pub direct: bool,
    /// True if it is refined together with all others of its step for which this holds: one without the others is of no
    /// use.
    pub joint: bool,
}
