//! Gates that would check nothing: exit code 2 unless that is accepted. And what runs of a batch deny.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Stays where it is: `rjmp .-2`.
const FIRMWARE: &str = ":02000000FFCF30\n:00000001FF\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempdir().expect("there is a directory for temporary files");
    for (name, content) in [("f.hex", FIRMWARE)].iter().chain(files) {
        fs::write(folder.path().join(name), content).expect("it is written");
    }
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(folder.path()).output().expect("the program starts")
}

/// The standard output and the error output of a command that must end with this code.
#[track_caller]
fn check(folder: &TempDir, arguments: &[&str], code: i32) -> (String, String) {
    let output = run(folder, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stdout}{stderr}");
    (stdout, stderr)
}

#[track_caller]
fn check_refused(folder: &TempDir, arguments: &[&str], expected: &str) {
    let (stdout, stderr) = check(folder, arguments, 2);
    assert!(stdout.is_empty(), "{stdout}");
    assert!(stderr.contains(&format!("nothing would be verified: {expected}\n")), "{stderr}");
    assert!(stderr.contains("hint: ") && stderr.contains("--allow-empty"), "{stderr}");
}

const EMPTY: (&str, &str) = ("empty.ron", "(device: \"atmega328p\", properties: [])");
const SETTINGS: (&str, &str) = ("settings.ron", "(device: \"atmega328p\")");

#[test]
fn an_empty_list_of_properties_is_refused() {
    let folder = folder(&[EMPTY]);
    for command in ["verify", "explain", "graph"] {
        check_refused(&folder, &[command, "f.hex", "empty.ron"], "its list of properties is empty");
        check(&folder, &[command, "f.hex", "empty.ron", "--property", "AG (PORTB == 0)"], 0);
    }
    for command in ["verify", "explain"] {
        let (text, _) = check(&folder, &[command, "f.hex", "empty.ron", "--inherent"], 0);
        assert!(text.contains("Inherent()"), "{text}");
    }
    for format in ["text", "json", "sarif", "junit", "github", "markdown", "html"] {
        check(&folder, &["verify", "f.hex", "empty.ron", "--allow-empty", "--format", format], 0);
    }
    let (text, _) = check(&folder, &["verify", "f.hex", "empty.ron", "--allow-empty", "--certificate", "c"], 0);
    assert!(text.contains("summary   0 hold, 0 violated, 0 unknown\n"), "{text}");
    check(&folder, &["check", "c", "f.hex"], 0);
    check(&folder, &["explain", "f.hex", "empty.ron", "--allow-empty"], 0);
    let (_, told) = check(&folder, &["graph", "f.hex", "empty.ron", "--allow-empty"], 3);
    assert!(told.contains("there is no graph"), "{told}");
}

#[test]
fn a_file_of_settings_means_the_inherent_property() {
    let folder = folder(&[SETTINGS]);
    for command in ["verify", "explain"] {
        let (text, _) = check(&folder, &[command, "f.hex", "settings.ron"], 0);
        assert!(text.contains("Inherent()"), "{text}");
    }
    let (text, _) = check(&folder, &["verify", "f.hex", "settings.ron", "--property", "AG (PORTB == 0)"], 0);
    assert!(!text.contains("Inherent()") && text.contains("1 holds"), "{text}");
}

#[test]
fn commands_that_are_no_gates_accept_both() {
    let folder = folder(&[EMPTY, SETTINGS]);
    for file in ["empty.ron", "settings.ron"] {
        check(&folder, &["stack", "f.hex", file], 0);
        let (text, _) = check(&folder, &["props", file, "f.hex"], 0);
        assert_eq!(text, "0 properties, 0 wrong\n");
    }
}

#[test]
fn a_report_without_results_is_refused() {
    let folder = folder(&[("r.json", "{\"schema\": \"avr-tvar/report/1\", \"results\": []}")]);
    check_refused(&folder, &["explain", "r.json"], "the report has no results");
    check(&folder, &["explain", "r.json", "--allow-empty"], 0);
}

