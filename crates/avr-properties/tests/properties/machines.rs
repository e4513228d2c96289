//! Machines of the environment: what is wrong is told with its place; what is right becomes an automaton.

use avr_machine::{ByteSet, Signal};
use avr_properties::{Binding, PropertyError, PropertyFile, SpecificationAutomaton, bind_machines};
use expect_test::{Expect, expect};

use super::support::{device, fixture};

const RIGHT: &str = "(initial: [\"a\"], states: {\"a\": (moves: [(on: \"read(UDR0) == 3\", to: \"a\")])})";

fn bound(environment: &str, machine: &str) -> Result<Vec<avr_machine::EnvironmentAutomaton>, Box<PropertyError>> {
    let mut file = PropertyFile::parse("p.ron", &format!("(environment: [{environment}])"))?;
    file.add_specification("m", SpecificationAutomaton::parse("m", machine)?);
    let image = fixture("sensor.elf");
    let binding = Binding {
        device: device("atmega328p"),
        image: &image,
        start: 0,
        ends_paths: false,
        stacks: &[],
        boot_start: None,
    };
    Ok(bind_machines(&file, &binding)?)
}

#[track_caller]
fn check(environment: &str, machine: &str, expected: Expect) {
    let error = bound(environment, machine).expect_err("it is wrong");
    expected.assert_eq(&error.to_string());
}

#[track_caller]
fn check_move(drives: &str, on: &str, expected: Expect) {
    let machine = format!("(initial: [\"a\"], states: {{\"a\": (moves: [(on: \"{on}\", to: \"a\")])}})");
    check(&format!("machine(spec: \"m\", drives: [\"{drives}\"])"), &machine, expected);
}

