//! The strategy of an exploration: the order of expansion, the widening, and what is assumed meanwhile.

use crate::hyper_edges::HyperEdges;
use crate::precision::Variable;
use crate::system::{LookupOf, System};

/// The number of states that a limited location distinguishes, as measured.
pub const DEFAULT_ENUMERATED: usize = 4;

/// The abstraction that a system is explored with. Without any strategy every state is expanded step by step, in the order in which
/// states are found, and locations cannot be limited.
pub trait Abstraction: System {
    /// Adds hyper-edges that lead as far as a run goes without a choice: the states on the way may be skipped where no
    /// goal can tell. They are those of [`System::expand`] where nothing is skipped.
    fn advance(&mut self, state: &Self::State, precision: &LookupOf<'_, Self>, edges: &mut HyperEdges<Self::State>) {
        self.expand(state, precision.leaving(state, &self.location(state)), edges);
    }

    /// The position of a state in the worklist, among all that wait at locations with as many states: the least comes first.
    fn order(&self, _state: &Self::State) -> ExpansionOrder {
        ExpansionOrder::default()
    }

    /// True if the second variable follows the first one, as the elements of an array do. Of those in a row that
    /// differ, either all or none are dropped.
    fn are_neighbours(&self, _one: Variable, _next: Variable) -> bool {
        false
    }

    /// The number of states that a limited location distinguishes (explicit values come before everything that is coarser), and
    /// twice the number of contents of one variable; at least 1.
    fn enumerated(&self) -> usize {
        DEFAULT_ENUMERATED
    }

    /// True if a small state space with limited locations is worth a look before anything is refined.
    fn glances(&self) -> bool {
        false
    }

    /// The number of facts that states may keep and that were found while state spaces were built: if it has grown, a small one is worth
    /// another look.
    fn found(&self) -> usize {
        0
    }

    /// Lets states keep, from the next state space on, only the facts that [`Abstraction::refute`] found (and those that it finds), or again all that are
    /// found; false if the system does not tell them apart.
    fn keep_only_refuting(&mut self, _only: bool) -> bool {
        false
    }

    /// Looks for facts by which no run goes along a path, which begins in the initial state. States keep them from the next state space on.
    fn refute(&mut self, _path: &[Self::State], _precision: &LookupOf<'_, Self>) -> Refuted {
        Refuted::Open
    }

    /// A widening: the bits that a location drops of a variable of which it dropped some before and is to drop more.
    /// Given all of these, it drops them and perhaps others, so that a counter does not lose one bit after the other.
    fn widened(&self, _variable: Variable, bits: u64) -> u64 {
        bits
    }

    /// The number of steps that were taken so far, as the system counts them; 0 if it does not.
    fn steps(&self) -> u64 {
        0
    }

    /// The variables in which two states at one location differ. A system that names none cannot have its states limited.
    fn differences(&self, _one: &Self::State, _other: &Self::State) -> Vec<Difference> {
        Vec::new()
    }

    /// True if all assumptions of the steps of the present state space are discharged so far. If not, it says nothing of
    /// all paths, even when it is finished, and is built anew; [`System::initial`] begins the next one.
    fn is_discharged(&self) -> bool {
        true
    }

    /// True if the assumptions are discharged for a part of a state space. Until then it says nothing of the states
    /// that can be reached from a state. If not, it is only not complete.
    fn parts_are_discharged(&self) -> bool {
        true
    }

    /// True if it is worth while to keep every state where goals stay unknown with few states per location.
    fn is_worth_keeping_all(&self) -> bool {
        true
    }

    /// True if as many locations are distinguished as can be.
    fn distinguishes_most(&self) -> bool {
        true
    }

    /// Learns more from what decides where execution goes, from the next state space on, at the cost of more states; false
    /// if all is learned already.
    fn learn_more(&mut self) -> bool {
        false
    }

    /// Distinguishes as many locations as can be: a state space with few states per location grows large.
    fn distinguish_most(&mut self) {}
}

/// The position of a state in the worklist: the first number decides first.
pub type ExpansionOrder = [u32; 12];

/// A difference between two states at one location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The variable.
    pub variable: Variable,
    /// The bits that are known in one and not in the other, or known and different.
    pub bits: u64,
    /// The content in the other state, known bits and their values, as a number that distinguishes contents.
    pub other: u64,
}

/// The finding about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuted {
    /// New facts by which no run goes along it.
    Newly,
    /// Some run goes along it, as far as the system can tell.
    Possible,
    /// Neither.
    Open,
}
