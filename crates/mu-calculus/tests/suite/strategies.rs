//! Every decided value is proved by the strategy that the solution gives: checked without the solver.

use std::collections::{BTreeMap, BTreeSet};

use mu_calculus::{Choice, Modality, Node, NodeId, Problem, Solution, StateId};
use three_valued::Truth;

use crate::random;
use avr_testkit::Random;

type Place = (StateId, NodeId);

/// The places that can follow when the winner plays his strategy.
fn followers(problem: &Problem<'_>, solution: &Solution, (state, node): Place) -> Vec<Place> {
    let truth = solution.truth(state, node);
    match (problem.formula.node(node), solution.choice(problem, state, node)) {
        (Node::Or(p, q), Some(Choice::Child(child))) if truth.is_true() && (child == p || child == q) => {
            vec![(state, child)]
        }
        (Node::And(p, q), Some(Choice::Child(child))) if truth.is_false() && (child == p || child == q) => {
            vec![(state, child)]
        }
        (Node::Modal(modality, child), Some(Choice::Edge(edge))) => {
            assert_eq!(truth.is_true(), modality == Modality::Diamond, "only the owner chooses a hyper-edge");
            problem.graph.edge(state, edge).iter().map(|&member| (member, child)).collect()
        }
        (Node::And(p, q), None) if truth.is_true() => vec![(state, p), (state, q)],
        (Node::Or(p, q), None) if truth.is_false() => vec![(state, p), (state, q)],
        (Node::Fixed(_, body), None) => vec![(state, body)],
        (Node::Modal(modality, child), None) => {
            let sink = problem.graph.is_sink(state);
            assert_eq!(truth.is_true(), modality == Modality::Box, "the owner must choose a hyper-edge");
            let may = problem.graph.may(state);
            let members = if sink { vec![state] } else { may.to_vec() };
            members.into_iter().map(|member| (member, child)).collect()
        }
        (Node::Constant(value), None) => {
            assert_eq!(Truth::from(value), truth);
            Vec::new()
        }
        (Node::Atom(atom), None) => {
            assert_eq!(problem.label(atom, state), truth);
            Vec::new()
        }
        (Node::NegatedAtom(atom), None) => {
            assert_eq!(!problem.label(atom, state), truth);
            Vec::new()
        }
        (node, choice) => panic!("{node:?} is {truth}, the choice {choice:?} does not fit"),
    }
}

/// Walks the strategy from one decided place: all places keep the value, no cycle favours the loser.
fn check_from(problem: &Problem<'_>, solution: &Solution, start: Place) {
    let truth = solution.truth(start.0, start.1);
    let mut moves: BTreeMap<Place, Vec<Place>> = BTreeMap::new();
    let mut pending = vec![start];
    while let Some(place) = pending.pop() {
        if moves.contains_key(&place) {
            continue;
        }
        assert_eq!(solution.truth(place.0, place.1), truth, "the strategy leaves what it wins at {place:?}");
        let next = followers(problem, solution, place);
        pending.extend(&next);
        moves.insert(place, next);
    }
    for &place in moves.keys() {
        let Some(priority) = problem.formula.priority(place.1) else { continue };
        if (priority % 2 == 0) != truth.is_true() {
            assert!(!returns(problem, &moves, place, priority), "{place:?} with {priority} repeats for ever");
        }
    }
}

/// True if a place can come back to itself without a larger priority on the way.
fn returns(problem: &Problem<'_>, moves: &BTreeMap<Place, Vec<Place>>, start: Place, priority: u32) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = moves[&start].clone();
    while let Some(place) = pending.pop() {
        if place == start {
            return true;
        }
        if problem.formula.priority(place.1).is_none_or(|other| other <= priority) && seen.insert(place) {
            pending.extend(&moves[&place]);
        }
    }
    false
}

#[test]
fn strategies_prove_decided_values() {
    for seed in 0..random::cases(100_000) / 5 {
        let mut random = Random::new(seed ^ 0x5717_0000);
        let states = 1 + random.below(7);
        let edges = random::edges(&mut random, states);
        let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
        let formula = random::normal_form(&random::formula(&mut random));
        let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
        let solution = random::solve(&problem);
        for state in graph.states() {
            if solution.truth(state, formula.root()).is_unknown() {
                assert_eq!(solution.choice(&problem, state, formula.root()), None);
            } else {
                check_from(&problem, &solution, (state, formula.root()));
            }
        }
    }
}
