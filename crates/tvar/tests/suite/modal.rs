//! State-based abstraction, for comparison: modal transition structures over a partition of the states, evaluated by
//! the same solver.
//!
//! In a Kripke modal transition structure (KMTS; Godefroid, Huth & Jagadeesan) a transition *may* exist if some state of
//! a block has it and *must* exist if all have it. In a generalised one (GKMTS; Shoham & Grumberg) a must-transition leads
//! to a set of blocks: each state has a transition into some of them.
//!
//! A hyper-edge of the graph is a must-transition, and all of its members may be reached. What may be reached without any
//! must-transition is expressed by moving the question into the states (Godefroid & Jagadeesan): every block has a second
//! copy where the atom *here* is unknown. Transitions that only may exist lead into that copy, and formulas ask for what
//! is here: `<>p` becomes `<>(here && p)` and `[]p` becomes `[](here -> p)`.

use crate::random;
use mu_calculus::{
    AtomId, FixedPoint, Formula, GraphBuilder, HyperGraph, Labels, Modality, PathOperator, PathPairOperator,
    PathQuantifier, Problem, StateId, Variable,
};
use three_valued::Truth;

/// A set of concrete states, or of blocks.
pub type Set = u64;

/// A concrete system of at most 64 states.
#[derive(Clone, Debug)]
pub struct System {
    pub start: usize,
    /// The successors of each state.
    pub next: Vec<Set>,
    /// The states where each atom holds.
    pub atoms: Vec<Set>,
}

/// The targets of must-transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    /// One block.
    Plain,
    /// A set of blocks; the smallest sets are taken.
    Hyper,
}

pub fn elements(set: Set) -> impl Iterator<Item = usize> {
    (0..64).filter(move |element| set >> element & 1 == 1)
}

impl System {
    /// The verdict on the abstraction whose states are the blocks of a partition.
    pub fn verdict(&self, partition: &[Set], must: Must, formula: &Formula<AtomId>) -> Truth {
        let (graph, labels) = self.structure(partition, must);
        let here = AtomId(self.atoms.len() as u32);
        let formula = random::goal(&Presence { here, depth: 0 }.formula(formula)).formula;
        let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
        problem.solve(&|| false).expect("nothing cancels it").verdict()
    }

    /// The structure over a partition: block `b` is state `2 b`, its copy that is perhaps not there is `2 b + 1`.
    fn structure(&self, partition: &[Set], must: Must) -> (HyperGraph, Labels) {
        let mut builder = GraphBuilder::new();
        let mut labels = Labels::new(self.atoms.len() + 1, 2 * partition.len());
        for (number, block) in partition.iter().enumerate() {
            let (may, must) = (self.may(partition, *block), self.must(partition, *block, must));
            let certain = must.iter().fold(0, |all, blocks| all | blocks);
            for here in [Truth::True, Truth::Unknown] {
                let state = builder.state();
                must.iter().for_each(|blocks| {
                    builder.edge(elements(*blocks).map(|block| StateId(2 * block as u32)));
                });
                elements(may & !certain).for_each(|block| {
                    builder.edge([StateId(2 * block as u32 + 1)]);
                });
                for (atom, holds) in self.atoms.iter().enumerate() {
                    labels.set(AtomId(atom as u32), state, label(*holds, *block));
                }
                labels.set(AtomId(self.atoms.len() as u32), state, here);
            }
            debug_assert!(partition[number] != 0, "a block has a state");
        }
        let start = partition.iter().position(|block| block >> self.start & 1 == 1).expect("a partition covers all");
        (builder.finish(StateId(2 * start as u32)).expect("members are blocks"), labels)
    }

    fn may(&self, partition: &[Set], block: Set) -> Set {
        let next = elements(block).fold(0, |all, state| all | self.next[state]);
        blocks(partition, next)
    }

    /// The must-transitions of a block, each as the set of blocks that it leads to.
    fn must(&self, partition: &[Set], block: Set, must: Must) -> Vec<Set> {
        let next: Vec<Set> = elements(block).map(|state| blocks(partition, self.next[state])).collect();
        let may = next.iter().fold(0, |all, blocks| all | blocks);
        let leads_there = |goal: Set| next.iter().all(|blocks| blocks & goal != 0);
        let goals: Vec<Set> = match must {
            Must::Plain => elements(may).map(|block| 1 << block).collect(),
            Must::Hyper => subsets(may),
        };
        let goals: Vec<Set> = goals.into_iter().filter(|goal| leads_there(*goal)).collect();
        let is_smallest = |goal: &Set| !goals.iter().any(|other| other != goal && other & !goal == 0);
        goals.iter().copied().filter(is_smallest).collect()
    }
}

