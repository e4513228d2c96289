//! Formulas as they are written: Boolean operators, CTL, the mu-calculus and linear time in one syntax tree.
//!
//! A formula speaks of a state, except where one of the operators of linear time stands in it outside of `A[…]` and
//! `E[…]`: that is a *path formula*, and it may only stand inside of these. CTL* is what comes of nesting both.

use std::hash::{Hash, Hasher};

use crate::atom::Span;

/// The largest nesting of formulas and expressions, so that recursion over a hostile formula stays on the stack.
pub const MAX_DEPTH: usize = 200;

/// The largest number of nodes of a formula after its definitions are expanded.
pub const MAX_SIZE: usize = 100_000;

/// A formula over atoms of type `A`: [`Comparison`](crate::Comparison)s when parsed, [`AtomId`](crate::AtomId)s when
/// bound to a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula<A> {
    /// `true` or `false`.
    Constant(bool),
    /// An atomic proposition.
    Atom(A),
    /// A variable that an enclosing fixed point binds.
    Variable(Variable),
    /// `!p`.
    Not(Box<Self>),
    /// `p && q && …`, two operands or more.
    And(Vec<Self>),
    /// `p || q || …`, two operands or more.
    Or(Vec<Self>),
    /// `p -> q`, right-associative.
    Implies(Box<Self>, Box<Self>),
    /// `p <-> q`, left-associative.
    Iff(Box<Self>, Box<Self>),
    /// `[]p` or `<>p`.
    Modal(Modality, Box<Self>),
    /// `AX p`, `EX p`, `AF p`, `EF p`, `AG p`, `EG p`.
    Path(PathQuantifier, PathOperator, Box<Self>),
    /// `A[p U q]`, `E[p U q]`, and likewise with `R` and `W`.
    PathPair(PathQuantifier, PathPairOperator, Box<Self>, Box<Self>),
    /// `mu X. p` or `nu X. p`; it reaches as far to the right as it can.
    Fixed(FixedPoint, Variable, Box<Self>),
    /// `nu { X. p, Y. q } in r`, a vectorial fixed point: all variables may stand in all bodies, and in r.
    Equations(FixedPoint, Vec<(Variable, Self)>, Box<Self>),
    /// `if a then p else q`. Where a is unknown it is what both p and q are, so it says more than `(a && p) || (!a && q)`.
    Choice(Box<Self>, Box<Self>, Box<Self>),
    /// `A[psi]` or `E[psi]` with a path formula psi that is more than one CTL operator.
    Quantified(PathQuantifier, Box<Self>),
    /// A path formula: `X p`, `F p`, `G p`, and of the past `Y p`, `O p`, `H p`.
    Linear(LinearOperator, Box<Self>),
    /// A path formula: `p U q`, `p R q`, `p W q`, and of the past `p S q`.
    LinearPair(LinearPairOperator, Box<Self>, Box<Self>),
}

/// The two next-step modalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modality {
    /// `[]p`: p after every step.
    Box,
    /// `<>p`: p after some step.
    Diamond,
}

/// Over which paths a CTL operator speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathQuantifier {
    /// `A`: all paths.
    All,
    /// `E`: some path.
    Exists,
}

/// The CTL path operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathOperator {
    /// `X`: in the next state.
    Next,
    /// `F`: in some state, this one included.
    Eventually,
    /// `G`: in every state, this one included.
    Always,
}

/// The CTL path operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathPairOperator {
    /// `p U q`: p until q, and q comes.
    Until,
    /// `p R q`: q up to and including the state where p holds, for ever if none does.
    Release,
    /// `p W q`: p until q, for ever if q does not come.
    WeakUntil,
}

/// The operators of linear time with one operand. The past begins where the path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinearOperator {
    /// `X`: in the next state.
    Next,
    /// `F`: now or later.
    Eventually,
    /// `G`: now and always later.
    Always,
    /// `Y`: in the state before; false in the first one.
    Yesterday,
    /// `O`: now or once before.
    Once,
    /// `H`: now and always before.
    Historically,
}

/// The operators of linear time with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinearPairOperator {
    /// `p U q`: p until q, and q comes.
    Until,
    /// `p R q`: q up to and including the state where p holds, for ever if none does.
    Release,
    /// `p W q`: p until q, for ever if q does not come.
    WeakUntil,
    /// `p S q`: q was, now or before, and p has held ever since.
    Since,
}

impl LinearOperator {
    /// True if it speaks of the past.
    #[must_use]
    pub fn is_past(self) -> bool {
        matches!(self, Self::Yesterday | Self::Once | Self::Historically)
    }
}

/// Least or greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FixedPoint {
    /// `mu`: finitely many unfoldings.
    Least,
    /// `nu`: expansion for ever is allowed.
    Greatest,
}

