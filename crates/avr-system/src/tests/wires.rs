//! Small systems of lines and pins whose verdicts are known: flags, events with values, and states that are left out.

use std::collections::BTreeMap;

use avr_isa::Instruction as I;
use avr_properties::SpecificationAutomaton;
use avr_testkit::image::r;

use super::lines::{DDRB, PIND, PORTB, UCSR0A, UDR0, joined, on, wait};
use super::{letters, results_of};
use crate::faults::{Fault, with_fault};
use crate::{Results, Verdict};

const RESTS: I = I::Rjmp { offset: -1 };
/// Pins from `b` to `a` beside both lines.
const PINS: &str =
    "Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\", idle: 0), Pin(from: \"b.PORTB.3\", to: \"a.PIND.3\", idle: 0), ";

fn verified(properties: &str, specification: &str, programs: &[Vec<I>; 2]) -> Results {
    let automaton = SpecificationAutomaton::parse("s.ron", specification).expect("it is a specification");
    let text = joined(properties).replace("wires: [", &format!("wires: [{PINS}"));
    results_of(&text, "atmega328p", programs, &BTreeMap::from([("s.ron".to_owned(), automaton)]))
}

const NOTHING: &str = "(initial: [\"s\"], states: { \"s\": () })";

#[track_caller]
fn check(properties: &str, programs: &[Vec<I>; 2], expected: &str) {
    let found = verified(properties, NOTHING, programs);
    assert_eq!(letters(&found), expected, "{properties}: {found:?}");
}

/// The program of `a`, which begins when the receiver of `b` is on, and rests in the end.
fn first(parts: &[&[I]]) -> Vec<I> {
    on(&[&[I::Sbis { io: PIND, bit: 3 }, I::Rjmp { offset: -2 }], parts.concat().as_slice(), &[RESTS]].concat())
}

/// The program of `b`, which tells by a pin that its receiver is on, and rests in the end.
fn second(parts: &[&[I]]) -> Vec<I> {
    let tells = [I::Sbi { io: DDRB, bit: 0 }, I::Sbi { io: DDRB, bit: 3 }, I::Sbi { io: PORTB, bit: 3 }];
    on(&[&tells, parts.concat().as_slice(), &[RESTS]].concat())
}

fn sends(value: u8) -> Vec<I> {
    [&[I::Ldi { rd: r(16), k: value }], &wait(5)[..], &[I::Sts { address: UDR0, rr: r(16) }]].concat()
}

fn reads() -> Vec<I> {
    [&wait(7)[..], &[I::Lds { rd: r(16), address: UDR0 }]].concat()
}

/// A receiver that tells by a pin that it has read a character, and rests.
fn tells() -> Vec<I> {
    second(&[&reads(), &[I::Sbi { io: PORTB, bit: 0 }]])
}

#[test]
fn a_character_that_is_heard_of_by_a_pin_may_be_in_its_frame() {
    // The flag TXC0 decides between two pins when the pin tells that the character came.
    let hears = [I::Sbis { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }];
    let asks = [
        I::Lds { rd: r(18), address: UCSR0A },
        I::Sbrs { rr: r(18), bit: 6 },
        I::Sbi { io: PORTB, bit: 1 },
        I::Sbrs { rr: r(18), bit: 6 },
        RESTS,
        I::Sbi { io: PORTB, bit: 2 },
        RESTS,
    ];
    let programs = [first(&[&sends(1), &hears, &asks]), tells()];
    let never = "Never(\"a.PORTB.1 == 1\"), Never(\"a.PORTB.2 == 1\"), Never(\"a.PORTB.1 == 1 && a.PORTB.2 == 1\")";
    check(never, &programs, "vvh");
    assert_eq!(letters(&with_fault(Fault::SentAtOnce, || verified(never, NOTHING, &programs))), "hvh");
    // A program that does not look at the flag writes the next character meanwhile.
    let shows = [I::Out { io: PORTB, rr: r(16) }];
    let again = [
        first(&[&sends(1), &hears, &sends(2)]),
        second(&[&reads(), &[I::Sbi { io: PORTB, bit: 0 }], &reads(), &shows]),
    ];
    check(
        "Ltl(\"F b.PORTB.1 == 1\"), Never(\"b.PORTB.1 == 1\"), Formula(\"AG EF b.PORTB.1 == 1\"), Deadlock(except: \"b.PORTB.1 == 1\")",
        &again,
        "hvhh",
    );
}

/// A program that writes some characters, with steps behind each that concern nobody else.
fn writes(values: &[u8]) -> Vec<I> {
    let each = values.iter().flat_map(|value| [sends(*value), vec![I::Nop, I::Mov { rd: r(5), rr: r(16) }, I::Nop]]);
    first(&[&each.flatten().collect::<Vec<I>>()])
}

