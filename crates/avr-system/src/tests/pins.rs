//! Random systems of programs that read and drive pins, against a composition of concrete states that knows nothing of this crate.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::Instruction as I;
use avr_testkit::image::r;
use avr_testkit::{Random, cases};

use super::{letters, results};
use crate::faults::{Fault, with_fault};

const PORTB: u8 = 0x05;
const DDRB: u8 = 0x04;
const PIND: u8 = 0x09;
const PORTD: u8 = 0x0b;

/// A node of the concrete composition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    pc: usize,
    port: u8,
    direction: u8,
    /// PORTD, whose bits are pull-ups: port D has inputs only.
    pull: u8,
    register: u8,
    zero: bool,
}

type State = Vec<Machine>;

/// A wire from bit `.1` of port B of node `.0` to bit `.3` of port D of node `.2`.
type Wire = (usize, u8, usize, u8);

fn program(random: &mut Random) -> Vec<I> {
    let length = 3 + random.below(7_usize);
    let mut all = vec![I::Ldi { rd: r(16), k: random.byte() & 1 }];
    if random.chance(70) {
        all.push(I::Sbi { io: DDRB, bit: 0 });
    }
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
                all.push(reader(random));
                let offset = if random.chance(60) { -2 } else { -(random.below(all.len() as i16) + 1) };
                all.push(I::Rjmp { offset });
            }
            6 => {
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
fn after(state: &State, programs: &[Vec<I>], wires: &[Wire], node: usize) -> Vec<State> {
    let machine = state[node];
    let next = Machine { pc: machine.pc + 1, ..machine };
    let with = |bits: u8, bit: u8, set: bool| if set { bits | 1 << bit } else { bits & !(1 << bit) };
    let stored = |io: u8, bit: u8, set: bool| match io {
        PORTB => Machine { port: with(machine.port, bit, set), ..next },
        DDRB => Machine { direction: with(machine.direction, bit, set), ..next },
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
fn carried(state: &State, wires: &[Wire]) -> Vec<(bool, bool, bool, bool)> {
    let bit = |bits: u8, bit: u8| bits >> bit & 1 == 1;
    let one = |wire: &Wire| {
        let (from, to) = (state[wire.0], state[wire.2]);
        let (drives, port) = (bit(from.direction, wire.1), bit(from.port, wire.1));
        (drives, drives && port, !drives && port, bit(to.pull, wire.3))
    };
    wires.iter().map(one).collect()
}

/// The verdicts of the three properties, by all states.
fn explicit(programs: &[Vec<I>], wires: &[Wire]) -> String {
    let initial: State = vec![Machine::default(); programs.len()];
    let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    let mut edges: Vec<Vec<(usize, bool)>> = Vec::new();
    while edges.len() < states.len() {
        let state = states[edges.len()].clone();
        let mut here = Vec::new();
        for node in 0..programs.len() {
            for next in after(&state, programs, wires, node) {
                let happened = carried(&next, wires) != carried(&state, wires);
                let count = numbers.len();
                let number = *numbers.entry(next.clone()).or_insert(count);
                if number == states.len() {
                    states.push(next);
                }
                here.push((number, happened));
            }
        }
        edges.push(here);
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
    [both, first, alive.len() == states.len()].map(letter).into_iter().collect()
}

/// A random system: its text, its programs and its wires.
fn system(seed: u64) -> (String, Vec<Vec<I>>, Vec<Wire>) {
    let mut random = Random::new(seed);
    let count = if random.chance(80) { 2 } else { 3 };
    let programs: Vec<Vec<I>> = (0..count).map(|_| program(&mut random)).collect();
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
            Never(\"a.PORTB.0 == 1 && b.PORTB.0 == 1\"), Always(\"a.PORTB.1 == 0 || b.PORTB.0 == 1\"), Deadlock()])",
        nodes.join(", "),
        pins.join(", ")
    );
    (text, programs, wires)
}

/// Compares the verdicts of a random system; the number of those that are unknown.
fn compare(seed: u64) -> Result<usize, String> {
    let (text, programs, wires) = system(seed);
    let expected = explicit(&programs, &wires);
    let found = results(&text, "atmega328p-gpio", &programs);
    let given = letters(&found);
    let agree = given.chars().zip(expected.chars()).all(|(given, expected)| given == 'u' || given == expected);
    match agree {
        true => Ok(given.matches('u').count()),
        false => Err(format!("seed {seed}: {given} instead of {expected}\n{text}\n{programs:?}\n{found:?}")),
    }
}

#[test]
fn random_systems_agree_with_all_concrete_states() {
    let cases = cases(100, 10_000);
    let mut unknown = 0;
    for seed in 0..cases {
        unknown += compare(seed).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(unknown as u64 <= 3 * cases / 10, "{unknown} verdicts are unknown");
}

#[test]
fn faults_of_the_composition_are_found() {
    for fault in [Fault::InterleavingLeftOut, Fault::DeadlockIgnored, Fault::WriteIsLocal, Fault::FloatingIsLow] {
        let found = (0..100).find(|seed| with_fault(fault, || compare(*seed)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