#[test]
fn a_batch_of_nothing_is_refused() {
    let manifest = "(runs: [(firmware: \"f.hex\", inherent: true), (firmware: \"f.hex\")])";
    let folder = folder(&[EMPTY, ("none.ron", "(runs: [])"), ("two.ron", manifest), ("j.jsonl", "")]);
    check_refused(&folder, &["verify-all", "none.ron"], "its list of runs is empty");
    check_refused(&folder, &["merge", "none.ron", "j.jsonl"], "its list of runs is empty");
    check(&folder, &["verify-all", "none.ron", "--allow-empty"], 0);
    check(&folder, &["merge", "none.ron", "j.jsonl", "--allow-empty"], 0);
    let shard = ["verify-all", "two.ron", "--shard", "3/3"];
    check_refused(&folder, &shard, "of 2 runs, none is in part 3 of 3");
    check(&folder, &[&shard[..], &["--allow-empty"]].concat(), 0);
    fs::write(folder.path().join("m.ron"), "(runs: [(firmware: \"f.hex\", properties: \"empty.ron\")])")
        .expect("it is written");
    let (text, _) = check(&folder, &["verify-all", "m.ron", "--journal", "m.jsonl"], 2);
    assert!(text.contains("nothing would be verified: its list of properties is empty"), "{text}");
    let resumed = ["verify-all", "m.ron", "--journal", "m.jsonl", "--resume", "--allow-empty"];
    for _ in 0..2 {
        check(&folder, &resumed, 0);
        let text = fs::read_to_string(folder.path().join("m.jsonl")).expect("it is there");
        assert_eq!(text.lines().count(), 2, "a run without properties is known as well");
    }
    check(&folder, &["merge", "m.ron", "m.jsonl", "--allow-empty"], 0);
    check(&folder, &["merge", "m.ron", "m.jsonl"], 2);
}

const VACUOUS: (&str, &str) =
    ("p.ron", "(device: \"atmega328p\", properties: [Formula(check: \"AG (PORTB == 1 -> PORTC == 1)\")])");

/// The report of a batch of one run with these fields, or that of a manifest with them.
#[track_caller]
fn batch(fields: &str, of_manifest: &str, files: &[(&str, &str)], code: i32) -> (Value, String) {
    let run = format!("({of_manifest} runs: [(firmware: \"f.hex\", properties: \"p.ron\", {fields})])");
    let folder = folder(&[files, &[("m.ron", run.as_str())]].concat());
    let (text, _) = check(&folder, &["verify-all", "m.ron"], code);
    let (json, _) = check(&folder, &["verify-all", "m.ron", "--format", "json", "--journal", "j.jsonl"], code);
    check(&folder, &["merge", "m.ron", "j.jsonl"], code);
    (serde_json::from_str(&json).expect("it is JSON"), text)
}

#[test]
fn runs_deny_what_is_vacuous() {
    assert_eq!(batch("", "", &[VACUOUS], 0).0["summary"]["denied_runs"], 0);
    for (fields, of_manifest) in [("deny: [\"vacuous\"]", ""), ("", "deny: [\"vacuous\"],")] {
        let (report, text) = batch(fields, of_manifest, &[VACUOUS], 1);
        assert_eq!((&report["summary"]["denied_runs"], &report["runs"][0]["exit_code"]), (&1.into(), &1.into()));
        assert!(text.contains("\n  denied    ") && text.ends_with(" in 1 run, 0 failed, 1 denied\n"), "{text}");
    }
    batch("deny: []", "deny: [\"vacuous\"],", &[VACUOUS], 0);
    let folder = folder(&[("m.ron", "(runs: [(firmware: \"f.hex\", deny: [\"vacuous\", \"bugs\"])])")]);
    let (_, told) = check(&folder, &["verify-all", "m.ron"], 2);
    assert!(told.contains("f.hex: 'bugs' cannot be denied; what can is vacuous, regressions"), "{told}");
}

#[test]
fn runs_have_a_baseline() {
    let old = folder(&[]);
    let two = ["verify", "f.hex", "--inherent", "--property", "AG (PORTB == 0)", "--format", "json"];
    let (report, _) = check(&old, &two, 0);
    let files = [("p.ron", "(properties: [Inherent()])"), ("old.json", report.as_str())];
    let (report, _) = batch("baseline: \"old.json\"", "", &files, 0);
    assert_eq!(report["runs"][0]["report"]["changes"]["verdicts"][0]["name"], "AG (PORTB == 0)");
    assert_eq!(report["runs"][0]["report"]["inputs"][2]["role"], "baseline");
    let (report, _) = batch("baseline: \"old.json\", deny: [\"regressions\"]", "", &files, 1);
    assert_eq!(report["summary"]["denied_runs"], 1);
    batch("deny: [\"regressions\"]", "", &files, 2);
}

#[test]
fn runs_are_strict() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let timer = root.join("firmware-samples/timer-blink/timer-blink.Os.elf").display().to_string();
    for (fields, of_manifest, code) in
        [("", "", 0), ("strict: true", "", 3), ("", "strict: true,", 3), ("strict: false", "strict: true,", 0)]
    {
        let run = format!("(firmware: {timer:?}, property: [\"AG EF (PORTB.5 == 1)\"], {fields})");
        let folder = folder(&[("m.ron", &format!("({of_manifest} runs: [{run}])"))]);
        check(&folder, &["verify-all", "m.ron"], code);
    }
}
