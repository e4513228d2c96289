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
use crate::extraction::{Labelled, Step, TooLarge};
use crate::faults;

/// The most states that are compared with each other.
const MAX_COMPARED: usize = 400;

/// The automaton of a graph.
pub(crate) fn automaton(graph: &Labelled, alphabet: &Alphabet) -> Result<EventAutomaton, TooLarge> {
    let visible = joined(graph, &bisimilar(graph)).visible()?;
    let mut reduced = joined(&visible, &bisimilar(&visible));
    if reduced.moves.len() <= MAX_COMPARED {
        reduced = pruned(&reduced, &simulated(&reduced));
        reduced = joined(&reduced, &bisimilar(&reduced));
    }
    let reduced = reduced.reachable();
    let states = reduced.moves.iter().map(|moves| in_cubes(moves, alphabet)).collect();
    Ok(EventAutomaton { alphabet: alphabet.clone(), initial: reduced.initial, states })
}

/// The class of a state, and the moves from there into classes.
type Signature<'a> = (usize, BTreeSet<(&'a Step, usize)>);

/// The class of each state, where states of a class have moves with the same events into the same classes.
fn bisimilar(graph: &Labelled) -> Vec<usize> {
    let mut classes = vec![0; graph.moves.len()];
    if faults::joins_all() {
        return classes;
    }
    let mut count = 1;
    loop {
        let mut known: FxHashMap<Signature<'_>, usize> = FxHashMap::default();
        let mut next = Vec::with_capacity(classes.len());
        for (state, moves) in graph.moves.iter().enumerate() {
            let leads: BTreeSet<(&Step, usize)> = moves.iter().map(|(step, to)| (step, classes[*to])).collect();
            let fresh = known.len();
            next.push(*known.entry((classes[state], leads)).or_insert(fresh));
        }
        let found = known.len();
        classes = next;
        if found == count {
            return classes;
        }
        count = found;
    }
}

/// The graph of the classes.
fn joined(graph: &Labelled, classes: &[usize]) -> Labelled {
    let count = classes.iter().max().map_or(0, |last| last + 1);
    let mut moves = vec![BTreeSet::new(); count];
    for (state, own) in graph.moves.iter().enumerate() {
        let into_classes = own.iter().map(|(step, to)| (step.clone(), classes[*to]));
        moves[classes[state]].extend(into_classes.filter(|(step, to)| !step.is_empty() || *to != classes[state]));
    }
    let initial: BTreeSet<usize> = graph.initial.iter().map(|state| classes[*state]).collect();
    Labelled { initial: initial.into_iter().collect(), moves }
}

/// For each state those that simulate it: they answer each of its moves, again and again.
fn simulated(graph: &Labelled) -> Vec<Vec<bool>> {
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
fn pruned(graph: &Labelled, by: &[Vec<bool>]) -> Labelled {
    let count = graph.moves.len();
    let representative =
        |state: usize| (0..count).find(|other| by[state][*other] && by[*other][state]).unwrap_or(state);
    let of: Vec<usize> = (0..count).map(representative).collect();
    let is_beaten =
        |state: usize, others: &[usize]| others.iter().any(|other| of[*other] != of[state] && by[state][*other]);
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
    Labelled { initial: initial.into_iter().collect(), moves }
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
