//! The three-valued semantics written down as it is defined: on the syntax tree, on lists of values, fixed points by
//! nested iteration. No normal form, no game, no cleverness.

use mu_calculus::{
    AtomId, FixedPoint, Formula, HyperGraph, Labels, Modality, PathOperator, PathPairOperator, PathQuantifier, StateId,
};
use three_valued::Truth;

use crate::paths;

/// The value of a formula in every state.
pub fn evaluate(graph: &HyperGraph, labels: &Labels, formula: &Formula<AtomId>) -> Vec<Truth> {
    Naive { graph, labels, variables: Vec::new() }.value(formula)
}

struct Naive<'a> {
    graph: &'a HyperGraph,
    labels: &'a Labels,
    variables: Vec<(&'a str, Vec<Truth>)>,
}

impl<'a> Naive<'a> {
    fn value(&mut self, formula: &'a Formula<AtomId>) -> Vec<Truth> {
        match formula {
            Formula::Constant(value) => vec![Truth::from(*value); self.graph.state_count()],
            Formula::Atom(atom) => self.graph.states().map(|state| self.label(*atom, state)).collect(),
            Formula::Variable(variable) => {
                let bound = self.variables.iter().rev().find(|(name, _)| *name == variable.name);
                bound.expect("the formula is closed").1.clone()
            }
            Formula::Not(p) => self.value(p).into_iter().map(|value| !value).collect(),
            Formula::And(operands) => self.fold(operands, |a, b| a & b),
            Formula::Or(operands) => self.fold(operands, |a, b| a | b),
            Formula::Implies(p, q) => zip(&self.value(p), &self.value(q), |a, b| !a | b),
            Formula::Iff(p, q) => zip(&self.value(p), &self.value(q), |a, b| (a & b) | (!a & !b)),
            Formula::Modal(modality, p) => {
                let p = self.value(p);
                self.step(*modality, &p)
            }
            Formula::Path(quantifier, operator, p) => {
                let p = self.value(p);
                self.path(*quantifier, *operator, &p)
            }
            Formula::PathPair(quantifier, operator, p, q) => {
                let (p, q) = (self.value(p), self.value(q));
                self.path_pair(*quantifier, *operator, &p, &q)
            }
            Formula::Quantified(quantifier, psi) => self.quantified(*quantifier, psi),
            Formula::Linear(..) | Formula::LinearPair(..) => unreachable!("path formulas stand below quantifiers"),
            Formula::Choice(condition, p, q) => {
                let condition = self.value(condition);
                let answers = zip(&self.value(p), &self.value(q), |p, q| if p == q { p } else { Truth::Unknown });
                let (p, q) = (self.value(p), self.value(q));
                let states = condition.iter().enumerate();
                let answer = |(state, value): (usize, &Truth)| match value {
                    Truth::True => p[state],
                    Truth::False => q[state],
                    Truth::Unknown => answers[state],
                };
                states.map(answer).collect()
            }
            Formula::Equations(kind, equations, result) => {
                let mut values = vec![self.first(*kind); equations.len()];
                loop {
                    let outside = self.variables.len();
                    let bound = equations.iter().map(|(variable, _)| variable.name.as_str());
                    self.variables.extend(bound.zip(values.iter().cloned()));
                    let next: Vec<Vec<Truth>> = equations.iter().map(|(_, body)| self.value(body)).collect();
                    let whole = self.value(result);
                    self.variables.truncate(outside);
                    if next == values {
                        return whole;
                    }
                    values = next;
                }
            }
            Formula::Fixed(kind, variable, body) => {
                let mut value = self.first(*kind);
                loop {
                    self.variables.push((&variable.name, value.clone()));
                    let next = self.value(body);
                    self.variables.pop();
                    if next == value {
                        return value;
                    }
                    value = next;
                }
            }
        }
    }

    /// Path formulas, on two-valued graphs only: by a tableau of labelled paths.
    fn quantified(&mut self, quantifier: PathQuantifier, psi: &'a Formula<AtomId>) -> Vec<Truth> {
        let all = quantifier == PathQuantifier::All;
        let mut leaves = Vec::new();
        self.leaves(psi, &mut leaves);
        let successors: Vec<Vec<usize>> =
            self.graph.states().map(|state| self.graph.may(state).iter().map(|next| next.index()).collect()).collect();
        let truth = |leaf: &Formula<AtomId>, state: usize| {
            let (_, values) = leaves.iter().find(|(known, _)| *known == leaf).expect("all leaves are evaluated");
            assert!(!values[state].is_unknown(), "the graph is two-valued");
            values[state].is_true()
        };
        let negated;
        let wanted = if all {
            negated = Formula::Not(Box::new(psi.clone()));
            &negated
        } else {
            psi
        };
        paths::exists(&successors, &truth, wanted).into_iter().map(|exists| Truth::from(exists != all)).collect()
    }

