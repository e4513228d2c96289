//! The basis of verdicts: choices of the world around the system, and those that the hardware would determine.

use avr_isa::Instruction as I;
use avr_testkit::image::r;

use super::{letters, results};
use crate::Basis;
use crate::faults::{Fault, with_fault};

const PINB: u8 = 0x03;
const DDRB: u8 = 0x04;
const PORTB: u8 = 0x05;
const PIND: u8 = 0x09;
const DDRD: u8 = 0x0a;
const TCCR0B: u8 = 0x25;
const TCNT0: u8 = 0x26;

/// The verdict and the basis of a property of a program, whose neighbour drives its pin 2 of port D low.
#[track_caller]
fn check(property: &str, program: &[I], verdict: &str, basis: Basis) {
    let text = format!(
        "(nodes: {{ \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }},
          wires: [Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\", idle: 0), Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\", idle: 0)],
          properties: [{property}])"
    );
    let low = vec![I::Sbi { io: DDRB, bit: 0 }, I::Rjmp { offset: -1 }];
    let found = results(&text, "atmega328p", &[program.to_vec(), low]);
    assert_eq!((letters(&found).as_str(), found.properties[0].basis), (verdict, Some(basis)), "{found:?}");
}

/// A program that shows pins of port D on port B, after some instructions.
fn shows(before: &[I], mask: u8) -> Vec<I> {
    let read = [
        I::In { rd: r(16), io: PIND },
        I::Andi { rd: r(16), k: mask },
        I::Out { io: PORTB, rr: r(16) },
        I::Rjmp { offset: -1 },
    ];
    before.iter().copied().chain(read).collect()
}

#[test]
fn a_pin_that_became_an_input_just_now_is_the_hardware_s() {
    let turned = [I::Sbi { io: DDRD, bit: 2 }, I::Cbi { io: DDRD, bit: 2 }];
    let never = "Never(\"a.PORTB.2 == 1\")";
    check(never, &shows(&turned, 4), "v", Basis::Model);
    check(never, &shows(&[&turned[..], &[I::Nop]].concat(), 4), "h", Basis::Hardware);
    // The other pin is the world's.
    check("Never(\"a.PORTB.3 == 1\")", &shows(&[], 8), "v", Basis::Hardware);
    with_fault(Fault::HardwareIsWorld, || check(never, &shows(&turned, 4), "v", Basis::Hardware));
}

#[test]
fn the_phase_of_a_timer_is_the_hardware_s() {
    let program = [
        I::Ldi { rd: r(16), k: 1 },
        I::Out { io: TCCR0B, rr: r(16) },
        I::In { rd: r(16), io: TCNT0 },
        I::Andi { rd: r(16), k: 4 },
        I::Out { io: PORTB, rr: r(16) },
        I::Rjmp { offset: -1 },
    ];
    check("Never(\"a.PORTB.2 == 1\")", &program, "v", Basis::Model);
}

#[test]
fn the_pin_of_a_receiver_on_a_line_is_the_hardware_s() {
    let text = "(nodes: { \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }, wires: [Uart(from: \"b\", to: \"a\")],
        properties: [Never(\"a.PORTB.0 == 1\")])";
    let check = |bit: u8, basis: Basis| {
        let show = [I::Sbic { io: PIND, bit }, I::Sbi { io: PORTB, bit: 0 }, I::Rjmp { offset: -1 }];
        let found = results(text, "atmega328p", &[show.to_vec(), vec![I::Rjmp { offset: -1 }]]);
        assert_eq!((letters(&found).as_str(), found.properties[0].basis), ("v", Some(basis)), "{found:?}");
    };
    check(0, Basis::Model);
    check(1, Basis::Hardware);
    with_fault(Fault::LinePinIsWorld, || check(0, Basis::Hardware));
}

#[test]
fn progress_may_rest_on_the_hardware() {
    // It toggles its pin where a pin is 1.
    let toggles = |before: &[I], bit: u8| {
        let back = -(before.len() as i16) - 3;
        let rest = [I::Sbic { io: PIND, bit }, I::Sbi { io: PINB, bit: 0 }, I::Rjmp { offset: back }];
        [&[I::Sbi { io: DDRB, bit: 0 }], before, &rest[..]].concat()
    };
    let turned = [I::Sbi { io: DDRD, bit: 4 }, I::Cbi { io: DDRD, bit: 4 }];
    check("Deadlock()", &toggles(&[], 3), "h", Basis::Hardware);
    check("Deadlock()", &toggles(&turned, 4), "h", Basis::Model);
    check("Deadlock()", &toggles(&[], 2), "v", Basis::Hardware);
    // A formula that always holds is true for each choice of the hardware.
    check("Always(\"a.PORTB.1 == 0\")", &toggles(&turned, 4), "h", Basis::Hardware);
    with_fault(Fault::HardwareIsWorld, || check("Deadlock()", &toggles(&turned, 4), "h", Basis::Hardware));
}
