//! Random specifications of random systems of pins, against sets of states beside a composition of concrete states that is written anew.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction as I;
use avr_properties::SpecificationAutomaton;
use avr_testkit::image::r;
use avr_testkit::{Random, cases};

use super::pins::{Machine, PORTB, State, Wire, after, system};
use super::{letters, results_of};
use crate::faults::{Fault, with_fault};
use crate::{Run, Verdict};

/// A move: the node that writes to port B, a bit of the byte with its value if that is compared, and the next state. Without a node it is
/// silent.
pub(super) type Move = (Option<usize>, Option<(u8, bool)>, usize);

/// A state of a specification.
#[derive(Clone, Debug, Default)]
pub(super) struct Specified {
    /// A bit of port B of node `.0` that is low in the state.
    pub(super) low: Option<(usize, u8)>,
    pub(super) moves: BTreeSet<Move>,
}

pub(super) fn specification(random: &mut Random) -> Vec<Specified> {
    let count = 1 + random.below(4_usize);
    let mut all = vec![Specified::default(); count];
    for (state, own) in all.iter_mut().enumerate() {
        if random.chance(20) {
            own.low = Some((random.below(2_usize), random.below(2_u8)));
        }
        let more = random.below(5_usize);
        // Each state has a way to it.
        let next = (state + 1 < count).then_some(state + 1);
        for to in next.into_iter().chain((0..more).map(|_| random.below(count)).collect::<Vec<_>>()) {
            let by = if random.chance(90) { Some(random.below(2_usize)) } else { None };
            let bit = (by.is_some() && random.chance(40)).then(|| (random.below(2_u8), random.chance(50)));
            own.moves.insert((by, bit, to));
        }
    }
    all
}

pub(super) fn text(states: &[Specified]) -> String {
    let name = |node: usize| ["a", "b"][node];
    let states = states.iter().enumerate().map(|(number, Specified { low, moves })| {
        let data = low.map_or_else(String::new, |(node, bit)| format!("data: \"{}.PORTB.{bit} == 0\", ", name(node)));
        let moves = moves.iter().map(|(by, bit, to)| {
            let on = match (by, bit) {
                (None, _) => "tau".to_owned(),
                (Some(node), None) => format!("{}.write(PORTB)", name(*node)),
                (Some(node), Some((bit, set))) => {
                    format!("{}.write(PORTB) & {} == {}", name(*node), 1 << bit, u8::from(*set) << bit)
                }
            };
            format!("(on: \"{on}\", to: \"s{to}\")")
        });
        format!("\"s{number}\": ({data}moves: [{}])", moves.collect::<Vec<_>>().join(", "))
    });
    format!("(initial: [\"s0\"], states: {{ {} }})", states.collect::<Vec<_>>().join(", "))
}

pub(super) type States = BTreeSet<usize>;

pub(super) fn closed(states: &States, all: &[Specified]) -> States {
    let mut closed = states.clone();
    loop {
        let silent = closed.iter().flat_map(|state| &all[*state].moves).filter(|(by, ..)| by.is_none());
        let more: States = silent.map(|(.., to)| *to).collect();
        if more.is_subset(&closed) {
            return closed;
        }
        closed.extend(more);
    }
}

pub(super) fn with_data(states: States, all: &[Specified], system: &State) -> States {
    let is_true = |state: &usize| all[*state].low.is_none_or(|(node, bit)| system[node].port >> bit & 1 == 0);
    states.into_iter().filter(is_true).collect()
}

/// The states in which the specification may be after a step of a node that executed an instruction.
pub(super) fn moved(states: &States, all: &[Specified], (node, instruction): (usize, I), system: &State) -> States {
    let before = closed(states, all);
    let writes = match instruction {
        I::Sbi { io, .. } | I::Cbi { io, .. } | I::Out { io, .. } => io == PORTB && node < 2,
        _ => false,
    };
    let after = if writes {
        let value = system[node].port;
        let answers =
            |(by, bit, _): &&Move| *by == Some(node) && bit.is_none_or(|(bit, set)| (value >> bit & 1 == 1) == set);
        let to: States =
            before.iter().flat_map(|state| all[*state].moves.iter().filter(answers)).map(|(.., to)| *to).collect();
        closed(&to, all)
    } else {
        before
    };
    with_data(after, all, system)
}