    /// The values of the maximal formulas about states in a path formula.
    fn leaves(&mut self, psi: &'a Formula<AtomId>, found: &mut Vec<(&'a Formula<AtomId>, Vec<Truth>)>) {
        if psi.is_path_formula() {
            psi.children().into_iter().for_each(|child| self.leaves(child, found));
        } else if !found.iter().any(|(known, _)| *known == psi) {
            let values = self.value(psi);
            found.push((psi, values));
        }
    }

    fn label(&self, atom: AtomId, state: StateId) -> Truth {
        if self.graph.degree(state) == 0 { Truth::Unknown } else { self.labels.get(atom, state) }
    }

    fn fold(&mut self, operands: &'a [Formula<AtomId>], join: fn(Truth, Truth) -> Truth) -> Vec<Truth> {
        let values: Vec<Vec<Truth>> = operands.iter().map(|p| self.value(p)).collect();
        values.into_iter().reduce(|a, b| zip(&a, &b, join)).expect("an operator has operands")
    }

    /// The table of design section 2.2.
    fn step(&self, modality: Modality, p: &[Truth]) -> Vec<Truth> {
        self.graph.states().map(|state| self.step_at(modality, p, state)).collect()
    }

    fn step_at(&self, modality: Modality, p: &[Truth], state: StateId) -> Truth {
        let hyper_edges: Vec<Vec<Truth>> =
            self.graph.edges(state).map(|h| h.iter().map(|member| p[member.0 as usize]).collect()).collect();
        let may: Vec<Truth> = if hyper_edges.is_empty() { vec![p[state.0 as usize]] } else { hyper_edges.concat() };
        let some_edge_all = |truth| hyper_edges.iter().any(|h| h.iter().all(|value| *value == truth));
        let may_all = |truth| may.iter().all(|value| *value == truth);
        match modality {
            Modality::Diamond if some_edge_all(Truth::True) => Truth::True,
            Modality::Diamond if may_all(Truth::False) => Truth::False,
            Modality::Box if may_all(Truth::True) => Truth::True,
            Modality::Box if some_edge_all(Truth::False) => Truth::False,
            _ => Truth::Unknown,
        }
    }

    fn path(&self, quantifier: PathQuantifier, operator: PathOperator, p: &[Truth]) -> Vec<Truth> {
        let next = |value: &[Truth]| self.step(modality(quantifier), value);
        match operator {
            PathOperator::Next => next(p),
            PathOperator::Eventually => self.iterate(FixedPoint::Least, |z| zip(p, &next(z), |p, z| p | z)),
            PathOperator::Always => self.iterate(FixedPoint::Greatest, |z| zip(p, &next(z), |p, z| p & z)),
        }
    }

    fn path_pair(
        &self,
        quantifier: PathQuantifier,
        operator: PathPairOperator,
        p: &[Truth],
        q: &[Truth],
    ) -> Vec<Truth> {
        let next = |value: &[Truth]| self.step(modality(quantifier), value);
        let until = |z: &[Truth]| zip(q, &zip(p, &next(z), |p, z| p & z), |q, rest| q | rest);
        let release = |z: &[Truth]| zip(q, &zip(p, &next(z), |p, z| p | z), |q, rest| q & rest);
        match operator {
            PathPairOperator::Until => self.iterate(FixedPoint::Least, until),
            PathPairOperator::WeakUntil => self.iterate(FixedPoint::Greatest, until),
            PathPairOperator::Release => self.iterate(FixedPoint::Greatest, release),
        }
    }

    fn first(&self, kind: FixedPoint) -> Vec<Truth> {
        vec![Truth::from(kind == FixedPoint::Greatest); self.graph.state_count()]
    }

    fn iterate(&self, kind: FixedPoint, next: impl Fn(&[Truth]) -> Vec<Truth>) -> Vec<Truth> {
        let mut value = self.first(kind);
        loop {
            let after = next(&value);
            if after == value {
                return value;
            }
            value = after;
        }
    }
}

fn modality(quantifier: PathQuantifier) -> Modality {
    match quantifier {
        PathQuantifier::All => Modality::Box,
        PathQuantifier::Exists => Modality::Diamond,
    }
}

fn zip(a: &[Truth], b: &[Truth], join: impl Fn(Truth, Truth) -> Truth) -> Vec<Truth> {
    a.iter().zip(b).map(|(&a, &b)| join(a, b)).collect()
}
