//! Weak simulation: small systems with known verdicts, and random ones against pairs of concrete states and states of the specification.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction as I;
use avr_testkit::image::r;
use avr_testkit::{Random, cases};

use super::conformance::{
    Specified, States, closed, conforms, is_unanswered, moved, read, specification, text, with_data,
};
use super::pins::{Machine, PORTB, State, Wire, after, system};
use super::{letters, results_of};
use crate::faults::{Fault, with_fault};
use crate::{Results, Verdict};

/// The text of a system that is asked for weak simulation, and for inclusion of traces.
fn asked(text: &str) -> String {
    let (before, _) = text.split_once("properties: [").expect("it has properties");
    let alphabet = "to: \"s.ron\", alphabet: [\"a.write(PORTB)\", \"b.write(PORTB)\"]";
    format!("{before}properties: [Conforms({alphabet}), Conforms({alphabet}, by: \"traces\")])")
}

/// A deterministic specification that answers everything.
fn complete(random: &mut Random) -> Vec<Specified> {
    let count = 2 + random.below(2_usize);
    let moves = |state: usize, random: &mut Random| {
        // Each state has a way to it.
        let next = if state + 1 < count { state + 1 } else { random.below(count) };
        BTreeSet::from([(Some(0), None, next), (Some(1), None, random.below(count))])
    };
    (0..count).map(|state| Specified { low: None, moves: moves(state, random) }).collect()
}

/// Shares the moves of a state out among it and a twin that is entered in its place, so that what comes has to be known before.
fn split(all: &mut Vec<Specified>, random: &mut Random) {
    // The first state is not chosen.
    let (state, twin) = (1 + random.below(all.len() - 1), all.len());
    let mut other = Specified { low: all[state].low, ..Specified::default() };
    for (by, bit, to) in std::mem::take(&mut all[state].moves) {
        let bits = match bit {
            None if by.is_some() && random.chance(60) => vec![Some((0, false)), Some((0, true))],
            bit => vec![bit],
        };
        for bit in bits {
            let (first, both) = (random.chance(50), random.chance(40));
            if first || both {
                all[state].moves.insert((by, bit, to));
            }
            if !first || both {
                other.moves.insert((by, bit, to));
            }
        }
    }
    if random.chance(30) {
        other.low = Some((random.below(2_usize), random.below(2_u8)));
    }
    all.push(other);
    for one in all.iter_mut() {
        for (by, bit, _) in one.moves.clone().into_iter().filter(|(.., to)| *to == state) {
            one.moves.insert((by, bit, twin));
        }
    }
}

fn splitting(random: &mut Random) -> Vec<Specified> {
    let mut all = if random.chance(70) { complete(random) } else { specification(random) };
    if all.len() > 1 && random.chance(90) {
        split(&mut all, random);
    }
    all
}

/// True if the specification simulates all steps: the greatest set of pairs in which each step has an answer.
fn simulates(all: &[Specified], programs: &[Vec<I>], wires: &[Wire]) -> bool {
    let initial: State = vec![Machine::default(); programs.len()];
    let (mut steps, mut waiting) = (BTreeMap::<State, Vec<(usize, State)>>::new(), vec![initial.clone()]);
    while let Some(state) = waiting.pop() {
        if steps.contains_key(&state) {
            continue;
        }
        let next = (0..programs.len())
            .flat_map(|node| after(&state, programs, wires, node).into_iter().map(move |to| (node, to)));
        let next: Vec<(usize, State)> = next.collect();
        waiting.extend(next.iter().map(|(_, to)| to.clone()));
        steps.insert(state, next);
    }
    let mut answering: BTreeMap<&State, States> =
        steps.keys().map(|state| (state, with_data((0..all.len()).collect(), all, state))).collect();
    loop {
        let mut gone = Vec::new();
        for (state, states) in &answering {
            for one in states {
                let is_answered = |(node, to): &(usize, State)| {
                    let instruction = programs[*node][state[*node].pc];
                    let answers = moved(&States::from([*one]), all, (*node, instruction), to);
                    !answers.is_disjoint(&answering[to])
                };
                if !steps[*state].iter().all(is_answered) {
                    gone.push((*state, *one));
                }
            }
        }
        if gone.is_empty() {
            return !closed(&States::from([0]), all).is_disjoint(&answering[&initial]);
        }
        for (state, one) in gone {
            answering.get_mut(state).expect("it is there").remove(&one);
        }
    }
}

/// Compares the verdict about a random specification: if it simulates, if traces are included, and the letter of the verdict.
fn compare(seed: u64) -> Result<(bool, bool, char), String> {
    let (of_system, programs, wires) = system(seed);
    let all = splitting(&mut Random::new(seed ^ 0x51a1));
    let (simulates, includes) = (simulates(&all, &programs, &wires), conforms(&all, &programs, &wires));
    assert!(includes || !simulates, "simulation implies inclusion of traces");
    let found = results_of(&asked(&of_system), "atmega328p-gpio", &programs, &read(&text(&all)));
    let given = letters(&found);
    let wrong = |what: &str| Err(format!("seed {seed}: {what}\n{}\n{of_system}\n{programs:?}\n{found:?}", text(&all)));
    match (given.as_bytes(), &found.properties[0].verdict) {
        ([b'h', _], _) if !simulates => wrong("no simulation"),
        ([b'v', _], _) if includes => wrong("a run that has an answer"),
        ([_, b'h'], _) if !includes => wrong("a run that has no answer"),
        ([_, b'v'], _) if includes => wrong("all runs have an answer"),
        ([b'h', other] | [other, b'v'], _) if other == &b'v' && given.starts_with('h') => wrong("more than traces"),
        (_, Verdict::Violated(run)) if !is_unanswered(run, &all, &programs, &wires) => wrong("the run has an answer"),
        (letters, _) => Ok((simulates, includes, char::from(letters[0]))),
    }
}

