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

const SMCR: u8 = 0x33;
const WDTCSR: DataAddress = DataAddress(0x60);

/// The word addresses of vectors: the watchdog, an overflow of timer 0, a character that was received, an empty buffer of the transmitter, and all
/// sent.
const WATCHDOG: usize = 12;
const OVERFLOW: usize = 32;
const RECEIVED: usize = 36;
const EMPTY: usize = 38;
const SENT: usize = 40;
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

/// Polls a bit of UCSR0A until it is 1.
fn wait(bit: u8) -> [I; 3] {
    [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit }, I::Rjmp { offset: -4 }]
}
/// Clears `TXC0`.
fn clear() -> [I; 2] {
    [I::Ldi { rd: r(17), k: 0x40 }, I::Sts { address: UCSR0A, rr: r(17) }]
}

fn send() -> [I; 1] {
    [I::Sts { address: UDR0, rr: r(16) }]
}

const HIGH: [I; 1] = [I::Sbi { io: PORTB, bit: 0 }];
const WAIT_FOR_PIN: [I; 2] = [I::Sbis { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }];
/// The receiver and the transmitter are on, and so is the pin.
fn on() -> [I; 3] {
    [I::Ldi { rd: r(17), k: 0x18 }, I::Sts { address: UCSR0B, rr: r(17) }, I::Sbi { io: DDRB, bit: 0 }]
}

/// The verdict about a node that does this, sends a second character, waits for `TXC0` and drives its pin, at which the other node, which drove its
/// pin once it had the first character, finds no character; with the basis.
fn none_found(between: &[&[I]]) -> (String, Option<Basis>) {
    let sends = [&on()[..], &send(), &WAIT_FOR_PIN, &between.concat(), &send(), &wait(6), &HIGH, STUCK].concat();
    let takes = [I::Lds { rd: r(16), address: UDR0 }, HIGH[0]];
    let looks = [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit: 7 }];
    let receives = [&on()[..], &wait(7), &takes, &WAIT_FOR_PIN, &looks, SHOWS].concat();
    let found = results(&joined("Never(\"b.PORTB.1 == 1\")"), "atmega328p", &[sends, receives]);
    (letters(&found), found.properties[0].basis)
}

#[test]
fn a_flag_that_stayed_set_stays_so_with_the_next_character() {
    // `TXC0` is set since the first character was sent, and nothing cleared it (data sheet, "Transmitter Flags and Interrupts"). So the
    // second one may be on its way when the pin rises.
    let violated = ("v".to_owned(), Some(Basis::Hardware));
    assert_eq!(none_found(&[]), violated);
    assert_eq!(with_fault(Fault::SentIsIdle, || none_found(&[]).0), "h");
    // It may have been seen without being cleared.
    assert_eq!(none_found(&[&wait(6)]), violated);
    // A frame ends after its character has come: perhaps after the flag was cleared.
    assert_eq!(none_found(&[&clear()]), violated);
    assert_eq!(with_fault(Fault::SentAtOnce, || none_found(&[&clear()]).0), "h");
}

#[test]
fn a_flag_that_is_cleared_while_a_frame_ends_rises_again() {
    let looks = [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrc { rr: r(18), bit: 6 }, HIGH[0]];
    let sends = [&on()[..], &send(), &wait(6), &send(), &WAIT_FOR_PIN, &clear(), &looks, STUCK].concat();
    let takes = [&wait(7)[..], &[I::Lds { rd: r(16), address: UDR0 }]].concat();
    let receives = [&on()[..], &takes, &takes, &HIGH, STUCK].concat();
    let check = || {
        let found = results(&joined("Never(\"a.PORTB.0 == 1\")"), "atmega328p", &[sends.clone(), receives.clone()]);
        letters(&found)
    };
    assert_eq!(check(), "v");
    assert_eq!(with_fault(Fault::RisesFromLowOnly, check), "h");
}

