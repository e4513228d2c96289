//! Root causes of unknown verdicts: there always is one, it is one, and the nearest comes first.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use mu_calculus::{AtomId, Cause, Culprit, Labels, Modality, Node, Problem, Solution, StateId, parse_formula};
use three_valued::Truth;

use crate::random::{self, Edges};
use avr_testkit::Random;

/// Checks that the path is one and ends where the cause is, and that the cause is one.
fn check_culprit(problem: &Problem<'_>, solution: &Solution, culprit: &Culprit) {
    let mut state = problem.graph.initial();
    for step in &culprit.path {
        assert_eq!(step.state, state);
        assert!(matches!(problem.formula.node(step.node), Node::Modal(..)));
        assert!(solution.truth(state, step.node).is_unknown());
        state = problem.graph.edge(state, step.edge)[step.member];
    }
    assert_eq!(culprit.state, state);
    assert!(solution.truth(state, culprit.node).is_unknown());
    match (culprit.cause, problem.formula.node(culprit.node)) {
        (Cause::Atom(atom), Node::Atom(found) | Node::NegatedAtom(found)) => {
            assert_eq!(atom, found);
            assert!(problem.labels.get(atom, state).is_unknown());
            assert!(!problem.graph.is_sink(state));
        }
        (Cause::Sink, _) => assert!(problem.graph.is_sink(state)),
        (Cause::Edge { edge, disagree }, Node::Modal(modality, child)) => {
            let members = problem.graph.edge(state, edge);
            let values: BTreeSet<Truth> = members.iter().map(|&member| solution.truth(member, child)).collect();
            assert!(members.len() > 1);
            assert_eq!(disagree, values.contains(&Truth::True) && values.contains(&Truth::False));
            let indifferent = if modality == Modality::Diamond { Truth::False } else { Truth::True };
            assert_ne!(values, BTreeSet::from([indifferent]));
        }
        (cause, node) => panic!("{cause:?} at {node:?}"),
    }
}

#[test]
fn every_unknown_verdict_has_a_culprit() {
    let mut unknown = 0;
    for seed in 0..random::cases(100_000) / 5 {
        let mut random = Random::new(seed ^ 0x1200_0000);
        let states = 1 + random.below(8);
        let edges = random::edges(&mut random, states);
        let (graph, labels) = (random::graph(&edges), random::labels(&mut random, states));
        let formula = random::normal_form(&random::formula(&mut random));
        let problem = Problem { graph: &graph, labels: &labels, formula: &formula };
        let solution = random::solve(&problem);
        let culprits: Vec<Culprit> = solution.culprits(&problem).collect();
        assert_eq!(!culprits.is_empty(), solution.verdict().is_unknown(), "seed {seed}");
        unknown += usize::from(!culprits.is_empty());
        culprits.iter().for_each(|culprit| check_culprit(&problem, &solution, culprit));
        check_order(&problem, &culprits);
    }
    assert!(unknown > 100, "too few unknown verdicts to mean anything");
}

/// Nearest first, each cause once, hyper-edges without certain disagreement after the others, and those that contain another one last.
fn check_order(problem: &Problem<'_>, culprits: &[Culprit]) {
    let class = |culprit: &Culprit| match culprit.cause {
        Cause::Edge { edge, .. } if contains_another(problem, culprit.state, edge) => 2,
        Cause::Edge { disagree: false, .. } => 1,
        _ => 0,
    };
    let key = |culprit: &Culprit| (class(culprit), culprit.path.len());
    assert!(culprits.is_sorted_by_key(key), "{culprits:?}");
    for (index, culprit) in culprits.iter().enumerate() {
        let same = |other: &Culprit| (other.state, other.cause) == (culprit.state, culprit.cause);
        assert!(!culprits[..index].iter().any(same), "{culprit:?} came twice");
    }
}

/// True if another hyper-edge of a state has some of the members of this one, and no others.
fn contains_another(problem: &Problem<'_>, state: StateId, edge: usize) -> bool {
    let members = |edge: usize| problem.graph.edge(state, edge).iter().collect::<BTreeSet<_>>();
    let whole = members(edge);
    (0..problem.graph.edges(state).count()).any(|other| members(other).is_subset(&whole) && members(other) != whole)
}

