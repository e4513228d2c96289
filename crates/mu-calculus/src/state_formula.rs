//! Formulas that one state decides: `AG (p && q…)`, which one state refutes, and `EF (p || q…)`, which one state shows.

use crate::{AtomId, FixedPoint, Modality, Node, NodeId, NormalForm};
use three_valued::Truth;

/// The parts about states of `AG (p && q…)` that is false or `EF (p || q…)` that is true, after the first step; none if the
/// formula is another one.
pub fn parts(formula: &NormalForm, value: bool) -> Option<Vec<NodeId>> {
    let Node::Modal(Modality::Box, everywhere) = formula.node(formula.root()) else { return None };
    let (kind, modality) = match value {
        false => (FixedPoint::Greatest, Modality::Box),
        true => (FixedPoint::Least, Modality::Diamond),
    };
    let Node::Fixed(found, body) = formula.node(everywhere) else { return None };
    let (mut waiting, mut parts, mut goes_on) = (vec![body], Vec::new(), 0);
    while let Some(node) = waiting.pop() {
        match formula.node(node) {
            Node::And(p, q) if !value => waiting.extend([p, q]),
            Node::Or(p, q) if value => waiting.extend([p, q]),
            Node::Modal(of, next) if of == modality && next == everywhere => goes_on += 1,
            _ if speaks_of_a_state(formula, node) => parts.push(node),
            _ => return None,
        }
    }
    (found == kind && goes_on == 1).then_some(parts)
}

fn speaks_of_a_state(formula: &NormalForm, node: NodeId) -> bool {
    match formula.node(node) {
        Node::Modal(..) | Node::Fixed(..) => false,
        other => other.children().iter().all(|child| speaks_of_a_state(formula, *child)),
    }
}

/// The truth value of a subformula about a state, with the truth values of its atoms.
pub fn truth(formula: &NormalForm, node: NodeId, label: &dyn Fn(AtomId) -> Truth) -> Truth {
    match formula.node(node) {
        Node::Constant(value) => Truth::from(value),
        Node::Atom(atom) => label(atom),
        Node::NegatedAtom(atom) => !label(atom),
        Node::And(p, q) => truth(formula, p, label) & truth(formula, q, label),
        Node::Or(p, q) => truth(formula, p, label) | truth(formula, q, label),
        Node::Modal(..) | Node::Fixed(..) => Truth::Unknown,
    }
}