/// True if no run leads to the empty set.
pub(super) fn conforms(all: &[Specified], programs: &[Vec<I>], wires: &[Wire]) -> bool {
    let initial: State = vec![Machine::default(); programs.len()];
    let first = (initial.clone(), with_data(closed(&States::from([0]), all), all, &initial));
    let (mut seen, mut waiting) = (BTreeSet::from([first.clone()]), vec![first]);
    while let Some((state, states)) = waiting.pop() {
        if states.is_empty() {
            return false;
        }
        for node in 0..programs.len() {
            let instruction = programs[node][state[node].pc];
            for next in after(&state, programs, wires, node) {
                let states = moved(&states, all, (node, instruction), &next);
                if seen.insert((next.clone(), states.clone())) {
                    waiting.push((next, states));
                }
            }
        }
    }
    true
}

/// True if some concrete run with this schedule ends in what the specification does not answer.
pub(super) fn is_unanswered(run: &Run, all: &[Specified], programs: &[Vec<I>], wires: &[Wire]) -> bool {
    let initial: State = vec![Machine::default(); programs.len()];
    let first = with_data(closed(&States::from([0]), all), all, &initial);
    let nodes = run.schedule.iter().flat_map(|(node, steps)| (0..*steps).map(|_| *node));
    let last = nodes.fold(BTreeSet::from([(initial, first)]), |pairs: BTreeSet<(State, States)>, node| {
        let next = pairs.iter().filter(|(_, states)| !states.is_empty()).flat_map(|(state, states)| {
            let instruction = programs[node][state[node].pc];
            let after = after(state, programs, wires, node).into_iter();
            after.map(move |next| {
                let states = moved(states, all, (node, instruction), &next);
                (next, states)
            })
        });
        next.collect()
    });
    last.iter().any(|(_, states)| states.is_empty())
}

const PROPERTY: &str = "Conforms(to: \"s.ron\", alphabet: [\"a.write(PORTB)\", \"b.write(PORTB)\"], by: \"traces\")";

/// The text of a system with this property only.
fn asked(text: &str) -> String {
    let (before, _) = text.split_once("properties: [").expect("it has properties");
    format!("{before}properties: [{PROPERTY}])")
}

pub(super) fn read(text: &str) -> BTreeMap<String, SpecificationAutomaton> {
    let automaton = SpecificationAutomaton::parse("s.ron", text).unwrap_or_else(|error| panic!("{error}: {text}"));
    BTreeMap::from([("s.ron".to_owned(), automaton)])
}

/// Compares the verdict about a random specification: the letters of the verdict that is right, and of the one that is given.
fn compare(seed: u64) -> Result<(char, char), String> {
    let (of_system, programs, wires) = system(seed);
    let all = specification(&mut Random::new(seed ^ 0x5eed));
    let expected = if conforms(&all, &programs, &wires) { 'h' } else { 'v' };
    let found = results_of(&asked(&of_system), "atmega328p-gpio", &programs, &read(&text(&all)));
    let given = letters(&found).chars().next().expect("there is a property");
    let wrong =
        |what: String| Err(format!("seed {seed}: {what}\n{}\n{of_system}\n{programs:?}\n{found:?}", text(&all)));
    if given != 'u' && given != expected {
        return wrong(format!("{given} instead of {expected}"));
    }
    match &found.properties[0].verdict {
        Verdict::Violated(run) if !is_unanswered(run, &all, &programs, &wires) => {
            wrong("the run has an answer".to_owned())
        }
        _ => Ok((expected, given)),
    }
}

#[test]
fn random_specifications_agree_with_all_concrete_states() {
    let cases = cases(100, 10_000);
    let all = (0..cases).map(|seed| compare(seed).unwrap_or_else(|wrong| panic!("{wrong}")));
    let all: Vec<(char, char)> = all.collect();
    let count = |wanted: &dyn Fn(&(char, char)) -> bool| all.iter().filter(|pair| wanted(pair)).count() as u64;
    let (holding, violated) = (count(&|pair| pair.0 == 'h'), count(&|pair| pair.0 == 'v'));
    let unknown = count(&|pair| pair.1 == 'u');
    assert!(10 * holding >= cases && 10 * violated >= cases, "{holding} hold, {violated} are violated");
    assert!(10 * unknown <= cases, "{unknown} verdicts are unknown");
}