#[test]
fn a_flag_that_was_cleared_tells_of_the_next_character() {
    assert_eq!(none_found(&[&wait(6), &clear()]), ("h".to_owned(), Some(Basis::Hardware)));
}

#[test]
fn a_flag_does_not_rise_if_the_next_character_was_written_before_the_frame_ended() {
    let looks = [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrc { rr: r(18), bit: 6 }];
    let sends = [&on()[..], &send(), &WAIT_FOR_PIN, &send(), &looks, STUCK, SHOWS].concat();
    let receives = [&on()[..], &wait(7), &HIGH, STUCK].concat();
    let check = || {
        let found = results(&joined("Never(\"a.PORTB.1 == 1\")"), "atmega328p", &[sends.clone(), receives.clone()]);
        letters(&found)
    };
    assert_eq!(check(), "v");
    assert_eq!(with_fault(Fault::SentAtOnce, check), "h");
}

#[test]
fn a_flag_rises_no_more_often_than_characters_are_sent() {
    let again = [&wait(6)[..], &clear()].concat();
    let sends = [&on()[..], &send(), &wait(5), &send(), &again, &again, &wait(6), SHOWS].concat();
    let receives = [&on()[..], STUCK].concat();
    let found = results(&joined("Never(\"a.PORTB.1 == 1\")"), "atmega328p", &[sends, receives]);
    assert_eq!(letters(&found), "h", "{found:?}");
}

#[test]
fn the_handler_of_a_flag_clears_it() {
    let control = 0x58;
    let body = [&[I::Bset { flag: 7 }], &send()[..], STUCK].concat();
    let handler =
        [I::Sbis { io: PORTB, bit: 0 }, I::Rjmp { offset: 1 }, I::Sbi { io: PORTB, bit: 1 }, HIGH[0], I::Reti];
    let sends = interrupted(control, &body, &[(SENT, &handler)]);
    let receives = [&on()[..], STUCK].concat();
    let properties = "Never(\"a.PORTB.1 == 1\"), Never(\"a.PORTB.0 == 1\")";
    let found = results(&joined(properties), "atmega328p", &[sends, receives]);
    assert_eq!(letters(&found), "hv", "{found:?}");
}

#[test]
fn a_character_does_not_come_for_certain_in_sleep() {
    // The other node wakes up now and then, and looks for the character once it is sent.
    let sleep = |mode: u8| {
        let watchdog = [I::Ldi { rd: r(17), k: 0x40 }, I::Sts { address: WDTCSR, rr: r(17) }];
        let enter = [I::Ldi { rd: r(17), k: mode | 1 }, I::Out { io: SMCR, rr: r(17) }, I::Bset { flag: 7 }];
        let look = [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit: 7 }];
        let again = [I::Sleep, I::Sbis { io: PIND, bit: 2 }, I::Rjmp { offset: -3 }];
        let body = [&watchdog[..], &enter, &HIGH, &again, &look, SHOWS].concat();
        let node = interrupted(0x18, &body, &[(WATCHDOG, &[I::Reti])]);
        let sends = [&on()[..], &WAIT_FOR_PIN, &send(), &wait(6), &HIGH, STUCK].concat();
        letters(&results(&joined("Never(\"b.PORTB.1 == 1\")"), "atmega328p", &[sends, node]))
    };
    assert_eq!(sleep(0), "h");
    for mode in [2, 4, 12, 14] {
        assert_eq!(sleep(mode), "u");
        assert_eq!(with_fault(Fault::SleepIgnored, || sleep(mode)), "h");
    }
}

