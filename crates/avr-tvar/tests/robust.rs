//! Signals, full disks and paths that cannot be written: what is written is whole or not there, and errors are clear.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::tempdir;

const BRANCH: &str = "firmware-samples/branch/branch.Og.elf";
/// Comes to no end by itself.
const ENDLESS: [&str; 6] = [
    "verify",
    "firmware-samples/input-bits-16/input-bits-16.Og.elf",
    "--strategy",
    "naive",
    "--format=json",
    "--timeout=120s",
];

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

/// The error output of a command whose standard output goes to a full disk.
#[track_caller]
fn on_a_full_disk(arguments: &[&str]) -> String {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = command(arguments).stdout(full).stderr(Stdio::piped()).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("the output is text")
}

#[test]
fn a_full_disk_is_a_clear_error() {
    for arguments in [
        &["verify", BRANCH][..],
        &["verify", BRANCH, "--format", "json"],
        &["disasm", BRANCH],
        &["graph", BRANCH],
        &["explain", BRANCH],
        &["init", BRANCH],
        &["man"],
        &["completions", "bash"],
    ] {
        let message = on_a_full_disk(arguments);
        assert!(message.contains("error: cannot write to the standard output: No space left on device"), "{message}");
        assert!(message.contains("hint: check the space"), "{message}");
    }
}

#[test]
fn a_path_that_cannot_be_written_is_a_clear_error() {
    let folder = tempdir().expect("there is a directory for temporary files");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("it is written");
    let below = file.join("below").display().to_string();
    for arguments in [
        &["verify", BRANCH, "--property", "EF (PORTD == 1)", "--evidence", &below][..],
        &["init", BRANCH, "--output", &below],
        &["man", "--output", &below],
        &["verify", BRANCH, "--certificate", &below],
    ] {
        let output = command(arguments).output().expect("the program starts");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {message}");
        assert!(message.contains("cannot be written: Not a directory"), "{message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1, "nothing is left behind");
}

#[test]
fn signals_end_with_a_whole_report() {
    for (signal, milliseconds) in [("-INT", 1_000), ("-TERM", 700), ("-TERM", 40), ("-TERM", 0)] {
        let child = command(&ENDLESS).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(milliseconds));
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        if output.stdout.is_empty() {
            // The signal came before anybody listened.
            assert_eq!(output.status.code(), None, "{signal} after {milliseconds} ms");
            continue;
        }
        assert_eq!(output.status.code(), Some(130), "{signal} after {milliseconds} ms");
        let report: Value = serde_json::from_slice(&output.stdout).expect("the report is whole");
        assert_eq!(report["results"][0]["verdict"], "unknown");
        assert_eq!(report["results"][0]["unknown"]["limit"], "interrupted");
    }
}

#[test]
fn what_is_killed_leaves_whole_files_or_none() {
    for milliseconds in [5, 20, 50, 100, 200, 400] {
        let folder = tempdir().expect("there is a directory for temporary files");
        let certificate = folder.path().join("c.cert");
        let image = "firmware-samples/calibration-original/calibration-original.Og.elf";
        let path = certificate.display().to_string();
        let mut child = command(&["verify", image, "--property", "AG EF (PORTD == 0)", "--certificate", &path])
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().expect("it is there or has ended");
        child.wait().expect("it ends");
        if certificate.exists() {
            let checked = command(&["check", &path, image]).output().expect("the program starts");
            assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stderr));
        }
    }
}
