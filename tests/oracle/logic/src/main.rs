//! Random two-valued graphs with formulas of CTL and LTL and what the solver says of them, for independent tools.
//!
//! `cargo run --release -p logic-oracle [CASES]`; one JSON object per line: the successors and the
//! atoms of each state, the logic, the formula, and the states where it holds. Formulas are in the syntax of
//! pyModelChecking and (LTL without `X`) of Spin. `tests/oracle/logic` compares.
#![expect(clippy::print_stdout, reason = "the lines are what the program is for")]

use std::error::Error;

use avr_testkit::Random;
use mu_calculus::{
    AtomId, Formula, GraphBuilder, Labels, LinearOperator, LinearPairOperator, NormalForm, PathOperator,
    PathPairOperator, PathQuantifier, Problem, StateId,
};
use three_valued::Truth;

const ATOMS: u32 = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let cases: u64 = std::env::args().nth(1).map_or(Ok(1_000), |text| text.parse())?;
    for seed in 0..cases {
        println!("{}", case(seed)?);
    }
    Ok(())
}

/// One line.
fn case(seed: u64) -> Result<String, Box<dyn Error>> {
    let mut random = Random::new(seed);
    let states = 1 + random.below(6);
    let successors: Vec<Vec<u32>> =
        (0..states).map(|_| (0..1 + random.below(2)).map(|_| random.below(states)).collect()).collect();
    let mut builder = GraphBuilder::new();
    for next in &successors {
        builder.state();
        next.iter().for_each(|next| {
            builder.edge([StateId(*next)]);
        });
    }
    let graph = builder.finish(StateId(0))?;
    let mut labels = Labels::new(ATOMS as usize, states as usize);
    for state in graph.states() {
        (0..ATOMS).for_each(|atom| labels.set(AtomId(atom), state, Truth::from(random.once_in(2))));
    }
    let linear = seed.is_multiple_of(2);
    let mut formulas = Formulas(random);
    let formula = if linear { formulas.path(4) } else { formulas.branching(4) };
    let bound = if linear { Formula::quantified(PathQuantifier::All, formula.clone()) } else { formula.clone() };
    let normal_form = NormalForm::new(&bound)?;
    let solution = Problem { graph: &graph, labels: &labels, formula: &normal_form }.solve(&|| false)?;
    let holds: Vec<u32> =
        graph.states().map(|s| s.0).filter(|s| solution.truth(StateId(*s), normal_form.root()).is_true()).collect();
    let atoms: Vec<Vec<u32>> = graph
        .states()
        .map(|state| (0..ATOMS).filter(|atom| labels.get(AtomId(*atom), state).is_true()).collect())
        .collect();
    let python = if linear { format!("A ({})", python(&formula)) } else { python(&formula) };
    let spin = if linear && !has_next(&formula) { format!("\"{}\"", spin(&formula)) } else { "null".to_owned() };
    Ok(format!(
        "{{\"case\": {seed}, \"successors\": {successors:?}, \"atoms\": {atoms:?}, \"logic\": \"{}\", \"python\": \
         \"{python}\", \"spin\": {spin}, \"holds\": {holds:?}}}",
        if linear { "LTL" } else { "CTL" }
    ))
}

/// Formulas of a seed.
struct Formulas(Random);

impl Formulas {
    fn below(&mut self, limit: u32) -> u32 {
        self.0.below(limit)
    }

    /// A Boolean combination, or an atom, of what `inner` gives.
    fn boolean(&mut self, size: u32, inner: fn(&mut Self, u32) -> Formula<AtomId>) -> Formula<AtomId> {
        match self.below(5) {
            0 => Formula::Not(Box::new(inner(self, size))),
            1 => Formula::And(vec![inner(self, size), inner(self, size)]),
            2 => Formula::Or(vec![inner(self, size), inner(self, size)]),
            3 => Formula::Implies(Box::new(inner(self, size)), Box::new(inner(self, size))),
            _ => Formula::Atom(AtomId(self.below(ATOMS))),
        }
    }

