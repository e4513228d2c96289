//! Random graphs, labels and formulas, the same for the same seed.

use mu_calculus::{
    AtomId, FixedPoint, Formula, GraphBuilder, HyperGraph, Labels, Modality, NormalForm, PathOperator,
    PathPairOperator, PathQuantifier, Problem, Solution, StateId, Variable,
};
use three_valued::Truth;

/// How many atoms random formulas speak about.
pub const ATOMS: u32 = 2;

/// SplitMix64 (Steele, Lea & Flood, 2014).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit)) as u32
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u32) as usize]
    }
}

/// How many random cases to run: `MU_CALCULUS_CASES`, or else `default`.
pub fn cases(default: u64) -> u64 {
    std::env::var("MU_CALCULUS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A graph as lists: per state its hyper-edges.
pub type Edges = Vec<Vec<Vec<u32>>>;

pub fn edges(random: &mut Random, states: u32) -> Edges {
    let sinks = [0, 10, 30][random.below(3) as usize];
    let several = [0, 30, 60][random.below(3) as usize];
    (0..states)
        .map(|_| {
            let degree = if random.chance(sinks) { 0 } else { 1 + random.below(3) };
            (0..degree).map(|_| members(random, states, several)).collect()
        })
        .collect()
}

fn members(random: &mut Random, states: u32, several: u32) -> Vec<u32> {
    let count = if random.chance(several) { 2 + random.below(2) } else { 1 };
    (0..count).map(|_| random.below(states)).collect()
}

pub fn graph(edges: &Edges) -> HyperGraph {
    let mut builder = GraphBuilder::new();
    for hyper_edges in edges {
        builder.state();
        for members in hyper_edges {
            builder.edge(members.iter().copied().map(StateId));
        }
    }
    builder.finish(StateId(0)).expect("all members are states")
}

pub fn labels(random: &mut Random, states: u32) -> Labels {
    let unknown = [0, 20, 50][random.below(3) as usize];
    let mut labels = Labels::new(ATOMS as usize, states as usize);
    for atom in 0..ATOMS {
        for state in 0..states {
            let truth = if random.chance(unknown) { Truth::Unknown } else { Truth::from(random.chance(50)) };
            labels.set(AtomId(atom), StateId(state), truth);
        }
    }
    labels
}

pub fn normal_form(formula: &Formula<AtomId>) -> NormalForm {
    NormalForm::new(formula).expect("the formula is closed and has no negated variable")
}

pub fn solve(problem: &Problem<'_>) -> Solution {
    problem.solve(&|| false).expect("nothing cancels it")
}

/// A closed formula; one in three is a nest of alternating fixed points.
pub fn formula(random: &mut Random) -> Formula<AtomId> {
    if random.chance(33) {
        return nest(random);
    }
    Formulas { random, scope: Vec::new(), names: 0, positive: true }.any(4)
}

/// Three or four fixed points of alternating kinds around a body that uses all of them.
fn nest(random: &mut Random) -> Formula<AtomId> {
    let levels = 2 + random.below(3);
    let least_first = random.chance(50);
    let mut formulas = Formulas { random, scope: Vec::new(), names: 0, positive: true };
    let names: Vec<String> = (0..levels).map(|_| formulas.bind()).collect();
    let mut body = formulas.any(4);
    for (level, name) in names.iter().enumerate().rev() {
        let kind = if (level % 2 == 0) == least_first { FixedPoint::Least } else { FixedPoint::Greatest };
        if formulas.random.chance(25) {
            body = Formula::Or(vec![body, formulas.any(2)]);
        }
        formulas.scope.pop();
        body = Formula::Fixed(kind, Variable::new(name), Box::new(body));
    }
    body
}

struct Formulas<'r> {
    random: &'r mut Random,
    /// The bound variables and whether they stand under an even number of negations here.
    scope: Vec<(String, bool)>,
    names: u32,
    positive: bool,
}

impl Formulas<'_> {
    fn bind(&mut self) -> String {
        let name = format!("V{}", self.names);
        self.names += 1;
        self.scope.push((name.clone(), self.positive));
        name
    }

    fn any(&mut self, size: u32) -> Formula<AtomId> {
        if size == 0 || self.random.chance(8) {
            return self.leaf();
        }
        let size = size - 1;
        match self.random.below(12) {
            0 => Formula::Not(self.negated(size)),
            1 | 2 => Formula::And(self.list(size)),
            3 | 4 => Formula::Or(self.list(size)),
            5 => Formula::Implies(self.negated(size), Box::new(self.any(size))),
            6 if self.random.chance(40) => {
                let scope = std::mem::take(&mut self.scope);
                let formula = Formula::Iff(Box::new(self.any(size)), Box::new(self.any(size)));
                self.scope = scope;
                formula
            }
            7 => {
                let operators = [PathOperator::Next, PathOperator::Eventually, PathOperator::Always];
                Formula::Path(self.quantifier(), *self.random.pick(&operators), Box::new(self.any(size)))
            }
            8 => {
                let operators = [PathPairOperator::Until, PathPairOperator::Release, PathPairOperator::WeakUntil];
                let (p, q) = (Box::new(self.any(size)), Box::new(self.any(size)));
                Formula::PathPair(self.quantifier(), *self.random.pick(&operators), p, q)
            }
            9 => {
                let name = self.bind();
                let body = Box::new(self.any(size));
                self.scope.pop();
                let kind = *self.random.pick(&[FixedPoint::Least, FixedPoint::Greatest]);
                Formula::Fixed(kind, Variable::new(&name), body)
            }
            _ => {
                let modality = *self.random.pick(&[Modality::Box, Modality::Diamond]);
                Formula::Modal(modality, Box::new(self.any(size)))
            }
        }
    }

    fn list(&mut self, size: u32) -> Vec<Formula<AtomId>> {
        (0..2 + self.random.below(2)).map(|_| self.any(size)).collect()
    }

    fn quantifier(&mut self) -> PathQuantifier {
        *self.random.pick(&[PathQuantifier::All, PathQuantifier::Exists])
    }

    fn negated(&mut self, size: u32) -> Box<Formula<AtomId>> {
        self.positive = !self.positive;
        let formula = Box::new(self.any(size));
        self.positive = !self.positive;
        formula
    }

    fn leaf(&mut self) -> Formula<AtomId> {
        let usable: Vec<String> =
            self.scope.iter().filter(|(_, sign)| *sign == self.positive).map(|(name, _)| name.clone()).collect();
        if !usable.is_empty() && self.random.chance(60) {
            return Formula::Variable(Variable::new(self.random.pick::<String>(&usable)));
        }
        match self.random.below(12) {
            0 => Formula::Constant(true),
            1 => Formula::Constant(false),
            _ => Formula::Atom(AtomId(self.random.below(ATOMS))),
        }
    }
}
