//! Random systems with interrupts that serial lines request, against a composition of concrete states that knows nothing of this crate.
//!
//! In that composition a request is entered before the next instruction if it stood, enabled, before the last one began; if it came or was
//! enabled since, it may wait for one more.

use std::collections::{BTreeMap, BTreeSet};

use avr_isa::{DataAddress, Instruction as I};
use avr_testkit::image::{encoded, r};
use avr_testkit::{Random, cases};

use super::{letters, results_within};
use crate::Limits;
use crate::faults::{Fault, with_fault};

const UCSR0A: DataAddress = DataAddress(0xc0);
const UCSR0B: DataAddress = DataAddress(0xc1);
const UDR0: DataAddress = DataAddress(0xc6);
const DDRB: u8 = 0x04;
const PORTB: u8 = 0x05;
const PIND: u8 = 0x09;

/// The interrupts by priority: the bit that enables each in UCSR0B, and the word address of its vector.
const INTERRUPTS: [(u8, usize); 3] = [(0x80, 36), (0x20, 38), (0x40, 40)];
/// The word address at which programs begin behind their vectors.
const BEGIN: usize = 52;
const PROPERTIES: &str = "Never(\"a.PORTB.0 == 1 && b.PORTB.0 == 1\"), Never(\"a.PORTB.0 == 1 && b.PORTB.0 == 0\"),
    Never(\"a.PORTB.0 == 0 && b.PORTB.0 == 1\"), Deadlock()";

/// The most concrete states of a system that is compared.
const MOST_STATES: usize = 3_000;

/// The limits of the search in systems that are compared; those that come to one are unknown.
const LIMITS: Limits = Limits { states: 10_000, steps: 500_000, single_steps: false };

/// A node of the concrete composition. Only bit 0 of characters is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Machine {
    pc: usize,
    character: bool,
    setting: u8,
    status: u8,
    control: u8,
    drives: bool,
    port: bool,
    interrupts: bool,
    /// One more instruction comes before an interrupt.
    delayed: bool,
    /// For each interrupt: true if it was requested and enabled before the last step.
    settled: [bool; 3],
    /// The addresses to return to.
    back: Vec<usize>,
}

/// The flag of a sender that tells that everything is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Flag {
    is_high: bool,
    /// It rises at the end of the frame, unless a character is written before.
    rises: bool,
}

/// The characters of a line: in the buffer of the sender, on the way, and at the receiver; and the flag of the sender.
type Line = (Option<bool>, Option<bool>, Vec<bool>, Flag);
type State = (Vec<Machine>, Vec<Line>);

fn words(instruction: I) -> usize {
    encoded(instruction).count()
}

