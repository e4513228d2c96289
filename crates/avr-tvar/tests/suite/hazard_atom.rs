//! The atom `hazard` in formulas of every kind.

use std::path::Path;
use std::process::Command;

/// Checks the verdict of a formula on a sample, and that its certificate is accepted.
#[track_caller]
fn check(image: &str, property: &str, expected: &str) {
    let folder = tempfile::tempdir().expect("there is room");
    let certificate = folder.path().join("certificate");
    let image = format!("firmware-samples/{}/{image}", image.split('.').next().expect("it has a name"));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
        command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let output = command.output().expect("the program starts");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("it is JSON")
    };
    let certificate = certificate.to_str().expect("it is UTF-8");
    let arguments =
        ["--device", "atmega328p", "--property", property, "--format", "json", "--certificate", certificate];
    let report = run(&[&["verify", &image], &arguments[..]].concat());
    let result = &report["results"][0];
    assert_eq!(result["verdict"], expected, "{image}: {property}: {}", result["reason"]);
    if expected != "unknown" {
        let checked = run(&["check", certificate, &image, "--format", "json"]);
        assert_eq!(checked["results"][0]["verdict"], expected, "{image}: {property}: {checked}");
    }
}

#[test]
fn hazards_are_seen_by_formulas() {
    let by_input = "hazard-outside-memory-by-input.elf";
    check(by_input, "AG !hazard", "violated");
    check(by_input, "EF hazard", "holds");
    check(by_input, "!EF hazard", "violated");
    check(by_input, "EG !hazard", "holds");
    check(by_input, "AF hazard", "violated");
    check(by_input, "AG (hazard -> AG hazard)", "holds");
    check(by_input, "Never(check: \"hazard\")", "violated");
    // Behind a hazard all other atoms are unknown.
    check(by_input, "EF (hazard && PORTB == 0)", "unknown");
    check(by_input, "Reachable(check: \"hazard\")", "holds");
}

#[test]
fn programs_without_hazards_have_none() {
    let avoided = "hazard-outside-memory-by-input-avoided.elf";
    check(avoided, "AG !hazard", "holds");
    check(avoided, "EF hazard", "violated");
    check(avoided, "EG !hazard", "holds");
    check(avoided, "A[!hazard W PORTB == 77]", "holds");
    check(avoided, "Ltl(check: \"G !hazard\")", "holds");
}

#[test]
fn certain_hazards_are_certain() {
    let certain = "hazard-reserved-opcode.elf";
    check(certain, "AF hazard", "holds");
    check(certain, "EG !hazard", "violated");
    check(certain, "AG EF hazard", "holds");
    check(certain, "Ltl(check: \"F G hazard\")", "holds");
}
