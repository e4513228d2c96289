//! Random systems of programs that read and drive pins, against a composition of concrete states that knows nothing of this crate.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction as I;
use avr_testkit::image::r;
use avr_testkit::{Random, cases};

use super::{components, letters, results};
use crate::faults::{Fault, with_fault};
use crate::{Run, Verdict};

pub(super) const PORTB: u8 = 0x05;
const PINB: u8 = 0x03;
const DDRB: u8 = 0x04;
const DDRD: u8 = 0x0a;
const PIND: u8 = 0x09;
const PORTD: u8 = 0x0b;

/// A node of the concrete composition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Machine {
    pub(super) pc: usize,
    pub(super) port: u8,
    direction: u8,
    /// PORTD, whose bits are pull-ups: port D has inputs only.
    pull: u8,
    register: u8,
    zero: bool,
    /// A pin became an input in the last step: what is read now is not what the wires say.
    pub(super) settling: bool,
}

pub(super) type State = Vec<Machine>;

/// A wire from bit `.1` of port B of node `.0` to bit `.3` of port D of node `.2`.
pub(super) type Wire = (usize, u8, usize, u8);

fn program(random: &mut Random, turns: bool) -> Vec<I> {
    let length = 3 + random.below(7_usize);
    let mut all = vec![I::Ldi { rd: r(16), k: random.byte() & 1 }];
    if random.chance(70) {
        all.push(I::Sbi { io: DDRB, bit: 0 });
    }
    // A pin that became an input just before something is read.
    let turned = |random: &mut Random, all: &mut Vec<I>| {
        if turns && random.chance(60) {
            all.extend([I::Sbi { io: DDRB, bit: 0 }, I::Cbi { io: DDRB, bit: 0 }]);
        }
    };
    let reader = |random: &mut Random| {
        let bit = if random.chance(80) { 2 } else { 3 };
        if random.chance(50) { I::Sbis { io: PIND, bit } } else { I::Sbic { io: PIND, bit } }
    };
    while all.len() < length {
        let bit = random.below(2_u8);
        match random.below(10_u8) {
            0 | 1 => all.push(I::Sbi { io: PORTB, bit }),
            2 | 3 => all.push(I::Cbi { io: PORTB, bit }),
            4 | 5 => {
                turned(random, &mut all);
                all.push(reader(random));
                let offset = if random.chance(60) { -2 } else { -(random.below(all.len() as i16) + 1) };
                all.push(I::Rjmp { offset });
            }
            6 => {
                turned(random, &mut all);
                all.push(I::In { rd: r(16), io: PIND });
                all.push(I::Andi { rd: r(16), k: random.pick(&[4, 8, 12]) });
                let last = all.len() as i8;
                let offset = -(random.below(last) + 1);
                all.push(if random.chance(50) { I::Brbs { flag: 1, offset } } else { I::Brbc { flag: 1, offset } });
            }
            7 => all.extend([I::Lsr { rd: r(16) }, I::Lsr { rd: r(16) }, I::Out { io: PORTB, rr: r(16) }]),
            8 => all.push(if random.chance(70) { I::Sbi { io: DDRB, bit: 0 } } else { I::Cbi { io: DDRB, bit: 0 } }),
            _ => all.push(if random.chance(50) { I::Sbi { io: PORTD, bit: 2 } } else { I::Nop }),
        }
    }
    let back = random.below(all.len() as i16);
    all.push(I::Rjmp { offset: back - all.len() as i16 - 1 });
    all
}

/// The levels that a read of a bit of port D can give.
fn levels(state: &State, wires: &[Wire], node: usize, bit: u8) -> Vec<bool> {
    let Some((from, source, ..)) = wires.iter().find(|wire| (wire.2, wire.3) == (node, bit)) else {
        return vec![false, true];
    };
    if state[node].settling {
        return vec![false, true];
    }
    let driver = state[*from];
    let port = driver.port >> source & 1 == 1;
    match driver.direction >> source & 1 == 1 {
        true => vec![port],
        false if port || state[node].pull >> bit & 1 == 1 => vec![true],
        false => vec![false, true],
    }
}

fn jumped(pc: usize, offset: i64) -> usize {
    (pc as i64 + 1 + offset) as usize
}