#[test]
fn faults_of_conformance_are_found() {
    for fault in [Fault::UnansweredPassed, Fault::EventsMerged, Fault::InterleavingLeftOut, Fault::MoverForgotten] {
        let found = (0..200).find(|seed| with_fault(fault, || compare(*seed)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}

#[test]
fn two_events_in_a_row_are_two() {
    // It writes to its port twice without anything between.
    let twice = vec![
        I::Ldi { rd: r(16), k: 0 },
        I::Out { io: PORTB, rr: r(16) },
        I::Out { io: PORTB, rr: r(16) },
        I::Rjmp { offset: -1 },
    ];
    let idle = vec![I::Rjmp { offset: -1 }];
    let of_system = "(nodes: { \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }, wires: [], properties: [])";
    let check = |moves: &[&str], expected: &str| {
        let states: Vec<String> = (0..=moves.len())
            .map(|number| match moves.get(number) {
                Some(on) => format!("\"s{number}\": (moves: [(on: \"{on}\", to: \"s{}\")])", number + 1),
                None => format!("\"s{number}\": ()"),
            })
            .collect();
        let text = format!("(initial: [\"s0\"], states: {{ {} }})", states.join(", "));
        let programs = [twice.clone(), idle.clone()];
        let found = results_of(&asked(of_system), "atmega328p-gpio", &programs, &read(&text));
        assert_eq!(letters(&found), expected, "{moves:?}: {found:?}");
        found
    };
    check(&["a.write(PORTB)", "a.write(PORTB) == 0"], "h");
    check(&["a.write(PORTB)"], "v");
    let found = check(&["a.write(PORTB)", "a.write(PORTB) == 1"], "v");
    let Verdict::Violated(run) = &found.properties[0].verdict else { panic!("{found:?}") };
    let beside: Vec<String> = run.specification.iter().map(|moment| moment.states.join(" or ")).collect();
    assert_eq!(beside, ["s0", "s1", ""]);
}

#[test]
fn a_written_bit_has_the_others_beside_it() {
    // It sets bit 0, and clears bit 1: the second byte has bit 0 still.
    let both = vec![I::Sbi { io: PORTB, bit: 0 }, I::Cbi { io: PORTB, bit: 1 }, I::Rjmp { offset: -1 }];
    let idle = vec![I::Rjmp { offset: -1 }];
    let of_system = "(nodes: { \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }, wires: [], properties: [])";
    let check = |second: &str, expected: &str| {
        let text = format!(
            "(initial: [\"s0\"], states: {{ \"s0\": (moves: [(on: \"a.write(PORTB)\", to: \"s1\")]), \
             \"s1\": (moves: [(on: \"{second}\", to: \"s2\")]), \"s2\": () }})"
        );
        let found = results_of(&asked(of_system), "atmega328p-gpio", &[both.clone(), idle.clone()], &read(&text));
        assert_eq!(letters(&found), expected, "{second}: {found:?}");
    };
    check("a.write(PORTB) & 1 == 1", "h");
    check("a.write(PORTB) & 3 == 0", "v");
}

#[test]
fn a_flag_that_is_cleared_has_no_others_beside_it() {
    const TCCR0B: u8 = 0x25;
    const TIFR0: u8 = 0x15;
    // It waits for the flag OCF0A of a timer, and clears TOV0 beside it.
    let one = vec![
        I::Ldi { rd: r(16), k: 1 },
        I::Out { io: TCCR0B, rr: r(16) },
        I::Sbis { io: TIFR0, bit: 1 },
        I::Rjmp { offset: -2 },
        I::Sbi { io: TIFR0, bit: 0 },
        I::Rjmp { offset: -1 },
    ];
    let of_system = "(nodes: { \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }, wires: [], properties: [])";
    let of_system = asked(of_system).replace("PORTB", "TIFR0");
    let check = |byte: u8, expected: &str| {
        let text = format!(
            "(initial: [\"s0\"], states: {{ \"s0\": (moves: [(on: \"a.write(TIFR0) == {byte}\", to: \"s1\")]), \"s1\": () }})"
        );
        let images = [one.clone(), vec![I::Rjmp { offset: -1 }]];
        let found = results_of(&of_system, "atmega328p", &images, &read(&text));
        assert_eq!(letters(&found), expected, "{byte}: {found:?}");
    };
    check(1, "h");
    check(3, "v");
}
