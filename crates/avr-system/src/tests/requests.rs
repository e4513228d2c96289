//! Interrupts that serial lines request: known systems.

use avr_isa::{DataAddress, Instruction as I};
use avr_testkit::image::{encoded, r};

use super::{letters, results};
use crate::Basis;
use crate::faults::{Fault, with_fault};

const UCSR0A: DataAddress = DataAddress(0xc0);
const UCSR0B: DataAddress = DataAddress(0xc1);
const UDR0: DataAddress = DataAddress(0xc6);
const PORTB: u8 = 0x05;
const DDRB: u8 = 0x04;
const PIND: u8 = 0x09;

const TCCR0B: u8 = 0x25;
const TIMSK0: DataAddress = DataAddress(0x6e);

/// The word addresses of vectors: an overflow of timer 0, a character that was received, and an empty buffer of the transmitter.
const OVERFLOW: usize = 32;
const RECEIVED: usize = 36;
const EMPTY: usize = 38;
/// The word address at which a program begins behind its vectors.
const BEGIN: usize = 52;

/// A handler that never ends, and one that shows on a pin that it was entered.
const STUCK: &[I] = &[I::Rjmp { offset: -1 }];
const SHOWS: &[I] = &[I::Sbi { io: PORTB, bit: 1 }, I::Rjmp { offset: -1 }];

/// A program that sets UCSR0B, drives the pin 0 of port B, and goes on with a body; interrupts come to handlers by their vectors.
fn interrupted(control: u8, body: &[I], handlers: &[(usize, &[I])]) -> Vec<I> {
    let settings =
        [I::Ldi { rd: r(17), k: control }, I::Sts { address: UCSR0B, rr: r(17) }, I::Sbi { io: DDRB, bit: 0 }];
    let mut all = vec![I::Nop; BEGIN];
    all[0] = I::Rjmp { offset: BEGIN as i16 - 1 };
    all.extend(settings);
    all.extend(body);
    for (vector, handler) in handlers {
        let words: usize = all.iter().map(|it| encoded(*it).count()).sum();
        all[*vector] = I::Rjmp { offset: (words - vector) as i16 - 1 };
        all.extend(*handler);
    }
    all
}