/// All states after a step of a node.
pub(super) fn after(state: &State, programs: &[Vec<I>], wires: &[Wire], node: usize) -> Vec<State> {
    let machine = Machine { settling: false, ..state[node] };
    let next = Machine { pc: machine.pc + 1, ..machine };
    let with = |bits: u8, bit: u8, set: bool| if set { bits | 1 << bit } else { bits & !(1 << bit) };
    let stored = |io: u8, bit: u8, set: bool| match io {
        PORTB => Machine { port: with(machine.port, bit, set), ..next },
        DDRB => {
            let settling = !set && machine.direction >> bit & 1 == 1;
            Machine { direction: with(machine.direction, bit, set), settling, ..next }
        }
        _ => Machine { pull: with(machine.pull, bit, set), ..next },
    };
    let reads = |bit: u8| levels(state, wires, node, bit);
    let skip = |set: bool, wanted: bool| Machine { pc: next.pc + usize::from(set == wanted), ..next };
    let machines: Vec<Machine> = match programs[node][machine.pc] {
        I::Ldi { k, .. } => vec![Machine { register: k, ..next }],
        I::Sbi { io, bit } => vec![stored(io, bit, true)],
        I::Cbi { io, bit } => vec![stored(io, bit, false)],
        I::Sbis { bit, .. } => reads(bit).into_iter().map(|set| skip(set, true)).collect(),
        I::Sbic { bit, .. } => reads(bit).into_iter().map(|set| skip(set, false)).collect(),
        I::In { .. } => {
            let both = reads(2).into_iter().flat_map(|two| reads(3).into_iter().map(move |three| (two, three)));
            both.map(|(two, three)| Machine { register: u8::from(two) << 2 | u8::from(three) << 3, ..next }).collect()
        }
        I::Andi { k, .. } => {
            let register = machine.register & k;
            vec![Machine { register, zero: register == 0, ..next }]
        }
        I::Lsr { .. } => {
            let register = machine.register >> 1;
            vec![Machine { register, zero: register == 0, ..next }]
        }
        I::Out { .. } => vec![Machine { port: machine.register, ..next }],
        I::Brbs { offset, .. } if machine.zero => vec![Machine { pc: jumped(machine.pc, offset.into()), ..machine }],
        I::Brbc { offset, .. } if !machine.zero => vec![Machine { pc: jumped(machine.pc, offset.into()), ..machine }],
        I::Rjmp { offset } => vec![Machine { pc: jumped(machine.pc, offset.into()), ..machine }],
        _ => vec![next],
    };
    let put = |machine: Machine| {
        let mut state = state.clone();
        state[node] = machine;
        state
    };
    machines.into_iter().map(put).collect()
}

/// The levels and pull-ups that the pins of a state give to the wires, at both ends.
pub(super) fn carried(state: &State, wires: &[Wire]) -> Vec<(bool, bool, bool, bool)> {
    let bit = |bits: u8, bit: u8| bits >> bit & 1 == 1;
    let one = |wire: &Wire| {
        let (from, to) = (state[wire.0], state[wire.2]);
        let (drives, port) = (bit(from.direction, wire.1), bit(from.port, wire.1));
        (drives, drives && port, !drives && port, bit(to.pull, wire.3))
    };
    wires.iter().map(one).collect()
}

/// True if a pin is high that the first formula of linear time speaks of.
fn is_high(state: &State) -> bool {
    (state[0].port | state[1].port) & 1 == 1
}

/// The verdicts of the formulas of linear time: `G F` of a pin that is high, and `F G` of one that is low. Fair runs stay in a strongly
/// connected part in which each node takes steps.
pub(super) fn of_fair_runs(states: &[State], edges: &[Vec<(usize, usize)>]) -> [bool; 2] {
    let is_fair = |part: &BTreeSet<usize>| {
        let inside = |from: &usize| edges[*from].iter().filter(|(_, to)| part.contains(to)).map(|(node, _)| *node);
        let movers: BTreeSet<usize> = part.iter().flat_map(inside).collect();
        movers.len() == states[0].len()
    };
    let parts = |of: &BTreeSet<usize>| {
        let all = components(of, &|from| edges[from].iter().map(|(_, to)| *to).filter(|to| of.contains(to)).collect());
        all.into_iter().filter(is_fair).collect::<Vec<_>>()
    };
    let low: BTreeSet<usize> = (0..states.len()).filter(|state| !is_high(&states[*state])).collect();
    let all: BTreeSet<usize> = (0..states.len()).collect();
    let is_low = |part: &BTreeSet<usize>| part.iter().all(|state| states[*state][0].port & 1 == 0);
    [parts(&low).is_empty(), parts(&all).iter().all(is_low)]
}