/// A fixed-point variable with its position in the text, which equality ignores.
#[derive(Clone, Debug, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The place in the text.
    pub span: Span,
}

impl Variable {
    /// A variable that comes from no text.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), span: Span::default() }
    }
}

impl PartialEq for Variable {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Hash for Variable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl<A> Formula<A> {
    /// True if it speaks of one state only: it has no temporal operator, no fixed point and no path quantifier.
    #[must_use]
    pub fn is_boolean(&self) -> bool {
        let here = match self {
            Self::Constant(_)
            | Self::Atom(_)
            | Self::Not(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::Implies(..)
            | Self::Iff(..)
            | Self::Choice(..) => true,
            Self::Variable(_)
            | Self::Modal(..)
            | Self::Path(..)
            | Self::PathPair(..)
            | Self::Fixed(..)
            | Self::Equations(..)
            | Self::Quantified(..)
            | Self::Linear(..)
            | Self::LinearPair(..) => false,
        };
        here && self.children().into_iter().all(Self::is_boolean)
    }

    /// The direct subformulas, left to right.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Constant(_) | Self::Atom(_) | Self::Variable(_) => Vec::new(),
            Self::Not(p)
            | Self::Modal(_, p)
            | Self::Path(_, _, p)
            | Self::Fixed(_, _, p)
            | Self::Quantified(_, p)
            | Self::Linear(_, p) => vec![p],
            Self::And(operands) | Self::Or(operands) => operands.iter().collect(),
            Self::Implies(p, q) | Self::Iff(p, q) | Self::PathPair(_, _, p, q) | Self::LinearPair(_, p, q) => {
                vec![p, q]
            }
            Self::Equations(_, equations, result) => {
                equations.iter().map(|(_, body)| body).chain([&**result]).collect()
            }
            Self::Choice(condition, p, q) => vec![condition, p, q],
        }
    }

    /// True if this is a path formula: an operator of linear time stands in it outside of `A[…]` and `E[…]`.
    #[must_use]
    pub fn is_path_formula(&self) -> bool {
        match self {
            Self::Linear(..) | Self::LinearPair(..) => true,
            Self::Quantified(..) => false,
            _ => self.children().into_iter().any(Self::is_path_formula),
        }
    }

    /// `A[psi]` or `E[psi]`, as a formula of CTL if psi is a single operator over formulas about states, and as psi
    /// itself if that is no path formula.
    #[must_use]
    pub fn quantified(quantifier: PathQuantifier, psi: Self) -> Self {
        let is_state = |p: &Self| !p.is_path_formula();
        match psi {
            Self::Linear(operator, p) if is_state(&p) && !operator.is_past() => {
                let operator = match operator {
                    LinearOperator::Next => PathOperator::Next,
                    LinearOperator::Eventually => PathOperator::Eventually,
                    _ => PathOperator::Always,
                };
                Self::Path(quantifier, operator, p)
            }
            Self::LinearPair(operator, p, q)
                if is_state(&p) && is_state(&q) && operator != LinearPairOperator::Since =>
            {
                let operator = match operator {
                    LinearPairOperator::Until => PathPairOperator::Until,
                    LinearPairOperator::Release => PathPairOperator::Release,
                    _ => PathPairOperator::WeakUntil,
                };
                Self::PathPair(quantifier, operator, p, q)
            }
            psi if is_state(&psi) => psi,
            psi => Self::Quantified(quantifier, Box::new(psi)),
        }
    }

    /// The atoms, left to right, with repetitions.
    #[must_use]
    pub fn atoms(&self) -> Vec<&A> {
        let mut found = Vec::new();
        let mut pending = vec![self];
        while let Some(formula) = pending.pop() {
            if let Self::Atom(atom) = formula {
                found.push(atom);
            }
            pending.extend(formula.children().into_iter().rev());
        }
        found
    }

    /// The same formula over other atoms: every atom goes through `bind`, left to right.
    ///
    /// This is where names get their meaning: the caller turns a [`Comparison`](crate::Comparison) into an
    /// [`AtomId`](crate::AtomId).
    ///
    /// # Errors
    /// The first error of `bind`.
    pub fn try_map_atoms<B, E>(&self, bind: &mut dyn FnMut(&A) -> Result<B, E>) -> Result<Formula<B>, E> {
        match self {
            Self::Atom(atom) => bind(atom).map(Formula::Atom),
            _ => self.rebuild(&mut |_| unreachable!("atoms are bound above"), &mut |p| p.try_map_atoms(bind)),
        }
    }

    /// The same operator over other direct subformulas: every one goes through `map`, left to right.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_children<E>(&self, map: &mut dyn FnMut(&Self) -> Result<Self, E>) -> Result<Self, E>
    where
        A: Clone,
    {
        self.rebuild(&mut |atom| Ok(Self::Atom(atom.clone())), map)
    }

