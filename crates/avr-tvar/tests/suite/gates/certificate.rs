//! The gate `check --expect holds`: every property that is asked for is claimed and holds, under no more than is asked
//! for.

use super::project::{Project, RELEASED, said};

const GATE: [&str; 7] = ["check", "released.cert", "firmware.elf", "--expect", "holds", "--properties", "firmware.ron"];

/// Expects the exit code of the gate after a change of the property file, and a part of what it says.
#[track_caller]
fn check(part: &str, new: &str, code: i32, told: &str) {
    let project = Project::released();
    project.change(part, new);
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(code), "{}", said(&output));
    assert!(said(&output).contains(told), "{}", said(&output));
}

#[test]
fn what_is_asked_for_must_be_claimed() {
    let all = "expected  6 of 6 properties are proved to hold as asked for\n";
    check("Inherent(),", "Inherent( ),", 3, "open      Inherent( ): the certificate does not claim it\n");
    check("device: ", "device:  ", 0, all);
    check("\"range\"", "\"other\"", 3, "open      other: the certificate does not claim it\n");
    let formula = "open      range: the certificate speaks of another formula: AG PORTD <= 2\n";
    check("PORTD <= 2", "PORTD <= 3", 3, formula);
    check("max_bytes: 4", "max_bytes: 3", 3, "open      depth: the certificate speaks of another formula: ");
    check("PORTD < 3", "PORTD < 4", 3, "expected  4 of 6 properties");
    check(
        ", under: [\"G F PORTC == 0\"]",
        "",
        3,
        "open      lights: the certificate assumes G F PORTC == 0 of fair paths",
    );
    check("Always(name: \"range\", check: \"PORTD <= 2\"),", "", 0, "expected  5 of 5 properties");
}

#[test]
fn no_more_may_be_assumed_or_allowed_than_is_asked_for() {
    let open = "the certificate proves it under other conditions: ";
    check("\"PINB.4 == 0\"", "", 3, &format!("{open}PINB.4 == 0 is assumed\n"));
    check("\"reserved-register\": \"tried\"", "", 3, &format!("{open}reserved-register is allowed\n"));
    check("[reset]", "[reset, brown_out]", 3, &format!("{open}brown_out never happens\n"));
    let forbid = "[\"reserved-bit-write\", \"stack-into-data\"]";
    check("[\"reserved-bit-write\"]", forbid, 3, &format!("{open}stack-into-data is not forbidden\n"));
    check("low: 0x62", "low: 0x63", 3, "the fuse setting (low high extended) is 0x62 0xd9 0xff, not 0x63 0xd9 0xff\n");
    check("device: ", "start: 0x68, device: ", 3, &format!("{open}the start is 0x0000, not 0x0068\n"));
    check("eeprom: \"content.bin\",", "", 3, &format!("{open}the EEPROM has a content that is not asked for\n"));
    let device = "the device is atmega328p, not atmega328p-gpio";
    let project = Project::released();
    let gpio = r#"(device: "atmega328p-gpio", properties: [Always(name: "range", check: "PORTD <= 2")])"#;
    project.write("firmware.ron", gpio);
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains(device), "{}", said(&output));
}

/// A property of all runs is one of fewer runs; the existence of a run is not.
#[test]
fn what_is_proved_of_more_runs_carries_over_only_where_it_is_universal() {
    let more = "assume: [\"PINC.0 == 0\", ";
    let open = "open      one: the certificate proves it where less is assumed, which does not carry over\n";
    check("assume: [", more, 3, open);
    let project = Project::released();
    project.change("assume: [", more);
    let text = std::fs::read_to_string(project.path("firmware.ron")).expect("the file is there");
    let universal =
        text.lines().filter(|line| !["one", "lights"].iter().any(|name| line.contains(&format!("\"{name}\""))));
    project.write("firmware.ron", &universal.collect::<Vec<_>>().join("\n"));
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("expected  4 of 4 properties"), "{}", said(&output));
}

#[test]
fn a_proved_violation_and_a_rejected_certificate_are_1() {
    let project = Project::new();
    project.write("firmware.ron", &RELEASED.replace("PORTD <= 2", "PORTD <= 1"));
    let release = project.run(&["verify", "firmware.elf", "firmware.ron", "--certificate", "released.cert"]);
    assert_eq!(release.status.code(), Some(1), "{}", said(&release));
    assert_eq!(project.run(&GATE[..3]).status.code(), Some(0));
    for gate in [&GATE[..], &GATE[..5]] {
        let output = project.run(gate);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("\nviolated  range\n"), "{}", said(&output));
    }
    // Only what is asked for counts.
    project.write("firmware.ron", &RELEASED.replace("Always(name: \"range\", check: \"PORTD <= 2\"),", ""));
    assert_eq!(project.run(&GATE).status.code(), Some(0));
    project.firmware("input-bits-6/input-bits-6.Og.elf");
    assert_eq!(project.run(&GATE).status.code(), Some(1));
}

#[test]
fn an_empty_certificate_is_3() {
    let project = Project::new();
    let given_up = project.run(&["verify", "firmware.elf", "--certificate", "released.cert", "--timeout", "0"]);
    assert_eq!(given_up.status.code(), Some(3), "{}", said(&given_up));
    assert!(project.path("released.cert").exists());
    let output = project.run(&GATE[..5]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
}

#[test]
fn the_model_is_3_where_strictness_is_asked_for() {
    let project = Project::new();
    project.firmware("timer-blink/timer-blink.Os.elf");
    let file = r#"(properties: [Inherent(), Recovery(name: "on", to: "PORTB.5 == 1")])"#;
    project.write("firmware.ron", file);
    let release = project.run(&["verify", "firmware.elf", "firmware.ron", "--certificate", "released.cert"]);
    assert_eq!(release.status.code(), Some(0), "{}", said(&release));
    assert_eq!(project.run(&GATE).status.code(), Some(0));
    let output = project.run(&[&GATE[..], &["--strict"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
}

#[test]
fn files_that_cannot_be_used_are_2() {
    let project = Project::released();
    let gate = |file: &str| project.run(&[&GATE[..6], &[file]].concat());
    assert_eq!(gate("none.ron").status.code(), Some(2));
    project.write("wrong.ron", "(properties: [Always(check: \"PORTX == 1\")])");
    assert_eq!(gate("wrong.ron").status.code(), Some(2));
    assert_eq!(gate("released.cert").status.code(), Some(2));
    assert_eq!(project.run(&["check", "firmware.ron", "firmware.elf", "--expect", "holds"]).status.code(), Some(2));
    // The other options mean nothing without an expectation.
    for option in [&["--strict"][..], &["--properties", "firmware.ron"]] {
        assert_eq!(project.run(&[&GATE[..3], option].concat()).status.code(), Some(2));
    }
}

#[test]
fn the_json_says_what_was_expected() {
    let project = Project::released();
    project.change("\"range\"", "\"other\"");
    let output = project.run(&[&GATE[..], &["--format", "json"]].concat());
    let report = serde_json::from_slice(&output.stdout).expect("the output is JSON");
    assert_eq!(avr_testkit::schema::problems(&report, avr_testkit::schema::CHECK), Vec::<String>::new());
    let expected = serde_json::json!({
        "name": "other", "answer": "open", "reason": "the certificate does not claim it",
    });
    assert_eq!((&report["expectation"]["met"], &report["expectation"]["properties"][2]), (&false.into(), &expected));
}