/// A random program: its words, each instruction at its address. By its role it begins with one thing or another.
fn program(random: &mut Random, role: u8) -> Vec<I> {
    let port = |random: &mut Random| match random.below(3_u8) {
        0 => I::Cbi { io: PORTB, bit: 0 },
        _ => I::Sbi { io: PORTB, bit: 0 },
    };
    let control = |random: &mut Random| {
        let enabled = if random.chance(85) { 0x80 } else { 0 } | if random.chance(15) { 0x20 } else { 0 };
        let enabled = enabled | if random.chance(15) { 0x40 } else { 0 };
        [I::Ldi { rd: r(17), k: 0x18 | enabled }, I::Sts { address: UCSR0B, rr: r(17) }]
    };
    let mut all = vec![I::Sbi { io: DDRB, bit: 0 }, I::Ldi { rd: r(16), k: random.byte() & 1 }];
    all.extend(control(random));
    if random.chance(80) {
        all.push(I::Bset { flag: 7 });
    }
    let wait = |bit| [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit }, I::Rjmp { offset: -4 }];
    let send = I::Sts { address: UDR0, rr: r(16) };
    let clear = [I::Ldi { rd: r(17), k: 0x40 }, I::Sts { address: UCSR0A, rr: r(17) }];
    let mut body = Vec::new();
    let wait_for_pin = [I::Sbis { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }];
    // It may tell that it is ready, and wait until the other one tells that a character has come, which is so when the next one is on its way.
    let (high, low) = ([I::Sbi { io: PORTB, bit: 0 }], [I::Cbi { io: PORTB, bit: 0 }]);
    match role {
        0 => body.extend([&high, &wait_for_pin[..], &low].concat()),
        1 => body.extend([&wait_for_pin[..], &[send], &wait(5), &[send], &wait(random.pick(&[5, 6])), &high].concat()),
        // It sends twice, of which it hears once, and tells that all is sent; the other one hears of it, and looks for the second character.
        3 => {
            body.extend([&[send], &wait_for_pin[..]].concat());
            if random.chance(50) {
                body.extend(wait(6));
            }
            if random.chance(50) {
                body.extend(clear);
            }
            body.extend([&[send], &wait(6)[..], &high, &[I::Rjmp { offset: -1 }]].concat());
        }
        4 => {
            let look =
                [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit: 7 }, I::Cbi { io: PORTB, bit: 0 }];
            let takes = [&wait(7)[..], &[I::Lds { rd: r(16), address: UDR0 }]].concat();
            body.extend([&takes[..], &high, &wait_for_pin, &look, &[I::Rjmp { offset: -1 }]].concat());
        }
        _ => {}
    }
    let others = if role < 3 { 1 + random.below(3_u8) } else { 0 };
    for _ in 0..others {
        match random.below(14_u8) {
            0..2 => body.extend(wait(random.pick(&[5, 6, 7]))),
            12 => body.extend(clear),
            13 => body.extend([&clear[..], &[send], &wait(6), &high].concat()),
            2 => body.extend(wait_for_pin),
            3..6 => body.push(send),
            6 => body.push(I::Lds { rd: r(16), address: UDR0 }),
            7 => body.push(port(random)),
            8 => body.push(I::Nop),
            9 => body.push(I::Bclr { flag: 7 }),
            10 => body.push(I::Bset { flag: 7 }),
            _ => body.extend(control(random)),
        }
    }
    let length: usize = body.iter().map(|it| words(*it)).sum();
    let back = if random.chance(40) { 0 } else { length as i16 };
    all.extend(body);
    all.push(I::Rjmp { offset: -back - 1 });
    let mut placed = vec![I::Nop; BEGIN];
    placed[0] = I::Rjmp { offset: BEGIN as i16 - 1 };
    placed.extend(all);
    for (index, (_, vector)) in INTERRUPTS.into_iter().enumerate() {
        let begin: usize = placed.iter().map(|it| words(*it)).sum();
        placed[vector] = I::Rjmp { offset: (begin - vector) as i16 - 1 };
        if random.chance(30) {
            placed.push(port(random));
        }
        if random.chance(70) {
            match index {
                0 => placed.push(I::Lds { rd: r(16), address: UDR0 }),
                2 if random.chance(50) => placed.push(I::Nop),
                _ => placed.push(I::Sts { address: UDR0, rr: r(16) }),
            }
        }
        if random.chance(30) {
            placed.extend(control(random));
        }
        placed.push(if random.chance(45) { I::Reti } else { I::Rjmp { offset: -1 } });
    }
    placed
}

/// For each interrupt: true if it is requested and enabled.
fn standing(machine: &Machine, sends: &Line, receives: &Line) -> [bool; 3] {
    let causes = [!receives.2.is_empty(), sends.0.is_none(), sends.3.is_high];
    [0, 1, 2].map(|index| causes[index] && machine.control & INTERRUPTS[index].0 != 0)
}

