//! `explain` and `graph`: from the firmware, and from a report.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::tempdir;

const ORIGINAL: &str = "firmware-samples/calibration-original/calibration-original.Og.elf";
const BRANCH: &str = "firmware-samples/branch/branch.Og.elf";
const RECOVERY: [&str; 2] = ["--property", "AG EF (PORTD == 0)"];

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.output().expect("the program starts")
}

/// The standard output of a command that must end with this code.
#[track_caller]
fn stdout(arguments: &[&str], code: i32) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Checks that a command line is a usage error with this message.
#[track_caller]
fn refused(arguments: &[&str], message: &str) {
    let output = run(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(message), "{text}");
}

/// The lines about the subformulas, without their indent.
fn explanation(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with("along the run"));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn subformulas_are_told_along_the_run() {
    let text = stdout(&[&["explain", ORIGINAL], &RECOVERY[..]].concat(), 1);
    let lines = explanation(&text);
    assert_eq!(lines[0], "along the run that shows it, from its first state to that after step 24:");
    assert_eq!(lines[1..3], ["AG EF PORTD == 0", "fails   0 to 24 from 0x0000 (__vectors)"]);
    assert_eq!(lines[4..6], ["EF PORTD == 0", "holds   0 to 23 from 0x0000 (__vectors)"]);
    assert!(lines[6].starts_with("fails   24 from 0x009e (main, "), "{}", lines[6]);
}

#[test]
fn a_report_is_explained_as_the_firmware_is() {
    let directory = tempdir().expect("there is a directory for temporary files");
    let report = directory.path().join("report.json");
    let json = stdout(&["verify", BRANCH, "--property", "EF (PORTD == 1)", "--format", "json"], 0);
    fs::write(&report, json).expect("the report is written");
    let of_report = stdout(&["explain", report.to_str().expect("a text")], 0);
    let of_firmware = stdout(&["explain", BRANCH, "--property", "EF (PORTD == 1)"], 0);
    assert_eq!(explanation(&of_report), explanation(&of_firmware));
    assert!(of_report.starts_with("holds     EF (PORTD == 1)\n"), "{of_report}");
    let report = report.to_str().expect("a text");
    for more in [&["--property", "AG (PORTD == 1)"][..], &["other.ron"], &["--format", "json"], &["--timeout", "1s"]] {
        refused(&[&["explain", report], more].concat(), "a report is explained as it is");
    }
}

#[test]
fn what_is_no_report_is_an_error() {
    let directory = tempdir().expect("there is a directory for temporary files");
    let path = directory.path().join("other.json");
    for (content, why) in
        [("{\"schema\": \"x\", \"results\": []}", "its schema is 'x'"), ("{]", "key must be a string")]
    {
        fs::write(&path, content).expect("the file is written");
        let output = run(&["explain", path.to_str().expect("a text")]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("is no report of this program") && message.contains(why), "{message}");
    }
}

#[test]
fn a_graph_is_as_large_as_it_may_be() {
    let nodes =
        |text: &str| text.lines().filter(|line| line.trim_start().starts_with('n') && line.contains("[label=")).count();
    let graph = |more: &[&str]| stdout(&[&["graph", ORIGINAL, "--property", "AG EF (PORTD == 0)"], more].concat(), 0);
    let all = graph(&["--fold", "states"]);
    assert!(nodes(&all) > 7_000, "{}", nodes(&all));
    assert!(all.contains("[color=\"#c00000\", penwidth=2];"), "the run is marked");
    let folded = graph(&[]);
    assert!((10..=150).contains(&nodes(&folded)), "{folded}");
    assert!(nodes(&graph(&["--nodes", "2"])) < nodes(&folded));
    assert!(graph(&["--fold", "functions"]).contains("main"));
    assert!(graph(&["--fold", "auto", "--nodes", "150"]) == folded);
    refused(
        &["graph", ORIGINAL, "--fold", "functions", "--nodes", "150"],
        "'--nodes <N>' can only be used with '--fold auto'",
    );
}

#[test]
fn the_graph_is_that_of_the_property_without_an_answer() {
    let text = stdout(&["graph", BRANCH, "--property", "EF (PORTD == 1)", "--property", "AX (r5 == 0)"], 0);
    assert!(text.contains("label=\"holds: EF (PORTD == 1)\\n"), "{text}");
    let limited = ["graph", "firmware-samples/input-bits-16/input-bits-16.Og.elf", "--strategy", "naive"];
    let text = stdout(&[&limited[..], &["--timeout", "1s"]].concat(), 0);
    assert!(text.contains("label=\"unknown: Inherent()\\n"), "{text}");
}
