//! What a system has to offer to be verified.

use crate::decision::{Decision, Goal};
use crate::precision::{Knob, LocationPrecision, Place, StepPrecision, Variable};
use crate::watch::Watch;
use mu_calculus::AtomId;
use std::hash::Hash;
use three_valued::Truth;

/// A system that generates abstract states: a generating automaton (Onderka & Ratschan, Definition 6) whose steps are
/// hyper-edges and whose precision is kept per location.
///
/// Obligations (each implementation has tests for them):
/// * *Initial*: the initial state covers exactly the one concrete dummy initial state.
/// * *Labelling*: a label other than unknown agrees with every covered concrete state.
/// * *Step*: for every covered concrete state and every concrete input there is a hyper-edge and a member of it that
///   covers the concrete successor (may), and for every hyper-edge and every covered concrete state there is an input
///   that leads into some member of it (must). More precision never covers more.
pub trait System {
    /// An abstract state. States without hyper-edges are sinks.
    type State: Clone + Eq + Hash;
    /// What every abstract state knows for certain and precision is attached to.
    type Location: Place;

    /// The abstract initial state.
    fn initial(&mut self) -> Self::State;

    /// The location of a state.
    fn location(&self, state: &Self::State) -> Self::Location;

    /// Adds the hyper-edges of a state, with inputs and cases split as the precision of its location says.
    fn expand(&mut self, state: &Self::State, precision: &LocationPrecision, edges: &mut HyperEdges<Self::State>);

    /// Adds hyper-edges that lead as far as a run goes without a choice: the states on the way may be left out where no goal
    /// can tell. They are those of [`Self::expand`] where nothing is left out.
    fn advance(&mut self, state: &Self::State, precision: &dyn Lookup<Self>, edges: &mut HyperEdges<Self::State>) {
        self.expand(state, precision.leaving(state, &self.location(state)), edges);
    }

    /// The state with everything forgotten that the step precision of its location does not keep.
    fn decay(&mut self, state: Self::State, precision: &StepPrecision) -> Self::State;

    /// Whether every concrete state that `fine` covers is covered by `coarse`, as far as that can be told: a false no
    /// is allowed, a false yes is not. Precision per abstract state asks this, because a state has at least the precision
    /// of those that cover it.
    fn covers(&self, coarse: &Self::State, fine: &Self::State) -> bool;

    /// When a state is to be expanded, among those that wait at locations with as many states: lower turns come first.
    fn turn(&self, _state: &Self::State) -> Turn {
        Turn::default()
    }

    /// Whether the second variable follows the first one, as the elements of an array do: of those in a row that differ, either all
    /// or none are dropped.
    fn are_neighbours(&self, _one: Variable, _next: Variable) -> bool {
        false
    }

    /// What a location drops of a variable of which it dropped some bits before and is to drop more, given all of these: they and
    /// perhaps others, so that what counts does not lose one bit after the other (a widening).
    fn widened(&self, _variable: Variable, bits: u64) -> u64 {
        bits
    }

    /// The variables in which two states at one location differ. A system that names none cannot have its states limited.
    fn differences(&self, _one: &Self::State, _other: &Self::State) -> Vec<Difference> {
        Vec::new()
    }

    /// Tries to refute goals by other means than a state space, on which they are unknown; the numbers of those that are
    /// false.
    fn refute(&mut self, _open: &[(usize, &Goal)], _watch: &dyn Watch) -> Vec<usize> {
        Vec::new()
    }

    /// The label of an atom.
    fn label(&self, state: &Self::State, atom: AtomId) -> Truth;

    /// Whether the state is the sink of something that the inherent property forbids.
    fn is_hazard(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether a state is the end of a path that formulas can speak of: it is never left, and its labels tell that it is an end.
    fn is_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether the state is the sink of something that the engine could not follow.
    fn is_limit(&self, _state: &Self::State) -> bool {
        false
    }

    /// What could be refined so that the cause at the end of the path may go away. `path` leads from the initial state
    /// to the state of the cause; each state is the one that the one before it was expanded to and that then decayed.
    fn blame(&mut self, path: &[Self::State], cause: Blame, precision: &dyn Lookup<Self>) -> Vec<Candidate<Self>>;

    /// Whether all that the steps of the present state space took for granted is true so far. If not, it says nothing of
    /// all paths, even when it is finished, and is built anew; [`Self::initial`] begins the next one.
    fn is_settled(&self) -> bool {
        true
    }

    /// Whether the same is true of a part of a state space: until then it says nothing of what can be reached from where. If not, it
    /// is only not complete.
    fn parts_are_settled(&self) -> bool {
        true
    }

    /// Whether it is worth while to keep every state where goals stay unknown with few states per location.
    fn is_worth_keeping_all(&self) -> bool {
        true
    }

    /// Whether as many locations are told apart as can be.
    fn tells_most_apart(&self) -> bool {
        true
    }

    /// Is asked to tell as many locations apart as can be, because a state space with few states per location grows large.
    fn tell_most_apart(&mut self) {}

    /// Is told that something is refined because of what is unknown at a state.
    fn refined_for(&mut self, _state: &Self::State) {}

    /// Is told that a goal was decided, as soon as it is: for showing more than the verdict while there is time.
    fn decided(&mut self, _decided: &Decided<'_, Self>) {}
}

/// A goal that was just decided.
pub struct Decided<'a, S: System + ?Sized> {
    /// Its number.
    pub number: usize,
    /// The goal.
    pub goal: &'a Goal,
    /// What was decided.
    pub decision: &'a Decision<S::State>,
    /// The precision of the state space that decided, where it is kept per location.
    pub precision: &'a dyn Lookup<S>,
    /// Limits.
    pub watch: &'a dyn Watch,
}

/// What two states at one location have different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The variable.
    pub variable: Variable,
    /// The bits that are known in one and not in the other, or known and different.
    pub bits: u64,
    /// What the other state has there, known bits and their values, as a number that tells contents apart.
    pub other: u64,
}