/// All states after a step of a node, with the lines that are changed by it. Node 0 sends on line 0 and node 1 on line 1.
fn steps(state: &State, programs: &[Vec<I>], node: usize) -> Vec<(Machine, Vec<Line>)> {
    let (machine, lines) = (&state.0[node], &state.1);
    let standing = standing(machine, &lines[node], &lines[1 - node]);
    let mut all = Vec::new();
    let mut may_wait = true;
    if machine.interrupts && !machine.delayed {
        for index in (0..3).filter(|index| standing[*index]) {
            if may_wait {
                let mut back = machine.back.clone();
                back.push(machine.pc);
                let pc = INTERRUPTS[index].1;
                let entered = Machine { pc, back, interrupts: false, settled: standing, ..machine.clone() };
                let mut lines = lines.clone();
                if index == 2 {
                    lines[node].3.is_high = false;
                }
                all.push((entered, lines));
            }
            may_wait &= !machine.settled[index];
        }
    }
    if !may_wait {
        return all;
    }
    let instruction = programs[node][machine.pc];
    let pc = machine.pc + words(instruction);
    let mut next = Machine { pc, delayed: false, settled: standing, ..machine.clone() };
    let mut lines = lines.clone();
    match instruction {
        I::Ldi { rd, k } if rd == r(16) => next.character = k & 1 == 1,
        I::Ldi { k, .. } => next.setting = k,
        I::Sts { address, .. } if address == UCSR0B => next.control = next.setting,
        I::Sts { address, .. } if address == UCSR0A => lines[node].3.is_high = false,
        I::Sts { .. } => {
            lines[node].0 = lines[node].0.or(Some(machine.character));
            lines[node].3.rises = false;
        }
        I::Lds { address, .. } if address == UCSR0A => {
            next.status = u8::from(!lines[1 - node].2.is_empty()) << 7 | u8::from(lines[node].0.is_none()) << 5;
            next.status |= u8::from(lines[node].3.is_high) << 6;
        }
        I::Lds { .. } => {
            if lines[1 - node].2.is_empty() {
                all.push((Machine { character: !machine.character, ..next.clone() }, lines.clone()));
            } else {
                next.character = lines[1 - node].2.remove(0);
            }
        }
        I::Sbrs { bit, .. } => next.pc += usize::from(machine.status >> bit & 1 == 1),
        I::Sbis { .. } => next.pc += usize::from(state.0[1 - node].drives && state.0[1 - node].port),
        I::Sbi { io: DDRB, .. } => next.drives = true,
        I::Sbi { .. } => next.port = true,
        I::Cbi { .. } => next.port = false,
        I::Bset { .. } => (next.interrupts, next.delayed) = (true, !machine.interrupts),
        I::Bclr { .. } => next.interrupts = false,
        I::Reti => {
            (next.interrupts, next.delayed) = (true, true);
            next.pc = next.back.pop().unwrap_or_default();
        }
        I::Rjmp { offset } => next.pc = (pc as i64 + i64::from(offset)) as usize,
        _ => {}
    }
    all.push((next, lines));
    all
}

/// All states that can follow, each with true if something happened on a wire.
fn after(state: &State, programs: &[Vec<I>]) -> Vec<(State, bool)> {
    let mut all = Vec::new();
    for node in 0..2 {
        for (machine, lines) in steps(state, programs, node) {
            let carried = |machine: &Machine| (machine.drives, machine.port);
            let characters = |lines: &[Line]| -> Vec<_> { lines.iter().map(|it| (it.0, it.1, it.2.clone())).collect() };
            let happened = characters(&lines) != characters(&state.1) || carried(&machine) != carried(&state.0[node]);
            let mut machines = state.0.clone();
            machines[node] = machine;
            all.push(((machines, lines), happened));
        }
    }
    for line in 0..2 {
        let (waiting, moving, received, flag) = &state.1[line];
        let mut add = |waiting: Option<bool>, moving, received: Vec<bool>, flag, happened| {
            let mut lines = state.1.clone();
            lines[line] = (waiting, moving, received, flag);
            all.push(((state.0.clone(), lines), happened));
        };
        let after = Flag { rises: waiting.is_none(), ..*flag };
        match moving {
            None if waiting.is_some() => add(None, *waiting, received.clone(), *flag, false),
            None if flag.rises => add(None, None, received.clone(), Flag { is_high: true, rises: false }, false),
            None => {}
            Some(_) if state.0[1 - line].control & 0x10 == 0 => add(*waiting, None, received.clone(), after, true),
            Some(character) if received.len() < 3 => {
                add(*waiting, None, received.iter().copied().chain([*character]).collect(), after, true);
            }
            Some(character) => {
                add(*waiting, None, received.clone(), after, true);
                add(*waiting, None, vec![received[0], received[1], *character], after, true);
            }
        }
    }
    all
}