/// A program that reads so many characters, with such steps behind each.
fn takes(count: usize) -> Vec<I> {
    let each = (0..count).flat_map(|_| [reads(), vec![I::Nop, I::Mov { rd: r(5), rr: r(16) }, I::Nop]]);
    second(&[&each.flatten().collect::<Vec<I>>()])
}

const CONFORMS: &str = "Conforms(to: \"s.ron\", alphabet: [\"a.write(UDR0)\", \"b.read(UDR0)\"])";

/// A specification of events one after the other.
fn sequence(events: &[&str]) -> String {
    let state = |number: usize| match events.get(number) {
        Some(on) => format!("\"s{number}\": (moves: [(on: \"{on}\", to: \"s{}\")])", number + 1),
        None => format!("\"s{number}\": ()"),
    };
    let states: Vec<String> = (0..=events.len()).map(state).collect();
    format!("(initial: [\"s0\"], states: {{ {} }})", states.join(", "))
}

#[track_caller]
fn conforms(events: &[&str], programs: &[Vec<I>; 2], expected: &str) -> Results {
    let found = verified(CONFORMS, &sequence(events), programs);
    assert_eq!(letters(&found), expected, "{events:?}: {found:?}");
    found
}

#[test]
fn events_on_lines_come_once_with_local_steps_behind_them() {
    let once = [writes(&[5]), takes(1)];
    conforms(&["a.write(UDR0)", "b.read(UDR0)"], &once, "h");
    conforms(&["a.write(UDR0)"], &once, "v");
    conforms(&["b.read(UDR0)"], &once, "v");
    check(
        "Ltl(\"G (a.write(UDR0) -> F b.read(UDR0))\"), Formula(\"AG (a.write(UDR0) -> AX !a.write(UDR0))\")",
        &once,
        "hh",
    );
    // The second write may come before the first read.
    let twice = [writes(&[5, 6]), takes(2)];
    conforms(&["a.write(UDR0)", "b.read(UDR0)", "a.write(UDR0)", "b.read(UDR0)"], &twice, "v");
    let found = conforms(&["a.write(UDR0)"], &twice, "v");
    let Verdict::Violated(run) = &found.properties[0].verdict else { panic!("{found:?}") };
    assert_eq!(run.specification.len(), 3, "{run:?}");
    let forgotten = with_fault(Fault::MoverForgotten, || verified(CONFORMS, &sequence(&["b.read(UDR0)"]), &once));
    assert_eq!(letters(&forgotten), "h", "{forgotten:?}");
}

#[test]
fn what_is_read_is_what_was_written() {
    let once = [writes(&[5]), takes(1)];
    conforms(&["a.write(UDR0) == 5", "b.read(UDR0) == 5"], &once, "h");
    conforms(&["a.write(UDR0) == 5", "b.read(UDR0) == 6"], &once, "v");
    conforms(&["a.write(UDR0) == 6", "b.read(UDR0) == 5"], &once, "v");
    assert_eq!(
        letters(&with_fault(Fault::UnknownIsZero, || {
            verified(CONFORMS, &sequence(&["a.write(UDR0) == 5", "b.read(UDR0) == 0"]), &once)
        })),
        "h"
    );
    // The content of a register at the start: each value is read as it was written, which the abstraction does not tell.
    let any = [first(&[&wait(5), &[I::Sts { address: UDR0, rr: r(5) }]]), takes(1)];
    let parity = "(initial: [\"s\"], states: { \"s\": (moves: [(on: \"a.write(UDR0) & 1 == 0\", to: \"even\"),
        (on: \"a.write(UDR0) & 1 == 1\", to: \"odd\")]), \"even\": (moves: [(on: \"b.read(UDR0) & 1 == 0\", to: \"end\")]),
        \"odd\": (moves: [(on: \"b.read(UDR0) & 1 == 1\", to: \"end\")]), \"end\": () })";
    let found = verified(CONFORMS, parity, &any);
    assert_eq!(letters(&found), "u", "{found:?}");
}

#[test]
fn a_deadlock_is_none_where_a_pin_excepts_it() {
    let programs = [first(&[&sends(1)]), tells()];
    check("Deadlock()", &programs, "v");
    check("Deadlock(except: \"b.PORTB.0 == 1\")", &programs, "h");
    check("Deadlock(except: \"b.PORTB.0 == 0\")", &programs, "v");
    check("Deadlock(except: \"b.PORTB.1 == 1\")", &programs, "v");
}
