//! The three-valued labelling of states with atomic propositions.

use fixedbitset::FixedBitSet;
use three_valued::Truth;

use crate::graph::StateId;

/// An atomic proposition, counted from 0 by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomId(pub u32);

impl AtomId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The truth of every atom in every state: two bits each. What is not set is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    states: usize,
    atoms: Vec<Label>,
}

/// One atom: where it is certainly true and where it is certainly false.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    certain: FixedBitSet,
    refuted: FixedBitSet,
}

impl Labels {
    /// Labels for `atoms` atoms in `states` states, all unknown.
    #[must_use]
    pub fn new(atoms: usize, states: usize) -> Self {
        let unknown =
            Label { certain: FixedBitSet::with_capacity(states), refuted: FixedBitSet::with_capacity(states) };
        Self { states, atoms: vec![unknown; atoms] }
    }

    /// The number of atoms.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.atoms.len()
    }

    /// The number of states.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.states
    }

    /// Sets the truth of `atom` in `state`.
    ///
    /// # Panics
    /// If there is no such atom or state.
    pub fn set(&mut self, atom: AtomId, state: StateId, truth: Truth) {
        let label = &mut self.atoms[atom.index()];
        label.certain.set(state.index(), truth.is_true());
        label.refuted.set(state.index(), truth.is_false());
    }

    /// The truth of `atom` in `state`.
    ///
    /// # Panics
    /// If there is no such atom or state.
    #[must_use]
    pub fn get(&self, atom: AtomId, state: StateId) -> Truth {
        assert!(state.index() < self.states, "there are {} states, not {}", self.states, state.0);
        let label = &self.atoms[atom.index()];
        match (label.certain.contains(state.index()), label.refuted.contains(state.index())) {
            (true, _) => Truth::True,
            (_, true) => Truth::False,
            _ => Truth::Unknown,
        }
    }

    /// The states where `atom` is certainly true.
    pub(crate) fn certain(&self, atom: AtomId) -> &FixedBitSet {
        &self.atoms[atom.index()].certain
    }

    /// The states where `atom` is certainly false.
    pub(crate) fn refuted(&self, atom: AtomId) -> &FixedBitSet {
        &self.atoms[atom.index()].refuted
    }
}
