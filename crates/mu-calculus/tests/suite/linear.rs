//! Linear time and CTL* on three-valued graphs against the two-valued systems that the graphs stand for.

use mu_calculus::{
    AtomId, Formula, HyperGraph, Labels, LinearOperator, LinearPairOperator, NormalForm, PathQuantifier, Problem,
    Solution, parse_formula, parse_linear,
};
use three_valued::Truth;

use crate::naive;
use crate::random::{self, ATOMS};
use crate::resolution::Concrete;
use avr_testkit::Random;

/// Random path formulas.
struct Paths<'r> {
    random: &'r mut Random,
    /// True if leaves may be formulas of CTL*.
    nested: bool,
    /// The number of temporal operators that may still come: the naive evaluation is exponential in them.
    operators: u32,
}

impl Paths<'_> {
    fn any(&mut self, size: u32, past: bool) -> Formula<AtomId> {
        if size == 0 || self.random.chance(8) {
            return self.leaf();
        }
        let size = size - 1;
        match self.random.below(10) {
            0 => Formula::Not(Box::new(self.any(size, past))),
            1 | 2 => Formula::And(vec![self.any(size, past), self.any(size, past)]),
            3 => Formula::Or(vec![self.any(size, past), self.any(size, past)]),
            4 => Formula::Implies(Box::new(self.any(size, past)), Box::new(self.any(size, past))),
            5 if self.random.chance(30) => Formula::Iff(Box::new(self.any(size, past)), Box::new(self.any(size, past))),
            _ if self.operators == 0 => self.leaf(),
            5 | 6 => {
                self.operators -= 1;
                let past = past || self.random.chance(10);
                let pair = match past {
                    true => LinearPairOperator::Since,
                    false => self.random.pick(&[
                        LinearPairOperator::Until,
                        LinearPairOperator::Release,
                        LinearPairOperator::WeakUntil,
                    ]),
                };
                Formula::LinearPair(pair, Box::new(self.any(size, past)), Box::new(self.any(size, past)))
            }
            _ => {
                self.operators -= 1;
                let past = past || self.random.chance(10);
                let operators = match past {
                    true => [LinearOperator::Yesterday, LinearOperator::Once, LinearOperator::Historically],
                    false => [LinearOperator::Next, LinearOperator::Eventually, LinearOperator::Always],
                };
                Formula::Linear(self.random.pick(&operators), Box::new(self.any(size, past)))
            }
        }
    }

    fn leaf(&mut self) -> Formula<AtomId> {
        if self.nested && self.random.chance(25) {
            let quantifier = self.random.pick(&[PathQuantifier::All, PathQuantifier::Exists]);
            let mut inner = Paths { random: self.random, nested: false, operators: 2 };
            return Formula::quantified(quantifier, inner.any(2, false));
        }
        match self.random.below(16) {
            0 => Formula::Constant(self.random.chance(50)),
            _ => Formula::Atom(AtomId(self.random.below(ATOMS))),
        }
    }
}

/// `A[psi]` or `E[psi]`, sometimes inside of a formula of CTL.
fn formula(random: &mut Random) -> Formula<AtomId> {
    let nested = random.chance(30);
    let size = 2 + random.below(3);
    let psi = Paths { random, nested, operators: 4 }.any(size, false);
    let quantifier = random.pick(&[PathQuantifier::All, PathQuantifier::Exists]);
    Formula::quantified(quantifier, psi)
}

fn shown(formula: &Formula<AtomId>) -> String {
    let named = formula.try_map_atoms(&mut |atom| Ok::<_, ()>(format!("p{}", atom.0)));
    named.map_or_else(|()| String::new(), |named| named.to_string())
}

fn solve(graph: &HyperGraph, labels: &Labels, formula: &NormalForm) -> Solution {
    random::solve(&Problem { graph, labels, formula })
}

/// Checks one random formula on one random graph; returns how many values were decided, and of how many.
fn compare(seed: u64) -> [u64; 2] {
    let mut random = Random::new(seed ^ 0x117e_0000);
    let states = 1 + random.below(5);
    let edges = random::edges(&mut random, states);
    let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
    let formula = formula(&mut random);
    let normal_form = random::normal_form(&formula);
    let solution = solve(&graph, &labels, &normal_form);
    let largest = Concrete::largest(&graph, &labels);
    let others = (0..2).map(|_| Concrete::random(&graph, &labels, &mut random));
    for concrete in others.chain([largest]) {
        let truths = naive::evaluate(&concrete.graph(), &concrete.labels, &formula);
        for (covering, truth) in concrete.covered_by.iter().zip(truths) {
            let found = solution.truth(*covering, normal_form.root());
            assert!(
                found.is_unknown() || found == truth,
                "seed {seed}: `{}` is {found} in state {} of {edges:?} with {labels:?}, but {truth} in one of {:?}",
                shown(&formula),
                covering.0,
                concrete.edges
            );
        }
    }
    let decided = graph.states().filter(|state| !solution.truth(*state, normal_form.root()).is_unknown()).count();
    [decided as u64, graph.state_count() as u64]
}

#[test]
fn decided_values_are_those_of_every_resolution() {
    let cases = random::cases(4_000);
    let totals = (0..cases).map(compare).fold([0, 0], |all, one| [all[0] + one[0], all[1] + one[1]]);
    assert!(totals[0] * 3 > totals[1], "only {} of {} values are decided", totals[0], totals[1]);
}

