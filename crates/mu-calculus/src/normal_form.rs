//! Positive normal form: negations at the atoms only, CTL as fixed points, every subformula once.
//!
//! The result is a flat, cyclic graph of [`Node`]s. A variable is an edge back to the node of its fixed point, so
//! there are no variable nodes. CTL is translated by the usual fixed points over total transitions (Clarke, Emerson &
//! Sistla): `E[p U q]` is `mu Z. q || (p && <>Z)`, and so on. Negation is pushed inwards by duality; `<->` is
//! `(p && q) || (!p && !q)`, of which sharing keeps the size linear. Path formulas come in as automata
//! ([`automaton`](crate::automaton)).

mod tying;

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::automaton::Automaton;
use crate::formula::{
    FixedPoint, Formula, MAX_DEPTH, Modality, PathOperator, PathPairOperator, PathQuantifier, Variable,
};
use crate::labels::AtomId;
use crate::priority::{Block, order};
pub(crate) use tying::Tying;

/// A subformula of a [`NormalForm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a subformula is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `true` or `false`.
    Constant(bool),
    /// An atom.
    Atom(AtomId),
    /// A negated atom.
    NegatedAtom(AtomId),
    /// Both hold.
    And(NodeId, NodeId),
    /// One holds.
    Or(NodeId, NodeId),
    /// `[]p` or `<>p`.
    Modal(Modality, NodeId),
    /// A fixed point and its body; where the body uses the variable, it refers back to this node.
    Fixed(FixedPoint, NodeId),
}

impl Node {
    /// The subformulas that the value depends on directly, left to right.
    #[must_use]
    pub fn children(&self) -> Children {
        match *self {
            Self::Constant(_) | Self::Atom(_) | Self::NegatedAtom(_) => Children { nodes: [NodeId(0); 2], count: 0 },
            Self::And(p, q) | Self::Or(p, q) => Children { nodes: [p, q], count: 2 },
            Self::Modal(_, p) | Self::Fixed(_, p) => Children { nodes: [p, p], count: 1 },
        }
    }
}

/// At most two subformulas; used as a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    nodes: [NodeId; 2],
    count: usize,
}

impl std::ops::Deref for Children {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        &self.nodes[..self.count]
    }
}

/// A closed formula in positive normal form, ready for [`Problem::solve`](crate::Problem::solve).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NormalForm {
    nodes: Vec<Node>,
    root: NodeId,
    priorities: Vec<u32>,
    blocks: Vec<Block>,
}

impl NormalForm {
    /// Translates a formula.
    ///
    /// # Errors
    /// If a variable is unbound or stands under an odd number of negations, if a path formula stands where it cannot, or
    /// if the nesting exceeds [`MAX_DEPTH`] or an automaton its limits.
    pub fn new(formula: &Formula<AtomId>) -> Result<Self, TranslateError> {
        let mut translation = Translation::default();
        let term = translation.term(formula, true, 0)?;
        if let Some(variable) = formula.negated_variable() {
            return Err(TranslateError::NegatedVariable { variable: variable.clone() });
        }
        let mut graph = Tying::new(&translation.terms, &translation.automata);
        let root = graph.node(term, &mut Vec::new());
        let nodes = graph.nodes;
        let order = order(&nodes, &graph.priorities);
        Ok(Self { nodes, root, priorities: order.priorities, blocks: order.blocks })
    }

