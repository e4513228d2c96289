//! Small systems whose verdicts are known.

use avr_isa::Instruction as I;
use avr_testkit::image::r;

use super::{letters, results};
use crate::Verdict;
use crate::faults::{Fault, with_fault};

const PORTB: u8 = 0x05;
const DDRB: u8 = 0x04;
const PIND: u8 = 0x09;
const PINB: u8 = 0x03;

/// Two programs that take a lock each, and wait for the other one to be free: both at once never give up.
fn polite(first: bool) -> Vec<I> {
    let take = [I::Sbi { io: PORTB, bit: 0 }, I::Sbic { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }];
    let careful = [I::Sbic { io: PIND, bit: 2 }, I::Rjmp { offset: -2 }, I::Sbi { io: PORTB, bit: 0 }];
    let mut program = vec![I::Sbi { io: DDRB, bit: 0 }];
    program.extend(if first { take } else { careful });
    let done = [I::Cbi { io: PORTB, bit: 0 }];
    program.extend(done);
    let back = 1 - program.len() as i16 - 1;
    program.push(I::Rjmp { offset: back });
    program
}

fn crossed(properties: &str) -> String {
    format!(
        "(nodes: {{ \"a\": (firmware: \"a\"), \"b\": (firmware: \"b\") }},
          wires: [Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\", idle: 0), Pin(from: \"b.PORTB.0\", to: \"a.PIND.2\", idle: 0)],
          properties: [{properties}])"
    )
}

#[test]
fn who_waits_for_each_other_is_stuck() {
    let text = crossed("Deadlock()");
    let stuck = results(&text, "atmega328p-gpio", &[polite(true), polite(true)]);
    let Verdict::Violated(run) = &stuck.properties[0].verdict else { panic!("{stuck:?}") };
    assert!(run.moments.iter().any(|moment| moment.text == "PORTB.0 becomes 1"), "{run:?}");
    assert_eq!(letters(&results(&text, "atmega328p-gpio", &[polite(false), polite(false)])), "h");
    let ignored =
        with_fault(Fault::DeadlockIgnored, || results(&text, "atmega328p-gpio", &[polite(true), polite(true)]));
    assert_eq!(letters(&ignored), "h");
}

#[test]
fn conditions_speak_of_several_nodes() {
    let text = crossed(
        "Never(\"a.PORTB.0 == 1 && b.PORTB.0 == 1\"), Always(\"a.PORTB.1 == 0\"), Always(\"a.PORTB.0 == 0 || a.PORTB.0 == 1\"),
         Never(\"a.write(PORTB)\")",
    );
    let programs = [polite(false), polite(false)];
    assert_eq!(letters(&results(&text, "atmega328p-gpio", &programs)), "vhhv");
}

#[test]
fn what_is_in_memory_at_the_start_is_no_choice() {
    // It drives what was in a register.
    let program = vec![I::Sbi { io: DDRB, bit: 0 }, I::Out { io: PORTB, rr: r(5) }, I::Rjmp { offset: -1 }];
    let text = crossed("Always(\"a.PORTB.0 == 0\"), Never(\"a.PORTB.0 == 0 && a.PORTB.1 == 1\")");
    let found = results(&text, "atmega328p-gpio", &[program.clone(), program]);
    assert!(!letters(&found).contains('h'), "{found:?}");
}

#[test]
fn who_reads_memory_at_the_start_does_not_choose() {
    // It toggles its pin for ever if a bit of a register was set.
    let program = vec![
        I::Sbi { io: DDRB, bit: 0 },
        I::Mov { rd: r(16), rr: r(5) },
        I::Andi { rd: r(16), k: 1 },
        I::Brbs { flag: 1, offset: 1 },
        I::Sbi { io: PINB, bit: 0 },
        I::Rjmp { offset: -5 },
    ];
    let programs = [program.clone(), program];
    let text = crossed("Deadlock()");
    assert_eq!(letters(&results(&text, "atmega328p-gpio", &programs)), "u");
    let chosen = with_fault(Fault::CasesAreChoices, || results(&text, "atmega328p-gpio", &programs));
    assert_eq!(letters(&chosen), "h");
}
