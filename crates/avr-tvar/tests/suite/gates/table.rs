//! The table of the book (`docs/gates.md`): each of its gates is green before a release gets worse in this way and red
//! after it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::project::{Project, RELEASED, said};

/// The gates, as the table has them.
const VERIFY: &str = "verify";
const OUTPUT: &str = "verify --certificate new.cert";
const STRICT: &str = "verify --strict";
const VACUOUS: &str = "verify --deny vacuous";
const FINDINGS: &str = "verify --deny findings";
const BASELINE: &str = "verify --baseline released.json --deny regressions";
const INCOMPARABLE: &str = "verify --baseline released.json --deny incomparable";
const REPLACING: &str = "verify --baseline released.json --report json=new.json";
const CHECK: &str = "check released.cert --expect holds --properties firmware.ron";
const CHECK_STRICT: &str = "check released.cert --expect holds --properties firmware.ron --strict";
const BATCH: &str = "verify-all all.ron";
const MERGE: &str = "merge all.ron part.jsonl";

/// A property of timer 0 that holds in the model only.
const MODEL: &str = r#"(properties: [Recovery(name: "on", to: "PORTB.5 == 1")])"#;
/// A property that holds whatever a part of it says.
const SAYS_LITTLE: &str = r#"(properties: [Response(name: "r", after: "PORTD == 3", eventually: "PORTD == 4")])"#;
const RANGE: &str = "Always(name: \"range\", check: \"PORTD <= 2\"),";

/// A way in which a release gets worse.
struct Case {
    way: &'static str,
    gate: &'static str,
    code: i32,
    change: fn(&Project),
}

/// Another firmware with another property file.
fn of_the_timer(project: &Project) {
    project.firmware("timer-blink/timer-blink.Os.elf");
    project.write("firmware.ron", MODEL);
}

fn released_of_the_timer(project: &Project) {
    of_the_timer(project);
    project.release();
}

