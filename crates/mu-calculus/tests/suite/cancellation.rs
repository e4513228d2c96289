//! Long computations ask often enough whether to stop, and problems that do not fit are refused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use mu_calculus::{
    AtomId, Formula, GraphBuilder, HyperGraph, Labels, NormalForm, Problem, SolveError, StateId, parse_formula,
};

use crate::random;

/// A ring with shortcuts.
fn ring(states: u32) -> HyperGraph {
    let mut builder = GraphBuilder::new();
    for state in 0..states {
        builder.state();
        builder.edge([StateId((state + 1) % states)]);
        builder.edge([StateId((state / 2 + 7) % states), StateId((state + 3) % states)]);
    }
    builder.finish(StateId(0)).expect("all members are states")
}

fn normal_form(text: &str) -> NormalForm {
    let formula = parse_formula(text).expect("the formula parses");
    let bound = formula.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("binding succeeds");
    random::normal_form(&bound)
}

const NESTED: &str = "nu X. mu Y. nu Z. [](p && X || <>(!p && Z) || <>Y)";

#[test]
fn cancellation_is_prompt() {
    let (graph, labels) = (ring(300_000), Labels::new(1, 300_000));
    let formula = normal_form(NESTED);
    let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
    let start = Instant::now();
    let late = || start.elapsed() > Duration::from_millis(30);
    assert_eq!(problem.solve(&late).err(), Some(SolveError::Cancelled));
    // Generous: machines that run tests are busy.
    assert!(start.elapsed() < Duration::from_secs(2), "took {:?} to stop", start.elapsed());
}

#[test]
fn cancellation_is_asked_often() {
    let (graph, labels) = (ring(100_000), Labels::new(1, 100_000));
    let formula = normal_form(NESTED);
    let questions = AtomicUsize::new(0);
    let count = || {
        questions.fetch_add(1, Ordering::Relaxed);
        false
    };
    Problem { graph: &graph, labels: &labels, formula: &formula }.solve(&count).expect("nothing cancels it");
    assert!(questions.load(Ordering::Relaxed) > 50, "asked {questions:?} times");
}

#[test]
fn result_is_the_same_every_time() {
    let (graph, labels) = (ring(20_000), Labels::new(1, 20_000));
    let formula = normal_form(NESTED);
    let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
    let solve = || {
        let solution = random::solve(&problem);
        let culprits: Vec<_> = solution.culprits(&problem).take(5).collect();
        let choices: Vec<_> = graph.states().map(|state| solution.choice(&problem, state, formula.root())).collect();
        (solution.verdict(), culprits, choices)
    };
    assert_eq!(solve(), solve());
}

fn check(labels: &Labels, formula: &Formula<AtomId>, expected: &Expect) {
    let (graph, formula) = (ring(3), random::normal_form(formula));
    let problem = Problem { graph: &graph, labels, formula: &formula };
    expected.assert_eq(&problem.solve(&|| false).expect_err("the problem is wrong").to_string());
}

#[test]
fn problems_that_do_not_fit_are_refused() {
    let atom = Formula::Atom(AtomId(1));
    check(&Labels::new(2, 4), &atom, &expect!["the labels are for 4 states, the graph has 3"]);
    check(&Labels::new(1, 3), &atom, &expect!["the formula uses atom 1, but only 1 atoms are labelled"]);
}

#[test]
fn graphs_that_are_none_are_refused() {
    let check = |build: &dyn Fn(&mut GraphBuilder), expected: Expect| {
        let mut builder = GraphBuilder::new();
        build(&mut builder);
        expected.assert_eq(&builder.finish(StateId(0)).expect_err("the graph is wrong").to_string());
    };
    check(&|_| (), expect!["state 0 does not exist, the graph has 0; add every state before finishing"]);
    check(
        &|builder| {
            builder.state();
            builder.edge([]);
        },
        expect!["state 0 has a hyper-edge without members; leave it out, or give the state none to make it a sink"],
    );
    check(
        &|builder| {
            builder.state();
            builder.edge([StateId(7)]);
        },
        expect!["state 7 does not exist, the graph has 1; add every state before finishing"],
    );
}
