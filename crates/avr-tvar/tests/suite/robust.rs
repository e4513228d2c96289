//! Signals, full disks and paths that cannot be written: what is written is whole or not there, and errors are clear.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
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
        &["verify", BRANCH, "--report", &format!("json={below}")],
        &["stack", BRANCH, "--evidence", &below],
        &["run", BRANCH, "--steps", "9", "--record", &below],
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

/// The files in a folder and below it that the program has finished: not those with the names of temporary ones.
fn finished(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("it can be read").path());
    let is_temporary = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
    let kept = entries.filter(|path| !is_temporary(path));
    kept.flat_map(|path| if path.is_dir() { finished(&path) } else { vec![path] }).collect()
}

/// Kills or interrupts a command at several moments, and lets it end by itself in the end; what it wrote must be whole.
#[track_caller]
fn stopped_at_any_moment(signal: &str, arguments: &dyn Fn(&str) -> Vec<String>, is_whole: &dyn Fn(&Path) -> bool) {
    let mut found = 0;
    for milliseconds in [Some(5), Some(20), Some(50), Some(80), Some(130), Some(200), Some(400), None] {
        let folder = tempdir().expect("there is a directory for temporary files");
        let arguments = arguments(&folder.path().display().to_string());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let child = command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("it starts");
        if let Some(milliseconds) = milliseconds {
            std::thread::sleep(Duration::from_millis(milliseconds));
            let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
        }
        child.wait().expect("it ends");
        let files = finished(folder.path());
        found += files.len();
        for file in files {
            assert!(is_whole(&file), "{signal} after {milliseconds:?} ms: {}", file.display());
        }
    }
    assert!(found > 0, "nothing was ever written");
}

const SIGNALS: [&str; 3] = ["-KILL", "-INT", "-TERM"];
const ORIGINAL: &str = "firmware-samples/calibration-original/calibration-original.Og.elf";

#[test]
fn certificates_are_whole_or_absent() {
    let arguments = |folder: &str| {
        let certificate = format!("{folder}/c.cert");
        ["verify", ORIGINAL, "--property", "AG EF (PORTD == 0)", "--certificate", &certificate]
            .map(str::to_owned)
            .to_vec()
    };
    let is_whole = |path: &Path| {
        let checked = command(&["check", &path.display().to_string(), ORIGINAL]).output().expect("the program starts");
        checked.status.code() == Some(0)
    };
    SIGNALS.iter().for_each(|signal| stopped_at_any_moment(signal, &arguments, &is_whole));
}

/// True if a file ends as one of its format does.
fn ends_well(path: &Path) -> bool {
    let text = fs::read_to_string(path).expect("it is text");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => serde_json::from_str::<Value>(&text).is_ok(),
        Some("html") => text.trim_end().ends_with("</html>"),
        Some("xml") => text.trim_end().ends_with("</testsuites>"),
        Some("ron") => text.trim_end().ends_with(')'),
        Some("c") => text.trim_end().ends_with('}'),
        Some("vcd") => text.ends_with('\n'),
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_and_evidence_are_whole_or_absent() {
    let arguments = |folder: &str| {
        let fixed = ["verify", ORIGINAL, "--property", "AG EF (PORTD == 0)", "--evidence"].map(str::to_owned);
        let reports =
            ["json=r.json", "html=r.html", "junit=r.xml"].map(|report| report.replace("=", &format!("={folder}/")));
        let reports = reports.into_iter().flat_map(|report| ["--report".to_owned(), report]);
        fixed.into_iter().chain([format!("{folder}/runs")]).chain(reports).collect()
    };
    SIGNALS.iter().for_each(|signal| stopped_at_any_moment(signal, &arguments, &ends_well));
}

#[test]
fn the_run_of_a_worst_case_is_whole_or_absent() {
    let sample = "firmware-samples/function-table/function-table.Os.elf";
    let arguments = |folder: &str| ["stack", sample, "--evidence", folder].map(str::to_owned).to_vec();
    SIGNALS.iter().for_each(|signal| stopped_at_any_moment(signal, &arguments, &ends_well));
}