#[test]
fn a_character_does_not_come_for_certain_without_a_clock() {
    let stop = |register: u16, value: u8| {
        [I::Ldi { rd: r(17), k: value }, I::Sts { address: DataAddress(register), rr: r(17) }]
    };
    let check = |before: &[I], register: u16, value: u8| {
        // The receiver of the sender is off.
        let sends = [&stop(UCSR0B.0, 0x08)[..], &WAIT_FOR_PIN, &send(), before, &stop(register, value), STUCK].concat();
        let takes = [&wait(7)[..], &[I::Lds { rd: r(16), address: UDR0 }]].concat();
        let receives = [&on()[..], &HIGH, &takes, STUCK].concat();
        letters(&results(&joined("Ltl(\"F b.read(UDR0)\")"), "atmega328p", &[sends, receives]))
    };
    // PRR without PRUSART0, and eight bits.
    assert_eq!((check(&[], 0x64, 0x01).as_str(), check(&[], 0xc2, 0x06).as_str()), ("h", "h"));
    let both = |register, value| {
        [check(&[], register, value), with_fault(Fault::SleepIgnored, || check(&[], register, value))]
    };
    assert_eq!([both(0x64, 0x02), both(0xc2, 0x00)], [["u", "h"], ["u", "h"]]);
    // The transmitter is off before, and finishes its frame.
    let off = stop(UCSR0B.0, 0);
    let both = [check(&off, 0x64, 0x02), with_fault(Fault::SleepIgnored, || check(&off, 0x64, 0x02))];
    assert_eq!(both, ["u", "h"]);
}

#[test]
fn a_frame_does_not_come_for_certain_if_its_settings_change() {
    let set = |register: u16, value: u8| {
        [I::Ldi { rd: r(17), k: value }, I::Sts { address: DataAddress(register), rr: r(17) }]
    };
    // Two stop bits, even parity, another baud rate, and the double one.
    for (register, value) in [(0xc2, 0x0e), (0xc2, 0x26), (0xc4, 1), (0xc0, 2)] {
        let check = || {
            let sends = [&set(UCSR0B.0, 0x08)[..], &WAIT_FOR_PIN, &send(), &set(register, value), STUCK].concat();
            let takes = [&wait(7)[..], &[I::Lds { rd: r(16), address: UDR0 }]].concat();
            let receives = [&on()[..], &HIGH, &takes, STUCK].concat();
            letters(&results(&joined("Ltl(\"F b.read(UDR0)\")"), "atmega328p", &[sends, receives]))
        };
        assert_eq!([check(), with_fault(Fault::SleepIgnored, check)], ["u", "h"], "{register:#x} {value}");
    }
}

#[test]
fn changes_of_the_receiver_s_pin_are_not_followed() {
    // PCINT16 is RXD, and PCINT17 is not.
    let check = |mask: u8| {
        let enable = [
            I::Ldi { rd: r(17), k: mask },
            I::Sts { address: DataAddress(0x6d), rr: r(17) },
            I::Ldi { rd: r(17), k: 4 },
            I::Sts { address: DataAddress(0x68), rr: r(17) },
            I::Bset { flag: 7 },
        ];
        let text =
            "(nodes: { \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }, wires: [Uart(from: \"b\", to: \"a\")],
            properties: [Never(\"a.PORTB.5 == 1\")])";
        let node = interrupted(0x10, &[&enable[..], STUCK].concat(), &[(10, &[I::Reti])]);
        letters(&results(text, "atmega328p", &[node, STUCK.to_vec()]))
    };
    assert_eq!((check(1).as_str(), check(2).as_str()), ("u", "h"));
}

#[test]
fn a_uart_without_a_clock_reads_as_anything() {
    let stop = [I::Ldi { rd: r(17), k: 0x02 }, I::Sts { address: DataAddress(0x64), rr: r(17) }];
    let look = [I::Lds { rd: r(18), address: UCSR0A }, I::Sbrs { rr: r(18), bit: 7 }];
    let check = || {
        let node = [&[I::Sbi { io: DDRB, bit: 0 }][..], &stop, &look, STUCK, SHOWS].concat();
        let found = results(&joined("Never(\"a.PORTB.1 == 1\")"), "atmega328p", &[node, STUCK.to_vec()]);
        letters(&found)
    };
    assert_ne!(check(), "h");
    assert_eq!(with_fault(Fault::StoppedIsRead, check), "h");
}
