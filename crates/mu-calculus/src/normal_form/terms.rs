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
    /// A vectorial fixed point, by number.
    Vector(u32),
}

/// A vectorial fixed point: a binder for each body, the last one the innermost, around all bodies and the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vector {
    pub(super) kind: FixedPoint,
    pub(super) bodies: Vec<TermId>,
    pub(super) result: TermId,
}

/// The terms so far, each once, each with the number of enclosing binders that it needs.
#[derive(Default)]
pub(crate) struct Terms {
    terms: Vec<(Term, u32)>,
    numbers: FxHashMap<Term, TermId>,
    vectors: Vec<Vector>,
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

    pub(super) fn vector(&self, number: u32) -> &Vector {
        &self.vectors[number as usize]
    }

    /// The term of a vectorial fixed point.
    pub(super) fn intern_vector(&mut self, vector: Vector) -> TermId {
        let known = self.vectors.iter().position(|known| *known == vector);
        let number = known.unwrap_or_else(|| {
            self.vectors.push(vector);
            self.vectors.len() - 1
        });
        self.intern(Term::Vector(number as u32))
    }

    /// `if a then p else q` for a and its negation: `(!a || p) && (a || q) && (p || q)`.
    ///
    /// SOUND: where a is unknown, the opponent chooses its value. The formula is its own dual, so p and q may be the negations
    /// of those that were asked for.
    pub(super) fn choice(&mut self, [holds, fails]: [TermId; 2], [p, q]: [TermId; 2]) -> TermId {
        if p == q {
            return p;
        }
        let (if_so, if_not) = (self.binary(false, fails, p), self.binary(false, holds, q));
        let certain = self.binary(true, if_so, if_not);
        let possible = self.binary(false, p, q);
        self.binary(true, certain, possible)
    }

    pub(super) fn intern(&mut self, term: Term) -> TermId {
        let open = match term {
            Term::Leaf(_) | Term::Automaton(_) => 0,
            Term::Variable(index) => index + 1,
            Term::And(p, q) | Term::Or(p, q) => self.open(p).max(self.open(q)),
            Term::Modal(_, p) => self.open(p),
            Term::Fixed(_, p) => self.open(p).saturating_sub(1),
            Term::Vector(number) => {
                let Vector { bodies, result, .. } = &self.vectors[number as usize];
                let open = bodies.iter().chain([result]).map(|part| self.open(*part)).max().unwrap_or(0);
                open.saturating_sub(bodies.len() as u32)
            }
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
