//! Terms: subformulas in positive normal form before they become nodes.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::formula::{FixedPoint, Modality};
use crate::node::Node;

/// Position in the list of terms.
pub(crate) type TermId = u32;

/// A subformula with variables as de Bruijn indices: equal closed subformulas are equal terms wherever they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    Leaf(Node),
    /// Bound by the fixed point that many binders outwards, 0 for the innermost.
    Variable(u32),
    And(TermId, TermId),
    Or(TermId, TermId),
    Modal(Modality, TermId),
    Fixed(FixedPoint, TermId),
    /// The automaton of a path formula, by number.
    Automaton(u32),
}

/// The terms so far, each once, each with the number of enclosing binders that it needs.
#[derive(Default)]
pub(crate) struct Terms {
    terms: Vec<(Term, u32)>,
    numbers: FxHashMap<Term, TermId>,
}

impl Terms {
    pub(super) fn get(&self, id: TermId) -> Term {
        self.terms[id as usize].0
    }

    pub(crate) fn is_closed(&self, id: TermId) -> bool {
        self.open(id) == 0
    }

    fn open(&self, id: TermId) -> u32 {
        self.terms[id as usize].1
    }

    pub(super) fn intern(&mut self, term: Term) -> TermId {
        let open = match term {
            Term::Leaf(_) | Term::Automaton(_) => 0,
            Term::Variable(index) => index + 1,
            Term::And(p, q) | Term::Or(p, q) => self.open(p).max(self.open(q)),
            Term::Modal(_, p) => self.open(p),
            Term::Fixed(_, p) => self.open(p).saturating_sub(1),
        };
        let next = self.terms.len() as TermId;
        match self.numbers.entry(term) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                self.terms.push((term, open));
                *place.insert(next)
            }
        }
    }

    pub(crate) fn constant(&mut self, value: bool) -> TermId {
        self.intern(Term::Leaf(Node::Constant(value)))
    }

    /// The constant that the term is, if it is one.
    pub(crate) fn as_constant(&self, id: TermId) -> Option<bool> {
        if let Term::Leaf(Node::Constant(value)) = self.get(id) { Some(value) } else { None }
    }

    /// The term of an automaton by its number.
    pub(crate) fn automaton(&mut self, number: u32) -> TermId {
        self.intern(Term::Automaton(number))
    }

    /// A conjunction or disjunction with `neutral` and `absorbing` constants folded away.
    pub(crate) fn binary(&mut self, conjunction: bool, p: TermId, q: TermId) -> TermId {
        let neutral = Term::Leaf(Node::Constant(conjunction));
        let absorbing = Term::Leaf(Node::Constant(!conjunction));
        match (self.get(p), self.get(q)) {
            _ if p == q => p,
            (left, _) if left == neutral => q,
            (_, right) if right == neutral => p,
            (left, right) if left == absorbing || right == absorbing => self.intern(absorbing),
            _ if conjunction => self.intern(Term::And(p, q)),
            _ => self.intern(Term::Or(p, q)),
        }
    }

    /// All operands in a balanced tree, so that long lists do not nest deeply.
    pub(super) fn balanced(&mut self, conjunction: bool, operands: &[TermId]) -> TermId {
        match operands {
            [] => self.constant(conjunction),
            [single] => *single,
            _ => {
                let (left, right) = operands.split_at(operands.len() / 2);
                let (p, q) = (self.balanced(conjunction, left), self.balanced(conjunction, right));
                self.binary(conjunction, p, q)
            }
        }
    }
}
