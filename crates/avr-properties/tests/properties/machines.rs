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
    let binding = Binding { device: device("atmega328p"), image: &image, start: 0, ends_paths: false };
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
    check("reste", RIGHT, expect![[""]]);
    check("machine(spec: \"m\")", RIGHT, expect![[""]]);
    check("machine(spec: \"m\", drives: [\"UDR0\"], from: 1)", RIGHT, expect![[""]]);
    check("machine(spec: \"other\", drives: [\"UDR0\"])", RIGHT, expect![[""]]);
    check("machine(spec: \"m\", drives: [])", RIGHT, expect![[""]]);
    let five = vec!["machine(spec: \"m\", drives: [\"UDR0\"])"; 5].join(", ");
    check(&five, RIGHT, expect![[""]]);
}

#[test]
fn drivers() {
    let drives = |text: &str| format!("machine(spec: \"m\", drives: [{text}])");
    check(&drives("\"UDR\""), RIGHT, expect![[""]]);
    check(&drives("\"PIND.9\""), RIGHT, expect![[""]]);
    check(&drives("\"PORTB\""), RIGHT, expect![[""]]);
    check(&drives("\"UCSR0A.RXC0\""), RIGHT, expect![[""]]);
    check(&drives("\"ADCL\""), RIGHT, expect![[""]]);
    check(&drives("\"PIND.2\", \"PIND\""), RIGHT, expect![[""]]);
    check(&format!("{0}, {0}", drives("\"UDR0\"")), RIGHT, expect![[""]]);
    check(&format!("{}], assume: [\"UDR0 & 0x80 == 0\"", drives("\"UDR0\"")), RIGHT, expect![[""]]);
}

#[test]
fn moves() {
    check_move("PIND.2", "read(PINB)", expect![[""]]);
    check_move("UDR0", "write(UDR0)", expect![[""]]);
    check_move("UDR0", "read(UDR)", expect![[""]]);
    check_move("UDR0", "call(main)", expect![[""]]);
    check_move("UDR0", "interrupt(USART_RX)", expect![[""]]);
    check_move("UDR0", "read(mem[0x0100])", expect![[""]]);
    check_move("UDR0", "UDR0 == 3", expect![[""]]);
    check_move("UDR0", "read(UDR0) == GPIOR0", expect![[""]]);
    check_move("PIND.2", "read(PIND) == 4", expect![[""]]);
    check_move("PIND.2", "read(PIND) & 8 == 8", expect![[""]]);
    check_move("PIND.2", "read(PIND) & 4 == 3", expect![[""]]);
    check(
        "machine(spec: \"m\", drives: [\"UDR0\"])",
        "(initial: [\"a\"], states: {\"a\": (data: \"PORTB == 1\", moves: [(on: \"read(UDR0)\", to: \"a\")])})",
        expect![[""]],
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