#[test]
fn entries() {
    check(
        "reste",
        RIGHT,
        expect![[r#"
        p.ron:1:16: there is no 'reste' here; did you mean reset?
          (environment: [reste])
                         ^^^^^"#]],
    );
    check(
        "machine(spec: \"m\")",
        RIGHT,
        expect![[r#"
        p.ron:1:33: the field 'drives' is missing
          (environment: [machine(spec: "m")])
                                          ^"#]],
    );
    check(
        "machine(spec: \"m\", drives: [\"UDR0\"], from: 1)",
        RIGHT,
        expect![[r#"
        p.ron:1:53: there is no field 'from' here
          (environment: [machine(spec: "m", drives: ["UDR0"], from: 1)])
                                                              ^^^^
        hint: known here: spec, drives"#]],
    );
    check(
        "machine(spec: \"other\", drives: [\"UDR0\"])",
        RIGHT,
        expect![[r#"
        p.ron:1:30: the specification other was not read
          (environment: [machine(spec: "other", drives: ["UDR0"])])
                                       ^^^^^^^
        hint: it is read where a property file names it, or its text is in the field `specifications`"#]],
    );
    check(
        "machine(spec: \"m\", drives: [])",
        RIGHT,
        expect![[r#"
        p.ron:1:30: the machine drives nothing
          (environment: [machine(spec: "m", drives: [])])
                                       ^^^
        hint: name inputs, as in drives: ["UDR0", "PIND.2"]"#]],
    );
    let five = ["machine(spec: \"m\", drives: [\"UDR0\"])"; 5].join(", ");
    check(
        &five,
        RIGHT,
        expect![[r#"
        p.ron:1:182: an environment has at most 4 machines
          (environment: [machine(spec: "m", drives: ["UDR0"]), machine(spec: "m", drives: ["UDR0"]), machine(spec: "m", drives: ["UDR0"]), machine(spec: "m", drives: ["UDR0"]), machine(spec: "m", drives: ["UDR0"])])
                                                                                                                                                                                               ^^^"#]],
    );
}

#[test]
fn drivers() {
    let drives = |text: &str| format!("machine(spec: \"m\", drives: [{text}])");
    check(
        &drives("\"UDR\""),
        RIGHT,
        expect![[r#"
        p.ron:1:44: nothing is named 'UDR'; did you mean UDR0?
          (environment: [machine(spec: "m", drives: ["UDR"])])
                                                     ^^^^^"#]],
    );
    check(
        &drives("\"PIND.9\""),
        RIGHT,
        expect![[r#"
        p.ron:1:44: nothing is named '9'
          (environment: [machine(spec: "m", drives: ["PIND.9"])])
                                                     ^^^^^^^^"#]],
    );
    check(
        &drives("\"PORTB\""),
        RIGHT,
        expect![[r#"
        p.ron:1:44: PORTB is no input that a machine can drive
          (environment: [machine(spec: "m", drives: ["PORTB"])])
                                                     ^^^^^^^
        hint: name pins (`PIND`, `PIND.2`), or the register of received bytes (`UDR0`): what hardware has there anew at each read"#]],
    );
    check(
        &drives("\"UCSR0A.RXC0\""),
        RIGHT,
        expect![[r#"
        p.ron:1:44: UCSR0A.RXC0 is no input that a machine can drive
          (environment: [machine(spec: "m", drives: ["UCSR0A.RXC0"])])
                                                     ^^^^^^^^^^^^^
        hint: name pins (`PIND`, `PIND.2`), or the register of received bytes (`UDR0`): what hardware has there anew at each read"#]],
    );
    check(
        &drives("\"ADCL\""),
        RIGHT,
        expect![[r#"
        p.ron:1:44: ADCL is no input that a machine can drive
          (environment: [machine(spec: "m", drives: ["ADCL"])])
                                                     ^^^^^^
        hint: name pins (`PIND`, `PIND.2`), or the register of received bytes (`UDR0`): what hardware has there anew at each read"#]],
    );
    check(
        &drives("\"PIND.2\", \"PIND\""),
        RIGHT,
        expect![[r#"
        p.ron:1:54: PIND is driven twice
          (environment: [machine(spec: "m", drives: ["PIND.2", "PIND"])])
                                                               ^^^^^^
        hint: let one machine drive it"#]],
    );
    check(
        &format!("{0}, {0}", drives("\"UDR0\"")),
        RIGHT,
        expect![[r#"
        p.ron:1:82: UDR0 is driven twice
          (environment: [machine(spec: "m", drives: ["UDR0"]), machine(spec: "m", drives: ["UDR0"])])
                                                                                           ^^^^^^
        hint: let one machine drive it"#]],
    );
    check(
        &format!("{}], assume: [\"UDR0 & 0x80 == 0\"", drives("\"UDR0\"")),
        RIGHT,
        expect![[r#"
        p.ron:1:44: UDR0 is driven, and `assume` says that it is constant
          (environment: [machine(spec: "m", drives: ["UDR0"])], assume: ["UDR0 & 0x80 == 0"])
                                                     ^^^^^^
        hint: leave one of both out"#]],
    );
}

#[test]
fn moves() {
    check_move(
        "PIND.2",
        "read(PINB)",
        expect![[r#"
        p.ron:1:30: no move on read(PIND) gives PIND a value
          (environment: [machine(spec: "m", drives: ["PIND.2"])])
                                       ^^^
        hint: add one, as in (on: "read(UDR0) == 3", to: "…")"#]],
    );
    check_move(
        "UDR0",
        "write(UDR0)",
        expect![[r#"
        p.ron:1:30: no move on read(UDR0) gives UDR0 a value
          (environment: [machine(spec: "m", drives: ["UDR0"])])
                                       ^^^
        hint: add one, as in (on: "read(UDR0) == 3", to: "…")"#]],
    );
    check_move(
        "UDR0",
        "read(UDR)",
        expect![[r#"
        m:1:52: state a: nothing is named 'UDR'; did you mean UDR0?
          (initial: ["a"], states: {"a": (moves: [(on: "read(UDR)", to: "a")])})
                                                             ^^^"#]],
    );
    check_move(
        "UDR0",
        "call(main)",
        expect![[r#"
        m:1:46: state a: a machine hears accesses to single registers, and this is another event
          (initial: ["a"], states: {"a": (moves: [(on: "call(main)", to: "a")])})
                                                       ^^^^^^^^^^^^
        hint: write `read(R)` or `write(R)` with a register R, or `tau`"#]],
    );
    check_move(
        "UDR0",
        "interrupt(USART_RX)",
        expect![[r#"
        m:1:46: state a: a machine hears accesses to single registers, and this is another event
          (initial: ["a"], states: {"a": (moves: [(on: "interrupt(USART_RX)", to: "a")])})
                                                       ^^^^^^^^^^^^^^^^^^^^^
        hint: write `read(R)` or `write(R)` with a register R, or `tau`"#]],
    );
    check_move(
        "UDR0",
        "read(mem[0x0100])",
        expect![[r#"
        m:1:46: state a: a machine hears accesses to single registers, and this is another event
          (initial: ["a"], states: {"a": (moves: [(on: "read(mem[0x0100])", to: "a")])})
                                                       ^^^^^^^^^^^^^^^^^^^
        hint: write `read(R)` or `write(R)` with a register R, or `tau`"#]],
    );
    check_move(
        "UDR0",
        "UDR0 == 3",
        expect![[r#"
        m:1:47: state a: hardware changes every bit of UDR0, so no state holds them
          (initial: ["a"], states: {"a": (moves: [(on: "UDR0 == 3", to: "a")])})
                                                        ^^^^
        hint: the event read(UDR0) speaks of what the program reads there"#]],
    );
    check_move(
        "UDR0",
        "read(UDR0) == GPIOR0",
        expect![[r#"
        m:1:46: state a: this compares the value with more than numbers
          (initial: ["a"], states: {"a": (moves: [(on: "read(UDR0) == GPIOR0", to: "a")])})
                                                       ^^^^^^^^^^^^^^^^^^^^^^
        hint: write a comparison with constants, as in "write(UDR0) & 0xf0 == 0x10""#]],
    );
    check_move(
        "PIND.2",
        "read(PIND) == 4",
        expect![[r#"
        m:1:46: state a: this compares bits of PIND that the machine does not drive
          (initial: ["a"], states: {"a": (moves: [(on: "read(PIND) == 4", to: "a")])})
                                                       ^^^^^^^^^^^^^^^^^
        hint: mask them, as in "read(PIND) & 0x04 == 0x04", or drive them as well"#]],
    );
    check_move(
        "PIND.2",
        "read(PIND) & 8 == 8",
        expect![[r#"
        m:1:46: state a: this compares bits of PIND that the machine does not drive
          (initial: ["a"], states: {"a": (moves: [(on: "read(PIND) & 8 == 8", to: "a")])})
                                                       ^^^^^^^^^^^^^^^^^^^^^
        hint: mask them, as in "read(PIND) & 0x04 == 0x04", or drive them as well"#]],
    );
    check_move(
        "PIND.2",
        "read(PIND) & 4 == 3",
        expect![[r#"
        m:1:47: state a: `read(PIND) & 4 == 3` is never true: the left side has no bits but 0x4
          (initial: ["a"], states: {"a": (moves: [(on: "read(PIND) & 4 == 3", to: "a")])})
                                                        ^^^^^^^^^^^^^^^^^^^
        hint: write `false` if that is meant"#]],
    );
    check(
        "machine(spec: \"m\", drives: [\"UDR0\"])",
        "(initial: [\"a\"], states: {\"a\": (data: \"PORTB == 1\", moves: [(on: \"read(UDR0)\", to: \"a\")])})",
        expect![[r#"
            m:1:39: state a: a state of a machine has no data: it is outside of the firmware
              (initial: ["a"], states: {"a": (data: "PORTB == 1", moves: [(on: "read(UDR0)", to: "a")])})
                                                    ^^^^^^^^^^^^
            hint: leave `data` out; a machine hears of the firmware by events"#]],
    );
}

#[test]
fn a_machine_drives_what_it_names() {
    let machine = "(initial: [\"b\", \"a\"], states: {
        \"a\": (moves: [(on: \"read(PIND) & 0x0c == 4\", to: \"b\"), (on: \"tau\", to: \"b\")]),
        \"b\": (moves: [(on: \"write(PORTB) > 0x80\", to: \"a\")]),
    })";
    let all = bound("reset, machine(spec: \"m\", drives: [\"PIND.2\", \"PIND.PIND3\"])", machine).expect("it is right");
    let [automaton] = all.as_slice() else { panic!("there is one machine") };
    let address = |name: &str| device("atmega328p").register(name).expect("it exists").address;
    assert_eq!(automaton.drives.iter().map(|(at, bits)| (*at, *bits)).collect::<Vec<_>>(), [(address("PIND"), 0x0c)]);
    assert_eq!(automaton.initial, [1, 0]);
    let on = |state: usize, number: usize| automaton.states[state].moves[number].on;
    assert_eq!(on(0, 0), Some((Signal::Read(address("PIND")), ByteSet::of(|byte| byte == 4))));
    assert_eq!(on(0, 1), None);
    assert_eq!(on(1, 0), Some((Signal::Write(address("PORTB")), ByteSet::of(|byte| byte > 0x80))));
}

#[test]
fn a_file_carries_its_machines() {
    let text = "(environment: [brown_out, machine(spec: \"m\", drives: [\"UDR0\"])])";
    let mut file = PropertyFile::parse("p.ron", text).expect("it is right");
    assert_eq!(file.missing_specifications(), ["m"]);
    file.add_specification("m", SpecificationAutomaton::parse("m", RIGHT).expect("it is right"));
    assert_eq!(file.missing_specifications(), Vec::<String>::new());
    let whole = file.with_texts_of_specifications(text).expect("it begins with a parenthesis");
    let read = PropertyFile::parse("p.ron", &whole).expect("it is right");
    assert_eq!(read.missing_specifications(), Vec::<String>::new(), "{whole}");
    assert_eq!(read.machines[0].to_string(), "the machine m drives UDR0");
}