    /// The node of the whole formula.
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// How many different subformulas there are.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// What a subformula is.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// All nodes; a [`NodeId`] is an index into them.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The atoms that occur, ascending, each once.
    #[must_use]
    pub fn atoms(&self) -> Vec<AtomId> {
        let mut atoms: Vec<AtomId> = self
            .nodes
            .iter()
            .filter_map(|node| match node {
                Node::Atom(atom) | Node::NegatedAtom(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// The priority of a fixed point among those that it depends on and that depend on it: odd for least ones, even
    /// for greatest. Of what an infinite play passes infinitely often, the largest decides: even wins.
    #[must_use]
    pub fn priority(&self, id: NodeId) -> Option<u32> {
        matches!(self.node(id), Node::Fixed(..)).then(|| self.priorities[id.index()])
    }

    /// How many fixed points of changing kind depend on each other: 0 without recursion, 1 if alternation-free.
    #[must_use]
    pub fn alternation_depth(&self) -> u32 {
        self.blocks.iter().filter(|block| block.recursive).map(|block| self.levels(block)).max().unwrap_or(0)
    }

    fn levels(&self, block: &Block) -> u32 {
        let priorities = || block.nodes.iter().filter_map(|&node| self.priority(node));
        1 + priorities().max().unwrap_or(0) - priorities().min().unwrap_or(0)
    }

    /// The blocks of nodes that depend on each other, each after those that it depends on.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }
}

/// Why a formula has no normal form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// A variable without a fixed point around it.
    #[error("the variable `{}` is not bound; put `mu {0}.` or `nu {0}.` in front", variable.name)]
    UnboundVariable {
        /// The variable.
        variable: Variable,
    },
    /// A variable under an odd number of negations: no fixed point need exist.
    #[error("the variable `{}` stands under an odd number of negations; negate it twice or not at all", variable.name)]
    NegatedVariable {
        /// The variable.
        variable: Variable,
    },
    /// Nested too deeply.
    #[error("the formula is nested more than {MAX_DEPTH} levels deep; split it into several properties")]
    TooDeep,
    /// An operator of linear time outside of `A[…]` and `E[…]`.
    #[error("`{operator}` speaks of a path; put the formula into A[…] or E[…]")]
    PathFormula {
        /// The operator as it is written.
        operator: String,
    },
    /// A fixed-point variable inside of a path formula, whose automaton has no place for it.
    #[error("the variable `{}` stands in a path formula; only single operators such as A[p U X] may contain one", variable.name)]
    PathVariable {
        /// The variable.
        variable: Variable,
    },
    /// An operator of the past over one of the future.
    #[error("`{operator}` stands below an operator of the past; only operators of the past may")]
    FutureInPast {
        /// The operator of the future as it is written.
        operator: String,
    },
    /// An automaton beyond the limits.
    #[error("the automaton of `A[…]`, `E[…]` or `Ltl` grows too large; split it into several properties")]
    TooLarge,
}

/// Position in the list of terms.
pub(crate) type TermId = u32;

/// A subformula with variables as de Bruijn indices: equal closed subformulas are equal terms wherever they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Term {
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
    fn get(&self, id: TermId) -> Term {
        self.terms[id as usize].0
    }

    pub(crate) fn is_closed(&self, id: TermId) -> bool {
        self.open(id) == 0
    }

    fn open(&self, id: TermId) -> u32 {
        self.terms[id as usize].1
    }

    fn intern(&mut self, term: Term) -> TermId {
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
    fn balanced(&mut self, conjunction: bool, operands: &[TermId]) -> TermId {
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

/// From the syntax tree to terms. `positive` says whether the subformula is wanted as it is or negated.
#[derive(Default)]
pub(crate) struct Translation<'f> {
    pub(crate) terms: Terms,
    /// The automata of the path formulas so far, each once.
    pub(crate) automata: Vec<Automaton>,
    /// The binders around the current subformula, outermost first; those of CTL operators have no name.
    scope: Vec<Option<&'f str>>,
    /// The result for each subformula (by address) and sign: `<->` visits its operands twice.
    known: FxHashMap<(usize, bool), TermId>,
}

impl<'f> Translation<'f> {
    pub(crate) fn term(
        &mut self,
        formula: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        if depth > MAX_DEPTH {
            return Err(TranslateError::TooDeep);
        }
        let key = (std::ptr::from_ref(formula) as usize, positive);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let term = self.translate(formula, positive, depth + 1)?;
        self.known.insert(key, term);
        Ok(term)
    }

    fn translate(
        &mut self,
        formula: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        match formula {
            Formula::Constant(value) => Ok(self.terms.constant(*value == positive)),
            Formula::Atom(atom) if positive => Ok(self.terms.intern(Term::Leaf(Node::Atom(*atom)))),
            Formula::Atom(atom) => Ok(self.terms.intern(Term::Leaf(Node::NegatedAtom(*atom)))),
            Formula::Variable(variable) => self.variable(variable),
            Formula::Not(p) => self.term(p, !positive, depth),
            Formula::And(operands) => self.list(operands, positive, positive, depth),
            Formula::Or(operands) => self.list(operands, !positive, positive, depth),
            Formula::Implies(p, q) => {
                let (p, q) = (self.term(p, !positive, depth)?, self.term(q, positive, depth)?);
                Ok(self.terms.binary(!positive, p, q))
            }
            Formula::Iff(p, q) => self.equivalence(p, q, positive, depth),
            Formula::Modal(modality, p) => {
                let p = self.term(p, positive, depth)?;
                Ok(self.terms.intern(Term::Modal(modality.signed(positive), p)))
            }
            Formula::Path(quantifier, operator, p) => self.path(*quantifier, *operator, p, positive, depth),
            Formula::PathPair(quantifier, operator, p, q) => {
                self.path_pair(*quantifier, *operator, [p, q], positive, depth)
            }
            Formula::Fixed(kind, variable, p) => {
                self.scope.push(Some(&variable.name));
                let body = self.term(p, positive, depth);
                self.scope.pop();
                Ok(self.terms.intern(Term::Fixed(kind.signed(positive), body?)))
            }
            Formula::Quantified(quantifier, psi) => {
                self.quantified(quantifier.modality().signed(positive), psi, positive, depth)
            }
            Formula::Linear(operator, _) => Err(TranslateError::PathFormula { operator: operator.to_string() }),
            Formula::LinearPair(operator, ..) => Err(TranslateError::PathFormula { operator: operator.to_string() }),
        }
    }

    fn variable(&mut self, variable: &Variable) -> Result<TermId, TranslateError> {
        match self.scope.iter().rev().position(|bound| *bound == Some(&variable.name)) {
            Some(index) => Ok(self.terms.intern(Term::Variable(index as u32))),
            None => Err(TranslateError::UnboundVariable { variable: variable.clone() }),
        }
    }

    fn list(
        &mut self,
        operands: &'f [Formula<AtomId>],
        conjunction: bool,
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        let terms: Result<Vec<TermId>, _> = operands.iter().map(|p| self.term(p, positive, depth)).collect();
        Ok(self.terms.balanced(conjunction, &terms?))
    }

    /// `p <-> q` is `(p && q) || (!p && !q)`, and negated `(p && !q) || (!p && q)`.
    fn equivalence(
        &mut self,
        p: &'f Formula<AtomId>,
        q: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        let (p_holds, p_fails) = (self.term(p, true, depth)?, self.term(p, false, depth)?);
        let (same, other) = (self.term(q, positive, depth)?, self.term(q, !positive, depth)?);
        let left = self.terms.binary(true, p_holds, same);
        let right = self.terms.binary(true, p_fails, other);
        Ok(self.terms.binary(false, left, right))
    }

    fn path(
        &mut self,
        quantifier: PathQuantifier,
        operator: PathOperator,
        p: &'f Formula<AtomId>,
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        let modality = quantifier.modality().signed(positive);
        let kind = match operator {
            PathOperator::Next => {
                let p = self.term(p, positive, depth)?;
                return Ok(self.terms.intern(Term::Modal(modality, p)));
            }
            PathOperator::Eventually => FixedPoint::Least.signed(positive),
            PathOperator::Always => FixedPoint::Greatest.signed(positive),
        };
        // `F p` is `mu Z. p || ()Z`, `G p` is `nu Z. p && ()Z`.
        let p = self.below_binder(p, positive, depth)?;
        let step = self.step(modality);
        let body = self.terms.binary(kind == FixedPoint::Greatest, p, step);
        Ok(self.terms.intern(Term::Fixed(kind, body)))
    }

    fn path_pair(
        &mut self,
        quantifier: PathQuantifier,
        operator: PathPairOperator,
        operands: [&'f Formula<AtomId>; 2],
        positive: bool,
        depth: usize,
    ) -> Result<TermId, TranslateError> {
        let modality = quantifier.modality().signed(positive);
        let p = self.below_binder(operands[0], positive, depth)?;
        let q = self.below_binder(operands[1], positive, depth)?;
        let step = self.step(modality);
        // `p U q` is `mu Z. q || (p && ()Z)`, `p W q` the greatest of it, `p R q` is `nu Z. q && (p || ()Z)`.
        let release = operator == PathPairOperator::Release;
        let inner_conjunction = release != positive;
        let inner = self.terms.binary(inner_conjunction, p, step);
        let body = self.terms.binary(!inner_conjunction, q, inner);
        let kind = if operator == PathPairOperator::Until { FixedPoint::Least } else { FixedPoint::Greatest };
        Ok(self.terms.intern(Term::Fixed(kind.signed(positive), body)))
    }

    /// An operand of a CTL operator, which stands below the fixed point of that operator.
    fn below_binder(&mut self, p: &'f Formula<AtomId>, positive: bool, depth: usize) -> Result<TermId, TranslateError> {
        self.scope.push(None);
        let term = self.term(p, positive, depth);
        self.scope.pop();
        term
    }

    /// One step, then the innermost fixed point again.
    fn step(&mut self, modality: Modality) -> TermId {
        let variable = self.terms.intern(Term::Variable(0));
        self.terms.intern(Term::Modal(modality, variable))
    }
}

impl Modality {
    fn signed(self, positive: bool) -> Self {
        match (self, positive) {
            (Self::Box, true) | (Self::Diamond, false) => Self::Box,
            (Self::Diamond, true) | (Self::Box, false) => Self::Diamond,
        }
    }
}

impl FixedPoint {
    fn signed(self, positive: bool) -> Self {
        match (self, positive) {
            (Self::Least, true) | (Self::Greatest, false) => Self::Least,
            (Self::Greatest, true) | (Self::Least, false) => Self::Greatest,
        }
    }
}

impl PathQuantifier {
    fn modality(self) -> Modality {
        match self {
            Self::All => Modality::Box,
            Self::Exists => Modality::Diamond,
        }
    }
}
