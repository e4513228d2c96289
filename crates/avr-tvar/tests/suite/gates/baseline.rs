//! The gate `--baseline --deny regressions`: whatever makes less proved or asked than before is a regression.

use std::fs;

use serde_json::Value;

use super::project::{Project, said};

const GATE: [&str; 7] =
    ["verify", "firmware.elf", "firmware.ron", "--baseline", "released.json", "--deny", "regressions"];

/// Expects that the gate is green without the change, and that a change turns it red under this name alone. The output
/// must say so, and the change can be accepted.
#[track_caller]
fn check(change: impl FnOnce(&Project), name: &str, told: &str) {
    let project = Project::released();
    let before = project.run(&GATE);
    assert_eq!(before.status.code(), Some(0), "{}", said(&before));
    change(&project);
    let after = project.run(&GATE);
    assert_eq!(after.status.code(), Some(1), "{}", said(&after));
    assert!(said(&after).contains(&format!("\n          worse: {told}")), "{}", said(&after));
    let note = format!("note: less is proved or asked than before: '{name}'; --accept NAME accepts one\n");
    assert!(said(&after).contains(&note), "{}", said(&after));
    let accepted = project.run(&[&GATE[..], &["--accept", name]].concat());
    assert_eq!(accepted.status.code(), Some(0), "{}", said(&accepted));
    assert!(said(&accepted).contains(&format!("worse, and accepted: {told}")), "{}", said(&accepted));
    assert_eq!(project.run(&GATE[..5]).status.code(), Some(0));
}

/// The same for a change of the property file.
#[track_caller]
fn check_file(part: &str, new: &str, name: &str, told: &str) {
    check(|project| project.change(part, new), name, told);
}

#[test]
fn properties_that_say_something_else_are_regressions() {
    check_file("PORTD <= 2", "PORTD <= 3", "range", "the formula of 'range' was AG PORTD <= 2 and is AG PORTD <= 3");
    check_file("max_bytes: 4", "max_bytes: 5", "depth", "the formula of 'depth' was AG (sp_torn || sp >= 0x8fb)");
    check_file("Always(name: \"range\"", "Reachable(name: \"range\"", "range", "the formula of 'range' was AG");
    check_file("Stack(name: \"depth\", max_bytes: 4),", "", "depth", "'depth' is gone: it was holds");
    check_file("name: \"range\"", "name: \"ranges\"", "range", "'range' is gone: it was holds");
}

#[test]
fn definitions_are_part_of_what_is_asked() {
    let project = Project::released();
    project.change("PORTD < 3", "PORTD < 4");
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("than before: 'lights', 'answers'; "), "{}", said(&output));
    assert!(said(&output).contains("was AG AF PORTD < 3 and is AG AF PORTD < 4\n"), "{}", said(&output));
}

#[test]
fn fairness_that_changes_is_a_regression() {
    let told = "the fairness of 'lights' was G F PORTC == 0 and is G F PORTC == 0, G F PORTB == 0";
    check_file("\"G F PORTC == 0\"", "\"G F PORTC == 0\", \"G F PORTB == 0\"", "lights", told);
    check_file(
        ", under: [\"G F PORTC == 0\"]",
        "",
        "lights",
        "the fairness of 'lights' was G F PORTC == 0 and is none",
    );
}

#[test]
fn conditions_that_leave_out_runs_are_regressions() {
    check_file("\"PINB.4 == 0\"", "\"PINB & 0x30 == 0\"", "assume PINB.5 == 0", "PINB.5 == 0 is assumed now");
    check_file("assume: [", "assume: [never(INT0), ", "assume never(INT0)", "never(INT0) is assumed now");
    let more = "allow: { \"stack-into-data\": \"tried\", ";
    check_file("allow: { ", more, "allow stack-into-data", "stack-into-data is allowed now, and was not before");
    check_file("environment: [reset],", "", "environment reset", "reset may happen no more");
    let forbid = "forbid reserved-bit-write";
    check_file("forbid: [\"reserved-bit-write\"],", "", forbid, "reserved-bit-write is forbidden no more");
}

#[test]
fn another_machine_is_a_regression() {
    let told = "the fuse bytes (low high extended) was 0x62 0xd9 0xff and is 0x62 0xd9 0xfd";
    check_file("low: 0x62", "low: 0x62, extended: 0xfd", "fuses", told);
    check_file("eeprom: \"content.bin\",", "", "eeprom", "the content of the EEPROM was known (3 bytes, SHA-256 ");
    check(|project| project.write("content.bin", "\0\u{1}\u{3}"), "eeprom", "the content of the EEPROM was known");
    check_file("device: ", "start: 0x68, device: ", "start", "the start of execution was 0x0000 and is 0x0068");
    let project = Project::released();
    project.change_report(|report| report["firmware"]["device"] = "atmega328p-gpio".into());
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(1));
    let told = "worse: the device was atmega328p-gpio and is atmega328p\n";
    assert!(said(&output).contains(told), "{}", said(&output));
}

