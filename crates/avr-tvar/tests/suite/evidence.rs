//! The files of `--evidence`, and that `avr-tvar run` repeats the runs in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::tempdir;

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_avr-tvar"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The standard output of a command that must end with this code.
#[track_caller]
fn output(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("the command starts");
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Verifies a property that is violated or exists, and repeats the run of its evidence.
#[track_caller]
fn check(image: &str, property: &str, code: i32, kind: &str) {
    let directory = tempdir().expect("there is a directory for temporary files");
    let firmware = root().join("firmware-samples").join(image);
    let mut verify = command();
    verify.arg("verify").arg(&firmware).args(["--property", property, "--format", "json", "--evidence"]);
    let report = output(verify.arg(directory.path()), code);
    let report: Value = serde_json::from_str(&report).expect("the report is JSON");
    let evidence = &report["results"][0]["evidence"];
    assert_eq!((&evidence["kind"], &evidence["replayed"]), (&Value::from(kind), &Value::from(true)));
    let folders: Vec<_> = fs::read_dir(directory.path()).expect("it is there").collect::<Result<_, _>>().expect("so");
    let [folder] = folders.as_slice() else { panic!("{folders:?}") };
    for name in ["trace.json", "trace.vcd", "replay.c", "stimulus.ron"] {
        assert!(fs::metadata(folder.path().join(name)).is_ok_and(|file| file.len() > 0), "{name}");
    }
    let steps = evidence["steps"].as_u64().expect("a number") + u64::from(!evidence["end"]["hazard"].is_null());
    let mut run = command();
    run.arg("run").arg(&firmware).args(["--format", "json", "--steps", &steps.to_string(), "--stimulus"]);
    let end: Value = serde_json::from_str(&output(run.arg(folder.path().join("stimulus.ron")), 0)).expect("JSON");
    for field in ["pc", "sp", "sreg"] {
        assert_eq!(end[field], evidence["end"][field], "{field}");
    }
    assert_eq!((&end["steps"], &end["cycles"]), (&evidence["steps"], &evidence["cycles"]));
    assert_eq!(end["hazard"]["name"], evidence["end"]["hazard"]["name"]);
}

#[test]
fn runs_are_repeated_by_the_simulator() {
    check("branch/branch.Og.elf", "AG EF PORTD == 0", 1, "path");
    check("branch/branch.Og.elf", "EF PORTD == 1", 0, "path");
    check("blink/blink.Os.elf", "AF AG PORTB == 0x20", 1, "lasso");
    check("timer-blink/timer-blink.Os.elf", "Stack(max_bytes: 7)", 1, "path");
    check("toggle-switch/toggle-switch.Og.elf", "AF PORTB.0 == 1", 1, "lasso");
    check("hazard-outside-memory-by-input/hazard-outside-memory-by-input.elf", "Inherent()", 1, "hazard");
    check("hazard-return-to-non-call/hazard-return-to-non-call.elf", "Inherent()", 1, "hazard");
}

#[test]
fn evidence_that_cannot_be_written_is_an_error() {
    let directory = tempdir().expect("there is a directory for temporary files");
    let file = directory.path().join("file");
    fs::write(&file, "").expect("it can be written");
    let firmware = root().join("firmware-samples/branch/branch.Og.elf");
    let mut verify = command();
    let output = verify.arg("verify").arg(firmware).args(["--property", "AG PORTD == 0", "--evidence"]).arg(&file);
    let output = output.output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("cannot be written"), "{told}");
}

#[test]
fn nothing_is_confirmed_without_a_compiler() {
    let directory = tempdir().expect("there is a directory for temporary files");
    let mut verify = command();
    verify.arg("verify").arg(root().join("firmware-samples/shared-counter-torn/shared-counter-torn.Og.elf"));
    verify.arg(root().join("properties/shared-counter-torn.ron")).args(["--confirm", "--format", "json", "--evidence"]);
    let output = verify.arg(directory.path()).env("CC", "/no/such/compiler").output().expect("the command starts");
    let notes = String::from_utf8_lossy(&output.stderr);
    let expected = "note: only values that the counter had is not confirmed: /no/such/compiler cannot be started: ";
    assert!(notes.contains(expected), "{notes}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let results = report["results"].as_array().expect("there are results");
    let torn = results.iter().find(|result| result["name"] == "only values that the counter had").expect("it is there");
    assert_eq!((&torn["verdict"], &torn["basis"]), (&Value::from("violated"), &Value::from("model")));
    assert_eq!(torn["evidence"]["confirmed_cycle"], Value::Null);
    let program = directory.path().join("only-values-that-the-counter-had/replay-cycles.c");
    let program = fs::read_to_string(program).expect("a program looks for what the run shows");
    // The tables contain the address of the PC, and the contents of the copy that show the violation.
    assert!(program.contains("    {PC, ") && program.contains("    {CELLS, "), "{program}");
}

/// The functions under way at the end of the run of a property.
#[track_caller]
fn calls(image: &str, property: &str, code: i32) -> Vec<Value> {
    let firmware = root().join("firmware-samples").join(image);
    let report = output(command().arg("verify").arg(firmware).args(["--property", property, "--format", "json"]), code);
    let report: Value = serde_json::from_str(&report).expect("the report is JSON");
    report["results"][0]["evidence"]["end"]["calls"].as_array().expect("there is a list").clone()
}

#[test]
fn the_end_of_a_run_has_its_call_string() {
    let smashed = calls("stack-smash/stack-smash.Os.elf", "Inherent()", 1);
    let functions: Vec<&str> = smashed.iter().filter_map(|call| call["function"].as_str()).collect();
    assert_eq!(functions, ["collect", "main", "__ctors_end"]);
    let line = smashed[1]["line"].as_str().expect("main has lines");
    assert!(line.starts_with("stack-smash/../common/stack-smash.h:"), "{line}");
    assert_eq!(smashed[1]["bytes"], 2, "the return address of the call of main");
    let interrupted = calls("timer-blink/timer-blink.Os.elf", "EF (in_interrupt && overflows == 1)", 0);
    let causes: Vec<&Value> = interrupted.iter().map(|call| &call["interrupt"]).collect();
    assert_eq!(causes, [&Value::from("TIMER0_OVF"), &Value::Null, &Value::Null]);
    let bytes: u64 = interrupted.iter().filter_map(|call| call["bytes"].as_u64()).sum();
    assert_eq!(bytes, 8, "all that is used");
}

#[test]
fn a_hazard_comes_with_the_line_that_allows_it() {
    let image = root().join("firmware-samples/stack-smash/stack-smash.Os.elf");
    let text = output(command().arg("verify").arg(&image), 1);
    for told in [
        "it happens at 0x00c4 in collect, common/stack-smash.h:21 (2 bytes of stack)",
        "called from 0x00d0 in main, common/stack-smash.h:29 (2 bytes of stack)",
        "to accept it: allow: {\"return-to-non-call at collect\": \"why it does no harm\"}",
    ] {
        assert!(text.contains(told), "{text}");
    }
    // The line is one that can be pasted.
    let directory = tempdir().expect("there is a directory for temporary files");
    let file = directory.path().join("allowed.ron");
    let line = text.lines().find_map(|line| line.trim().strip_prefix("to accept it: ")).expect("it is there");
    fs::write(&file, format!("({line})")).expect("it is written");
    let checked = output(command().arg("props").arg(&file).arg(&image), 0);
    assert!(checked.contains("0 wrong"), "{checked}");
}
