//! Outputs that must not replace inputs or each other, and names that must not pass for output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::{TempDir, tempdir};

/// Stays where it is: `rjmp .-2`.
const FIRMWARE: &str = ":02000000FFCF30\n:00000001FF\n";
const PROPERTIES: &str = r#"(device: "atmega328p", eeprom: "e.bin", properties: [Inherent()])"#;
const MANIFEST: &str = r#"(runs: [(firmware: "f.hex", properties: "p.ron")])"#;
const STIMULUS: &str = "()";
const INPUTS: [&str; 6] = ["f.hex", "p.ron", "e.bin", "old.json", "m.ron", "s.ron"];

/// A folder with all inputs, in which `sub/..` and links lead to the same files.
fn folder() -> TempDir {
    let folder = tempdir().expect("there is a directory for temporary files");
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("it is written");
    write("f.hex", FIRMWARE);
    write("p.ron", PROPERTIES);
    write("e.bin", "A");
    write("m.ron", MANIFEST);
    write("s.ron", STIMULUS);
    fs::create_dir(folder.path().join("sub")).expect("it is made");
    let report = run(&folder, &["verify", "f.hex", "p.ron", "--format", "json"]);
    assert_eq!(report.status.code(), Some(0), "{}", String::from_utf8_lossy(&report.stderr));
    fs::write(folder.path().join("old.json"), report.stdout).expect("it is written");
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(folder.path()).env("CC", "false").output().expect("the program starts")
}

/// The names and contents of all files.
fn contents(folder: &TempDir) -> Vec<(PathBuf, Vec<u8>)> {
    fn collect(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
        for entry in fs::read_dir(folder).expect("it is a folder") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                collect(&path, all)
            } else {
                all.push((path.clone(), fs::read(&path).expect("it is there")))
            }
        }
    }
    let mut all = Vec::new();
    collect(folder.path(), &mut all);
    all.sort();
    all
}

/// Expects exit code 2 before anything is verified, and that no file is touched.
#[track_caller]
fn check_refused(folder: &TempDir, arguments: &[&str], expected: &str) {
    let before = contents(folder);
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {errors}");
    assert!(errors.contains(expected), "{arguments:?}: {errors}");
    assert!(contents(folder) == before, "{arguments:?}: a file was touched");
}

/// Tries an option of a command with paths that lead to an input.
#[track_caller]
fn check_option(command: &[&str], option: &str, inputs: &[&str]) {
    let folder = folder();
    for input in inputs {
        let mut paths =
            vec![(*input).to_owned(), format!("./sub/../{input}"), folder.path().join(input).display().to_string()];
        #[cfg(unix)]
        for name in ["symbolic", "hard"] {
            let link = format!("{name}-{input}");
            let path = folder.path().join(&link);
            match name {
                "symbolic" => std::os::unix::fs::symlink(input, &path).expect("it is linked"),
                _ => fs::hard_link(folder.path().join(input), &path).expect("it is linked"),
            }
            paths.push(link);
        }
        for path in paths {
            let option = format!("{option}{path}");
            let arguments = [command, &option.split(' ').collect::<Vec<_>>()].concat();
            check_refused(&folder, &arguments, &format!("would replace {input}, which is an input"));
        }
    }
}

const VERIFY: [&str; 5] = ["verify", "f.hex", "p.ron", "--baseline", "old.json"];

#[test]
fn no_output_of_verify_replaces_an_input() {
    for option in ["--certificate ", "--report json=", "--evidence "] {
        check_option(&VERIFY, option, &INPUTS[..4]);
    }
}

#[test]
fn no_output_of_other_commands_replaces_an_input() {
    check_option(
        &["run", "f.hex", "--properties", "p.ron", "--stimulus", "s.ron"],
        "--record ",
        &["f.hex", "p.ron", "s.ron"],
    );
    check_option(&["stack", "f.hex", "p.ron"], "--evidence ", &INPUTS[..3]);
    check_option(&["verify-all", "m.ron"], "--journal ", &["m.ron", "f.hex", "p.ron", "e.bin"]);
    check_option(&["verify-all", "m.ron", "--resume"], "--journal ", &["m.ron", "f.hex", "p.ron", "e.bin"]);
}

