//! Fairness: what is assumed of the paths that a property speaks of.
//!
//! An assumption combines conditions `G F p` and `F G p` with Boolean operators. Such conditions do not depend on how a
//! path begins. So fairness makes a difference only to operators about the ends of paths, *provided that every
//! reachable state has a fair path*: then `A[fair -> G p]` is `AG p`, and `E[fair && F p]` is `EF p`. Whoever checks
//! the property must check that ([`Fairness::goes_on`]), or a state without a fair path makes every universal property
//! true.

use mu_calculus::{
    AtomId, Comparison, ComparisonKind, ExprKind, Formula, LinearOperator, LinearPairOperator, Name, PathOperator,
    PathPairOperator, PathQuantifier, parse_path,
};

use super::{Binder, normal_form};
use crate::error::{PropertyError, PropertyErrorKind};
use crate::property::{Property, PropertyKind};

/// The fairness that a property assumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fairness {
    /// The assumptions as the property states them; where one is read in a special way, with what it is read as.
    pub texts: Vec<String>,
    /// The numbers of the vectors, if all that is assumed is that interrupts come: conditions `G F interrupt(V)`, read as above.
    pub interrupts: Option<Vec<u8>>,
    /// Their conjunction, a path formula.
    assumption: Formula<AtomId>,
    /// `E[fair]`: some fair path starts here. Verdicts stand only if this holds in every state that can be reached.
    pub goes_on: Formula<AtomId>,
}

impl Binder<'_> {
    /// The fairness that a property assumes; none if it assumes nothing.
    pub(super) fn fairness(&mut self, property: &Property) -> Result<Option<Fairness>, PropertyError> {
        if property.under.is_empty() {
            return Ok(None);
        }
        if matches!(property.kind, PropertyKind::Inherent | PropertyKind::Stack(_) | PropertyKind::StackOf { .. }) {
            return Err(PropertyErrorKind::FairnessWithoutUse(property.kind.name()).error());
        }
        let (mut texts, mut conditions) = (Vec::new(), Vec::new());
        let mut interrupts = Some(Vec::new());
        for text in &property.under {
            let text = text.trim();
            let parsed = parse_path(text);
            let name = parsed.as_ref().ok().and_then(fair_interrupt);
            let number = name.as_ref().and_then(|name| self.device.interrupt(&name.text)).map(|one| one.number);
            interrupts = interrupts.zip(number).map(|(all, number)| [all, vec![number]].concat());
            let read = name.map(|interrupt| fair_firing(&interrupt));
            let condition = match &read {
                Some(read) => self.bound(read, parse_path(read))?,
                None => self.bound(text, parsed)?,
            };
            if !is_fairness(&condition) {
                return Err(PropertyErrorKind::NotFairness(text.to_owned()).error());
            }
            texts.push(read.map_or_else(|| text.to_owned(), |read| format!("{text}, read as {read}")));
            conditions.push(condition);
        }
        let assumption = if conditions.len() == 1 { conditions.remove(0) } else { Formula::And(conditions) };
        let goes_on = Formula::quantified(PathQuantifier::Exists, assumption.clone());
        normal_form(&goes_on)?;
        Ok(Some(Fairness { texts, interrupts, assumption, goes_on }))
    }
}

/// The name in `G F interrupt(V)`.
fn fair_interrupt(condition: &Formula<Comparison>) -> Option<Name> {
    let Formula::Linear(LinearOperator::Always, inner) = condition else { return None };
    let Formula::Linear(LinearOperator::Eventually, inner) = &**inner else { return None };
    let Formula::Atom(Comparison { kind: ComparisonKind::Bare(expression), .. }) = &**inner else { return None };
    match &expression.kind {
        ExprKind::Call(name, arguments) if name.text == "interrupt" => match arguments.as_slice() {
            [argument] => match &argument.kind {
                ExprKind::Name(interrupt) => Some(interrupt.clone()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The formula of `G F interrupt(V)`: if V is enabled from some time on for ever, and interrupts are let in again and
/// again, it fires again and again.
///
/// SOUND: a program that disables V or all interrupts for good gets nothing from this, so `cli; for(;;);` proves nothing.
/// That the I flag need not stay set is what hardware does with requests that wait: handlers clear the flag.
fn fair_firing(interrupt: &Name) -> String {
    format!("(F G enabled({interrupt}) && G F SREG.I) -> G F interrupt({interrupt})")
}

/// True if a condition is a Boolean combination of `G F p` and `F G p`.
fn is_fairness(condition: &Formula<AtomId>) -> bool {
    match condition {
        Formula::Linear(outer, inner) => match &**inner {
            Formula::Linear(inner, p) => {
                let both = [*outer, *inner];
                let recurs = [LinearOperator::Always, LinearOperator::Eventually];
                let settles = [LinearOperator::Eventually, LinearOperator::Always];
                (both == recurs || both == settles) && !p.is_path_formula()
            }
            _ => false,
        },
        Formula::Not(_) | Formula::And(_) | Formula::Or(_) | Formula::Implies(..) | Formula::Iff(..) => {
            condition.children().into_iter().all(is_fairness)
        }
        _ => false,
    }
}

impl Fairness {
    /// The formula with every path quantifier restricted to fair paths, given that every state has one.
    ///
    /// # Errors
    /// If the formula has fixed points of its own, which speak of no paths that could be fair.
    pub fn restrict(&self, formula: &Formula<AtomId>) -> Result<Formula<AtomId>, PropertyError> {
        if matches!(formula, Formula::Fixed(..) | Formula::Equations(..)) {
            return Err(PropertyErrorKind::FairnessOfFixedPoint.error());
        }
        let inner = formula.try_map_children(&mut |child| self.restrict(child))?;
        let (all, exists) = (PathQuantifier::All, PathQuantifier::Exists);
        Ok(match inner {
            Formula::Path(quantifier, PathOperator::Eventually, p) if quantifier == all => {
                self.on_fair_paths(all, Formula::Linear(LinearOperator::Eventually, p))
            }
            Formula::Path(quantifier, PathOperator::Always, p) if quantifier == exists => {
                self.on_fair_paths(exists, Formula::Linear(LinearOperator::Always, p))
            }
            Formula::PathPair(quantifier, PathPairOperator::Until, p, q) if quantifier == all => {
                self.on_fair_paths(all, Formula::LinearPair(LinearPairOperator::Until, p, q))
            }
            Formula::PathPair(quantifier, PathPairOperator::Release, p, q) if quantifier == exists => {
                self.on_fair_paths(exists, Formula::LinearPair(LinearPairOperator::Release, p, q))
            }
            Formula::PathPair(quantifier, PathPairOperator::WeakUntil, p, q) if quantifier == exists => {
                self.on_fair_paths(exists, Formula::LinearPair(LinearPairOperator::WeakUntil, p, q))
            }
            Formula::Quantified(quantifier, psi) => self.on_fair_paths(quantifier, *psi),
            other => other,
        })
    }

    /// `A[fair -> psi]` or `E[fair && psi]`.
    fn on_fair_paths(&self, quantifier: PathQuantifier, psi: Formula<AtomId>) -> Formula<AtomId> {
        let fair = self.assumption.clone();
        let psi = match quantifier {
            PathQuantifier::All => Formula::Implies(Box::new(fair), Box::new(psi)),
            PathQuantifier::Exists => Formula::And(vec![fair, psi]),
        };
        Formula::quantified(quantifier, psi)
    }
}
