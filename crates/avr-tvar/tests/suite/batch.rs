//! `verify-all` and `merge`: order, journals, parts, and that nothing is lost whenever the process ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use avr_testkit::Random;
use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Runs of a second or so each, with every verdict.
const RUNS: &str = r#"
    (firmware: "SAMPLES/timer-blink/timer-blink.Os.elf", properties: "PROPERTIES/timer-blink.ron"),
    (name: "first violated", firmware: "SAMPLES/calibration-original/calibration-original.Og.elf",
        properties: "PROPERTIES/calibration-original.ron"),
    (firmware: "SAMPLES/branch/branch.Og.elf", property: ["EF (PORTD == 1)", "EF (PORTD == 3)"], inherent: true),
    (name: "after a hazard", firmware: "SAMPLES/hazard-reserved-opcode/hazard-reserved-opcode.elf",
        property: ["EF (pc == 0x100)"]),
    (firmware: "SAMPLES/gate-array/gate-array.Og.elf", properties: "PROPERTIES/gate-array.ron"),
    (firmware: "SAMPLES/usart-echo/usart-echo.Os.elf"),
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with a manifest of these runs.
fn manifest(runs: &str) -> TempDir {
    let folder = tempdir().expect("there is a directory for temporary files");
    let path = |name: &str| root().join(name).display().to_string();
    let runs = runs.replace("SAMPLES", &path("firmware-samples")).replace("PROPERTIES", &path("properties"));
    fs::write(folder.path().join("m.ron"), format!("(timeout: \"60s\", runs: [{runs}])")).expect("it is written");
    folder
}

/// The command in the folder of a manifest.
fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(folder.path()).stdin(Stdio::null());
    command
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the program starts")
}

