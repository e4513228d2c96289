//! The reduction of an automaton that keeps its words: states that cannot be distinguished are joined, and moves are left out
//! where another one with the same events leads to more.
//!
//! The quotients are those by bisimulation (Paige & Tarjan, 1987) and by mutual simulation, after which moves to states that
//! others simulate can be left out (Bustan & Grumberg, 2003).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::alphabet::Alphabet;
use crate::automaton::{EventAutomaton, EventMove, Occurred, Seen};
use crate::cubes::{Cube, cover};
use crate::extraction::{Step, Visible};
use crate::faults::{Fault, is_on};

/// The most states that are compared with each other.
const MAX_COMPARED: usize = 400;

/// The automaton of a graph without silent steps.
pub(crate) fn automaton(visible: &Visible, alphabet: &Alphabet) -> EventAutomaton {
    let mut reduced = joined(visible, &bisimilar(visible));
    if reduced.moves.len() <= MAX_COMPARED {
        let simulated = simulated(&reduced);
        reduced = pruned(&reduced, &simulated);
        reduced = joined(&reduced, &bisimilar(&reduced));
    }
    let reduced = reachable(&reduced);
    let states = reduced.moves.iter().map(|moves| in_cubes(moves, alphabet)).collect();
    EventAutomaton { alphabet: alphabet.clone(), initial: reduced.initial, states }
}

/// The class of each state, where states of a class have moves with the same events into the same classes.
fn bisimilar(graph: &Visible) -> Vec<usize> {
    let mut classes = vec![0; graph.moves.len()];
    let mut count = 1;
    loop {
        let mut known: FxHashMap<(usize, BTreeSet<(&Step, usize)>), usize> = FxHashMap::default();
        let mut next = Vec::with_capacity(classes.len());
        for (state, moves) in graph.moves.iter().enumerate() {
            let leads: BTreeSet<(&Step, usize)> = moves.iter().map(|(step, to)| (step, classes[*to])).collect();
            let fresh = known.len();
            next.push(*known.entry((classes[state], leads)).or_insert(fresh));
        }
        let found = known.len();
        classes = next;
        if found == count || is_on(Fault::AllJoined) {
            return classes;
        }
        count = found;
    }
}

/// The graph of the classes.
fn joined(graph: &Visible, classes: &[usize]) -> Visible {
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let mut moves = vec![BTreeSet::new(); count];
    for (state, own) in graph.moves.iter().enumerate() {
        moves[classes[state]].extend(own.iter().map(|(step, to)| (step.clone(), classes[*to])));
    }
    let initial: BTreeSet<usize> = graph.initial.iter().map(|state| classes[*state]).collect();
    Visible { initial: initial.into_iter().collect(), moves }
}

/// For each state those that simulate it: they answer each of its moves, again and again.
fn simulated(graph: &Visible) -> Vec<Vec<bool>> {
    let count = graph.moves.len();
    let by_step: Vec<BTreeMap<&Step, Vec<usize>>> = graph
        .moves
        .iter()
        .map(|moves| {
            let mut of_state: BTreeMap<&Step, Vec<usize>> = BTreeMap::new();
            moves.iter().for_each(|(step, to)| of_state.entry(step).or_default().push(*to));
            of_state
        })
        .collect();
    let mut by = vec![vec![true; count]; count];
    let mut changed = true;
    while changed {
        changed = false;
        for state in 0..count {
            for other in 0..count {
                if !by[state][other] {
                    continue;
                }
                let answers = |(step, to): &(Step, usize)| {
                    by_step[other].get(step).is_some_and(|targets| targets.iter().any(|target| by[*to][*target]))
                };
                if !graph.moves[state].iter().all(answers) {
                    by[state][other] = false;
                    changed = true;
                }
            }
        }
    }
    by
}

/// The quotient by mutual simulation, without moves to states that others simulate.
fn pruned(graph: &Visible, by: &[Vec<bool>]) -> Visible {
    let count = graph.moves.len();
    let representative = |state: usize| (0..count).find(|other| by[state][*other] && by[*other][state]).unwrap_or(state);
    let of: Vec<usize> = (0..count).map(representative).collect();
    let is_beaten = |state: usize, others: &[usize]| {
        others.iter().any(|other| of[*other] != of[state] && by[state][*other])
    };
    let mut moves = vec![BTreeSet::new(); count];
    for (state, own) in graph.moves.iter().enumerate() {
        if of[state] != state {
            continue;
        }
        for (step, to) in own {
            let same: Vec<usize> = own.iter().filter(|(other, _)| other == step).map(|(_, target)| *target).collect();
            if !is_beaten(*to, &same) {
                moves[state].insert((step.clone(), of[*to]));
            }
        }
    }
    let first = &graph.initial;
    let initial: BTreeSet<usize> =
        first.iter().filter(|state| !is_beaten(**state, first)).map(|state| of[*state]).collect();
    Visible { initial: initial.into_iter().collect(), moves }
}

/// The part that can be reached, in the order in which it is.
fn reachable(graph: &Visible) -> Visible {
    let mut order: Vec<usize> = Vec::new();
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut reach = |state: usize, order: &mut Vec<usize>| {
        let next = numbers.len();
        *numbers.entry(state).or_insert_with(|| {
            order.push(state);
            next
        })
    };
    let initial = graph.initial.iter().map(|state| reach(*state, &mut order)).collect();
    let mut moves = Vec::new();
    while moves.len() < order.len() {
        let own = &graph.moves[order[moves.len()]];
        moves.push(own.iter().map(|(step, to)| (step.clone(), reach(*to, &mut order))).collect());
    }
    Visible { initial, moves }
}

/// The moves of a state, with the values of events as cubes where a step has one.
fn in_cubes(moves: &BTreeSet<(Step, usize)>, alphabet: &Alphabet) -> Vec<EventMove> {
    let mut values: BTreeMap<(usize, usize), Vec<u8>> = BTreeMap::new();
    let mut all = Vec::new();
    for (step, to) in moves {
        match step.as_slice() {
            [Occurred { letter, value }] => values.entry((*to, *letter)).or_default().push(*value),
            step => {
                let exactly = |it: &Occurred| {
                    let mask = alphabet.letters[it.letter].mask.unwrap_or(0);
                    Seen { letter: it.letter, cube: Cube { mask, value: it.value } }
                };
                all.push(EventMove { step: step.iter().map(exactly).collect(), to: *to });
            }
        }
    }
    for ((to, letter), mut values) in values {
        values.sort_unstable();
        let cubes = cover(&values, alphabet.letters[letter].mask.unwrap_or(0));
        all.extend(cubes.into_iter().map(|cube| EventMove { step: vec![Seen { letter, cube }], to }));
    }
    all.sort();
    all
}
