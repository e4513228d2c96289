//! Specification files: what is wrong is told with its place; what is right becomes a formula.

use avr_image::Image;
use avr_properties::{
    AtomTable, Binding, BoundProperty, PropertyError, PropertyFile, PropertyKind, SpecificationAutomaton, bind,
};
use expect_test::{Expect, expect};
use mu_calculus::{NormalForm, parse_formula};

use super::support::{device, fixture};

/// Binds an entry of a property file to a specification.
fn bound(entry: &str, specification: &str, image: &Image) -> Result<(BoundProperty, AtomTable), Box<PropertyError>> {
    let text = format!("(define: {{ \"lit\": \"PORTB.0\" }}, properties: [{entry}])");
    let mut file = PropertyFile::parse("p.ron", &text)?;
    let automaton = SpecificationAutomaton::parse("a.spec.ron", specification)?;
    file.add_specification("a.spec.ron", automaton);
    let binding =
        Binding { device: device("atmega328p"), image, start: 0, ends_paths: false, stacks: &[], boot_start: None };
    let mut table = AtomTable::new();
    let bound = bind(&file.properties[0], &file.definitions, &binding, &mut table)?;
    Ok((bound, table))
}

const ENTRY: &str = "Conforms(to: \"a.spec.ron\")";

#[track_caller]
fn check_entry(entry: &str, specification: &str, expected: Expect) {
    let error = bound(entry, specification, &fixture("sensor.elf")).expect_err("it is wrong");
    expected.assert_eq(&error.to_string());
}

#[track_caller]
fn check(specification: &str, expected: Expect) {
    check_entry(ENTRY, specification, expected);
}