/// `labels` has one character per state: `0`, `1` or `X` for the atom `p`.
#[track_caller]
fn check(edges: &[&[&[u32]]], labels: &str, formula: &str, expected: &Expect) {
    let edges: Edges = edges.iter().map(|state| state.iter().map(|members| members.to_vec()).collect()).collect();
    let graph = random::graph(&edges);
    let mut p = Labels::new(1, edges.len());
    for (state, label) in graph.states().zip(labels.chars()) {
        p.set(AtomId(0), state, [Truth::False, Truth::True, Truth::Unknown]["01X".find(label).expect("0, 1 or X")]);
    }
    let parsed = parse_formula(formula).expect("the formula parses");
    let bound = parsed.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("binding succeeds");
    let formula = random::normal_form(&bound);
    let problem = Problem { graph: &graph, labels: &p, formula: &formula };
    let solution = random::solve(&problem);
    let shown: Vec<String> = solution.culprits(&problem).map(|culprit| show(&culprit)).collect();
    expected.assert_eq(&shown.join("\n"));
}

fn show(culprit: &Culprit) -> String {
    let steps = culprit.path.iter().map(|step| format!("{} -{}.{}-> ", step.state.0, step.edge, step.member));
    format!("{}{}: {:?}", steps.collect::<String>(), culprit.state.0, culprit.cause)
}

#[test]
fn unknown_atoms_nearest_first() {
    let chain: &[&[&[u32]]] = &[&[&[1], &[2]], &[&[3]], &[&[2]], &[&[3]]];
    check(
        chain,
        "11XX",
        "AG p",
        &expect![[r"
        0 -1.0-> 2: Atom(AtomId(0))
        0 -0.0-> 1 -0.0-> 3: Atom(AtomId(0))"]],
    );
}

#[test]
fn members_that_disagree() {
    let split: &[&[&[u32]]] = &[&[&[1, 2]], &[&[1]], &[&[2]]];
    check(split, "001", "EF p", &expect!["0: Edge { edge: 0, disagree: true }"]);
    check(
        split,
        "00X",
        "EF p",
        &expect![[r"
        0 -0.1-> 2: Atom(AtomId(0))
        0: Edge { edge: 0, disagree: false }"]],
    );
    check(split, "001", "<>p", &expect!["0: Edge { edge: 0, disagree: true }"]);
    check(
        split,
        "0XX",
        "[]p",
        &expect![[r"
        0 -0.0-> 1: Atom(AtomId(0))
        0 -0.1-> 2: Atom(AtomId(0))
        0: Edge { edge: 0, disagree: false }"]],
    );
    check(split, "001", "AG (p || !p)", &expect![""]);
}

#[test]
fn edges_with_a_decided_member_come_first_where_that_is_wanted() {
    // The edge of 0 leads to what is unknown, that of 1 perhaps to what fails for certain: that one tells more.
    let edges: &[&[&[u32]]] = &[&[&[1, 2]], &[&[3, 4]], &[&[2, 4]], &[&[3]], &[&[0, 4]]];
    let graph = random::graph(&edges.iter().map(|state| state.iter().map(|edge| edge.to_vec()).collect()).collect());
    let mut p = Labels::new(1, edges.len());
    for state in graph.states() {
        p.set(AtomId(0), state, Truth::from(state.0 != 3));
    }
    let parsed = parse_formula("AG p").expect("the formula parses");
    let bound = parsed.try_map_atoms(&mut |_| Ok::<_, ()>(AtomId(0))).expect("binding succeeds");
    let formula = random::normal_form(&bound);
    let problem = Problem { graph: &graph, labels: &p, formula: &formula };
    let solution = random::solve(&problem);
    let states =
        |culprits: &mut dyn Iterator<Item = Culprit>| -> Vec<u32> { culprits.map(|one| one.state.0).collect() };
    assert_eq!(states(&mut solution.culprits(&problem)), [0, 1, 2, 4]);
    assert_eq!(states(&mut solution.culprits(&problem).decided_first()), [1, 0, 2, 4]);
}

#[test]
fn members_that_only_differ_for_ever() {
    // From 0 one member comes back at once, the other over 1 where p holds: whether p recurs depends on who picks.
    let edges: &[&[&[u32]]] = &[&[&[0, 1]], &[&[0]]];
    check(edges, "01", "nu X. mu Y. <>((p && X) || Y)", &expect!["0: Edge { edge: 0, disagree: false }"]);
}

#[test]
fn sinks() {
    let edges: &[&[&[u32]]] = &[&[&[1]], &[]];
    check(edges, "11", "AG p", &expect!["0 -0.0-> 1: Sink"]);
    check(edges, "11", "EX EX true", &expect!["0 -0.0-> 1: Sink"]);
}