    /// The same operator with `leaf` in place of an atom and `child` of each direct subformula.
    fn rebuild<B, E>(
        &self,
        leaf: &mut dyn FnMut(&A) -> Result<Formula<B>, E>,
        child: &mut dyn FnMut(&Self) -> Result<Formula<B>, E>,
    ) -> Result<Formula<B>, E> {
        let mut boxed = |p: &Self| child(p).map(Box::new);
        Ok(match self {
            Self::Constant(value) => Formula::Constant(*value),
            Self::Atom(atom) => leaf(atom)?,
            Self::Variable(variable) => Formula::Variable(variable.clone()),
            Self::Not(p) => Formula::Not(boxed(p)?),
            Self::And(operands) => Formula::And(operands.iter().map(child).collect::<Result<_, _>>()?),
            Self::Or(operands) => Formula::Or(operands.iter().map(child).collect::<Result<_, _>>()?),
            Self::Implies(p, q) => Formula::Implies(boxed(p)?, boxed(q)?),
            Self::Iff(p, q) => Formula::Iff(boxed(p)?, boxed(q)?),
            Self::Modal(modality, p) => Formula::Modal(*modality, boxed(p)?),
            Self::Path(quantifier, operator, p) => Formula::Path(*quantifier, *operator, boxed(p)?),
            Self::PathPair(quantifier, operator, p, q) => {
                Formula::PathPair(*quantifier, *operator, boxed(p)?, boxed(q)?)
            }
            Self::Fixed(kind, variable, p) => Formula::Fixed(*kind, variable.clone(), boxed(p)?),
            Self::Equations(kind, equations, result) => {
                let equations = equations.iter().map(|(variable, body)| Ok((variable.clone(), child(body)?)));
                Formula::Equations(*kind, equations.collect::<Result<_, _>>()?, child(result).map(Box::new)?)
            }
            Self::Choice(condition, p, q) => Formula::Choice(boxed(condition)?, boxed(p)?, boxed(q)?),
            Self::Quantified(quantifier, p) => Formula::Quantified(*quantifier, boxed(p)?),
            Self::Linear(operator, p) => Formula::Linear(*operator, boxed(p)?),
            Self::LinearPair(operator, p, q) => Formula::LinearPair(*operator, boxed(p)?, boxed(q)?),
        })
    }

    /// The first variable that stands under an odd number of negations, counted from the fixed point that binds it.
    ///
    /// `p -> q` negates `p`, and `p <-> q` has both operands once negated and once not. Such a formula has no
    /// fixed-point semantics and is refused.
    #[must_use]
    pub fn negated_variable(&self) -> Option<&Variable> {
        negated_variable(self, Polarity::default(), &mut Vec::new())
    }
}

/// The polarity of a subformula: negated or not, and the number of `<->` around it, each of which negates its operands
/// both ways.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Polarity {
    negated: bool,
    equivalences: usize,
}

impl Polarity {
    fn flipped(self) -> Self {
        Self { negated: !self.negated, ..self }
    }

    fn below_equivalence(self) -> Self {
        Self { equivalences: self.equivalences + 1, ..self }
    }
}

/// `scope` holds the bound names with the polarity of the fixed points that bind them, innermost last.
fn negated_variable<'f, A>(
    formula: &'f Formula<A>,
    here: Polarity,
    scope: &mut Vec<(&'f str, Polarity)>,
) -> Option<&'f Variable> {
    match formula {
        Formula::Variable(variable) => {
            let (_, binder) = scope.iter().rev().find(|(name, _)| *name == variable.name)?;
            (*binder != here).then_some(variable)
        }
        Formula::Not(p) => negated_variable(p, here.flipped(), scope),
        Formula::Implies(p, q) => {
            negated_variable(p, here.flipped(), scope).or_else(|| negated_variable(q, here, scope))
        }
        Formula::Fixed(_, variable, p) => {
            scope.push((&variable.name, here));
            let found = negated_variable(p, here, scope);
            scope.pop();
            found
        }
        Formula::Equations(_, equations, _) => {
            let outside = scope.len();
            scope.extend(equations.iter().map(|(variable, _)| (variable.name.as_str(), here)));
            let found = formula.children().into_iter().find_map(|child| negated_variable(child, here, scope));
            scope.truncate(outside);
            found
        }
        Formula::Choice(condition, p, q) => negated_variable(condition, here.below_equivalence(), scope)
            .or_else(|| negated_variable(p, here, scope))
            .or_else(|| negated_variable(q, here, scope)),
        _ => {
            let below = if matches!(formula, Formula::Iff(..)) { here.below_equivalence() } else { here };
            formula.children().into_iter().find_map(|child| negated_variable(child, below, scope))
        }
    }
}
