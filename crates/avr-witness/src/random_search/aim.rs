//! Goals that one state refutes.

use crate::concretise::Claims;
use crate::concretise::view::ConcreteView;
use avr_isa::DataAddress;
use avr_model::context::Context;
use avr_properties::CellsRead;
use mu_calculus::state_formula::{parts, truth};
use mu_calculus::{AtomId, Node, NodeId, NormalForm};
use std::collections::BTreeSet;
use tvar::Goal;

/// A goal that one state refutes: a run to such a state is looked for.
pub(super) struct Aim<'a> {
    pub(super) number: usize,
    pub(super) goal: &'a Goal,
    pub(super) parts: Vec<NodeId>,
    /// The cells that it speaks of, and those that it compares with numbers.
    pub(super) cells: Vec<DataAddress>,
    pub(super) compared: Vec<(Vec<DataAddress>, i128)>,
}

impl<'a> Aim<'a> {
    /// An aim, if one state refutes the goal.
    pub(super) fn new(context: &Context<'_>, number: usize, goal: &'a Goal) -> Option<Self> {
        let parts = parts(&goal.formula, false)?;
        let read = goal.formula.atoms().into_iter().map(|atom| context.atoms[atom.index()].cells());
        let cells = read.flat_map(|cells| match cells {
            CellsRead::These(cells) => cells.into_iter().map(|(cell, _)| cell).collect(),
            CellsRead::All => Vec::new(),
        });
        let atoms = goal.formula.atoms();
        let compared = atoms.iter().filter_map(|atom| context.atoms[atom.index()].compared_with_constant());
        Some(Self { number, goal, parts, cells: cells.collect(), compared: compared.collect() })
    }

    pub(super) fn is_refuted_by_hazard(&self, context: &Context<'_>) -> bool {
        let label = |atom: AtomId| context.atoms[atom.index()].kind().at_hazard(false);
        self.goal.observes_hazards && self.parts.iter().any(|part| truth(&self.goal.formula, *part, &label).is_false())
    }

    /// The atoms with their values that refute the goal in a state, if it does.
    pub(super) fn refuted(&self, context: &Context<'_>, view: &ConcreteView<'_>) -> Option<Claims> {
        let formula = &self.goal.formula;
        let label = |atom: AtomId| view.label(context.atoms, atom);
        let part = *self.parts.iter().find(|part| truth(formula, **part, &label).is_false())?;
        let mut atoms = BTreeSet::new();
        add_atoms(formula, part, &mut atoms);
        Some(atoms.into_iter().filter_map(|atom| Some((atom, label(atom).known()?))).collect())
    }
}

/// Adds the atoms of a subformula about states.
pub(super) fn add_atoms(formula: &NormalForm, node: NodeId, atoms: &mut BTreeSet<AtomId>) {
    match formula.node(node) {
        Node::Atom(atom) | Node::NegatedAtom(atom) => _ = atoms.insert(atom),
        other => other.children().iter().for_each(|child| add_atoms(formula, *child, atoms)),
    }
}
