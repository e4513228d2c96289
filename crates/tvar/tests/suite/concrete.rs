//! The concrete system, state by state, and formulas evaluated on it as they are defined: on sets of states, fixed
//! points by iteration. Nothing of the crates under test is used but the syntax tree of formulas.

use crate::toy::{Start, Toy};
use mu_calculus::{AtomId, FixedPoint, Formula, Modality, PathOperator, PathPairOperator, PathQuantifier};

/// A set of states; the state with stored bits `b` is element `b`, the dummy state is the one after all of those.
type Set = u64;

/// A Kripke structure.
#[derive(Clone, Debug)]
pub struct Concrete {
    pub start: usize,
    /// The successors of each state.
    next: Vec<Set>,
    /// The states where each atom holds.
    atoms: Vec<Set>,
    hazards: Set,
}

/// The supposed behaviour after a hazard, on which nothing must depend.
#[derive(Clone, Copy, Debug)]
pub enum Afterwards {
    /// The result of the step function.
    Continues,
    /// Nothing, and all atoms have this value.
    Stays(bool),
}

impl Concrete {
    /// The system that a toy describes, of at most 5 stored bits.
    pub fn new(toy: &Toy) -> Self {
        Self::with_inputs(toy, |_, input| input)
    }

    /// The same, where something else takes the place of an input in a state.
    pub fn with_inputs(toy: &Toy, replaced: impl Fn(u64, u64) -> u64) -> Self {
        let replaced = &replaced;
        let states = 1_u64 << toy.width;
        let inputs = 1_u64 << toy.inputs;
        let after = |state| (0..inputs).map(move |input| toy.step.at(state | replaced(state, input) << toy.width));
        let set = |elements: &mut dyn Iterator<Item = u64>| elements.fold(0, |set, element| set | 1 << element);
        let mut next: Vec<Set> = (0..states).map(|state| set(&mut after(state))).collect();
        let (start, first) = match toy.start {
            Start::State(bits) => (bits, set(&mut [states].into_iter())),
            Start::Content { reset, open } => {
                (states, set(&mut (0..states).filter(|content| (content ^ reset) & !open == 0)))
            }
        };
        next.push(first);
        let holds = |atom: usize| set(&mut (0..states).filter(|state| toy.atoms.at(*state) >> atom & 1 == 1));
        let is_hazard = |state: &u64| toy.hazard.as_ref().is_some_and(|hazard| hazard.at(*state) & 1 == 1);
        let hazards = set(&mut (0..states).filter(is_hazard));
        let atoms = (0..crate::toy::ATOMS as usize).map(holds).chain([hazards]).collect();
        Self { start: start as usize, next, atoms, hazards }
    }

    /// The same up to the hazards.
    pub fn after_hazards(mut self, afterwards: Afterwards) -> Self {
        if let Afterwards::Stays(value) = afterwards {
            let count = self.atoms.len() - 1;
            for atom in &mut self.atoms[..count] {
                *atom = if value { *atom | self.hazards } else { *atom & !self.hazards };
            }
            for (state, next) in self.next.iter_mut().enumerate() {
                *next = if self.hazards >> state & 1 == 1 { 1 << state } else { *next };
            }
        }
        self
    }

    /// True if a formula holds in the initial state.
    pub fn holds(&self, formula: &Formula<AtomId>) -> bool {
        Evaluation { concrete: self, variables: Vec::new() }.states(formula) >> self.start & 1 == 1
    }

    fn all(&self) -> Set {
        !0 >> (64 - self.next.len())
    }

    /// The states all or some of whose successors belong to a set.
    fn before(&self, modality: Modality, goal: Set) -> Set {
        let counts = |next: &Set| match modality {
            Modality::Box => next & !goal == 0,
            Modality::Diamond => next & goal != 0,
        };
        let states = self.next.iter().enumerate().filter(|(_, next)| counts(next));
        states.fold(0, |set, (state, _)| set | 1 << state)
    }

    fn fixed(&self, kind: FixedPoint, mut after: impl FnMut(Set) -> Set) -> Set {
        let mut value = if kind == FixedPoint::Least { 0 } else { self.all() };
        loop {
            let next = after(value);
            if next == value {
                return value;
            }
            value = next;
        }
    }
}