#[test]
fn forms() {
    check(
        "[]",
        expect![[r#"
        a.spec.ron:1:1: expected `(`; a specification file is ( initial: ["…"], states: {"…": ( … )} )
          []
          ^"#]],
    );
    check(
        "(initial: [\"a\"])",
        expect![[r#"
        a.spec.ron:1:16: the field 'states' is missing
          (initial: ["a"])
                         ^"#]],
    );
    check(
        "(initial: [\"a\"], states: {\"a\": ()}, start: 1)",
        expect![[r#"
        a.spec.ron:1:37: there is no field 'start' here
          (initial: ["a"], states: {"a": ()}, start: 1)
                                              ^^^^^
        hint: known here: initial, states"#]],
    );
    check(
        "(initial: [\"a\"], states: {\"a\": (move: [])})",
        expect![[r#"
        a.spec.ron:1:33: there is no field 'move' here; did you mean moves?
          (initial: ["a"], states: {"a": (move: [])})
                                          ^^^^"#]],
    );
    check(
        "(initial: [\"a\"], states: {\"a\": (moves: [(on: \"tau\")])})",
        expect![[r#"
        a.spec.ron:1:51: the field 'to' is missing
          (initial: ["a"], states: {"a": (moves: [(on: "tau")])})
                                                            ^"#]],
    );
}

#[test]
fn states() {
    check(
        "(initial: [\"a\"], states: {\"a\": ()})",
        expect![[r#"
        p.ron:1:45: the alphabet is empty: every firmware conforms to every specification
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron")])
                                                      ^^^^^^^^
        hint: name events, as in alphabet: ["write(PORTB)"]"#]],
    );
    check(
        "(initial: [], states: {\"a\": ()})",
        expect![[r#"
        a.spec.ron:1:1: no state is initial
          (initial: [], states: {"a": ()})
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        hint: name one, as in initial: ["idle"]"#]],
    );
    check(
        "(\n  initial: [\"idel\"],\n  states: {\"idle\": ()},\n)",
        expect![[r#"
        a.spec.ron:2:13: there is no state 'idel'; did you mean idle?
            initial: ["idel"],
                      ^^^^^^"#]],
    );
    check(
        "(\n  initial: [\"a\"],\n  states: {\n    \"a\": (),\n    \"a\": (),\n  },\n)",
        expect![[r#"
        a.spec.ron:5:5: 'a' is given twice
              "a": (),
              ^^^"#]],
    );
    check(
        "(\n  initial: [\"a\"],\n  states: {\"a\": (), \"far\": ()},\n)",
        expect![[r#"
        a.spec.ron:3:21: no moves lead from an initial state to 'far'
            states: {"a": (), "far": ()},
                              ^^^^^
        hint: leave the state out, or add the move that leads to it"#]],
    );
    check(
        "(initial: [\"a b\"], states: {\"a b\": ()})",
        expect![[r#"
        a.spec.ron:1:29: a state cannot be named 'a b'; use letters, digits and `_`, and no word that has a meaning
          (initial: ["a b"], states: {"a b": ()})
                                      ^^^^^"#]],
    );
    check(
        "(initial: [\"AG\"], states: {\"AG\": ()})",
        expect![[r#"
        a.spec.ron:1:28: a state cannot be named 'AG'; use letters, digits and `_`, and no word that has a meaning
          (initial: ["AG"], states: {"AG": ()})
                                     ^^^^"#]],
    );
    check(
        "(initial: [\"a\"], states: {\"a\": (moves: [(on: \"tau\", to: \"b\")])})",
        expect![[r#"
        a.spec.ron:1:57: there is no state 'b'
          (initial: ["a"], states: {"a": (moves: [(on: "tau", to: "b")])})
                                                                  ^^^"#]],
    );
    check(
        "(initial: [\"a\"], states: {\"a\": (moves: [(on: \"tau\", to: \"a\"), (on: \"tau\", to: \"a\")])})",
        expect![[r#"
            a.spec.ron:1:63: this move is there twice
              (initial: ["a"], states: {"a": (moves: [(on: "tau", to: "a"), (on: "tau", to: "a")])})
                                                                            ^^^^^^^^^^^^^^^^^^^^"#]],
    );
}

#[test]
fn events() {
    let with =
        |on: &str| format!("(\n  initial: [\"a\"],\n  states: {{\"a\": (moves: [(on: \"{on}\", to: \"a\")])}},\n)");
    check(
        &with("write(PROTB)"),
        expect![[r#"
            a.spec.ron:3:38: state a: nothing is named 'PROTB'; did you mean PORTB or PORTC or PORTD?
                states: {"a": (moves: [(on: "write(PROTB)", to: "a")])},
                                                   ^^^^^"#]],
    );
    check(
        &with("wirte(PORTB)"),
        expect![[r#"
            a.spec.ron:3:32: state a: nothing is named 'wirte'; did you mean write?
                states: {"a": (moves: [(on: "wirte(PORTB)", to: "a")])},
                                             ^^^^^^^^^^^^"#]],
    );
    check(
        &with("PORTB == 1"),
        expect![[r#"
            a.spec.ron:3:31: state a: this is no event
                states: {"a": (moves: [(on: "PORTB == 1", to: "a")])},
                                            ^^^^^^^^^^^^
            hint: write an event, as in "call(reset)" or "write(UDR0) == 0x14", or "tau"; data: "…" speaks of states"#]],
    );
    check(
        &with("write(PORTB) == 0x114"),
        expect![[r#"
            a.spec.ron:3:32: state a: `write(PORTB) == 0x114` is never true: the left side is from 0 to 255
                states: {"a": (moves: [(on: "write(PORTB) == 0x114", to: "a")])},
                                             ^^^^^^^^^^^^^^^^^^^^^
            hint: write `false` if that is meant"#]],
    );
    check(
        &with("call(nowhere)"),
        expect![[r#"
            a.spec.ron:3:37: state a: nothing is named 'nowhere'
                states: {"a": (moves: [(on: "call(nowhere)", to: "a")])},
                                                  ^^^^^^^"#]],
    );
    check(
        &with("write(PORTB) = 1"),
        expect![[r#"
            a.spec.ron:3:45: state a: `=` has no meaning in a formula; write `==` to compare
                states: {"a": (moves: [(on: "write(PORTB) = 1", to: "a")])},
                                                          ^"#]],
    );
    check(
        &with("write(PORTB) || write(PORTC)"),
        expect![[r#"
            a.spec.ron:3:31: state a: this is no event
                states: {"a": (moves: [(on: "write(PORTB) || write(PORTC)", to: "a")])},
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            hint: write an event, as in "call(reset)" or "write(UDR0) == 0x14", or "tau"; data: "…" speaks of states"#]],
    );
}

#[test]
fn data() {
    let with = |data: &str| {
        let moves = "moves: [(on: \"write(PORTB)\", to: \"a\")]";
        format!("(\n  initial: [\"a\"],\n  states: {{\"a\": (data: \"{data}\", {moves})}},\n)")
    };
    check(
        &with("write(PORTB)"),
        expect![[r#"
        a.spec.ron:3:24: state a: data speaks of the content of a state, not of events
            states: {"a": (data: "write(PORTB)", moves: [(on: "write(PORTB)", to: "a")])},
                                 ^^^^^^^^^^^^^^
        hint: an event belongs to a move: (on: "…", to: "…")"#]],
    );
    check(
        &with("AG PORTB == 1"),
        expect![[r#"
        a.spec.ron:3:25: state a: `AG` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
            states: {"a": (data: "AG PORTB == 1", moves: [(on: "write(PORTB)", to: "a")])},
                                  ^^"#]],
    );
    check(
        &with("PORTB == 1 && PROTC == 1"),
        expect![[r#"
        a.spec.ron:3:39: state a: nothing is named 'PROTC'; did you mean PORTC or PORTB or PORTD?
            states: {"a": (data: "PORTB == 1 && PROTC == 1", moves: [(on: "write(PORTB)", to: "a")])},
                                                ^^^^^"#]],
    );
}

const ECHO: &str = "(initial: [\"idle\"], states: { \
    \"idle\": (data: \"lit\", moves: [(on: \"read(PINB)\", to: \"busy\"), (on: \"read(PINB)\", to: \"idle\")]), \
    \"busy\": (moves: [(on: \"write(PORTB) == 1\", to: \"idle\"), (on: \"write(PORTB) & 3 == 2\", to: \"busy\")]) })";

#[test]
fn alphabets_and_relations() {
    let check = |fields: &str, expected: Expect| {
        check_entry(&format!("Conforms(to: \"a.spec.ron\", {fields})"), ECHO, expected);
    };
    check(
        "alphabet: []",
        expect![[r#"
        p.ron:1:45: the alphabet is empty: every firmware conforms to every specification
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", alphabet: [])])
                                                      ^^^^^^^^
        hint: name events, as in alphabet: ["write(PORTB)"]"#]],
    );
    check(
        "alphabet: [\"write(PORTB)\"]",
        expect![[r#"
        a.spec.ron:1:66: state idle: the alphabet does not have the event of this move
          (initial: ["idle"], states: { "idle": (data: "lit", moves: [(on: "read(PINB)", to: "busy"), (on: "read(PINB)", to: "idle")]), "busy": (moves: [(on: "write(PORTB) == 1", to: "idle"), (on: "write(PORTB) & 3 == 2", to: "busy")]) })
                                                                           ^^^^^^^^^^^^
        hint: add it to alphabet: […], or leave the alphabet out"#]],
    );
    check(
        "alphabet: [\"write(PORTB) == 1\"]",
        expect![[r#"
        p.ron:1:84: an alphabet has events without comparisons
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", alphabet: ["write(PORTB) == 1"])])
                                                                                             ^^^^^^^^^^^^^^^^^
        hint: the moves of the specification compare values"#]],
    );
    check(
        "alphabet: [\"write(PORTB)\", \"read(PINB)\", \"write(PORTB)\"]",
        expect![[r#"
        p.ron:1:84: 'write(PORTB)' is given twice
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", alphabet: ["write(PORTB)", "read(PINB)", "write(PORTB)"])])
                                                                                             ^^^^^^^^^^^^"#]],
    );
    check(
        "alphabet: [\"write(PORTB)\", \"raed(PINB)\"]",
        expect![[r#"
        p.ron:1:100: nothing is named 'raed'; did you mean read?
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", alphabet: ["write(PORTB)", "raed(PINB)"])])
                                                                                                             ^^^^^^^^^^"#]],
    );
    check(
        "alphabet: [\"PORTB == 1\"]",
        expect![[r#"
        p.ron:1:84: this is no event
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", alphabet: ["PORTB == 1"])])
                                                                                             ^^^^^^^^^^
        hint: write an event, as in "call(reset)" or "write(UDR0) == 0x14", or "tau"; data: "…" speaks of states"#]],
    );
    check(
        "by: \"bisimulation\"",
        expect![[r#"
        p.ron:1:45: there is no relation 'bisimulation'
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", by: "bisimulation")])
                                                      ^^^^^^^^
        hint: write by: "simulation" or by: "traces""#]],
    );
    check(
        "under: [\"G F interrupt(INT0)\"]",
        expect![[r#"
        p.ron:1:45: a fixed point speaks of no paths, so an assumption of fairness has no meaning for it
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "a.spec.ron", under: ["G F interrupt(INT0)"])])
                                                      ^^^^^^^^
        hint: say it with the operators of CTL, with A[…] and E[…], or with Ltl(check: …)"#]],
    );
}

#[test]
fn specifications_that_are_not_there() {
    let file = PropertyFile::parse("p.ron", "(properties: [Conforms(to: \"b.spec.ron\")])").expect("it is right");
    assert_eq!(file.missing_specifications(), ["b.spec.ron"]);
    check_entry(
        "Conforms(to: \"b.spec.ron\")",
        ECHO,
        expect![[r#"
        p.ron:1:45: the specification b.spec.ron was not read
          (define: { "lit": "PORTB.0" }, properties: [Conforms(to: "b.spec.ron")])
                                                      ^^^^^^^^
        hint: it is read where a property file names it, or its text is in the field `specifications`"#]],
    );
}

/// The text of the formula is one that says the same.
#[test]
fn texts_say_what_is_checked() {
    let image = fixture("sensor.elf");
    for fields in
        ["", ", by: \"traces\"", ", deadlock: true", ", alphabet: [\"write(PORTB)\", \"read(PINB)\", \"call(main)\"]"]
    {
        let entry = format!("Conforms(to: \"a.spec.ron\"{fields})");
        let (bound, table) = bound(&entry, ECHO, &image).unwrap_or_else(|error| panic!("{error}"));
        let parsed = parse_formula(&bound.formula_text).unwrap_or_else(|error| panic!("{error}"));
        let number =
            |text: &str| (0..).zip(table.atoms()).find(|(_, atom)| atom.text() == text).map(|(number, _)| number);
        let same = parsed
            .try_map_atoms(&mut |atom| number(&atom.to_string()).map(mu_calculus::AtomId).ok_or(atom.to_string()));
        let same = same.unwrap_or_else(|atom| panic!("{atom} is no atom of {:?}", table.atoms()));
        assert_eq!(NormalForm::new(&same).expect("it is closed"), bound.normal_form, "{}", bound.formula_text);
        assert!(bound.is_stutter_sensitive && bound.kind == "Conforms");
    }
}

#[test]
fn formulas() {
    let (bound, _) = bound(ENTRY, ECHO, &fixture("sensor.elf")).unwrap_or_else(|error| panic!("{error}"));
    expect!["nu { idle. PORTB.0 && [](if read(PINB) then moved_to_idle_or_busy else if write(PORTB) then false else idle), moved_to_idle_or_busy. if write(PORTB) then if write(PORTB) == 1 then idle else if write(PORTB) & 3 == 2 then busy else false else idle || busy, busy. [](if read(PINB) then false else if write(PORTB) then if write(PORTB) == 1 then idle else if write(PORTB) & 3 == 2 then busy else false else busy) } in idle"].assert_eq(&bound.formula_text);
}

/// A property file carries the specifications that it names, for certificates.
#[test]
fn files_carry_their_specifications() {
    for text in [
        "(properties: [Conforms(to: \"a.spec.ron\")])",
        "// A comment.\n( // Another one (with parentheses).\n  properties: [Conforms(to: \"a.spec.ron\"),],\n)\n",
    ] {
        let mut file = PropertyFile::parse("p.ron", text).expect("it is right");
        let automaton = SpecificationAutomaton::parse("x/a.spec.ron", ECHO).expect("it is right");
        file.add_specification("a.spec.ron", automaton);
        let whole = file.with_texts_of_specifications(text).expect("it begins with a parenthesis");
        let read = PropertyFile::parse("q.ron", &whole).expect("it is right");
        assert_eq!(read.missing_specifications(), Vec::<String>::new(), "{whole}");
        let PropertyKind::Conforms { specification: Some(automaton), .. } = read.properties[0].kind() else {
            panic!("{whole}")
        };
        assert_eq!(automaton.states.len(), 2);
        assert_eq!(read.with_texts_of_specifications(&whole), Some(whole));
    }
}