/// Tells the precision of the steps of a path.
pub trait Lookup<S: System + ?Sized> {
    /// The precision under which a state at a location takes a step.
    fn leaving(&self, state: &S::State, location: &S::Location) -> &LocationPrecision;

    /// What is kept of that which arrives at a location, one step after a state.
    fn arriving(&self, from: &S::State, location: &S::Location) -> &StepPrecision;

    /// The precision of every location that has the same in common with others as this one ([`Place::general`]), as long
    /// as they all have the same; none where it is to be asked for one by one.
    fn common(&self, _general: &S::Location) -> Option<&LocationPrecision> {
        None
    }

    /// The precision at a location, whatever the state; none where precision is kept per state.
    fn at(&self, _location: &S::Location) -> Option<&LocationPrecision> {
        None
    }
}

/// What is unknown at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The label of an atom in the last state.
    Atom(AtomId),
    /// Which member of a hyper-edge of the last state is taken.
    Edge(usize),
    /// What comes after the last state, which is a sink.
    Sink,
}

/// Something that could be refined.
#[derive(Debug)]
pub struct Candidate<S: System + ?Sized> {
    /// The location.
    pub location: S::Location,
    /// What to refine there.
    pub knob: Knob,
    /// The index on the path of the state at that location.
    pub step: usize,
    /// How many addresses lie between the unknown bit and the cause.
    pub indirection: u8,
    /// Whether the cause itself depends on it; if not, only the path to it does.
    pub direct: bool,
    /// Whether it is refined together with all others of its step for which this holds, because one without the others is of no use.
    pub joint: bool,
}

impl<S: System + ?Sized> Clone for Candidate<S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

/// The hyper-edges of one state while they are being collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperEdges<T> {
    members: Vec<T>,
    ends: Vec<usize>,
    open: Vec<Vec<usize>>,
    /// The positions of members that the system may not come to.
    unsure: Vec<usize>,
}

impl<T> Default for HyperEdges<T> {
    fn default() -> Self {
        Self { members: Vec::new(), ends: Vec::new(), open: Vec::new(), unsure: Vec::new() }
    }
}

impl<T> HyperEdges<T> {
    /// Adds a hyper-edge.
    ///
    /// # Panics
    /// When there is no member: a step always leads somewhere.
    pub fn add(&mut self, members: impl IntoIterator<Item = T>) {
        let before = self.members.len();
        self.members.extend(members);
        assert!(self.members.len() > before, "a hyper-edge has at least one member");
        self.ends.push(self.members.len());
    }

    /// Says what the hyper-edges are when the choices that the model abstracts are not made by the environment but
    /// merely not known: each as the positions of its members among all members that were added.
    pub fn set_open(&mut self, edges: Vec<Vec<usize>>) {
        self.open = edges;
    }

    /// What [`Self::set_open`] said; empty if the state has no such choices.
    #[must_use]
    pub fn open(&self) -> &[Vec<usize>] {
        &self.open
    }

    /// Says which members, by rising position among all that were added, the system itself may not come to when their edge is
    /// chosen: such an edge says what may happen, and nothing of what somebody can do.
    pub fn set_unsure(&mut self, members: impl IntoIterator<Item = usize>) {
        self.unsure.clear();
        self.unsure.extend(members);
    }

    /// What [`Self::set_unsure`] said.
    #[must_use]
    pub fn unsure(&self) -> &[usize] {
        &self.unsure
    }

    /// Removes all hyper-edges.
    pub fn clear(&mut self) {
        self.members.clear();
        self.ends.clear();
        self.open.clear();
        self.unsure.clear();
    }

    /// The same hyper-edges over other members, which are given in the order in which they were added.
    #[must_use]
    pub fn map<U>(self, other: impl FnMut(T) -> U) -> HyperEdges<U> {
        let members = self.members.into_iter().map(other).collect();
        HyperEdges { members, ends: self.ends, open: self.open, unsure: self.unsure }
    }

    /// The number of hyper-edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The hyper-edges in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.members[start..*end])
    }
}

/// When a state is expanded: what comes first decides first, and lower numbers come first.
pub type Turn = [u32; 12];