#[test]
fn random_specifications_agree_with_all_pairs_of_concrete_states() {
    let cases = cases(300, 10_000);
    let all: Vec<(bool, bool, char)> =
        (0..cases).map(|seed| compare(seed).unwrap_or_else(|wrong| panic!("{wrong}"))).collect();
    let count = |wanted: &dyn Fn(&(bool, bool, char)) -> bool| all.iter().filter(|it| wanted(it)).count() as u64;
    let (holding, violated) = (count(&|it| it.0), count(&|it| !it.1));
    let between = count(&|it| it.1 && !it.0);
    let unknown = count(&|it| it.2 == 'u' && (it.0 || !it.1));
    assert!(10 * holding >= cases && 10 * violated >= cases, "{holding} hold, {violated} are violated");
    assert!(50 * between >= cases, "{between} have traces, and no simulation");
    assert!(10 * unknown <= cases, "{unknown} verdicts are unknown");
}

#[test]
fn faults_of_simulation_are_found() {
    for fault in [
        Fault::SimulationOfSets,
        Fault::UnansweredPassed,
        Fault::EventsMerged,
        Fault::InterleavingLeftOut,
        Fault::MoverForgotten,
    ] {
        let found = (0..300).find(|seed| with_fault(fault, || compare(*seed)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}

/// The results for a program that writes 0 to its port and then 1, beside one that writes 0, and for a specification with these states.
fn of_writers(states: &str) -> Results {
    let value = |k: u8| [I::Ldi { rd: r(16), k }, I::Out { io: PORTB, rr: r(16) }];
    let rests = vec![I::Rjmp { offset: -1 }];
    let programs = [[&value(0)[..], &value(1), &rests].concat(), [&value(0)[..], &rests].concat()];
    let of_system = "(nodes: { \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }, wires: [], properties: [])";
    results_of(
        &asked(of_system),
        "atmega328p-gpio",
        &programs,
        &read(&format!("(initial: [\"s\"], states: {{ {states} }})")),
    )
}

const ANY: &str = "\"any\": (moves: [(on: \"a.write(PORTB)\", to: \"any\"), (on: \"b.write(PORTB)\", to: \"any\")])";
/// The first write of `a` leads to one of two states.
const FIRST: &str = "\"s\": (moves: [(on: \"b.write(PORTB)\", to: \"any\"), (on: \"a.write(PORTB)\", to: \"p\"),
    (on: \"a.write(PORTB)\", to: \"q\")])";

fn reason(found: &Results) -> &str {
    match &found.properties[0].verdict {
        Verdict::Unknown(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_has_to_know_what_comes_does_not_simulate() {
    let early = format!(
        "{ANY}, {FIRST}, \"p\": (moves: [(on: \"a.write(PORTB)\", to: \"any\")]),
         \"q\": (moves: [(on: \"b.write(PORTB)\", to: \"any\")])"
    );
    let found = of_writers(&early);
    assert_eq!(letters(&found), "uh");
    let expected = "each run has an answer, but the specification would have to know what comes: in state p it has no answer to \
                    b.write(PORTB) where a is at 0x0006, b is at 0x0004";
    assert_eq!(reason(&found), expected);
    assert_eq!(letters(&with_fault(Fault::SimulationOfSets, || of_writers(&early))), "hh");
    // It chooses later.
    let found = of_writers(&format!(
        "{ANY}, {FIRST}, \"p\": (moves: [(on: \"a.write(PORTB)\", to: \"any\"), (on: \"tau\", to: \"q\")]),
         \"q\": (moves: [(on: \"b.write(PORTB)\", to: \"any\")])"
    ));
    assert_eq!(letters(&found), "hh");
    // It may not choose silently, and then have no answer.
    let found = of_writers(&format!(
        "{ANY}, \"s\": (moves: [(on: \"a.write(PORTB)\", to: \"p\")]), \"p\": (moves: [(on: \"b.write(PORTB)\", to: \"any\")])"
    ));
    assert_eq!(letters(&found), "vv");
}

#[test]
fn data_are_true_of_the_state_that_is_chosen() {
    let states = format!(
        "{ANY}, {FIRST}, \"p\": (data: \"a.PORTB.0 == 0\", moves: [(on: \"a.write(PORTB)\", to: \"p\"),
         (on: \"b.write(PORTB)\", to: \"any\")]), \"q\": (moves: [(on: \"a.write(PORTB)\", to: \"any\")])"
    );
    let found = of_writers(&states);
    assert_eq!(letters(&found), "uh");
    assert!(reason(&found).contains("the data of state p are not true where a is at"), "{found:?}");
    assert_eq!(letters(&with_fault(Fault::DataUnasked, || of_writers(&states))), "hh");
}
