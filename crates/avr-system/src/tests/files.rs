//! Wrong system files: the message, and the part of the text that is marked.

use std::collections::BTreeMap;

use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting, SpecificationAutomaton};
use avr_testkit::image::image;

use crate::{BindError, System, SystemFile};

const NODES: &str = "\"a\": (firmware: \"a\"), \"b\": (firmware: \"b\")";
const SPECIFICATION: &str = "(initial: [\"s\"], states: { \"s\": (moves: [(on: \"a.write(PORTB)\", to: \"s\")]) })";

/// The message and the marked part for a system of two nodes, of which `b` has these settings.
fn problem_with(text: &str, [one, other]: [&str; 2], settings: &str) -> (String, String) {
    let error = match SystemFile::parse(text) {
        Err(error) => error,
        Ok(file) => {
            let image = image(&[0xcfff]);
            let eeprom = BTreeMap::new();
            let plain = PropertyFile::parse("a.ron", "()").expect("it says nothing");
            let assuming = PropertyFile::parse("b.ron", settings).expect("it is a property file");
            let device = |name| Device::named(name).expect("there is such a device");
            let setting = |device, file| Setting { image: &image, device, start: None, file, eeprom: &eeprom };
            let settings = [setting(device(one), &plain), setting(device(other), &assuming)];
            let automaton = SpecificationAutomaton::parse("s.ron", SPECIFICATION).expect("it is a specification");
            let specifications = BTreeMap::from([("s.ron".to_owned(), automaton)]);
            match System::bind(&file, &settings[..file.nodes.len()], &specifications) {
                Err(BindError::System(error)) => error,
                other => panic!("{text}: {other:?}"),
            }
        }
    };
    assert!(!error.hint.is_empty());
    (error.problem, text[error.span].to_owned())
}

#[track_caller]
fn check(text: &str, problem: &str, marked: &str) {
    let found = problem_with(text, ["atmega328p", "atmega328p"], "()");
    assert_eq!(found, (problem.to_owned(), marked.to_owned()), "{text}");
}

fn wires(wires: &str) -> String {
    format!("(nodes: {{{NODES}}}, wires: [{wires}], properties: [Deadlock()])")
}

fn properties(properties: &str) -> String {
    format!("(nodes: {{{NODES}}}, wires: [], properties: [{properties}])")
}

#[test]
fn wrong_files_are_refused() {
    check("(wires: [], properties: [Deadlock()])", "the field 'nodes' is missing", "(");
    check("(nodes: {}, wires: [], properties: [Deadlock()])", "the system has no nodes", "(");
    check(
        "(nodes: {\"a\": (firmware: \"a\"), \"a\": (firmware: \"b\")}, wires: [], properties: [])",
        "the node `a` is there twice",
        "\"a\"",
    );
    check("(nodes: {\"a.b\": (firmware: \"a\")}, wires: [], properties: [])", "`a.b` is no name of a node", "\"a.b\"");
    check(&properties(""), "nothing is asked of the system: the list of properties is empty", "(");
}

#[test]
fn wrong_wires_are_refused() {
    check(&wires("Uart(from: \"a\", to: \"c\")"), "there is no node `c`; the nodes are a, b", "\"c\"");
    check(&wires("Uart(from: \"a\", to: \"a\")"), "the wire leads from `a` to `a`", "Uart(from: \"a\", to: \"a\")");
    check(&wires("Uart(from: \"a\", to: \"b\", buffer: 0)"), "a buffer has 1 to 64 characters", "0");
    check(&wires("Spi(controller: \"a\", peripheral: \"b\")"), "wires of the kind Spi are not supported yet", "Spi");
    check(
        &wires("Pin(from: \"a.PORTZ.0\", to: \"b.PIND.2\")"),
        "`a.PORTZ.0`: the device atmega328p has no register PORTZ",
        "\"a.PORTZ.0\"",
    );
    check(
        &wires("Pin(from: \"a.PINB.0\", to: \"b.PIND.2\")"),
        "`a.PINB.0` reads a pin; a wire begins at a bit of PORTx",
        "\"a.PINB.0\"",
    );
    check(
        &wires("Pin(from: \"a.PORTB.0\", to: \"b.PORTD.2\")"),
        "`b.PORTD.2` drives a pin; a wire ends at a bit of PINx",
        "\"b.PORTD.2\"",
    );
    check(&wires("Pin(from: \"a.UDR0.0\", to: \"b.PIND.2\")"), "`a.UDR0.0` is no pin", "\"a.UDR0.0\"");
    check(&wires("Pin(from: \"a.PORTC.7\", to: \"b.PIND.2\")"), "`a.PORTC.7`: PORTC has no bit 7", "\"a.PORTC.7\"");
    check(&wires("Pin(from: \"PORTB\", to: \"b.PIND.2\")"), "`PORTB` names no pin", "\"PORTB\"");
    check(&wires("Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\", idle: 2)"), "the level of a wire is 0 or 1", "2");
    check(
        &wires("Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\"), Pin(from: \"a.PORTB.1\", to: \"b.PIND.2\")"),
        "the pin `b.PIND.2` has two sources, which may drive against each other",
        "\"b.PIND.2\"",
    );
    check(
        &wires("Pin(from: \"a.PORTB.0\", to: \"b.PINB.0\"), Pin(from: \"b.PORTB.0\", to: \"a.PINB.0\")"),
        "a wire from `b.PORTB.0` and a wire to it, or the same of `a.PINB.0`",
        "\"b.PORTB.0\"",
    );
    check(
        &wires("Pin(from: \"a.PORTB.0\", to: \"b.PINB.0\"), Pin(from: \"a.PORTB.0\", to: \"b.PINB.1\", idle: 0)"),
        "the wires from `a.PORTB.0` have different levels while nothing drives them",
        "\"a.PORTB.0\"",
    );
    check(
        &wires("Uart(from: \"a\", to: \"b\"), Uart(from: \"a\", to: \"b\")"),
        "the transmitter of `a` leads to two receivers",
        "Uart(from: \"a\", to: \"b\")",
    );
}

