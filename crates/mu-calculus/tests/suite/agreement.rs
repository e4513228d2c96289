//! The solver against the naive evaluator, on random graphs and formulas.

use mu_calculus::{AtomId, Formula, HyperGraph, Labels, Problem, parse_formula};
use three_valued::Truth;

use crate::naive;
use crate::random;
use avr_testkit::Random;

/// Compares all states of one random problem; returns the alternation depth.
fn compare(seed: u64) -> u32 {
    let mut random = Random::new(seed);
    let states = 1 + random.below(7);
    let edges = random::edges(&mut random, states);
    let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
    let formula = random::formula(&mut random);
    let normal_form = random::normal_form(&formula);
    let solution = random::solve(&Problem { graph: &graph, labels: &labels, formula: &normal_form });
    let expected = naive::evaluate(&graph, &labels, &formula);
    let found: Vec<_> = graph.states().map(|state| solution.truth(state, normal_form.root())).collect();
    assert_eq!(found, expected, "seed {seed}: `{}` on {edges:?} with {labels:?}", shown(&formula));
    normal_form.alternation_depth()
}

fn shown(formula: &Formula<AtomId>) -> String {
    let named = formula.try_map_atoms(&mut |atom| Ok::<_, ()>(format!("p{}", atom.0)));
    named.map_or_else(|()| String::new(), |named| named.to_string())
}

#[test]
fn solver_agrees_with_the_semantics() {
    let cases = random::cases(100_000);
    let mut by_depth = [0_u64; 8];
    for seed in 0..cases {
        by_depth[(compare(seed) as usize).min(7)] += 1;
    }
    // The sample must contain what it claims to test.
    for (depth, &count) in by_depth.iter().enumerate().take(4) {
        assert!(count * 200 >= cases, "only {count} of {cases} formulas have alternation depth {depth}: {by_depth:?}");
    }
}

/// Larger graphs, where components, attractors and repeated decomposition have something to do.
#[test]
fn solver_agrees_on_larger_graphs() {
    for seed in 0..random::cases(100_000) / 50 {
        let mut random = Random::new(seed ^ 0xabcd_0000);
        let states = 20 + random.below(30);
        let edges = sparse(&mut random, states);
        let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
        let formula = random::formula(&mut random);
        check(&graph, &labels, &formula, seed);
    }
}

fn check(graph: &HyperGraph, labels: &Labels, formula: &Formula<AtomId>, seed: u64) {
    let normal_form = random::normal_form(formula);
    let solution = random::solve(&Problem { graph, labels, formula: &normal_form });
    let expected = naive::evaluate(graph, labels, formula);
    let found: Vec<_> = graph.states().map(|state| solution.truth(state, normal_form.root())).collect();
    assert_eq!(found, expected, "seed {seed}: `{}`", shown(formula));
}

/// Mostly chains with a few branches and back edges, as programs have them.
fn sparse(random: &mut Random, states: u32) -> random::Edges {
    (0..states)
        .map(|state| {
            let next = (state + 1) % states;
            match random.below(10) {
                0 | 1 => vec![vec![next], vec![random.below(states)]],
                2 => vec![vec![next, random.below(states)]],
                3 => vec![vec![random.below(states)]],
                4 if random.chance(10) => vec![],
                _ => vec![vec![next]],
            }
        })
        .collect()
}

/// Games written as formulas: in every state one player moves, and whoever moves, `W` to `Z` say what he meets.
fn game(text: &str) -> Formula<AtomId> {
    let step = |x: &str| format!("(own && <>{x} || !own && []{x})");
    let text = ["W", "X", "Y", "Z"].iter().fold(text.to_owned(), |text, x| text.replace(&format!("({x})"), &step(x)));
    let formula = parse_formula(&text).expect("the formula parses").try_map_atoms(&mut |atom| {
        let position = ["own", "high", "odd"].iter().position(|name| atom.bare_name() == Some(name)).ok_or(())?;
        Ok::<_, ()>(AtomId(position as u32))
    });
    formula.expect("all atoms have names")
}

fn compare_games(text: &str, cases: u64, states: u32) {
    let formula = game(text);
    for seed in 0..cases {
        let mut random = Random::new(seed ^ 0x6a3e_0000);
        let states = 4 + random.below(states);
        let graph = random::graph(&sparse(&mut random, states));
        let mut labels = Labels::new(3, states as usize);
        let (high, unknown) = (random.below(60), [0, 0, 5][random.below(3)]);
        for state in graph.states() {
            for (atom, percent) in [50, high, 50].into_iter().enumerate() {
                let truth = if random.chance(unknown) { Truth::Unknown } else { Truth::from(random.chance(percent)) };
                labels.set(AtomId(atom as u32), state, truth);
            }
        }
        check(&graph, &labels, &formula, seed);
    }
}

#[test]
fn solver_agrees_on_games_with_two_priorities() {
    compare_games("nu X. mu Y. high && (X) || !high && (Y)", random::cases(100_000) / 20, 8);
    compare_games("mu X. nu Y. high && (X) || !high && (Y)", random::cases(100_000) / 20, 8);
}

#[test]
fn solver_agrees_on_games_with_four_priorities() {
    let text = "mu W. nu X. mu Y. nu Z. \
                high && odd && (W) || high && !odd && (X) || !high && odd && (Y) || !high && !odd && (Z)";
    compare_games(text, random::cases(100_000) / 100, 12);
}
