//! Images against each other on the command line, and specifications read off a firmware.

use std::fs;

use avr_testkit::schema;
use serde_json::Value;
use tempfile::TempDir;

use crate::from_root::{avr_tvar, image, text};

const LOCK: [&str; 3] = ["--alphabet", "call(lock)", "call(unlock)"];
const ORDERS: [&str; 3] = ["--alphabet", "read(PINB) & 0x07", "write(PORTD)"];

/// The one result of a comparison, and the exit code.
fn compared(old: &str, new: &str, more: &[&str]) -> (Value, Option<i32>) {
    let fixed = ["compare", old, new, "--device", "atmega328p-gpio", "--format", "json", "--timeout", "5m"];
    let fixed = if more.contains(&"--timeout") { &fixed[..7] } else { &fixed };
    let output = avr_tvar(&[fixed, more].concat());
    let report: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|error| panic!("{new}: {error}: {}", text(&output.stderr)));
    assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new());
    assert_eq!(report["results"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!((&report["results"][0]["kind"], &report["firmware"]["path"]), (&"Conforms".into(), &new.into()));
    let roles: Vec<&Value> = report["inputs"].as_array().expect("a list").iter().map(|input| &input["role"]).collect();
    assert_eq!(roles, ["firmware", "specification"]);
    let name = report["results"][0]["name"].as_str().expect("a text");
    assert_eq!(name.contains("\"read(PINB) & 0x07\""), more.contains(&"read(PINB) & 0x07"), "{name}");
    (report["results"][0].clone(), output.status.code())
}

#[test]
fn the_same_program_shows_the_same() {
    let few = ["--alphabet", "write(PORTD)"];
    for (sample, alphabet) in [("kernel-lock", &LOCK[..]), ("surge-protector", &ORDERS), ("surge-protector", &few)] {
        for (old, new) in [("Os", "Og"), ("Og", "Os")] {
            let (result, code) = compared(&image(sample, old), &image(sample, new), alphabet);
            assert_eq!((&result["verdict"], code), (&"holds".into(), Some(0)), "{sample} {old} {new}: {result}");
        }
    }
}

#[test]
fn a_difference_is_a_run() {
    for (old, new, alphabet, event, instead) in [
        ("kernel-lock", "kernel-lock-twice", LOCK, "call(unlock)", "it has instead call(lock)"),
        ("surge-protector", "surge-protector-late", ORDERS, "read(PINB)", "it has instead write(PORTD) == 0x00"),
    ] {
        for level in ["Os", "Og"] {
            let (result, code) = compared(&image(old, "Os"), &image(new, level), &alphabet);
            assert_eq!((&result["verdict"], code), (&"violated".into(), Some(1)), "{new}: {result}");
            let run = &result["evidence"];
            let last = run["specification"].as_array().and_then(|moments| moments.last()).expect("it is told");
            assert_eq!((&run["replayed"], &last["step"]), (&true.into(), &run["steps"]), "{result}");
            assert_eq!((&last["events"][0], last["states"].as_array().map(Vec::len)), (&event.into(), Some(0)));
            let claim = run["claim"].as_str().expect("a text");
            assert!(claim.contains(&format!("cannot answer {event}")) && claim.contains(instead), "{claim}");
        }
    }
}

/// The old program does more: the new one is contained in it.
#[test]
fn inclusion_has_a_direction() {
    let (result, code) = compared(&image("kernel-lock-twice", "Os"), &image("kernel-lock", "Og"), &LOCK);
    assert_eq!((&result["verdict"], code), (&"holds".into(), Some(0)), "{result}");
}

#[test]
fn events_that_are_none_are_refused() {
    let lock = image("kernel-lock", "Os");
    for (alphabet, message) in [
        (&["call(lokc)"][..], "did you mean lock"),
        (&["PORTB == 1"], "this is no event"),
        (&["write(PORTB) == 1"], "an alphabet has events without comparisons"),
        (&["write(PORTB) & 0x100"], "'0x100' is no mask"),
        (&["call(lock) & 1"], "has no value of one byte"),
        (&["call(lock)", "call(lock)"], "given twice"),
    ] {
        let output = avr_tvar(&[&["compare", &lock, &lock, "--alphabet"][..], alphabet].concat());
        assert_eq!(output.status.code(), Some(2), "{alphabet:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(message), "{alphabet:?}: {}", text(&output.stderr));
    }
    let output = avr_tvar(&["compare", &lock, "nowhere.elf", "--alphabet", "call(lock)"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("nowhere.elf"), "{output:?}");
    let output = avr_tvar(&["compare", &lock, &lock]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--alphabet"), "{output:?}");
}

#[test]
fn a_comparison_that_ends_early_is_unknown() {
    let (old, new) = (image("surge-protector", "Os"), image("surge-protector", "Og"));
    let (result, code) = compared(&old, &new, &[&ORDERS[..], &["--timeout", "1ms"]].concat());
    assert_eq!((&result["verdict"], code), (&"unknown".into(), Some(3)), "{result}");
    assert!(result["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{result}");
}

#[test]
fn formats_have_the_run() {
    let folder = TempDir::new().expect("there is room for a folder");
    let formats = ["text", "sarif", "junit", "html", "markdown"];
    let path = |format: &str| folder.path().join(format);
    let reports: Vec<String> =
        formats.iter().map(|format| format!("--report={format}={}", path(format).display())).collect();
    let (old, new) = (image("kernel-lock", "Os"), image("kernel-lock-twice", "Os"));
    let arguments = [&["compare", &old, &new], &LOCK[..]].concat();
    let output = avr_tvar(&[&arguments[..], &reports.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    for format in formats {
        let report = fs::read_to_string(path(format)).expect("it is written");
        assert!(report.contains("it has instead call(lock)"), "{format}: {report}");
    }
}

/// Writes a specification, and verifies the firmware against it.
#[test]
fn a_firmware_conforms_to_the_specification_that_is_read_off() {
    let folder = TempDir::new().expect("there is room for a folder");
    let file = folder.path().join("first.spec.ron").display().to_string();
    for (number, (sample, alphabet)) in [("kernel-lock", LOCK), ("surge-protector", ORDERS)].into_iter().enumerate() {
        let file = format!("{file}.{number}");
        let firmware = image(sample, "Os");
        let device = ["--device", "atmega328p-gpio"];
        let init = ["init", &firmware, "--spec", "--output", &file, "--timeout", "5m"];
        let written = avr_tvar(&[&init, &device[..], &alphabet].concat());
        assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
        let content = fs::read_to_string(&file).expect("it was written");
        assert!(content.contains("// Proved: it conforms to this, and it can do all of this."), "{content}");
        let property = format!("Conforms(to: {file:?}, by: \"traces\")");
        let right = avr_tvar(&[&["verify", &firmware, "--property", &property], &device[..]].concat());
        assert_eq!(right.status.code(), Some(0), "{content}{}", text(&right.stdout));
        let twin = image(if number == 0 { "kernel-lock-twice" } else { "surge-protector-late" }, "Os");
        let wrong = avr_tvar(&[&["verify", &twin, "--property", &property], &device[..]].concat());
        assert_eq!(wrong.status.code(), Some(1), "{content}{}", text(&wrong.stdout));
    }
    let lock = image("kernel-lock", "Os");
    let output = avr_tvar(&["init", &lock, "--spec"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--alphabet"), "{output:?}");
}