/// The standard output of a command that must end with this code.
#[track_caller]
fn stdout(folder: &TempDir, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// The error output of a command that must end with code 2.
#[track_caller]
fn error(folder: &TempDir, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("the output is text")
}

/// A report without times and sizes.
fn timeless(json: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.retain(|name, _| {
                    !["seconds", "cpu_seconds", "steps_per_second", "peak_memory_bytes"].contains(&name.as_str())
                });
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(json).expect("it is JSON");
    strip(&mut value);
    value
}

#[test]
fn results_come_in_the_order_of_the_manifest() {
    let folder = manifest(RUNS);
    let batch = timeless(&stdout(&folder, &["verify-all", "m.ron", "--format", "json", "--jobs", "3"], 1));
    let names: Vec<_> = batch["runs"].as_array().expect("a list").iter().map(|run| run["name"].clone()).collect();
    assert_eq!(
        (names.len(), &names[1], &names[3]),
        (6, &Value::from("first violated"), &Value::from("after a hazard"))
    );
    let verdicts = |run: usize| -> Vec<Value> {
        let results = batch["runs"][run]["report"]["results"].as_array().expect("a list");
        results.iter().map(|result| result["verdict"].clone()).collect()
    };
    assert_eq!(verdicts(2), ["holds", "holds", "violated"]);
    assert_eq!(verdicts(3), ["unknown"]);
    let summary = &batch["summary"];
    assert_eq!((&summary["unknown"], &summary["failed_runs"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(batch, timeless(&stdout(&folder, &["verify-all", "m.ron", "--format", "json", "--jobs", "1"], 1)));
    let text = stdout(&folder, &["verify-all", "m.ron"], 1);
    assert!(text.contains("first violated\n") && text.contains("\n  violated  "), "{text}");
    assert!(text.contains(" 1 unknown in 6 runs, 0 failed\n"), "{text}");
}

#[test]
fn a_run_that_fails_does_not_stop_the_others() {
    let folder = manifest(
        r#"(firmware: "no-such-file.elf"), (firmware: "SAMPLES/branch/branch.Og.elf", property: ["AG (PORTX == 0)"]),
            (firmware: "SAMPLES/branch/branch.Og.elf", inherent: true)"#,
    );
    let text = stdout(&folder, &["verify-all", "m.ron"], 2);
    assert!(text.contains("no-such-file.elf\n  failed    error: no-such-file.elf: cannot be read"), "{text}");
    assert!(
        text.contains(
            "failed    error: nothing is named 'PORTX'; did you mean PORTB or PORTC or PORTD? (--property:1:5)"
        ),
        "{text}"
    );
    assert!(
        text.contains("  holds     Inherent()\n")
            && text.ends_with("1 holds, 0 violated, 0 unknown in 3 runs, 2 failed\n")
    );
}

#[test]
fn parts_together_are_the_whole() {
    let folder = manifest(RUNS);
    let whole = timeless(&stdout(&folder, &["verify-all", "m.ron", "--format", "json"], 1));
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        let journal = format!("{}.jsonl", &part[..1]);
        run(&folder, &["verify-all", "m.ron", "--shard", part, "--journal", &journal]);
    }
    let parts = ["4.jsonl", "1.jsonl", "3.jsonl", "2.jsonl"];
    let merged = stdout(&folder, &[&["merge", "m.ron", "--format", "json"], &parts[..]].concat(), 1);
    assert_eq!(timeless(&merged), whole);
    let message = error(&folder, &["merge", "m.ron", "1.jsonl", "2.jsonl", "4.jsonl"]);
    assert!(message.contains("no journal has what came of ") && message.contains("branch.Og.elf"), "{message}");
    assert!(error(&folder, &["verify-all", "m.ron", "--shard", "5/4"]).contains("write it as i/n"));
    assert_eq!(run(&folder, &["merge", "m.ron"]).status.code(), Some(2));
}

/// The processes whose command line names something in a folder.
#[cfg(target_os = "linux")]
fn processes(folder: &Path) -> usize {
    let name = folder.display().to_string();
    let entries = fs::read_dir("/proc").expect("there is /proc").filter_map(Result::ok);
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&name)).count()
}

#[cfg(target_os = "linux")]
#[track_caller]
fn expect_no_processes(folder: &Path) {
    let begun = Instant::now();
    while processes(folder) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(10), "processes are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a batch that goes on with its journal.
fn resume(folder: &TempDir) -> Child {
    let arguments = ["verify-all", "m.ron", "--journal", "j.jsonl", "--resume", "--format", "json", "--jobs", "2"];
    command(folder, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

#[cfg(target_os = "linux")]
#[test]
fn whenever_it_is_killed_it_goes_on() {
    let undisturbed = {
        let folder = manifest(RUNS);
        timeless(&stdout(&folder, &["verify-all", "m.ron", "--format", "json"], 1))
    };
    let mut moments = Random::new(7);
    for round in 0..4 {
        let folder = manifest(RUNS);
        for _ in 0..4 {
            let mut batch = resume(&folder);
            std::thread::sleep(Duration::from_millis(moments.below(1_200)));
            batch.kill().expect("it is there or has ended");
            batch.wait().expect("it ends");
        }
        let done = fs::read_to_string(folder.path().join("j.jsonl")).map_or(0, |text| text.lines().count());
        let output = resume(&folder).wait_with_output().expect("it ends");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "round {round} after {done} lines: {message}");
        let report = String::from_utf8(output.stdout).expect("the output is text");
        assert_eq!(timeless(&report), undisturbed, "round {round} after {done} lines");
    }
}

/// A batch that comes to no end by itself.
const ENDLESS: &str = r#"
    (firmware: "SAMPLES/branch/branch.Og.elf", inherent: true),
    (firmware: "COPY", strategy: "naive"), (firmware: "COPY", strategy: "naive", inherent: true),
"#;

/// A folder with a manifest of an endless batch whose image is in the folder.
fn endless() -> TempDir {
    let folder = manifest(ENDLESS);
    let image = root().join("firmware-samples/input-bits-16/input-bits-16.Og.elf");
    let copy = folder.path().join("endless.elf");
    fs::copy(image, &copy).expect("it is copied");
    let path = folder.path().join("m.ron");
    let text = fs::read_to_string(&path).expect("it is there").replace("COPY", &copy.display().to_string());
    fs::write(path, text).expect("it is written");
    folder
}

/// Waits until the journal has so many lines.
#[track_caller]
fn wait_for_lines(folder: &TempDir, lines: usize) {
    let begun = Instant::now();
    let count = || fs::read_to_string(folder.path().join("j.jsonl")).map_or(0, |text| text.lines().count());
    while count() < lines {
        assert!(begun.elapsed() < Duration::from_secs(30), "only {} lines", count());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_run_goes_on_without_its_batch() {
    let folder = endless();
    let mut batch = resume(&folder);
    wait_for_lines(&folder, 1);
    std::thread::sleep(Duration::from_millis(300));
    assert!(processes(folder.path()) > 0, "the runs are there");
    batch.kill().expect("it is there");
    batch.wait().expect("it ends");
    expect_no_processes(folder.path());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_batch_reports_what_is_finished() {
    for signal in ["-INT", "-TERM"] {
        let folder = endless();
        let batch = resume(&folder);
        wait_for_lines(&folder, 1);
        let kill = Command::new("kill").args([signal, &batch.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let output = batch.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
        let report = timeless(&String::from_utf8(output.stdout).expect("the output is text"));
        assert_eq!(report["runs"].as_array().map(Vec::len), Some(1));
        assert_eq!(report["runs"][0]["report"]["results"][0]["verdict"], "holds");
        expect_no_processes(folder.path());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn two_processes_do_not_write_one_journal() {
    let folder = endless();
    let mut batch = resume(&folder);
    wait_for_lines(&folder, 1);
    let message = error(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl", "--resume"]);
    batch.kill().expect("it is there");
    batch.wait().expect("it ends");
    assert!(message.contains("j.jsonl: is in use by another process"), "{message}");
}

#[test]
fn a_journal_is_not_begun_twice_and_knows_what_changed() {
    let folder = manifest(r#"(firmware: "SAMPLES/branch/branch.Og.elf", property: ["EF (PORTD == 1)"])"#);
    stdout(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl"], 0);
    let message = error(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl"]);
    assert!(message.contains("j.jsonl: is there already") && message.contains("--resume"), "{message}");
    assert_eq!(run(&folder, &["verify-all", "m.ron", "--resume"]).status.code(), Some(2));
    let lines = || fs::read_to_string(folder.path().join("j.jsonl")).expect("it is there").lines().count();
    stdout(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl", "--resume"], 0);
    assert_eq!(lines(), 1, "nothing is verified again");
    let path = folder.path().join("m.ron");
    let text = fs::read_to_string(&path).expect("it is there").replace("PORTD == 1", "PORTD == 2");
    fs::write(path, text).expect("it is written");
    stdout(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl", "--resume"], 0);
    assert_eq!(lines(), 2, "what changed is verified again");
}

#[test]
fn a_wrong_manifest_is_an_error() {
    let folder = tempdir().expect("there is a directory for temporary files");
    let check = |content: &str, expected: &str| {
        fs::write(folder.path().join("m.ron"), content).expect("it is written");
        let message = error(&folder, &["verify-all", "m.ron"]);
        assert!(message.contains(expected) && message.contains("hint:"), "{message}");
    };
    check("", "cannot be used as a manifest: expected `(`\n --> m.ron:1:1\n");
    let marked = "1 | (runs: [(firmware: \"a\", propertys: \"b\")])\n  |                         ^^^^^^^^^\n";
    check("(runs: [(firmware: \"a\", propertys: \"b\")])", marked);
    check("(runs: [(firmware: \"a\", timeout: \"soon\")])", "a: 'soon' is no");
    check("(memory: \"1M\", runs: [(firmware: \"a\")])", "the limit must be at least 32M");
    assert!(error(&folder, &["verify-all", "none.ron"]).contains("none.ron: cannot be read"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_takes_no_more_is_a_clear_error() {
    let folder =
        manifest(r#"(firmware: "SAMPLES/branch/branch.Og.elf", inherent: true, property: ["EF (PORTD == 1)"])"#);
    // Files of 1 KiB at most, and an error instead of a signal beyond that.
    let limited = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let arguments = ["verify-all", "m.ron", "--journal", "j.jsonl"];
    let mut command = Command::new("bash");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_avr-tvar")]).args(arguments).current_dir(folder.path());
    let output = command.output().expect("bash starts");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("j.jsonl: cannot be written: File too large"), "{message}");
    stdout(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl", "--resume"], 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_journal_that_cannot_be_written_is_a_clear_error() {
    let folder = manifest(r#"(firmware: "SAMPLES/branch/branch.Og.elf", inherent: true)"#);
    std::os::unix::fs::symlink("/dev/full", folder.path().join("j.jsonl")).expect("it is linked");
    let message = error(&folder, &["verify-all", "m.ron", "--journal", "j.jsonl", "--resume"]);
    assert!(message.contains("j.jsonl: cannot be written: it is no regular file"), "{message}");
    let message = error(&folder, &["verify-all", "m.ron", "--journal", "no/such/folder/j.jsonl"]);
    assert!(message.contains("no/such/folder/j.jsonl: cannot be written"), "{message}");
}
