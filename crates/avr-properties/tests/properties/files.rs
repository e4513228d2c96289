//! Property files: what they say, and what is wrong with them and where.

use std::collections::BTreeSet;

use avr_machine::HazardKind;
use avr_machine::device::FuseBytes;
use avr_properties::{
    Assumption, EnvironmentEvent, FILE_FIELDS, PropertyErrorKind, PropertyFile, PropertyKind, entry_fields, entry_kinds,
};
use expect_test::{Expect, expect};

const FULL: &str = r#"// Everything.
(
    device: "atmega328p",
    start: 0x7e00,
    define: { "idle": "pc == 0x8c", "off": "PORTB == 0" },
    properties: [
        Inherent(),
        // A comment in front.
        Stack(max_bytes: 2), // and behind
        Recovery(name: "back", to: "idle", under: ["G F interrupt(INT0)"]),
    ],
    allow: { "reserved-bit-write": "harmless" },
    forbid: ["reserved-register"],
    environment: [reset, brown_out],
    assume: ["PINB & 0xf0 == 0", never(INT1)],
    fuses: (low: 0x62, high: 0xd9),
    eeprom: "file.eep",
)"#;

#[test]
fn every_field_is_read() {
    let file = PropertyFile::parse("full.ron", FULL).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.device.as_deref(), Some("atmega328p"));
    assert_eq!(file.start, Some(0x7e00));
    assert_eq!(file.definitions.iter().collect::<Vec<_>>(), [("idle", "pc == 0x8c"), ("off", "PORTB == 0")]);
    assert_eq!(file.allow, [(HazardKind::ReservedBitWrite, "harmless".to_owned())]);
    assert_eq!(file.forbid, [HazardKind::ReservedRegister]);
    assert_eq!(file.environment, [EnvironmentEvent::Reset, EnvironmentEvent::BrownOut]);
    let assume = [Assumption::Input("PINB & 0xf0 == 0".to_owned()), Assumption::Never("INT1".to_owned())];
    assert_eq!(file.assume, assume);
    let factory = FuseBytes { low: 1, high: 2, extended: 3 };
    assert_eq!(file.fuses.bytes(factory), FuseBytes { low: 0x62, high: 0xd9, extended: 3 });
    assert_eq!(file.eeprom.as_deref(), Some("file.eep"));
}

#[test]
fn entries_know_their_name_and_place() {
    let file = PropertyFile::parse("full.ron", FULL).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<(&str, String)> = file
        .properties
        .iter()
        .map(|property| (property.name(), property.place().map(ToString::to_string).unwrap_or_default()))
        .collect();
    assert_eq!(
        found,
        [
            ("Inherent()", "full.ron:7:9".to_owned()),
            ("Stack(max_bytes: 2)", "full.ron:9:9".to_owned()),
            ("back", "full.ron:10:9".to_owned()),
        ]
    );
    assert_eq!(file.properties[2].under(), ["G F interrupt(INT0)"]);
    assert_eq!(*file.properties[2].kind(), PropertyKind::Recovery { to: "idle".to_owned() });
}

#[test]
fn an_empty_file_has_no_properties() {
    let file = PropertyFile::parse("empty.ron", "()").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.properties, []);
    assert_eq!(file.device, None);
}

#[test]
fn every_hazard_can_be_allowed() {
    for hazard in HazardKind::ALL {
        let text = format!("(allow: {{ \"{}\": \"why\" }})", hazard.name());
        let file = PropertyFile::parse("p.ron", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.allow, [(*hazard, "why".to_owned())]);
    }
}