/// True if some concrete run with this schedule gets back to where the part that repeats begins, and violates a formula of linear time
/// (by its number) there.
fn is_violated_by(run: &Run, programs: &[Vec<I>], wires: &[Wire], formula: usize) -> bool {
    let Some(repeats) = run.repeats else { return false };
    let take = |states: BTreeSet<(State, bool)>, schedule: &[(usize, u64)]| {
        let nodes = schedule.iter().flat_map(|(node, steps)| (0..*steps).map(|_| *node));
        nodes.fold(states, |states, node| {
            let next = states.iter().flat_map(|(state, seen)| {
                let next = after(state, programs, wires, node).into_iter();
                next.map(|next| {
                    let here = if formula == 0 { is_high(&next) } else { next[0].port & 1 == 1 };
                    (next, *seen || here)
                })
            });
            next.collect()
        })
    };
    let (before, repeated) = run.schedule.split_at(repeats.schedule);
    let movers: BTreeSet<usize> = repeated.iter().map(|(node, _)| *node).collect();
    let begins = take(BTreeSet::from([(vec![Machine::default(); programs.len()], false)]), before);
    movers.len() == programs.len()
        && begins.into_iter().any(|(state, _)| {
            // In the first formula a pin must stay low, in the second one it must get high.
            take(BTreeSet::from([(state.clone(), false)]), repeated).contains(&(state, formula == 1))
        })
}

/// The verdicts of the properties, by all states.
fn explicit(programs: &[Vec<I>], wires: &[Wire]) -> String {
    let initial: State = vec![Machine::default(); programs.len()];
    let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    let mut edges: Vec<Vec<(usize, bool)>> = Vec::new();
    let mut movers: Vec<Vec<(usize, usize)>> = Vec::new();
    while edges.len() < states.len() {
        let state = states[edges.len()].clone();
        let (mut here, mut by) = (Vec::new(), Vec::new());
        for node in 0..programs.len() {
            for next in after(&state, programs, wires, node) {
                let happened = carried(&next, wires) != carried(&state, wires);
                let count = numbers.len();
                let number = *numbers.entry(next.clone()).or_insert(count);
                if number == states.len() {
                    states.push(next);
                }
                here.push((number, happened));
                by.push((node, number));
            }
        }
        edges.push(here);
        movers.push(by);
    }
    let mut backwards: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
    let mut alive = BTreeSet::new();
    for (from, all) in edges.iter().enumerate() {
        for (to, happened) in all {
            backwards[*to].push(from);
            if *happened {
                alive.insert(from);
            }
        }
    }
    let mut waiting: Vec<usize> = alive.iter().copied().collect();
    while let Some(state) = waiting.pop() {
        waiting.extend(backwards[state].iter().copied().filter(|before| alive.insert(*before)));
    }
    let letter = |holds: bool| if holds { 'h' } else { 'v' };
    let both = states.iter().all(|state| state[0].port & 1 == 0 || state[1].port & 1 == 0);
    let first = states.iter().all(|state| state[0].port & 2 == 0 || state[1].port & 1 == 1);
    let [again, stays] = of_fair_runs(&states, &movers);
    [both, first, alive.len() == states.len(), again, stays].map(letter).into_iter().collect()
}

/// A random system: its text, its programs and its wires.
pub(super) fn system(seed: u64) -> (String, Vec<Vec<I>>, Vec<Wire>) {
    system_with(seed, false)
}