/// The blocks that have a state of a set.
fn blocks(partition: &[Set], states: Set) -> Set {
    let touched = partition.iter().enumerate().filter(|(_, block)| *block & states != 0);
    touched.fold(0, |all, (number, _)| all | 1 << number)
}

fn subsets(of: Set) -> Vec<Set> {
    let members: Vec<usize> = elements(of).collect();
    let chosen = |bits: u32| members.iter().enumerate().filter(move |(index, _)| bits >> index & 1 == 1);
    (1_u32..1 << members.len()).map(|bits| chosen(bits).fold(0, |set, (_, member)| set | 1 << member)).collect()
}

/// True if an atom that holds in some states holds in those of a block.
fn label(holds: Set, block: Set) -> Truth {
    match (holds & block == 0, block & !holds == 0) {
        (true, _) => Truth::False,
        (_, true) => Truth::True,
        _ => Truth::Unknown,
    }
}

/// Makes modalities ask for what is here; CTL becomes fixed points on the way.
struct Presence {
    here: AtomId,
    /// The number of variables that have been introduced.
    depth: usize,
}

impl Presence {
    fn formula(&mut self, formula: &Formula<AtomId>) -> Formula<AtomId> {
        let mut sub = |p: &Formula<AtomId>| Box::new(self.formula(p));
        match formula {
            Formula::Not(p) => Formula::Not(sub(p)),
            Formula::And(operands) => Formula::And(operands.iter().map(|p| *sub(p)).collect()),
            Formula::Or(operands) => Formula::Or(operands.iter().map(|p| *sub(p)).collect()),
            Formula::Implies(p, q) => Formula::Implies(sub(p), sub(q)),
            Formula::Iff(p, q) => Formula::Iff(sub(p), sub(q)),
            Formula::Fixed(kind, variable, body) => Formula::Fixed(*kind, variable.clone(), sub(body)),
            Formula::Modal(modality, p) => {
                let p = self.formula(p);
                self.modal(*modality, p)
            }
            Formula::Path(quantifier, operator, p) => {
                let p = self.formula(p);
                self.path(*quantifier, *operator, p)
            }
            Formula::PathPair(quantifier, operator, p, q) => {
                let (p, q) = (self.formula(p), self.formula(q));
                self.path_pair(*quantifier, *operator, p, q)
            }
            leaf => leaf.clone(),
        }
    }

    fn modal(&self, modality: Modality, p: Formula<AtomId>) -> Formula<AtomId> {
        let here = Formula::Atom(self.here);
        let asked = match modality {
            Modality::Diamond => Formula::And(vec![here, p]),
            Modality::Box => Formula::Implies(Box::new(here), Box::new(p)),
        };
        Formula::Modal(modality, Box::new(asked))
    }

    fn path(&mut self, quantifier: PathQuantifier, operator: PathOperator, p: Formula<AtomId>) -> Formula<AtomId> {
        match operator {
            PathOperator::Next => self.modal(modality(quantifier), p),
            PathOperator::Eventually => self.fixed(FixedPoint::Least, quantifier, |next| Formula::Or(vec![p, next])),
            PathOperator::Always => self.fixed(FixedPoint::Greatest, quantifier, |next| Formula::And(vec![p, next])),
        }
    }

    fn path_pair(
        &mut self,
        quantifier: PathQuantifier,
        operator: PathPairOperator,
        p: Formula<AtomId>,
        q: Formula<AtomId>,
    ) -> Formula<AtomId> {
        let until = |p, q, next| Formula::Or(vec![q, Formula::And(vec![p, next])]);
        match operator {
            PathPairOperator::Until => self.fixed(FixedPoint::Least, quantifier, |next| until(p, q, next)),
            PathPairOperator::WeakUntil => self.fixed(FixedPoint::Greatest, quantifier, |next| until(p, q, next)),
            PathPairOperator::Release => {
                self.fixed(FixedPoint::Greatest, quantifier, |next| Formula::And(vec![q, Formula::Or(vec![p, next])]))
            }
        }
    }

    fn fixed(
        &mut self,
        kind: FixedPoint,
        quantifier: PathQuantifier,
        body: impl FnOnce(Formula<AtomId>) -> Formula<AtomId>,
    ) -> Formula<AtomId> {
        self.depth += 1;
        let variable = Variable::new(&format!("Here{}", self.depth));
        let next = self.modal(modality(quantifier), Formula::Variable(variable.clone()));
        Formula::Fixed(kind, variable, Box::new(body(next)))
    }
}

fn modality(quantifier: PathQuantifier) -> Modality {
    match quantifier {
        PathQuantifier::All => Modality::Box,
        PathQuantifier::Exists => Modality::Diamond,
    }
}