/// The verdicts of the properties, by all states; none if they are too many.
fn explicit(programs: &[Vec<I>]) -> Option<String> {
    // Each instruction at its address, in words.
    let at_addresses = |program: &Vec<I>| -> Vec<I> {
        program.iter().flat_map(|it| std::iter::once(*it).chain((1..words(*it)).map(|_| I::Nop))).collect()
    };
    let programs: Vec<Vec<I>> = programs.iter().map(at_addresses).collect();
    let initial: State = (vec![Machine::default(); 2], vec![Line::default(); 2]);
    let mut numbers = BTreeMap::from([(initial.clone(), 0)]);
    let mut states = vec![initial];
    let mut backwards: Vec<Vec<usize>> = vec![Vec::new()];
    let (mut alive, mut from) = (BTreeSet::new(), 0);
    while from < states.len() {
        for (next, happened) in after(&states[from], &programs) {
            let count = numbers.len();
            let number = *numbers.entry(next.clone()).or_insert(count);
            if number == states.len() {
                states.push(next);
                backwards.push(Vec::new());
            }
            backwards[number].push(from);
            if happened {
                alive.insert(from);
            }
        }
        from += 1;
        if states.len() > MOST_STATES {
            return None;
        }
    }
    let mut waiting: Vec<usize> = alive.iter().copied().collect();
    while let Some(state) = waiting.pop() {
        waiting.extend(backwards[state].iter().copied().filter(|before| alive.insert(*before)));
    }
    let letter = |holds: bool| if holds { 'h' } else { 'v' };
    let all = |is_good: fn(&State) -> bool| states.iter().all(is_good);
    let both = all(|state| !state.0[0].port || !state.0[1].port);
    let first = all(|state| !state.0[0].port || state.0[1].port);
    let second = all(|state| state.0[0].port || !state.0[1].port);
    Some([both, first, second, alive.len() == states.len()].map(letter).into_iter().collect())
}

/// Compares the verdicts of a random system; the numbers of those that are unknown, and violated. None if it has too many states.
fn compare(seed: u64) -> Result<Option<[usize; 2]>, String> {
    let mut random = Random::new(seed);
    let role = random.below(5_u8);
    let other = match role {
        3 | 4 => 7 - role,
        _ if random.chance(70) && role < 2 => 1 - role,
        _ => random.below(3_u8),
    };
    let programs = [role, other].map(|role| program(&mut random, role));
    let Some(expected) = explicit(&programs) else { return Ok(None) };
    let text = format!(
        "(nodes: {{ \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }},
          wires: [Uart(from: \"a\", to: \"b\"), Uart(from: \"b\", to: \"a\"), Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\", idle: 0),
                  Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\", idle: 0)], properties: [{PROPERTIES}])"
    );
    let found = results_within(LIMITS, &text, "atmega328p", &programs);
    let given = letters(&found);
    match given.chars().zip(expected.chars()).all(|(given, expected)| given == 'u' || given == expected) {
        true => Ok(Some(['u', 'v'].map(|letter| given.matches(letter).count()))),
        false => {
            let programs = programs.each_ref().map(|program| program[BEGIN..].to_vec());
            Err(format!("seed {seed}: {given} instead of {expected}\n{programs:?}\n{found:?}"))
        }
    }
}

#[test]
fn random_systems_with_interrupts_agree_with_all_concrete_states() {
    let cases = cases(100, 2_000);
    let all = (0..cases).filter_map(|seed| compare(seed).unwrap_or_else(|wrong| panic!("{wrong}")));
    let all: Vec<[usize; 2]> = all.collect();
    let [unknown, violated] = [0, 1].map(|index| all.iter().map(|it| it[index]).sum::<usize>());
    let told = format!("of {} systems, {unknown} verdicts are unknown, {violated} violated", all.len());
    assert!(2 * all.len() as u64 > cases && unknown < all.len() && violated > all.len() / 2, "{told}");
}

#[test]
fn faults_of_requests_are_found() {
    for (fault, from) in [(Fault::RequestsWait, 41), (Fault::SentIsIdle, 66), (Fault::SentAtOnce, 6)] {
        let found = (from..from + 12).find(|seed| with_fault(fault, || compare(*seed)).is_err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