/// Nodes that are joined by lines in both directions, and by a pin in each.
fn joined(properties: &str) -> String {
    format!(
        "(nodes: {{ \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }},
          wires: [Uart(from: \"a\", to: \"b\"), Uart(from: \"b\", to: \"a\"),
                  Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\", idle: 0), Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\", idle: 0)],
          properties: [{properties}])"
    )
}

/// A node that sends a character once the other one is ready, and drives its pin high once it has arrived.
fn sender() -> Vec<I> {
    vec![
        I::Ldi { rd: r(17), k: 0x18 },
        I::Sts { address: UCSR0B, rr: r(17) },
        I::Sbi { io: DDRB, bit: 0 },
        I::Sbis { io: PIND, bit: 2 },
        I::Rjmp { offset: -2 },
        I::Sts { address: UDR0, rr: r(16) },
        I::Lds { rd: r(18), address: UCSR0A },
        I::Sbrs { rr: r(18), bit: 6 },
        I::Rjmp { offset: -4 },
        I::Sbi { io: PORTB, bit: 0 },
        I::Rjmp { offset: -1 },
    ]
}

/// A node that tells that it is ready, and waits for the pin of the sender.
fn waits() -> Vec<I> {
    vec![I::Sbi { io: PORTB, bit: 0 }, I::Sbis { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }]
}

/// A node that does so with interrupts of the receiver on, and does something some instructions later.
fn listener(instructions: usize, then: &[I], handler: &[I]) -> Vec<I> {
    let body = [&[I::Bset { flag: 7 }], &waits()[..], &vec![I::Nop; instructions], then].concat();
    interrupted(0x98, &body, &[(RECEIVED, handler)])
}

/// The verdicts of properties of the sender and another node, with the basis of the first one.
fn found(properties: &str, node: &[I]) -> (String, Option<Basis>) {
    let found = results(&joined(properties), "atmega328p", &[sender(), node.to_vec()]);
    (letters(&found), found.properties[0].basis)
}

#[test]
fn an_interrupt_that_a_line_requests_does_not_wait_for_ever() {
    // The pin that is seen rises after the character has come.
    for instructions in 0..3 {
        let node = listener(instructions, SHOWS, STUCK);
        let check = || found("Never(\"b.PORTB.1 == 1\"), Never(\"a.PORTB.0 == 1\")", &node).0;
        assert_eq!(check(), "uv");
        assert_eq!(with_fault(Fault::RequestsWait, check), "vv");
    }
}

#[test]
fn a_request_that_waits_for_ever_is_no_deadlock() {
    // Without the interrupt the node gets stuck; its handler drives its pin for ever.
    let stuck = [I::Nop, I::Bclr { flag: 7 }, I::Rjmp { offset: -1 }];
    let drives = [I::Sbi { io: PORTB, bit: 0 }, I::Cbi { io: PORTB, bit: 0 }, I::Rjmp { offset: -3 }];
    let node = listener(0, &stuck, &drives);
    let check = || found("Deadlock()", &node);
    assert_eq!(check(), ("u".to_owned(), None));
    assert_eq!(with_fault(Fault::RequestsWait, check), ("v".to_owned(), Some(Basis::Hardware)));
}

#[test]
fn an_interrupt_may_wait_for_one_instruction() {
    // It writes while the other pin is high, which is so after the character has come.
    let writes = [I::Bset { flag: 7 }, I::Sbi { io: PORTB, bit: 0 }, I::Out { io: PORTB, rr: r(17) }];
    let body = [&writes[..], &[I::Rjmp { offset: -2 }]].concat();
    let node = interrupted(0x98, &body, &[(RECEIVED, STUCK)]);
    let after = "Never(\"a.PORTB.0 == 1 && b.write(PORTB)\")";
    assert_eq!(found(after, &node), ("v".to_owned(), Some(Basis::Hardware)));
}

#[test]
fn a_request_comes_before_those_of_lower_priority() {
    // The character comes while interrupts are off, and the program does not see it.
    let body = [&waits()[..], &[I::Bset { flag: 7 }, I::Nop], STUCK].concat();
    let node = interrupted(0xb8, &body, &[(RECEIVED, STUCK), (EMPTY, SHOWS)]);
    let check = || found("Never(\"b.PORTB.1 == 1\")", &node).0;
    assert_eq!(check(), "u");
    assert_eq!(with_fault(Fault::RequestsWait, check), "v");
}

#[test]
fn a_timer_that_comes_before_a_request_is_the_hardware_s() {
    let on = [
        I::Ldi { rd: r(17), k: 1 },
        I::Out { io: TCCR0B, rr: r(17) },
        I::Sts { address: TIMSK0, rr: r(17) },
        I::Ldi { rd: r(17), k: 0x98 },
        I::Sts { address: UCSR0B, rr: r(17) },
        I::Bset { flag: 7 },
        I::Nop,
    ];
    let body = [&waits()[..], &on, STUCK].concat();
    let node = interrupted(0x18, &body, &[(OVERFLOW, SHOWS), (RECEIVED, STUCK)]);
    let check = || found("Never(\"b.PORTB.1 == 1\")", &node);
    assert_eq!(check(), ("v".to_owned(), Some(Basis::Model)));
    assert_eq!(with_fault(Fault::HardwareIsWorld, check), ("v".to_owned(), Some(Basis::Hardware)));
}

#[test]
fn a_flag_that_stayed_set_is_lost_with_the_next_character() {
    // Known to be wrong: `TXC0` is set since the first character was sent, and nothing cleared it (data sheet, "Transmitter Flags and
    // Interrupts"). So the second character may be on its way when the pin rises, and the other node may find none.
    let wait = |bit: u8| [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit }, I::Rjmp { offset: -4 }];
    let wait_for_pin = [I::Sbis { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }];
    let on = [I::Ldi { rd: r(17), k: 0x18 }, I::Sts { address: UCSR0B, rr: r(17) }, I::Sbi { io: DDRB, bit: 0 }];
    let (send, high) = ([I::Sts { address: UDR0, rr: r(16) }], [I::Sbi { io: PORTB, bit: 0 }]);
    let sends = [&on[..], &send, &wait_for_pin, &send, &wait(6), &high, STUCK].concat();
    let takes = [I::Lds { rd: r(16), address: UDR0 }, high[0]];
    let looks = [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit: 7 }];
    let receives = [&on[..], &wait(7), &takes, &wait_for_pin, &looks, SHOWS].concat();
    let properties = "Never(\"b.PORTB.1 == 1\")";
    let found = results(&joined(properties), "atmega328p", &[sends, receives]);
    assert_eq!(letters(&found), "h", "{found:?}");
}