#[test]
fn a_property_that_became_vacuous_is_a_regression() {
    let project = Project::new();
    let vacuous = r#"(properties: [Response(name: "r", after: "PORTD == 3", eventually: "PORTD == 4")])"#;
    project.write("firmware.ron", vacuous);
    let release = project.run(&["verify", "firmware.elf", "firmware.ron", "--report", "json=released.json"]);
    assert_eq!(release.status.code(), Some(0), "{}", said(&release));
    assert_eq!(project.run(&GATE).status.code(), Some(0));
    project.change_report(|report| {
        assert_ne!(report["results"][0]["vacuous"], Value::Null);
        report["results"][0]["vacuous"] = Value::Null;
    });
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("worse: 'r' holds vacuously, and did not before\n"), "{}", said(&output));
}

#[test]
fn what_asks_for_more_is_no_regression() {
    let changes = [
        ("max_bytes: 4", "max_bytes: 3"),
        ("\"PINB.4 == 0\"", ""),
        ("\"reserved-register\": \"tried\"", ""),
        ("[reset]", "[reset, brown_out]"),
        ("[\"reserved-bit-write\"]", "[\"reserved-bit-write\", \"stack-into-data\"]"),
        ("Inherent(),", "Inherent(), Always(name: \"more\", check: \"PORTD <= 2\"),"),
        ("\"tried\"", "\"for another reason\""),
        ("PORTD <= 2", "PORTD   <=   2"),
    ];
    for (part, new) in changes {
        let project = Project::released();
        project.change(part, new);
        let output = project.run(&GATE);
        assert_eq!(output.status.code(), Some(0), "{new}: {}", said(&output));
    }
}

/// A limit is part of the name that a property has by default.
#[test]
fn a_smaller_limit_of_the_stack_without_a_name_is_no_regression() {
    for (limit, code) in [(3, 0), (4, 0), (5, 1)] {
        let project = Project::new();
        project.change("Stack(name: \"depth\", max_bytes: 4)", "Stack(max_bytes: 4)");
        project.release();
        project.change("Stack(max_bytes: 4)", &format!("Stack(max_bytes: {limit})"));
        let output = project.run(&GATE);
        assert_eq!(output.status.code(), Some(code), "{limit}: {}", said(&output));
    }
}

#[test]
fn what_an_older_report_does_not_say_is_not_comparable() {
    let project = Project::released();
    project.change_report(|report| {
        report.as_object_mut().expect("it is an object").remove("specification");
    });
    let output = project.run(&GATE);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told = "not comparable: the start of execution: the older report does not say it\n";
    assert!(said(&output).contains(told), "{}", said(&output));
    let output = project.run(&[&GATE[..], &["--deny", "incomparable"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("note: not comparable with what was before: 'Inherent()', "), "{}", said(&output));
    let complete = Project::released().run(&[&GATE[..], &["--deny", "incomparable"]].concat());
    assert_eq!(complete.status.code(), Some(0), "{}", said(&complete));
}

#[test]
fn a_name_accepts_one_regression() {
    let project = Project::released();
    project.change("PORTD <= 2", "PORTD <= 3");
    project.change("environment: [reset],", "");
    let gate = |more: &[&str]| project.run(&[&GATE[..], more].concat());
    assert_eq!(gate(&["--accept", "range"]).status.code(), Some(1));
    assert_eq!(gate(&["--accept", "environment reset"]).status.code(), Some(1));
    assert_eq!(gate(&["--accept", "environment reset", "--accept", "range"]).status.code(), Some(0));
    let output = gate(&["--accept", "ranges"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("note: --accept 'ranges' accepts nothing"), "{}", said(&output));
    // Without anything to accept it means nothing.
    assert_eq!(project.run(&["verify", "firmware.elf", "--accept", "range"]).status.code(), Some(2));
}

#[test]
fn a_name_of_a_property_accepts_no_condition() {
    let project = Project::new();
    project.change("name: \"range\"", "name: \"eeprom\"");
    let release = project.run(&["verify", "firmware.elf", "firmware.ron", "--report", "json=released.json"]);
    assert_eq!(release.status.code(), Some(0), "{}", said(&release));
    project.change("eeprom: \"content.bin\",", "");
    assert_eq!(project.run(&[&GATE[..], &["--accept", "eeprom"]].concat()).status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn the_report_never_replaces_what_it_is_compared_with() {
    let project = Project::released();
    std::os::unix::fs::symlink("released.json", project.path("latest.json")).expect("links are possible");
    fs::create_dir(project.path("folder")).expect("there is room");
    let before = fs::read(project.path("released.json")).expect("it is there");
    for report in ["released.json", "latest.json", "folder/../released.json"] {
        for baseline in ["released.json", "latest.json"] {
            let report = format!("json={report}");
            let output =
                project.run(&["verify", "firmware.elf", "firmware.ron", "--baseline", baseline, "--report", &report]);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", said(&output));
            assert!(said(&output).contains(", which is an input\n"), "{}", said(&output));
        }
    }
    assert_eq!(fs::read(project.path("released.json")).expect("it is there"), before);
}