#[test]
fn inputs_have_one_source_and_uarts_are_there() {
    let pin = wires("Pin(from: \"a.PORTB.0\", to: \"b.PIND.2\")");
    let found = problem_with(&pin, ["atmega328p", "atmega328p"], "(assume: [\"PIND.2 == 1\"])");
    assert_eq!(found.0, "`b.PIND.2` is wired, and its property file assumes its value");
    let line = wires("Uart(from: \"a\", to: \"b\")");
    let found = problem_with(&line, ["attiny85", "atmega328p"], "()");
    assert_eq!(found, ("the device attiny85 of `a` has no UART".to_owned(), "\"a\"".to_owned()));
}

#[test]
fn wrong_conditions_are_refused() {
    check(&properties("Always(\"write(UDR0)\")"), "`write(UDR0)` speaks of no node", "write(UDR0)");
    check(&properties("Always(\"a.PORTB == b.PORTB\")"), "one comparison speaks of two nodes", "PORTB == b.PORTB");
    check(
        &properties("Never(\"a.PROTB.0 == 1\")"),
        "nothing is named 'PROTB'; did you mean PORTB or PORTC or PORTD?",
        "PROTB.0 == 1",
    );
    let (problem, _) = problem_with(&properties("Always(\"AG a.PORTB == 0\")"), ["atmega328p"; 2], "()");
    assert!(problem.starts_with("`AG`"), "{problem}");
    let (problem, _) =
        problem_with(&properties("Ltl(\"G (a.PORTB.0 == 1 -> X a.PORTB.0 == 0)\")"), ["atmega328p"; 2], "()");
    assert_eq!(problem, "`X` and `Y` count steps, and nodes take steps at any speed");
    let (problem, _) = problem_with(&properties("Alwys(\"a.PORTB == 0\")"), ["atmega328p"; 2], "()");
    assert!(problem.contains("Alwys"), "{problem}");
}

#[test]
fn wrong_formulas_are_refused() {
    let formula = |text: &str| properties(&format!("Formula(\"{text}\")"));
    check(&formula("AG (PORTB == 1)"), "`PORTB == 1` speaks of no node", "PORTB == 1");
    check(&formula("EF a.PORTB == b.PORTB"), "one comparison speaks of two nodes", "PORTB == b.PORTB");
    check(
        &formula("nu V. AF (a.PORTB == 0 && V)"),
        "the variable `V` stands in a path formula; only single operators such as A[p U X] may contain one",
        "\"nu V. AF (a.PORTB == 0 && V)\"",
    );
    let (problem, marked) = problem_with(&formula("F a.PORTB == 0"), ["atmega328p"; 2], "()");
    assert!(problem.starts_with("`F` is an operator of linear time"), "{problem}");
    assert_eq!(marked, "F");
    let (problem, _) = problem_with(&formula("nu V. !V"), ["atmega328p"; 2], "()");
    assert!(problem.contains("odd number of negations"), "{problem}");
    let (problem, _) = problem_with(&properties("Ltl(\"AG a.PORTB == 0\")"), ["atmega328p"; 2], "()");
    assert!(!problem.is_empty());
}

#[test]
fn wrong_conformance_is_refused() {
    let conforms = |rest: &str| properties(&format!("Conforms(to: \"s.ron\", {rest})"));
    let traces = |alphabet: &str| conforms(&format!("alphabet: [{alphabet}], by: \"traces\""));
    check(
        &conforms("alphabet: [\"a.write(PORTB)\"], by: \"bisimulation\""),
        "there is no relation 'bisimulation'",
        "\"bisimulation\"",
    );
    check(
        &conforms("alphabet: [\"b.write(PORTB)\"]"),
        "s.ron in state s: the alphabet does not have the event of `a.write(PORTB)`",
        "\"s.ron\"",
    );
    check(
        &conforms("alphabet: [], by: \"traces\""),
        "the alphabet is empty: every system conforms to every specification",
        "Conforms(to: \"s.ron\", alphabet: [], by: \"traces\")",
    );
    check(&traces("\"a.PORTB == 1\""), "`a.PORTB == 1` is no event", "\"a.PORTB == 1\"");
    check(&traces("\"a.write(PORTB) == 1\""), "`a.write(PORTB) == 1` compares a value", "\"a.write(PORTB) == 1\"");
    check(
        &traces("\"a.write(PORTB)\", \"a.write(PORTB) \""),
        "`a.write(PORTB) ` is there twice",
        "\"a.write(PORTB) \"",
    );
    check(&traces("\"write(PORTB)\""), "`write(PORTB)` speaks of no node", "write(PORTB)");
    check(
        &traces("\"b.write(PORTB)\""),
        "s.ron in state s: the alphabet does not have the event of `a.write(PORTB)`",
        "\"s.ron\"",
    );
    let other = properties("Conforms(to: \"other.ron\", alphabet: [\"a.write(PORTB)\"], by: \"traces\")");
    check(&other, "the specification other.ron was not read", "\"other.ron\"");
}
