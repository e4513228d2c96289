//! Subformulas as text, with the operators of CTL where fixed points stand for them.

use avr_properties::Atom;
use mu_calculus::{FixedPoint, Modality, Node, NodeId, NormalForm};

/// After so many parts a text is cut: shared subformulas, as automata have them, would repeat without end.
const MAX_PARTS: usize = 60;

/// The text of a subformula.
pub(crate) fn text(formula: &NormalForm, atoms: &[Atom], node: NodeId) -> String {
    Wording { formula, atoms, open: Vec::new(), left: MAX_PARTS }.text(node)
}

struct Wording<'a> {
    formula: &'a NormalForm,
    atoms: &'a [Atom],
    /// The fixed points around the present place.
    open: Vec<NodeId>,
    /// The number of parts that may still be written.
    left: usize,
}

impl Wording<'_> {
    fn text(&mut self, node: NodeId) -> String {
        if self.left == 0 {
            return "...".to_owned();
        }
        self.left -= 1;
        match self.formula.node(node) {
            Node::Constant(value) => value.to_string(),
            Node::Atom(atom) => self.atoms[atom.index()].text().to_owned(),
            Node::NegatedAtom(atom) => format!("!({})", self.atoms[atom.index()].text()),
            Node::And(left, right) => format!("{} && {}", self.part(left), self.part(right)),
            Node::Or(left, right) => format!("{} || {}", self.part(left), self.part(right)),
            Node::Modal(Modality::Box, child) => format!("[]{}", self.part(child)),
            Node::Modal(Modality::Diamond, child) => format!("<>{}", self.part(child)),
            Node::Fixed(kind, body) => self.fixed(node, kind, body),
        }
    }

    /// A subformula as an operand.
    fn part(&mut self, node: NodeId) -> String {
        let text = self.text(node);
        let binds = match self.formula.node(node) {
            Node::And(..) | Node::Or(..) => false,
            Node::Fixed(..) => !(text.starts_with("mu ") || text.starts_with("nu ")),
            Node::Atom(_) => !text.contains(' '),
            _ => true,
        };
        if binds { text } else { format!("({text})") }
    }

    fn fixed(&mut self, node: NodeId, kind: FixedPoint, body: NodeId) -> String {
        let name = |depth: usize| format!("X{depth}");
        if let Some(depth) = self.open.iter().position(|open| *open == node) {
            return name(depth);
        }
        if let Some(text) = self.operator(node, kind, body) {
            return text;
        }
        self.open.push(node);
        let text = format!(
            "{} {}. {}",
            if kind == FixedPoint::Least { "mu" } else { "nu" },
            name(self.open.len() - 1),
            self.text(body)
        );
        self.open.pop();
        text
    }

    /// `EF p`, `A[p U q]` and the like, where the fixed point is one.
    fn operator(&mut self, node: NodeId, kind: FixedPoint, body: NodeId) -> Option<String> {
        let (first, second) = match self.formula.node(body) {
            Node::And(first, second) | Node::Or(first, second) => (first, second),
            _ => return None,
        };
        let is_and = matches!(self.formula.node(body), Node::And(..));
        let step = |part: NodeId| match self.formula.node(part) {
            Node::Modal(modality, child) if child == node => Some(if modality == Modality::Box { 'A' } else { 'E' }),
            _ => None,
        };
        if let Some((path, other)) = step(second).map(|path| (path, first)).or(step(first).map(|path| (path, second))) {
            return match (kind, is_and) {
                (FixedPoint::Least, false) => Some(format!("{path}F {}", self.part(other))),
                (FixedPoint::Greatest, true) => Some(format!("{path}G {}", self.part(other))),
                _ => None,
            };
        }
        // `q || (p && <>Z)`
        let inner = |part: NodeId| match self.formula.node(part) {
            Node::And(left, right) if !is_and => {
                step(right).map(|path| (path, left)).or(step(left).map(|path| (path, right)))
            }
            _ => None,
        };
        let (last, (path, during)) =
            inner(second).map(|found| (first, found)).or(inner(first).map(|found| (second, found)))?;
        let until = if kind == FixedPoint::Least { 'U' } else { 'W' };
        Some(format!("{path}[{} {until} {}]", self.part(during), self.part(last)))
    }
}
