//! The observer of a verification: it sees what is decided and refined, and may refute goals by other means.

use crate::decision::{Decision, Goal};
use crate::system::{LookupOf, System};
use crate::watch::Watch;

/// An observer of the progress of a verification. No verdict rests on it, except where it refutes a goal.
pub trait Observer<S: System> {
    /// Tries to refute goals that are unknown on a state space by other means, and gives the numbers of those that are
    /// false.
    fn refute(&mut self, _system: &mut S, _open: &[(usize, &Goal)], _watch: &dyn Watch) -> Vec<usize> {
        Vec::new()
    }

    /// Tries to refute a goal by a run along the path that the system found possible last ([`Refuted::Possible`](crate::abstraction::Refuted)); true if
    /// the goal is false.
    fn refute_along_path(&mut self, _system: &mut S, _goal: (usize, &Goal), _watch: &dyn Watch) -> bool {
        false
    }

    /// Sees a goal that was decided, as soon as it is: for showing more than the verdict while there is time.
    fn decided(&mut self, _system: &mut S, _decided: &Decided<'_, S>) {}

    /// Sees that something is refined because of what is unknown at a state.
    fn refined(&mut self, _system: &S, _state: &S::State) {}
}

/// An observer that looks at nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl<S: System> Observer<S> for Unobserved {}

/// A goal that was just decided.
pub struct Decided<'a, S: System + ?Sized> {
    /// Its number.
    pub number: usize,
    /// The goal.
    pub goal: &'a Goal,
    /// The decision.
    pub decision: &'a Decision<S::State>,
    /// The precision of the state space that decided, where it is kept per location.
    pub precision: &'a LookupOf<'a, S>,
    /// Limits.
    pub watch: &'a dyn Watch,
}