#[test]
fn no_output_replaces_another() {
    let folder = folder();
    let refused = |options: &[&str], expected: &str| {
        let arguments = [&["verify", "f.hex", "p.ron"], options].concat();
        check_refused(&folder, &arguments, expected);
    };
    let both = "two outputs would go there, the certificate and the report";
    refused(&["--certificate", "new", "--report", "json=new"], both);
    refused(&["--certificate", "new", "--report", "json=sub/../new"], both);
    refused(
        &["--report", "json=new", "--report", "sarif=./new"],
        "two outputs would go there, the report and the report",
    );
    refused(&["--report", "json=new", "--evidence", "new"], "two outputs would go there, the report and the evidence");
    #[cfg(unix)]
    {
        fs::write(folder.path().join("there"), "").expect("it is written");
        std::os::unix::fs::symlink("there", folder.path().join("link")).expect("it is linked");
        fs::hard_link(folder.path().join("there"), folder.path().join("hard")).expect("it is linked");
        refused(&["--certificate", "there", "--report", "json=link"], both);
        refused(&["--certificate", "hard", "--report", "json=link"], both);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_replaces_nothing_may_be_named_twice() {
    let folder = folder();
    let output =
        run(&folder, &["verify", "f.hex", "p.ron", "--certificate", "/dev/null", "--report", "json=/dev/null"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn files_in_the_folders_of_evidence_are_protected() {
    let folder = folder();
    let violated = r#"Formula(name: "stops", check: "AF (PORTB == 1)")"#;
    let command = ["verify", "f.hex", "--property", violated, "--evidence", "."];
    let output = run(&folder, &command);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("stops/trace.json").is_file(), "the evidence is there");
    let refused =
        |options: &[&str], expected: &str| check_refused(&folder, &[&command[..], options].concat(), expected);
    let report = ["--report", "json=stops/trace.json"];
    refused(&report, "stops/trace.json: two outputs would go there, the report and the evidence");
    fs::copy(folder.path().join("old.json"), folder.path().join("stops/trace.json")).expect("it is copied");
    refused(&["--baseline", "stops/trace.json"], "the evidence would replace stops/trace.json, which is an input");
}

/// A name that breaks out of its line, as text of RON.
const NAME: &str = r"forged\n::error::all is lost\n\u{1b}[2J";

/// Expects that nothing in the output is a command for a build server or a terminal.
#[track_caller]
fn check_harmless(output: &Output, told: &str) {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let text = format!("{stdout}\n{stderr}");
    assert!(!text.contains('\x1b'), "{text}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("::error::all is lost")), "{text}");
    assert!(text.contains(told), "{told}: {text}");
}

#[test]
fn names_are_escaped_in_every_note() {
    let folder = folder();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples");
    let sample = |name: &str| samples.join(name).display().to_string();
    let formula = |check: &str| format!("Formula(name: \"{NAME}\", check: \"{check}\")");
    let check = |arguments: &[&str], told: &str| check_harmless(&run(&folder, arguments), told);
    let unproved = formula("EF (pc == 0x100)");
    let opcode = sample("hazard-reserved-opcode/hazard-reserved-opcode.elf");
    let told = "note: c has no proof of forged\\n::error::all is lost\\n\\u{1b}[2J: ";
    check(&["verify", &opcode, "--property", &unproved, "--certificate", "c"], told);
    let timer = sample("timer-blink/timer-blink.Os.elf");
    let in_model = formula("AF (PORTB.5 == 1)");
    let told = "note: forged\\n::error::all is lost\\n\\u{1b}[2J is not confirmed: ";
    check(&["verify", &timer, "--property", &in_model, "--confirm"], told);
    let wrong = formula("AG (PORTX == 0)");
    check(&["verify", "f.hex", "--property", &wrong], "nothing is named 'PORTX'");
    fs::write(folder.path().join("w.ron"), format!("(properties: [{wrong}])")).expect("it is written");
    check(&["props", "w.ron", "f.hex"], "nothing is named 'PORTX'");
    let violated = formula("AF (PORTB == 1)");
    for format in ["text", "json", "sarif", "junit", "github", "markdown", "html"] {
        check(&["verify", "f.hex", "--property", &violated, "--format", format], "forged");
    }
    check(&["explain", "f.hex", "--property", &violated], "forged");
    check(&["graph", "f.hex", "--property", &violated], "digraph");
    let evidence = ["verify", "f.hex", "--property", &violated, "--evidence", "out\n::error::all is lost"];
    check(&evidence, "violated");
    fs::write(folder.path().join("v.ron"), format!("(properties: [{violated}])")).expect("it is written");
    let run = format!("(name: \"{NAME}\", firmware: \"f.hex\", properties: \"v.ron\")");
    fs::write(folder.path().join("n.ron"), format!("(runs: [{run}])")).expect("it is written");
    check(&["verify-all", "n.ron"], "forged");
    check(&["verify-all", "n.ron", "--shard", "2/2", "--journal", "n.jsonl"], "");
    check(&["merge", "n.ron", "n.jsonl"], "no journal has what came of forged");
}
