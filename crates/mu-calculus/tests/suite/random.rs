//! Random graphs, labels and formulas, the same for the same seed.

use avr_testkit::Random;
use mu_calculus::{
    AtomId, Comparison, Formula, GraphBuilder, HyperGraph, Labels, NormalForm, Problem, Solution, StateId,
    parse_formula,
};
use three_valued::Truth;

/// The number of atoms of random formulas.
pub const ATOMS: u32 = 2;

/// The number of random cases: `MU_CALCULUS_CASES`, or else `default`.
pub fn cases(default: u64) -> u64 {
    std::env::var("MU_CALCULUS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A graph as lists: per state its hyper-edges.
pub type Edges = Vec<Vec<Vec<u32>>>;

pub fn edges(random: &mut Random, states: u32) -> Edges {
    let sinks = [0, 10, 30][random.below(3_usize)];
    let several = [0, 30, 60][random.below(3_usize)];
    (0..states)
        .map(|_| {
            let degree = if random.chance(sinks) { 0 } else { 1 + random.below(3) };
            (0..degree).map(|_| members(random, states, several)).collect()
        })
        .collect()
}

fn members(random: &mut Random, states: u32, several: u64) -> Vec<u32> {
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
    let unknown = [0, 20, 50][random.below(3_usize)];
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

/// A closed formula; one in three is a nest of up to four alternating fixed points.
pub fn formula(random: &mut Random) -> Formula<AtomId> {
    const NAMES: [&str; ATOMS as usize] = ["p", "q"];
    let text = avr_testkit::formulas::formula(random, &NAMES, 4);
    let formula = parse_formula(&text).unwrap_or_else(|error| panic!("{error}"));
    let number = |atom: &Comparison| NAMES.iter().position(|name| atom.bare_name() == Some(name));
    let bound = formula.try_map_atoms(&mut |atom| number(atom).map(|number| AtomId(number as u32)).ok_or(()));
    bound.expect("all atoms have numbers")
}
