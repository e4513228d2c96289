//! The changes of a precision, so that steps that were taken before can be used again where nothing changed that they depend on.

use crate::precision::Knob;
use std::sync::Arc;

/// The locations whose precision changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<L> {
    /// A location, in any round.
    One(L),
    /// All locations that share their part with this one ([`crate::Place::general`]).
    Alike(L),
    /// All locations.
    All,
}

/// The part of a precision that changed. The bits that a limit on the states of a location drops are none of it: what was
/// done with more or fewer of them is sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The part that says how a step is taken: inputs that are split and stored values that are cut.
    Steps,
    /// The bits that refinement keeps where a state arrives.
    Kept,
}

impl Part {
    /// The part that a refinement changes.
    fn of(knob: Knob) -> Self {
        match knob {
            Knob::Step(..) | Knob::Everywhere(..) => Self::Kept,
            Knob::Case(..) | Knob::Input(..) | Knob::Value(..) => Self::Steps,
        }
    }
}

/// A change of a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<L> {
    /// The locations.
    pub scope: Scope<L>,
    /// The part of their precision.
    pub part: Part,
}

/// The identity of a precision while it is refined. A copy of the precision has another one.
#[derive(Clone, Debug)]
pub struct Lineage(Arc<()>);

impl PartialEq for Lineage {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// All changes of a precision, in their order.
#[derive(Debug)]
pub struct History<L> {
    lineage: Lineage,
    changes: Vec<Change<L>>,
}

impl<L> Default for History<L> {
    fn default() -> Self {
        Self { lineage: Lineage(Arc::new(())), changes: Vec::new() }
    }
}

impl<L> Clone for History<L> {
    /// The history of a copy, which begins with it.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<L> History<L> {
    /// The identity of the precision: numbers of changes can be compared where it is the same.
    #[must_use]
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// All changes, in their order.
    #[must_use]
    pub fn changes(&self) -> &[Change<L>] {
        &self.changes
    }

    /// Takes note of a refinement.
    pub(crate) fn refined(&mut self, scope: Scope<L>, knob: Knob) {
        self.changes.push(Change { scope, part: Part::of(knob) });
    }

    /// Takes note that all may have changed.
    pub(crate) fn all_changed(&mut self) {
        self.changes.extend([Part::Steps, Part::Kept].map(|part| Change { scope: Scope::All, part }));
    }
}
