//! More information never loses or turns a verdict.

use mu_calculus::{AtomId, Formula, HyperGraph, Labels, Problem, StateId};
use three_valued::Truth;

use crate::random::{self, ATOMS};
use avr_testkit::Random;

fn values(graph: &HyperGraph, labels: &Labels, formula: &Formula<AtomId>) -> Vec<Truth> {
    let formula = random::normal_form(formula);
    let solution = random::solve(&Problem { graph, labels, formula: &formula });
    graph.states().map(|state| solution.truth(state, formula.root())).collect()
}

#[track_caller]
fn check_refined(before: &[Truth], after: &[Truth], seed: u64) {
    for (state, (before, after)) in before.iter().zip(after).enumerate() {
        assert!(before.is_unknown() || before == after, "seed {seed}: state {state} was {before}, became {after}");
    }
}

#[test]
fn known_labels_only_decide() {
    for seed in 0..random::cases(100_000) / 5 {
        let mut random = Random::new(seed ^ 0x3000_0000);
        let states = 1 + random.below(6);
        let graph = random::graph(&random::edges(&mut random, states));
        let mut labels = random::labels(&mut random, states);
        let formula = random::formula(&mut random);
        let before = values(&graph, &labels, &formula);
        for atom in (0..ATOMS).map(AtomId) {
            for state in graph.states().filter(|_| random.chance(50)).collect::<Vec<_>>() {
                if labels.get(atom, state).is_unknown() {
                    labels.set(atom, state, Truth::from(random.chance(50)));
                }
            }
        }
        check_refined(&before, &values(&graph, &labels, &formula), seed);
    }
}

/// The outcome of a sink, and the members of a hyper-edge that turn out to be impossible, change no decided value.
#[test]
fn known_steps_only_decide() {
    for seed in 0..random::cases(100_000) / 5 {
        let mut random = Random::new(seed ^ 0x4000_0000);
        let states = 1 + random.below(6);
        let mut edges = random::edges(&mut random, states);
        let labels = random::labels(&mut random, states);
        let formula = random::formula(&mut random);
        let before = values(&random::graph(&edges), &labels, &formula);
        for hyper_edges in &mut edges {
            if hyper_edges.is_empty() && random.chance(70) {
                *hyper_edges = (0..=random.below(2)).map(|_| vec![random.below(states)]).collect();
            }
            for members in hyper_edges.iter_mut().filter(|members| members.len() > 1) {
                if random.chance(50) {
                    members.remove(random.below(members.len()));
                }
            }
        }
        check_refined(&before, &values(&random::graph(&edges), &labels, &formula), seed);
    }
}

/// A known label in a sink claims nothing.
#[test]
fn labels_of_sinks_do_not_count() {
    for seed in 0..random::cases(100_000) / 20 {
        let mut random = Random::new(seed ^ 0x6000_0000);
        let states = 1 + random.below(6);
        let graph = random::graph(&random::edges(&mut random, states));
        let mut labels = random::labels(&mut random, states);
        let formula = random::formula(&mut random);
        let before = values(&graph, &labels, &formula);
        for state in (0..states).map(StateId).filter(|&state| graph.is_sink(state)) {
            for atom in (0..ATOMS).map(AtomId) {
                labels.set(atom, state, Truth::from(random.chance(50)));
            }
        }
        assert_eq!(before, values(&graph, &labels, &formula), "seed {seed}");
    }
}