#[test]
fn every_hazard_of_an_instruction_can_be_allowed_at_a_place() {
    for hazard in HazardKind::ALL.iter().filter(|hazard| hazard.has_place()) {
        let text = format!("(allow: {{ \"{} at main.c:12\": \"why\" }}, properties: [Inherent()])", hazard.name());
        let file = PropertyFile::parse("p.ron", &text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(file.allow, []);
        let [allowed] = &*file.allow_at else { panic!("{:?}", file.allow_at) };
        assert_eq!((allowed.kind, &*allowed.at, &*allowed.reason), (*hazard, "main.c:12", "why"));
        assert_eq!(file.ends_paths(), hazard.ends_path());
    }
}

#[test]
fn findings_are_allowed_everywhere_or_at_a_place() {
    let text = r#"(allow: { "out-of-object": "a", "torn-access at main.c:12": "b", "sleep-for-ever": "c" })"#;
    let file = PropertyFile::parse("p.ron", text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.allow, [(HazardKind::SleepForEver, "c".to_owned())]);
    let allowed: Vec<(String, &str)> = file.allow_findings.iter().map(|one| (one.text(), &*one.reason)).collect();
    assert_eq!(allowed, [("out-of-object".to_owned(), "a"), ("torn-access at main.c:12".to_owned(), "b")]);
}

#[test]
fn wrong_findings() {
    check(
        "(allow: { \"out-of-objekt\": \"why\" })",
        expect![[r#"
            p.ron:1:11: there is no hazard 'out-of-objekt'; did you mean out-of-object?
              (allow: { "out-of-objekt": "why" })
                        ^^^^^^^^^^^^^^^"#]],
    );
    check(
        "(allow: { \"torn-access\": \"a\", \"torn-access\": \"b\" })",
        expect![[r#"
            p.ron:1:31: 'torn-access' is given twice
              (allow: { "torn-access": "a", "torn-access": "b" })
                                            ^^^^^^^^^^^^^"#]],
    );
    check(
        "(allow: { \"bad-interrupt at main\": \"a\" })",
        expect![[r#"
            p.ron:1:11: the hazard 'bad-interrupt' comes between instructions: it can be allowed everywhere only, not at one place
              (allow: { "bad-interrupt at main": "a" })
                        ^^^^^^^^^^^^^^^^^^^^^^^
            hint: write allow: {"bad-interrupt": "why"}"#]],
    );
    check(
        "(allow: { \"sleep-for-ever at f\": \"a\", \"sleep-for-ever at f\": \"b\" })",
        expect![[r#"
            p.ron:1:39: 'sleep-for-ever at f' is given twice
              (allow: { "sleep-for-ever at f": "a", "sleep-for-ever at f": "b" })
                                                    ^^^^^^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "(forbid: [\"torn-access\"])",
        expect![[r#"
            p.ron:1:11: 'torn-access' is a note and cannot be forbidden: that would need a proof that it never happens
              (forbid: ["torn-access"])
                        ^^^^^^^^^^^^^
            hint: run avr-tvar verify --deny findings"#]],
    );
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let error = PropertyFile::parse("p.ron", text).expect_err("the file is wrong");
    expected.assert_eq(&error.to_string());
}

#[test]
fn wrong_fields() {
    check(
        "(devise: \"atmega328p\")",
        expect![[r#"
            p.ron:1:2: there is no field 'devise' here; did you mean device or define?
              (devise: "atmega328p")
               ^^^^^^"#]],
    );
    check(
        "(\n    colour: 1,\n)",
        expect![[r#"
            p.ron:2:5: there is no field 'colour' here
                  colour: 1,
                  ^^^^^^
            hint: known here: device, start, define, properties, allow, forbid, environment, assume, predicates, fuses, eeprom, specifications, stacks, initially, application, contracts"#]],
    );
    check(
        "(properties: [\n    Formula(chek: \"true\"),\n])",
        expect![[r#"
            p.ron:2:13: there is no field 'chek' here; did you mean check?
                  Formula(chek: "true"),
                          ^^^^"#]],
    );
    check(
        "(properties: [\n    Recovry(to: \"true\"),\n])",
        expect![[r#"
            p.ron:2:5: there is no 'Recovry' here; did you mean Recovery?
                  Recovry(to: "true"),
                  ^^^^^^^"#]],
    );
    check(
        "(properties: [\n    Recovery(),\n])",
        expect![[r#"
        p.ron:2:14: the field 'to' is missing
              Recovery(),
                       ^"#]],
    );
    check(
        "(properties: [\n    Stack(max_bytes: -1),\n])",
        expect![[r#"
            p.ron:2:23: the number is out of range here
                  Stack(max_bytes: -1),
                                    ^"#]],
    );
    check(
        "(properties: [\n    Stack(),\n])",
        expect![[r#"
        p.ron:2:5: a stack property takes either max_bytes or margin
              Stack(),
              ^^^^^"#]],
    );
    check(
        "(properties: [\n    Stack(max_bytes: 1, margin: 2),\n])",
        expect![[r#"
            p.ron:2:5: a stack property takes either max_bytes or margin
                  Stack(max_bytes: 1, margin: 2),
                  ^^^^^"#]],
    );
    check(
        "(properties: [\n    Mutex(between: [\"true\"]),\n])",
        expect![[r#"
            p.ron:2:5: expected two formulas or more in between: […]
                  Mutex(between: ["true"]),
                  ^^^^^"#]],
    );
    check(
        "(properties: [\n    Inherent(name: \"a\", name: \"b\"),\n])",
        expect![[r#"
        p.ron:2:25: 'name' is given twice
              Inherent(name: "a", name: "b"),
                                  ^^^^"#]],
    );
    check(
        "(device: \"a\", device: \"b\")",
        expect![[r#"
        p.ron:1:15: 'device' is given twice
          (device: "a", device: "b")
                        ^^^^^^"#]],
    );
    check(
        "(fuses: (low: 0x100))",
        expect![[r#"
            p.ron:1:17: the number is out of range here
              (fuses: (low: 0x100))
                              ^^^"#]],
    );
    check(
        "(environment: [resett])",
        expect![[r#"
        p.ron:1:16: there is no 'resett' here; did you mean reset?
          (environment: [resett])
                         ^^^^^^"#]],
    );
}

#[test]
fn wrong_syntax() {
    check("", expect![[r#"p.ron:1:1: expected `(`; a property file is ( device: "…", properties: […] )"#]]);
    check(
        "(device: \"a\"",
        expect![[r#"
            p.ron:1:13: expected a comma
              (device: "a"
                          ^"#]],
    );
    check(
        "(properties: [Inherent(])",
        expect![[r#"
        p.ron:1:24: unexpected char ']'
          (properties: [Inherent(])
                                 ^"#]],
    );
    check(
        "(define: [1])",
        expect![[r#"
            p.ron:1:10: expected opening `{`
              (define: [1])
                       ^"#]],
    );
    check(
        "(device: 5)",
        expect![[r#"
            p.ron:1:10: expected a text in quotes
              (device: 5)
                       ^"#]],
    );
    check(
        "(properties: [5])",
        expect![[r#"
        p.ron:1:15: expected a name, found '5'
          (properties: [5])
                        ^"#]],
    );
}

#[test]
fn wrong_names_and_formulas() {
    check(
        "(allow: { \"reserved-bit-writ\": \"why\" })",
        expect![[r#"
            p.ron:1:11: there is no hazard 'reserved-bit-writ'; did you mean reserved-bit-write?
              (allow: { "reserved-bit-writ": "why" })
                        ^^^^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "(allow: {\n  \"outside-image\": \"a\",\n  \"outside-image\": \"b\",\n})",
        expect![[r#"
            p.ron:3:3: 'outside-image' is given twice
                "outside-image": "b",
                ^^^^^^^^^^^^^^^"#]],
    );
    check(
        "(define: {\n  \"idle\": \"PORTB = 1\",\n})",
        expect![[r#"
            p.ron:2:18: definition idle: `=` has no meaning in a formula; write `==` to compare
                "idle": "PORTB = 1",
                               ^"#]],
    );
    check(
        "(define: { \"a\": \"true\", \"a\": \"true\" })",
        expect![[r#"
        p.ron:1:30: definition a: 'a' is given twice
          (define: { "a": "true", "a": "true" })
                                       ^^^^^^"#]],
    );
    check(
        "(define: { \"sleeping\": \"true\" })",
        expect![[r#"
            p.ron:1:24: definition sleeping: a definition cannot be named 'sleeping'; use letters, digits and `_`, and no word that has a meaning
              (define: { "sleeping": "true" })
                                     ^^^^^^"#]],
    );
    check(
        "(define: { \"not a name\": \"true\" })",
        expect![[r#"
            p.ron:1:26: definition not a name: a definition cannot be named 'not a name'; use letters, digits and `_`, and no word that has a meaning
              (define: { "not a name": "true" })
                                       ^^^^^^"#]],
    );
    check(
        "(assume: [\"AG PINB.0\"])",
        expect![[r#"
        p.ron:1:12: assume: `AG` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do
          (assume: ["AG PINB.0"])
                     ^^"#]],
    );
    check(
        "(assume: [allways(INT1)])",
        expect![[r#"
            p.ron:1:11: there is no 'allways' here
              (assume: [allways(INT1)])
                        ^^^^^^^
            hint: known here: never"#]],
    );
}

#[test]
fn no_text_panics() {
    for end in 0..FULL.len() {
        if let Some(text) = FULL.get(..end) {
            assert!(PropertyFile::parse("p.ron", text).is_err(), "{end}");
        }
        if let (Some(before), Some(after)) = (FULL.get(..end), FULL.get(end + 1..)) {
            let _may_be_right = PropertyFile::parse("p.ron", &format!("{before}{after}"));
            let _may_be_right = PropertyFile::parse("p.ron", &format!("{before}({after}"));
        }
    }
}

#[test]
fn the_fields_that_editors_offer_are_those_that_are_read() {
    let known = |text: &str| match PropertyFile::parse("p.ron", text).expect_err("there is no such field").kind() {
        PropertyErrorKind::UnknownField { known, .. } => *known,
        other => panic!("{other}"),
    };
    assert_eq!(known("(zzz: 1)"), FILE_FIELDS);
    for kind in entry_kinds() {
        let read: BTreeSet<&str> = known(&format!("(properties: [{kind}(zzz: 1)])")).iter().copied().collect();
        let offered: BTreeSet<&str> = entry_fields(kind).expect("it is a kind").iter().copied().collect();
        assert_eq!(offered, read, "{kind}");
    }
    assert_eq!(entry_fields("Nothing"), None);
}
