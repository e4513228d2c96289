//! The model-checking problem: a formula over a labelled graph.

use three_valued::Truth;

use crate::graph::{HyperGraph, StateId};
use crate::labels::{AtomId, Labels};
use crate::normal_form::NormalForm;

/// The problem to be solved: a formula over a labelled graph.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The states and their hyper-edges.
    pub graph: &'a HyperGraph,
    /// The atoms of the formula in those states.
    pub labels: &'a Labels,
    /// The formula.
    pub formula: &'a NormalForm,
}

impl Problem<'_> {
    /// The truth of an atom as the solver sees it: the label, or unknown in a sink.
    ///
    /// # Panics
    /// If there is no such atom or state.
    #[must_use]
    pub fn label(&self, atom: AtomId, state: StateId) -> Truth {
        if self.graph.is_sink(state) { Truth::Unknown } else { self.labels.get(atom, state) }
    }
}
