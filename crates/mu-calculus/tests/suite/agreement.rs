//! The solver against the naive evaluator, on random graphs and formulas.

use mu_calculus::{HyperGraph, Problem};

use crate::naive;
use crate::random::{self, Random};

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

fn shown(formula: &mu_calculus::Formula<mu_calculus::AtomId>) -> String {
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

fn check(
    graph: &HyperGraph,
    labels: &mu_calculus::Labels,
    formula: &mu_calculus::Formula<mu_calculus::AtomId>,
    seed: u64,
) {
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
                0 => vec![vec![next], vec![random.below(states)]],
                1 => vec![vec![next, random.below(states)]],
                2 => vec![vec![random.below(states)]],
                3 if random.chance(10) => vec![],
                _ => vec![vec![next]],
            }
        })
        .collect()
}