struct Evaluation<'a> {
    concrete: &'a Concrete,
    variables: Vec<(&'a str, Set)>,
}

impl<'a> Evaluation<'a> {
    fn states(&mut self, formula: &'a Formula<AtomId>) -> Set {
        let all = self.concrete.all();
        match formula {
            Formula::Constant(value) => all * u64::from(*value),
            Formula::Atom(atom) => self.concrete.atoms[atom.index()],
            Formula::Variable(variable) => {
                let bound = self.variables.iter().rev().find(|(name, _)| *name == variable.name);
                bound.expect("the formula is closed").1
            }
            Formula::Not(p) => all & !self.states(p),
            Formula::And(operands) => operands.iter().fold(all, |set, p| set & self.states(p)),
            Formula::Or(operands) => operands.iter().fold(0, |set, p| set | self.states(p)),
            Formula::Implies(p, q) => (all & !self.states(p)) | self.states(q),
            Formula::Iff(p, q) => all & !(self.states(p) ^ self.states(q)),
            Formula::Choice(condition, p, q) => {
                let condition = self.states(condition);
                (condition & self.states(p)) | (all & !condition & self.states(q))
            }
            Formula::Modal(modality, p) => {
                let p = self.states(p);
                self.concrete.before(*modality, p)
            }
            Formula::Path(quantifier, operator, p) => {
                let p = self.states(p);
                self.path(*quantifier, *operator, p)
            }
            Formula::PathPair(quantifier, operator, p, q) => {
                let (p, q) = (self.states(p), self.states(q));
                self.path_pair(*quantifier, *operator, p, q)
            }
            Formula::Quantified(..) | Formula::Linear(..) | Formula::LinearPair(..) => {
                unreachable!("the formulas of these tests have no operators of linear time")
            }
            Formula::Fixed(kind, variable, body) => {
                let concrete = self.concrete;
                concrete.fixed(*kind, |value| {
                    self.variables.push((&variable.name, value));
                    let next = self.states(body);
                    self.variables.pop();
                    next
                })
            }
            Formula::Equations(kind, equations, result) => {
                let first = self.variables.len();
                let start = if *kind == FixedPoint::Least { 0 } else { all };
                self.variables.extend(equations.iter().map(|(variable, _)| (variable.name.as_str(), start)));
                loop {
                    let next: Vec<Set> = equations.iter().map(|(_, body)| self.states(body)).collect();
                    let values = &mut self.variables[first..];
                    let is_fixed = values.iter().zip(&next).all(|(value, next)| value.1 == *next);
                    values.iter_mut().zip(next).for_each(|(value, next)| value.1 = next);
                    if is_fixed {
                        break;
                    }
                }
                let states = self.states(result);
                self.variables.truncate(first);
                states
            }
        }
    }

    fn path(&self, quantifier: PathQuantifier, operator: PathOperator, p: Set) -> Set {
        let before = |set| self.concrete.before(modality(quantifier), set);
        match operator {
            PathOperator::Next => before(p),
            PathOperator::Eventually => self.concrete.fixed(FixedPoint::Least, |set| p | before(set)),
            PathOperator::Always => self.concrete.fixed(FixedPoint::Greatest, |set| p & before(set)),
        }
    }

    fn path_pair(&self, quantifier: PathQuantifier, operator: PathPairOperator, p: Set, q: Set) -> Set {
        let before = |set| self.concrete.before(modality(quantifier), set);
        let (kind, is_release) = match operator {
            PathPairOperator::Until => (FixedPoint::Least, false),
            PathPairOperator::WeakUntil => (FixedPoint::Greatest, false),
            PathPairOperator::Release => (FixedPoint::Greatest, true),
        };
        self.concrete.fixed(kind, |set| if is_release { q & (p | before(set)) } else { q | (p & before(set)) })
    }
}

fn modality(quantifier: PathQuantifier) -> Modality {
    match quantifier {
        PathQuantifier::All => Modality::Box,
        PathQuantifier::Exists => Modality::Diamond,
    }
}