/// Of formulas without nested quantifiers the value 1 of `A[psi]` is not only sound: it is 1 exactly where every path
/// satisfies psi whatever the unknown labels are.
#[test]
fn universal_truth_is_exact() {
    for seed in 0..random::cases(4_000) / 4 {
        let mut random = Random::new(seed ^ 0xe8ac_0000);
        let states = 1 + random.below(5);
        let edges = random::edges(&mut random, states);
        let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
        let psi = Paths { random: &mut random, nested: false, operators: 4 }.any(4, false);
        if !psi.is_path_formula() {
            continue;
        }
        let formula = Formula::Quantified(PathQuantifier::All, Box::new(psi));
        let normal_form = random::normal_form(&formula);
        let solution = solve(&graph, &labels, &normal_form);
        let largest = Concrete::largest(&graph, &labels);
        let truths = naive::evaluate(&largest.graph(), &largest.labels, &formula);
        for state in graph.states() {
            let mut everywhere = largest.covered_by.iter().zip(&truths).filter(|(covering, _)| **covering == state);
            let certain = everywhere.all(|(_, truth)| truth.is_true());
            let found = solution.truth(state, normal_form.root());
            assert_eq!(
                found.is_true(),
                certain,
                "seed {seed}: `{}` in state {} of {edges:?} with {labels:?}",
                shown(&formula),
                state.0
            );
        }
    }
}

/// Nothing is unknown where nothing is left open.
#[test]
fn two_valued_graphs_are_decided() {
    for seed in 0..random::cases(4_000) / 4 {
        let mut random = Random::new(seed ^ 0x2a1e_0000);
        let states = 1 + random.below(6);
        let single = |random: &mut Random| (0..1 + random.below(3)).map(|_| vec![random.below(states)]).collect();
        let edges: random::Edges = (0..states).map(|_| single(&mut random)).collect();
        let graph = random::graph(&edges);
        let mut labels = Labels::new(ATOMS as usize, states as usize);
        for state in graph.states() {
            (0..ATOMS).for_each(|atom| labels.set(AtomId(atom), state, Truth::from(random.chance(50))));
        }
        let formula = formula(&mut random);
        let normal_form = random::normal_form(&formula);
        let solution = solve(&graph, &labels, &normal_form);
        let found: Vec<Truth> = graph.states().map(|state| solution.truth(state, normal_form.root())).collect();
        let expected = naive::evaluate(&graph, &labels, &formula);
        assert_eq!(found, expected, "seed {seed}: `{}` on {edges:?} with {labels:?}", shown(&formula));
    }
}

/// The values of linear time in state 0 of the graph of the trap: a is unknown, then b = 0 and c = 1 for ever.
#[test]
fn an_unknown_letter_is_chosen_by_the_opponent() {
    #[track_caller]
    fn check(text: &str, expected: Truth) {
        let graph = random::graph(&vec![vec![vec![1]], vec![vec![1]]]);
        let mut labels = Labels::new(3, 2);
        labels.set(AtomId(0), mu_calculus::StateId(1), Truth::True);
        labels.set(AtomId(1), mu_calculus::StateId(1), Truth::False);
        labels.set(AtomId(2), mu_calculus::StateId(1), Truth::True);
        labels.set(AtomId(1), mu_calculus::StateId(0), Truth::False);
        labels.set(AtomId(2), mu_calculus::StateId(0), Truth::False);
        let formula = parse_linear(text).unwrap_or_else(|error| panic!("{error}"));
        let bound = formula.try_map_atoms(&mut |atom| match atom.bare_name() {
            Some("a") => Ok(AtomId(0)),
            Some("b") => Ok(AtomId(1)),
            Some("c") => Ok(AtomId(2)),
            _ => Err(()),
        });
        let normal_form = random::normal_form(&bound.expect("the atoms are a, b and c"));
        assert_eq!(solve(&graph, &labels, &normal_form).verdict(), expected, "{text}");
    }
    check("(a && X b) || (!a && X c)", Truth::Unknown);
    check("(a && X c) || (!a && X c)", Truth::True);
    check("(a && X b) || (!a && X b)", Truth::False);
    check("(a && X c) || (!a && X !b)", Truth::True);
    check("a || !a", Truth::Unknown);
    check("(a || !a) && X c", Truth::True);
    check("(a && c || !a && !c) && X c", Truth::Unknown);
    check("(a && X c) || !a", Truth::True);
    check("F (a && X !c) || F G c", Truth::True);
    check("F (a && !c)", Truth::Unknown);
    check("G F (c S a)", Truth::True);
    check("X Y a", Truth::Unknown);
    check("X O (a || c)", Truth::True);
    check("X H !b", Truth::True);
}

/// Formulas that exceed the limits are refused, not taken apart for ever.
#[test]
fn large_formulas_end() {
    let bind = |text: &str| {
        let formula = parse_formula(text).unwrap_or_else(|error| panic!("{error}"));
        let bound = formula.try_map_atoms(&mut |atom| {
            let name = atom.bare_name().and_then(|name| name.strip_prefix('p')).ok_or(())?;
            name.parse().map(AtomId).map_err(|_| ())
        });
        NormalForm::new(&bound.expect("atoms are named by numbers"))
    };
    let list = |count: u32, operand: &dyn Fn(u32) -> String, infix: &str| {
        (0..count).map(operand).collect::<Vec<_>>().join(infix)
    };
    // Each conjunct has its own automaton in the end.
    let all = list(20, &|n| format!("G F p{n}"), " && ");
    assert!(bind(&format!("A[{all}]")).is_ok());
    let any = list(12, &|n| format!("G (p{n} -> F p{})", n + 1), " || ");
    assert!(bind(&format!("A[{any}]")).is_err_and(|error| error.to_string().contains("too large")));
    let deep = format!("A[{}p0{}]", "(G F ".repeat(30), ")".repeat(30));
    assert!(bind(&deep).is_ok());
}