/// All rows of the table, in its order.
fn cases() -> Vec<Case> {
    let case = |way, gate, code, change| Case { way, gate, code, change };
    let of_verify: [(_, _, _, fn(&Project)); 12] = [
        ("a property is violated", VERIFY, 1, |project| project.change("PORTD <= 2", "PORTD <= 1")),
        ("a property is not decided", VERIFY, 3, |project| {
            project.change("Inherent(),", "Inherent(), Always(check: \"!hazard\", under: [\"G F PORTC == 0\"]),");
        }),
        ("a property names what is not in the firmware", VERIFY, 2, |project| {
            project.change("PORTD <= 2", "PORTD <= 2 || pc in renamed");
        }),
        ("a function that must not be called is reached by a jump", VERIFY, 1, |project| {
            project.firmware("../tests/regressions/images/tail-call.elf");
            project.write("firmware.ron", r#"(device: "atmega328p", properties: [Never(check: "call(middle)")])"#);
        }),
        ("a comparison can never be true", VERIFY, 2, |project| project.change("PORTD <= 2", "PORTB.0 == 2")),
        ("a formula can be read in two ways", VERIFY, 2, |project| {
            project
                .write("firmware.ron", r#"(properties: [Formula(check: "A[PORTD == 0 -> PORTB == 0 U PORTC == 0]")])"#);
        }),
        ("a property file asks for nothing", VERIFY, 2, |project| project.write("firmware.ron", "(properties: [])")),
        ("an output would replace an input", OUTPUT, 2, |project| {
            fs::remove_file(project.path("new.cert")).expect("the gate was green");
            std::os::unix::fs::symlink("firmware.ron", project.path("new.cert")).expect("links are possible");
        }),
        ("a property holds or is violated in the model only", STRICT, 3, of_the_timer),
        ("a property holds whatever a part of it says", VACUOUS, 1, |p| p.write("firmware.ron", SAYS_LITTLE)),
        ("a store leaves its object", VERIFY, 1, |project| {
            project.firmware("packet-overflow/packet-overflow.Os.elf");
            project.write("firmware.ron", r#"(device: "atmega328p", properties: [Always(check: "true")])"#);
        }),
        ("a handler may tear an access", FINDINGS, 1, |project| {
            project.firmware("shared-counter-torn/shared-counter-torn.Os.elf");
            project.write("firmware.ron", r#"(device: "atmega328p", properties: [Always(check: "true")])"#);
        }),
    ];
    let of_baseline: [(_, _, _, fn(&Project)); 22] = [
        ("a property held of the hardware and holds in the model", BASELINE, 1, |project| {
            released_of_the_timer(project);
            project.change_report(|report| report["results"][0]["basis"] = "hardware".into());
        }),
        ("a property held and is violated or not decided", BASELINE, 1, |p| p.change("PORTD <= 2", "PORTD <= 1")),
        ("a property became vacuous", BASELINE, 1, |project| {
            project.write("firmware.ron", SAYS_LITTLE);
            project.release();
            project.change_report(|report| report["results"][0]["vacuous"] = Value::Null);
        }),
        ("a property is gone", BASELINE, 1, |project| project.change(RANGE, "")),
        ("a property has another name", BASELINE, 1, |project| project.change("\"range\"", "\"other\"")),
        ("a property has another formula", BASELINE, 1, |project| project.change("PORTD <= 2", "PORTD <= 3")),
        ("a definition in a formula is another", BASELINE, 1, |project| project.change("PORTD < 3", "PORTD < 4")),
        ("a property has another fairness", BASELINE, 1, |project| {
            project.change("[\"G F PORTC == 0\"]", "[\"G F PORTC == 0\", \"G F PORTB == 0\"]");
        }),
        ("the limit of the stack is larger", BASELINE, 1, |project| project.change("max_bytes: 4", "max_bytes: 5")),
        ("the stack may get deeper, or no bound is known any more", BASELINE, 1, |project| {
            project.change_report(|report| report["stack"]["upper"] = 1.into());
        }),
        ("more is assumed", BASELINE, 1, |project| project.change("PINB.4 == 0", "PINB & 0x30 == 0")),
        ("a hazard is allowed", BASELINE, 1, |p| p.change("allow: { ", "allow: { \"stack-into-data\": \"tried\", ")),
        ("a hazard is forbidden no more", BASELINE, 1, |project| {
            project.change("forbid: [\"reserved-bit-write\"],", "");
        }),
        ("an event of the environment is gone", BASELINE, 1, |p| p.change("environment: [reset],", "")),
        ("the device is another", BASELINE, 1, |project| {
            project.change_report(|report| report["firmware"]["device"] = "atmega328p-gpio".into());
        }),
        ("a fuse byte is another", BASELINE, 1, |p| p.change("low: 0x62", "low: 0x62, extended: 0xfd")),
        ("the start is another", BASELINE, 1, |project| project.change("device: ", "start: 0x68, device: ")),
        ("the content of the EEPROM is another", BASELINE, 1, |project| project.write("content.bin", "\0\u{1}\u{3}")),
        ("there is no older report", BASELINE, 2, |project| {
            fs::remove_file(project.path("released.json")).expect("it is there");
        }),
        ("the older report is of another kind", BASELINE, 2, |project| project.write("released.json", "{}")),
        ("the older report does not say what was asked", INCOMPARABLE, 1, |project| {
            project.change_report(|report| {
                report.as_object_mut().expect("it is an object").remove("specification");
            });
        }),
        ("the new report would replace the older one", REPLACING, 2, |project| {
            fs::hard_link(project.path("released.json"), project.path("kept.json")).expect("there is room");
            fs::rename(project.path("released.json"), project.path("new.json")).expect("it is there");
            std::os::unix::fs::symlink("new.json", project.path("released.json")).expect("links are possible");
        }),
    ];
    let of_check: [(_, _, _, fn(&Project)); 9] = [
        ("the certificate is for another firmware", CHECK, 1, |project| project.firmware("branch/branch.Os.elf")),
        ("the certificate proves that a property is violated", CHECK, 1, |project| {
            project.write("firmware.ron", &RELEASED.replace("PORTD <= 2", "PORTD <= 1"));
            project.run(&["verify", "firmware.elf", "firmware.ron", "--certificate", "released.cert"]);
        }),
        ("the certificate does not claim a property", CHECK, 3, |p| p.change("\"range\"", "\"other\"")),
        ("the certificate has another formula, limit or fairness", CHECK, 3, |project| {
            project.change("PORTD <= 2", "PORTD <= 1");
        }),
        ("the certificate assumes or allows more", CHECK, 3, |project| project.change("\"PINB.4 == 0\"", "")),
        ("the certificate is about another device, start, fuses or EEPROM", CHECK, 3, |project| {
            project.change("low: 0x62", "low: 0x63");
        }),
        ("the certificate claims nothing", CHECK, 3, |project| {
            let given_up = ["--certificate", "released.cert", "--timeout", "0"];
            project.run(&[&["verify", "firmware.elf", "firmware.ron"], &given_up[..]].concat());
        }),
        ("the certificate proves a property in the model only", CHECK_STRICT, 3, released_of_the_timer),
        ("the certificate is damaged", CHECK, 2, |project| {
            let certificate = fs::read(project.path("released.cert")).expect("it is there");
            fs::write(project.path("released.cert"), &certificate[..certificate.len() / 2]).expect("there is room");
        }),
    ];
    let of_batch: [(_, _, _, fn(&Project)); 5] = [
        ("a run of a batch is violated", BATCH, 1, |project| project.change("PORTD <= 2", "PORTD <= 1")),
        ("a batch has no runs", BATCH, 2, |project| project.write("all.ron", "(runs: [])")),
        ("a journal is of other files than the batch has now", MERGE, 2, |p| p.write("content.bin", "\0\u{1}\u{3}")),
        ("a journal is of another build", MERGE, 2, |project| {
            let text = fs::read_to_string(project.path("part.jsonl")).expect("the journal is there");
            project.write("part.jsonl", &text.replace("\"tool\":\"", "\"tool\":\"1"));
        }),
        ("a part of a batch is missing", MERGE, 2, |project| project.write("part.jsonl", "")),
    ];
    let all = of_verify.into_iter().chain(of_baseline).chain(of_check).chain(of_batch);
    all.map(|(way, gate, code, change)| case(way, gate, code, change)).collect()
}

/// Runs a gate in the folder of a project.
fn run(project: &Project, gate: &str) -> std::process::Output {
    let mut words: Vec<&str> = gate.split(' ').collect();
    match words[0] {
        "verify" => drop(words.splice(1..1, ["firmware.elf", "firmware.ron"])),
        "verify-all" | "merge" => {}
        _ => words.insert(2, "firmware.elf"),
    }
    project.run(&words)
}

#[test]
fn every_gate_turns_red() {
    for Case { way, gate, code, change } in cases() {
        let project = Project::released();
        let before = run(&project, gate);
        assert_eq!(before.status.code(), Some(0), "{way}: {}", said(&before));
        change(&project);
        let after = run(&project, gate);
        assert_eq!(after.status.code(), Some(code), "{way}: {}", said(&after));
    }
}

/// Without the options that make the gate what it is, a worse release goes through.
#[test]
fn the_options_of_a_gate_are_needed() {
    for Case { way, gate, change, .. } in cases() {
        let Some(plain) = gate.strip_suffix(" --strict").or_else(|| Some(gate.split_once(" --deny ")?.0)) else {
            continue;
        };
        let project = Project::released();
        change(&project);
        // These are red without the options as well: a violation, and files that cannot be used.
        let red = ["a property held and is violated or not decided", "there is no older report"];
        if !red.contains(&way) && way != "the older report is of another kind" {
            let output = run(&project, plain);
            assert_eq!(output.status.code(), Some(0), "{way}: {}", said(&output));
        }
    }
}

#[test]
fn the_book_has_every_row() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gates.md");
    let text = fs::read_to_string(book).expect("the page is there");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let expected: Vec<String> =
        cases().iter().map(|case| format!("| {} | `{}` | {} |", case.way, case.gate, case.code)).collect();
    assert_eq!(rows, expected);
}
