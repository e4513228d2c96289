//! From the syntax tree to terms: CTL as fixed points, negation inwards, path formulas as automata.

use rustc_hash::FxHashMap;

use super::automaton::Automaton;
use super::error::TranslateError;
use super::terms::{Term, TermId, Terms, Vector};
use crate::formula::{
    FixedPoint, Formula, MAX_DEPTH, Modality, PathOperator, PathPairOperator, PathQuantifier, Variable,
};
use crate::labels::AtomId;
use crate::node::Node;

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
            Formula::Equations(kind, equations, result) => {
                let outside = self.scope.len();
                self.scope.extend(equations.iter().map(|(variable, _)| Some(variable.name.as_str())));
                let bodies: Result<Vec<TermId>, _> =
                    equations.iter().map(|(_, body)| self.term(body, positive, depth)).collect();
                let result = self.term(result, positive, depth);
                self.scope.truncate(outside);
                let vector = Vector { kind: kind.signed(positive), bodies: bodies?, result: result? };
                Ok(self.terms.intern_vector(vector))
            }
            Formula::Choice(condition, p, q) => {
                let condition = [self.term(condition, true, depth)?, self.term(condition, false, depth)?];
                let answers = [self.term(p, positive, depth)?, self.term(q, positive, depth)?];
                Ok(self.terms.choice(condition, answers))
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