    fn path(&mut self, size: u32) -> Formula<AtomId> {
        if size == 0 {
            return Formula::Atom(AtomId(self.below(ATOMS)));
        }
        let size = size - 1;
        let unary = |operator, p| Formula::Linear(operator, Box::new(p));
        let pair = |operator, p, q| Formula::LinearPair(operator, Box::new(p), Box::new(q));
        match self.below(10) {
            0 => unary(LinearOperator::Next, self.path(size)),
            1 | 2 => unary(LinearOperator::Eventually, self.path(size)),
            3 | 4 => unary(LinearOperator::Always, self.path(size)),
            5 => pair(LinearPairOperator::Until, self.path(size), self.path(size)),
            6 => pair(LinearPairOperator::Release, self.path(size), self.path(size)),
            _ => self.boolean(size, Self::path),
        }
    }

    fn branching(&mut self, size: u32) -> Formula<AtomId> {
        if size == 0 {
            return Formula::Atom(AtomId(self.below(ATOMS)));
        }
        let size = size - 1;
        let quantifier = if self.below(2) == 0 { PathQuantifier::All } else { PathQuantifier::Exists };
        let unary = |operator, p| Formula::Path(quantifier, operator, Box::new(p));
        let pair = |operator, p, q| Formula::PathPair(quantifier, operator, Box::new(p), Box::new(q));
        match self.below(8) {
            0 => unary(PathOperator::Next, self.branching(size)),
            1 => unary(PathOperator::Eventually, self.branching(size)),
            2 => unary(PathOperator::Always, self.branching(size)),
            3 => pair(PathPairOperator::Until, self.branching(size), self.branching(size)),
            4 => pair(PathPairOperator::Release, self.branching(size), self.branching(size)),
            _ => self.boolean(size, Self::branching),
        }
    }
}

fn has_next(formula: &Formula<AtomId>) -> bool {
    matches!(formula, Formula::Linear(LinearOperator::Next, _)) || formula.children().into_iter().any(has_next)
}

/// The formula as pyModelChecking reads it, every operand in parentheses.
fn python(formula: &Formula<AtomId>) -> String {
    let operands: Vec<String> = formula.children().into_iter().map(|p| format!("({})", python(p))).collect();
    match formula {
        Formula::Atom(atom) => format!("p{}", atom.0),
        Formula::Not(_) => format!("not {}", operands[0]),
        Formula::And(_) => operands.join(" and "),
        Formula::Or(_) => operands.join(" or "),
        Formula::Implies(..) => operands.join(" --> "),
        Formula::Path(quantifier, operator, _) => format!("{quantifier} {operator} {}", operands[0]),
        Formula::PathPair(quantifier, operator, ..) => {
            format!("{quantifier}({} {operator} {})", operands[0], operands[1])
        }
        Formula::Linear(operator, _) => format!("{operator} {}", operands[0]),
        Formula::LinearPair(operator, ..) => format!("{} {operator} {}", operands[0], operands[1]),
        other => unreachable!("no random formula has {other:?}"),
    }
}

/// The path formula as Spin reads it.
fn spin(formula: &Formula<AtomId>) -> String {
    let operands: Vec<String> = formula.children().into_iter().map(|p| format!("({})", spin(p))).collect();
    match formula {
        Formula::Atom(atom) => format!("p{}", atom.0),
        Formula::Not(_) => format!("!{}", operands[0]),
        Formula::And(_) => operands.join(" && "),
        Formula::Or(_) => operands.join(" || "),
        Formula::Implies(..) => operands.join(" -> "),
        Formula::Linear(LinearOperator::Eventually, _) => format!("<>{}", operands[0]),
        Formula::Linear(LinearOperator::Always, _) => format!("[]{}", operands[0]),
        Formula::LinearPair(LinearPairOperator::Until, ..) => operands.join(" U "),
        Formula::LinearPair(LinearPairOperator::Release, ..) => operands.join(" V "),
        other => unreachable!("no random formula without X has {other:?}"),
    }
}
