//! Invariants that begin where the main program does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const LAMP: &str = "firmware-samples/lamp/lamp.Os";
const BUGGY: &str = "firmware-samples/lamp-buggy/lamp-buggy.Os";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> Output {
    let tool = env!("CARGO_BIN_EXE_avr-tvar");
    Command::new(tool).args(arguments).current_dir(root()).output().expect("the tool starts")
}

/// The report on one property of an image.
#[track_caller]
fn result(image: &str, property: &str) -> Value {
    let output = run(&["verify", image, "--format", "json", "--timeout", "120s", "--property", property]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{property}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    report["results"][0].clone()
}

fn notes(result: &Value) -> String {
    let notes = result["notes"].as_array().expect("there is a list");
    notes.iter().map(|note| note.as_str().expect("it is a text")).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_condition_of_variables_is_an_invariant_of_the_main_program() {
    let holds = result(&format!("{LAMP}.elf"), "line_len <= 8");
    assert_eq!((holds["verdict"].as_str(), holds["kind"].as_str()), (Some("holds"), Some("Always")));
    assert_eq!(holds["formula"], "AG (in_startup || (line_len <= 8))");
    assert!(notes(&holds).contains("has no temporal operator, so it is checked in every state"), "{holds}");
    assert!(notes(&holds).contains("before main is entered it is violated"), "{holds}");
}

#[test]
fn violations_behind_main_are_found() {
    let violated = result(&format!("{BUGGY}.elf"), "Always(check: \"line_len <= 8\")");
    assert_eq!((violated["verdict"].as_str(), violated["basis"].as_str()), (Some("violated"), Some("hardware")));
    assert!(!notes(&violated).contains("main"), "{violated}");
}

#[test]
fn runs_that_end_before_main_say_how_to_begin_there() {
    let violated = result(&format!("{LAMP}.elf"), "AG (line_len <= 8)");
    assert_eq!(violated["verdict"], "violated");
    let told = "the run ends before main is entered; to begin there: Always(check: \"line_len <= 8\", from: \"main\")";
    assert!(notes(&violated).contains(told), "{violated}");
    let stated = result(&format!("{LAMP}.elf"), "Always(check: \"line_len <= 8\", from: \"reset\")");
    assert_eq!(
        (stated["verdict"].as_str(), stated["formula"].as_str()),
        (Some("violated"), Some("AG (line_len <= 8)"))
    );
    assert!(!notes(&stated).contains("from"), "the file says it already: {stated}");
    let first = result(&format!("{LAMP}.elf"), "Formula(check: \"line_len <= 8\")");
    assert_eq!(first["verdict"], "violated");
    assert!(notes(&first).contains("Always(check: \"line_len <= 8\", from: \"main\")"), "{first}");
}

/// The HEX file has no symbols: the start-up code tells where main is. `line_len` lies at 0x10d.
#[test]
fn images_without_symbols_have_a_main_program() {
    let holds = result(&format!("{LAMP}.hex"), "mem[0x10d] <= 8");
    assert_eq!(holds["verdict"], "holds");
    assert_eq!(holds["formula"], "AG (in_startup || (mem[0x10d] <= 8))");
}

/// A reset leads back into the start-up code, and nothing else does.
#[test]
fn only_resets_lead_back_into_the_startup_code() {
    let directory = tempfile::tempdir().expect("there is a folder");
    let file = directory.path().join("resets.ron");
    let image = "firmware-samples/timer-blink/timer-blink.Os.elf";
    for (environment, expected) in [("", "violated"), ("environment: [reset],", "holds")] {
        let text = format!("({environment} properties: [Formula(check: \"AG (pc == main -> EF in_startup)\")])");
        fs::write(&file, text).expect("it is written");
        let output = run(&["verify", image, &file.display().to_string(), "--format", "json", "--timeout", "120s"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(report["results"][0]["verdict"], expected, "{environment}");
    }
}

#[test]
fn a_change_by_the_new_default_is_no_regression() {
    let directory = tempfile::tempdir().expect("there is a folder");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let verify = |properties: &str, more: &[&str]| {
        fs::write(path("lamp.ron"), properties).expect("it is written");
        run(&[&["verify", &format!("{LAMP}.elf"), &path("lamp.ron"), "--timeout", "120s"], more].concat())
    };
    let by_default = "(properties: [Always(name: \"length\", check: \"line_len <= 8\")])";
    let stated = "(properties: [Always(name: \"length\", check: \"line_len <= 8\", from: \"reset\")])";
    let before = verify(stated, &["--format", "json"]);
    let report = String::from_utf8(before.stdout).expect("it is text");
    assert!(report.contains("\"from\": \"reset\"") || report.contains("\"from\":\"reset\""), "{report}");
    let gate = ["--baseline", &path("released.json"), "--deny", "regressions"];
    // A report of a version without the choice does not say it.
    let mut older: Value = serde_json::from_str(&report).expect("it is JSON");
    let properties = older["specification"]["properties"].as_array_mut().expect("there are some");
    properties.iter_mut().for_each(|property| drop(property.as_object_mut().expect("it is one").remove("from")));
    fs::write(path("released.json"), older.to_string()).expect("it is written");
    let by_version = verify(by_default, &gate);
    let said = String::from_utf8_lossy(&by_version.stdout).into_owned();
    assert_eq!(by_version.status.code(), Some(0), "{said}");
    assert!(
        said.contains("changed by version: the formula of 'length' was AG line_len <= 8 and is AG (in_startup"),
        "{said}"
    );
    // A file that asked for all states, and does not any more, asks for less.
    fs::write(path("released.json"), &report).expect("it is written");
    let by_user = verify(by_default, &gate);
    assert_eq!(by_user.status.code(), Some(1), "{}", String::from_utf8_lossy(&by_user.stdout));
}

#[test]
fn invariants_of_the_main_program_have_certificates() {
    let directory = tempfile::tempdir().expect("there is a folder");
    let certificate = directory.path().join("lamp.cert").display().to_string();
    let image = "firmware-samples/timer-blink/timer-blink.Os.elf";
    let property = "Always(check: \"overflows == overflows\", from: \"main\")";
    let verified = run(&["verify", image, "--property", property, "--certificate", &certificate, "--timeout", "120s"]);
    assert_eq!(verified.status.code(), Some(0), "{}", String::from_utf8_lossy(&verified.stdout));
    let checked = run(&["check", &certificate, image]);
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert_eq!(checked.status.code(), Some(0), "{said}");
    assert!(said.contains("holds     Always(check: "), "{said}");
}