/// The same, with pins that become inputs just before something is read, if that is asked for.
pub(super) fn system_with(seed: u64, turns: bool) -> (String, Vec<Vec<I>>, Vec<Wire>) {
    let mut random = Random::new(seed);
    let count = if random.chance(80) { 2 } else { 3 };
    let programs: Vec<Vec<I>> = (0..count).map(|_| program(&mut random, turns)).collect();
    let mut wires: Vec<Wire> = Vec::new();
    for node in 0..count {
        if random.chance(90) {
            wires.push((node, 0, (node + 1) % count, 2));
        }
        if count == 3 && random.chance(30) {
            wires.push((node, 1, (node + 2) % count, 3));
        }
    }
    let name = |node: usize| ["a", "b", "c"][node];
    let nodes: Vec<String> = (0..count).map(|node| format!("\"{0}\": (firmware: \"{0}\")", name(node))).collect();
    let pins = wires.iter().map(|(from, bit, to, at)| {
        format!("Pin(from: \"{}.PORTB.{bit}\", to: \"{}.PIND.{at}\")", name(*from), name(*to))
    });
    let pins: Vec<String> = pins.collect();
    let text = format!(
        "(nodes: {{ {} }}, wires: [{}], properties: [
            Never(\"a.PORTB.0 == 1 && b.PORTB.0 == 1\"), Always(\"a.PORTB.1 == 0 || b.PORTB.0 == 1\"), Deadlock(),
            Ltl(\"G F (a.PORTB.0 == 1 || b.PORTB.0 == 1)\"), Ltl(\"F G (a.PORTB.0 == 0)\")])",
        nodes.join(", "),
        pins.join(", ")
    );
    (text, programs, wires)
}

/// The comparison of a random system.
struct Compared {
    /// The verdicts that are unknown.
    unknown: usize,
    /// The formulas of linear time that are violated, and those of them of which that is said.
    violated: usize,
    shown: usize,
}

/// Compares the verdicts of a random system, and takes the runs that violate formulas of linear time anew.
fn compare(seed: u64) -> Result<Compared, String> {
    let (text, programs, wires) = system(seed);
    let expected = explicit(&programs, &wires);
    let found = results(&text, "atmega328p-gpio", &programs);
    let given = letters(&found);
    let agree = given.chars().zip(expected.chars()).all(|(given, expected)| given == 'u' || given == expected);
    let wrong = |what: &str| Err(format!("seed {seed}: {what}\n{text}\n{programs:?}\n{found:?}"));
    if !agree {
        return wrong(&format!("{given} instead of {expected}"));
    }
    for (formula, result) in found.properties[3..].iter().enumerate() {
        if let Verdict::Violated(run) = &result.verdict
            && !is_violated_by(run, &programs, &wires, formula)
        {
            return wrong("a run does not violate its formula");
        }
    }
    let violated = |letters: &str| letters[3..].matches('v').count();
    let unknown = given.matches('u').count();
    Ok(Compared { unknown, violated: violated(&expected), shown: violated(&given) })
}

#[test]
fn random_systems_agree_with_all_concrete_states() {
    let cases = cases(100, 10_000);
    let all = (0..cases).map(|seed| compare(seed).unwrap_or_else(|wrong| panic!("{wrong}")));
    let all: Vec<Compared> = all.collect();
    let sum = |of: fn(&Compared) -> usize| all.iter().map(of).sum::<usize>();
    let (unknown, violated, shown) = (sum(|it| it.unknown), sum(|it| it.violated), sum(|it| it.shown));
    assert!(unknown as u64 <= cases / 2, "{unknown} verdicts are unknown");
    assert!(2 * shown > violated && violated > 0, "{shown} of {violated} violations are shown");
}

#[test]
fn faults_of_the_composition_are_found() {
    for fault in [
        Fault::InterleavingLeftOut,
        Fault::DeadlockIgnored,
        Fault::WriteIsLocal,
        Fault::FloatingIsLow,
        Fault::RepetitionIsUnfair,
        Fault::RepetitionNotClosed,
        Fault::RoundsNeverEnd,
    ] {
        let found = (0..100).find(|seed| with_fault(fault, || compare(*seed)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}

#[test]
fn a_beginning_that_nobody_drives_has_the_level_of_the_wire() {
    let looks = [I::Sbic { io: PINB, bit: 0 }, I::Sbi { io: PORTB, bit: 1 }, I::Rjmp { offset: -3 }].to_vec();
    let rests = vec![I::Rjmp { offset: -1 }];
    let check = |idle: &str, looks: &[I], other: &[I]| {
        let text = format!(
            "(nodes: {{ \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }},
              wires: [Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\"{idle})], properties: [Never(\"a.PORTB.1 == 1\")])"
        );
        letters(&results(&text, "atmega328p", &[looks.to_vec(), other.to_vec()]))
    };
    assert_eq!(check(", idle: 0", &looks, &rests), "h");
    assert_eq!(check(", idle: 1", &looks, &rests), "v");
    assert_eq!(check("", &looks, &rests), "v");
    // Something else drives the wire against its resistor, or pulls it up.
    let drives = [&[I::Sbi { io: DDRD, bit: 2 }], &rests[..]].concat();
    assert_eq!(check(", idle: 0", &looks, &drives), "u");
    let pulls = [&[I::Sbi { io: PORTD, bit: 2 }], &rests[..]].concat();
    assert_eq!(check("", &looks, &pulls), "v");
    // The node drives it itself.
    let high = [&[I::Sbi { io: DDRB, bit: 0 }, I::Sbi { io: PORTB, bit: 0 }, I::Nop], &looks[..]].concat();
    assert_eq!(check(", idle: 0", &high, &rests), "v");
    assert_eq!(with_fault(Fault::BeginningIsFree, || check(", idle: 0", &looks, &rests)), "v");
}
