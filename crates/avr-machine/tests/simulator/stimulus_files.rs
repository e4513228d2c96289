//! Stimulus files that are wrong: the error names the place and the remedy, and nothing panics.

use crate::device;
use avr_machine::simulator::Stimulus;
use avr_testkit::Random;

/// The message and the hint of a wrong file.
#[track_caller]
fn check(text: &str, message: &str, hint: Option<&str>) {
    let error = Stimulus::parse("s.ron", text, device()).expect_err(text);
    assert_eq!(error.to_string(), format!("s.ron:{message}"), "{text}");
    assert_eq!(error.hint().as_deref(), hint, "{text}");
}

#[test]
fn names_that_do_not_exist_are_named_with_the_nearest() {
    check("(evnts: [])", "1:2: there is no field 'evnts' here; did you mean events?", None);
    check(
        "(\n  events: [\n    (cycle: 3, pin: {}),\n  ],\n)",
        "3:16: there is no field 'pin' here; did you mean pins?",
        None,
    );
    check(
        "(zzzzzz: 1)",
        "1:2: there is no field 'zzzzzz' here",
        Some("the fields here are clock_hertz, registers, memory, eeprom, shared, events, exact"),
    );
    check(
        "(events: [(cycle: 0, inputs: [(\"PNIB\", 255, 1)])])",
        "1:32: the device has no register 'PNIB'; did you mean PINB?",
        None,
    );
    check("(registers: {\"r32\": 1})", "1:14: the device has no register 'r32'", None);
    check(
        "(events: [(cycle: 0, pins: {\"PC7\": 1})])",
        "1:29: the device has no pin 'PC7'; did you mean PB7 or PC0 or PC1?",
        Some("pins are named by port and bit, as in \"PB3\""),
    );
    check(
        "(events: [(step: 0, interrupts: [\"TIMER0_OVR\"])])",
        "1:34: the device has no interrupt 'TIMER0_OVR'; did you mean TIMER0_OVF or TIMER1_OVF or TIMER2_OVF?",
        None,
    );
    check(
        "(exact: [(step: 0, choice: \"reset\")])",
        "1:28: the device has no interrupt or reset 'reset'",
        Some("write the name of an interrupt, a reset such as \"external_reset\", or \"none\""),
    );
}

#[test]
fn values_out_of_range_are_named() {
    check("(memory: {0x900: 1})", "1:11: data address 0x900 is out of range: the last one is 0x8ff", None);
    check("(eeprom: {1024: 1})", "1:11: EEPROM address 0x400 is out of range: the last one is 0x3ff", None);
    check("(events: [(cycle: 0, adc: {16: 1})])", "1:28: channel 0x10 is out of range: the last one is 0xf", None);
    check("(events: [(cycle: 0, adc: {1: 1024})])", "1:28: result 0x400 is out of range: the last one is 0x3ff", None);
    check(
        "(exact: [(step: 0, inputs: [(\"PINB\", 0x0f, 0x10)])])",
        "1:30: the value 0x10 has bits outside the mask 0x0f",
        Some("the order is (register, mask, value)"),
    );
    check("(clock_hertz: 0)", "1:1: the clock must have at least 1 Hz", None);
}

#[test]
fn moments_must_make_sense() {
    check(
        "(events: [(uart: \"a\")])",
        "1:11: an event has either a cycle or a step",
        Some("write `cycle: 1000` or `step: 200`"),
    );
    check(
        "(events: [(cycle: 1, step: 1)])",
        "1:11: an event has either a cycle or a step",
        Some("write `cycle: 1000` or `step: 200`"),
    );
    check(
        "(exact: [\n(step: 4),\n(step: 4)])",
        "3:1: step 4 does not come after step 4",
        Some("sort the entries by step and join those of one step"),
    );
    check(
        "(events: [(cycle: 1)], exact: [])",
        "1:11: an exact stimulus has no events",
        Some("put the inputs of each step into `exact`, or leave `exact` out"),
    );
}

#[test]
fn hostile_files_are_refused_or_read_without_a_panic() {
    let right = "(clock_hertz: 8000000, registers: {\"r24\": 1}, memory: {0x0100: 0x2a}, shared: [1], events: [(cycle: 5, \
                 pins: {\"PB0\": 1}, uart: \"hi\", adc: {0: 512}, inputs: [(\"PINC\", 0x0f, 0x05)], release: [\"PINC\"], \
                 interrupts: [\"INT0\"], reset: \"external_reset\")])";
    let parse = |text: &str| Stimulus::parse("s.ron", text, device());
    assert!(parse(right).is_ok());
    for end in 0..right.len() - 1 {
        assert!(parse(&right[..end]).is_err(), "{}", &right[..end]);
    }
    let mut random = Random::new(7);
    for _ in 0..3_000 {
        let mut bytes = right.as_bytes().to_vec();
        for _ in 0..3 {
            let place = random.below(bytes.len());
            bytes[place] = random.pick(b"(){}[]\"\\:,0x9-#r\n");
        }
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }
    for hostile in ["(".repeat(100_000), "[".repeat(100_000), "(exact: [".repeat(10_000), "/*".repeat(9_999)] {
        assert!(parse(&hostile).is_err());
    }
    assert!(parse("(events: [(cycle: 99999999999999999999999)])").is_err());
    assert!(parse("(events: [(cycle: 18446744073709551615, uart: \"a\")])").is_ok());
    assert!(parse("(events: [(cycle: -1)])").is_err());
    assert!(parse("\u{feff}()\0").is_err());
}
