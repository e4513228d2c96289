//! The program as its users run it: exit codes, what goes where, errors, and limits.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use expect_test::{Expect, expect};
use serde_json::Value;

const FIXED: &str = "firmware-samples/calibration-fixed/calibration-fixed.Og.elf";
const ORIGINAL: &str = "firmware-samples/calibration-original/calibration-original.Og.elf";
const BRANCH: &str = "firmware-samples/branch/branch.Og.elf";
/// More states than any test's limit allows, where every input is split.
const ENDLESS: [&str; 3] = ["firmware-samples/input-bits-16/input-bits-16.Og.elf", "--strategy", "naive"];

/// The arguments for a verification that comes to no end by itself.
fn endless<'a>(limits: &[&'a str]) -> Vec<&'a str> {
    ["verify"].iter().chain(&ENDLESS).chain(&["--format", "json"]).chain(limits).copied().collect()
}

/// The program in the root of the repository.
fn avr_tvar(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.env_remove("CLICOLOR_FORCE").env("RUST_BACKTRACE", "0");
    command
}

fn output(arguments: &[&str]) -> Output {
    avr_tvar(arguments).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

#[track_caller]
fn check_code(arguments: &[&str], code: i32) {
    let output = output(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{}{}", stdout(&output), stderr(&output));
}

#[test]
fn usage_errors_have_the_colours_that_are_asked_for() {
    let check = |arguments: &[&str], is_coloured: bool| {
        let output = output(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("--jbos"), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains('\x1b'), is_coloured, "{arguments:?}: {:?}", stderr(&output));
    };
    check(&["verify", BRANCH, "--jbos", "2", "--color", "always"], true);
    check(&["--color=always", "verify", BRANCH, "--jbos", "2"], true);
    check(&["verify", BRANCH, "--jbos", "2", "--color", "never"], false);
    check(&["verify", BRANCH, "--jbos", "2"], false);
    // The last one counts, and nothing behind `--` is an option.
    check(&["verify", "--color=always", "--jbos", "2", "--color=never"], false);
    check(&["verify", "--jbos", "--", "--color=always"], false);
    let forced = avr_tvar(&["verify", "--jbos", "--color", "never"]).env("CLICOLOR_FORCE", "1").output();
    assert!(!stderr(&forced.expect("the program starts")).contains('\x1b'));
}

#[test]
fn exit_codes_tell_the_outcome() {
    let gpio = ["--device", "atmega328p-gpio"];
    check_code(&["verify", FIXED, "--property", "AG EF (PORTD == 0)", "--inherent"], 0);
    check_code(&[&["verify", FIXED], &gpio[..]].concat(), 0);
    check_code(&["verify", ORIGINAL, "--property", "AG EF (PORTD == 0)"], 1);
    check_code(&["verify", "no-such-file.elf"], 2);
    check_code(&["verify"], 2);
    check_code(&["verify", FIXED, "--strategy", "best"], 2);
    check_code(&["verify", FIXED, "--jobs", "0"], 2);
    check_code(&["verify", FIXED, "--timeout", "soon"], 2);
    check_code(&["verify", FIXED, "--timeout", "0"], 3);
    check_code(&["verify", FIXED, "properties/calibration-fixed.ron", "--jobs", "1"], 1);
    check_code(&["disasm", FIXED], 0);
    check_code(&["--version"], 0);
    check_code(&["verify", "--help"], 0);
    check_code(&["prove"], 2);
}

/// Expects the error output and nothing on the standard output, with exit code 2.
#[track_caller]
fn check_error(arguments: &[&str], expected: Expect) {
    let output = output(arguments);
    expected.assert_eq(&stderr(&output));
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    check_error(
        &["verify", "no-such-file.elf"],
        expect![[r#"
        error: no-such-file.elf: cannot be read: No such file or directory (os error 2)
        hint: check the path and its permissions
    "#]],
    );
    check_error(
        &["verify", FIXED, "no-such-file.ron"],
        expect![[r#"
        error: no-such-file.ron: cannot be read: No such file or directory (os error 2)
        hint: check the path and its permissions
    "#]],
    );
    check_error(
        &["verify", FIXED, ORIGINAL],
        expect![[r#"
        error: firmware-samples/calibration-original/calibration-original.Og.elf: is not a property file: it is not text
        hint: verify one firmware at a time; a property file is RON, as in `properties/`
    "#]],
    );
    check_error(
        &["verify", "README.md"],
        expect![[r#"
        error: README.md: is neither ELF nor Intel HEX: it starts with the bytes 23 20 61 76
        hint: for a raw binary: `avr-objcopy -I binary -O ihex IN OUT.hex`
    "#]],
    );
    check_error(
        &["verify", FIXED, "--device", "atmega382p"],
        expect![[r#"
        error: --device: unknown device 'atmega382p'; did you mean atmega328p or atmega88p or atmega168p?
        hint: the devices are atmega328p, atmega328p-gpio, atmega168p, atmega88p, atmega1284p, atmega2560, atmega32u4, attiny85, attiny13, attiny84
    "#]],
    );
    check_error(
        &["verify", FIXED, "properties/calibration-fixed.ron", "--device", "attiny85"],
        expect![[r#"
        error: properties/calibration-fixed.ron is about atmega328p-gpio, but --device names attiny85
        hint: leave out --device, or use a property file for that device
    "#]],
    );
    check_error(
        &["verify", FIXED, "--device", "attiny85"],
        expect![[r#"
        error: firmware-samples/calibration-fixed/calibration-fixed.Og.elf: was built for atmega328p, but attiny85 was asked for
        hint: use `--device atmega328p`, or build for the other device
    "#]],
    );
    check_error(
        &["verify", FIXED, "--start", "0x7e00"],
        expect![[r#"
        error: firmware-samples/calibration-fixed/calibration-fixed.Og.elf: no code at the reset address 0x7e00: the first byte of the image is at 0x0
        hint: for a boot loader name its start: `--start 0x0` or `start: 0x0` in the property file
    "#]],
    );
    check_error(
        &["verify", FIXED, "--property", "AG (PORTX == 0)"],
        expect![[r#"
        error: nothing is named 'PORTX'; did you mean PORTB or PORTC or PORTD?
         --> --property:1:5
          |
        1 | AG (PORTX == 0)
          |     ^^^^^
    "#]],
    );
    check_error(
        &["verify", FIXED, "--property", "AG (PORTB = 0)"],
        expect![[r#"
        error: `=` has no meaning in a formula; write `==` to compare
         --> --property:1:11
          |
        1 | AG (PORTB = 0)
          |           ^
    "#]],
    );
    check_error(
        &["verify", FIXED, "--device", "atmega1281"],
        expect![[r#"
        error: --device: the ATmega1281 is not supported yet
        hint: the devices are atmega328p, atmega328p-gpio, atmega168p, atmega88p, atmega1284p, atmega2560, atmega32u4, attiny85, attiny13, attiny84
    "#]],
    );
    check_error(
        &["verify", FIXED, "--memory", "1M"],
        expect![[r#"
        error: invalid value '1M' for '--memory <SIZE>': the limit must be at least 32M, which the program needs for itself

        For more information, try '--help'.
    "#]],
    );
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object")
}

/// The values of a field of all results.
fn column<'a>(report: &'a Value, field: &str) -> Vec<&'a str> {
    let results = report["results"].as_array().expect("results are a list");
    results.iter().map(|result| result[field].as_str().expect("the field is a text")).collect()
}

#[test]
fn json_has_the_results_in_order_and_nothing_else_is_on_stdout() {
    let output = output(&[
        "verify",
        BRANCH,
        "--format",
        "json",
        "--inherent",
        "--property",
        "Stack(max_bytes: 1)",
        "--property",
        "EF (PORTD == 1)",
        "--device",
        "atmega328p-gpio",
    ]);
    let report = json(&output);
    assert_eq!(stderr(&output), "");
    assert_eq!(column(&report, "kind"), ["Inherent", "Stack", "Formula"]);
    assert_eq!(column(&report, "name"), ["Inherent()", "Stack(max_bytes: 1)", "EF (PORTD == 1)"]);
    assert_eq!(column(&report, "verdict"), ["holds", "violated", "holds"]);
    assert_eq!(report["firmware"]["path"], BRANCH);
    assert_eq!(report["firmware"]["device"], "atmega328p-gpio");
    assert_eq!(report["stack"], serde_json::json!({ "lower": 2, "upper": 2, "exact": 2 }));
    assert_eq!(report["summary"], serde_json::json!({ "holds": 2, "violated": 1, "unknown": 0 }));
    assert!(report["peak_memory_bytes"].as_u64() > Some(1 << 20), "{report}");
}

#[test]
fn without_a_property_the_inherent_one_is_checked() {
    let report = json(&output(&["verify", BRANCH, "--format", "json"]));
    assert_eq!(column(&report, "kind"), ["Inherent"]);
    assert_eq!(report["stack"]["exact"], 2);
}

#[test]
fn a_file_that_has_the_inherent_property_keeps_its_order() {
    let arguments = ["verify", BRANCH, "properties/branch.ron", "--inherent", "--format", "json"];
    let report = json(&output(&arguments));
    assert_eq!(column(&report, "kind").iter().filter(|kind| **kind == "Inherent").count(), 1);
}

#[test]
fn notes_go_to_the_error_output() {
    let output = output(&["verify", "firmware-samples/branch/branch.Og.hex"]);
    let note = "note: no device is named, so atmega328p is assumed; --device names another\n";
    assert_eq!(stderr(&output), note);
    assert!(stdout(&output).contains("\nholds     Inherent()"), "{}", stdout(&output));
    assert!(!stdout(&output).contains('\x1b'));
}

#[test]
fn a_file_is_loaded_for_the_device_that_it_names() {
    let verified = output(&["verify", "tests/regressions/images/tiny-part.elf", "--format", "json"]);
    assert_eq!((verified.status.code(), stderr(&verified)), (Some(0), String::new()));
    assert_eq!(json(&verified)["firmware"]["device"], "attiny85");
    check_code(&["verify", "tests/regressions/images/tiny-part.elf", "--device", "atmega328p"], 2);
}

#[test]
fn devices_are_listed_by_name() {
    let listed = output(&["--list-devices"]);
    assert_eq!((listed.status.code(), stderr(&listed)), (Some(0), String::new()));
    assert_eq!(
        stdout(&listed),
        "atmega328p\natmega328p-gpio\natmega168p\natmega88p\natmega1284p\natmega2560\natmega32u4\nattiny85\nattiny13\nattiny84\n"
    );
    check_code(&["--list-devices", "verify", FIXED], 2);
    let image = "firmware-samples/level-meter-88p/level-meter-88p.Os.elf";
    let verified = output(&["verify", image, "--format", "json"]);
    assert_eq!(json(&verified)["firmware"]["device"], "atmega88p");
    check_code(&["verify", image, "--device", "atmega168p"], 2);
}

#[test]
fn strategies_agree() {
    for strategy in ["default", "naive", "decay"] {
        let report = json(&output(&[
            "verify",
            "firmware-samples/gate-array/gate-array.Og.elf",
            "properties/gate-array.ron",
            "--strategy",
            strategy,
            "--format",
            "json",
            "--timeout",
            "60s",
        ]));
        assert_eq!(report["summary"], serde_json::json!({ "holds": 7, "violated": 3, "unknown": 0 }), "{strategy}");
    }
}

#[test]
fn the_time_limit_is_kept() {
    let started = Instant::now();
    let output = output(&endless(&["--timeout", "1s"]));
    // A second is the promise; the rest is for machines that do other things as well.
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    assert_eq!(output.status.code(), Some(3));
    let report = json(&output);
    let reason = report["results"][0]["reason"].as_str().expect("there is a reason");
    assert!(reason.starts_with("the time limit of 1 s was reached"), "{reason}");
    assert!(reason.contains("states reached"), "{reason}");
    assert!(!reason.contains("with 1 states reached, 0 of them expanded"), "{reason}");
    assert_eq!(report["stopped_by"], "time");
}

#[test]
fn the_memory_limit_is_kept() {
    let output = output(&endless(&["--memory", "64M", "--timeout", "60s"]));
    assert_eq!(output.status.code(), Some(3));
    let report = json(&output);
    let reason = report["results"][0]["reason"].as_str().expect("there is a reason");
    assert!(reason.starts_with("the memory limit of 64 MiB was reached"), "{reason}");
    assert_eq!(report["stopped_by"], "memory");
    let peak = report["peak_memory_bytes"].as_u64().expect("the peak is a number");
    assert!(peak < (64 << 20) * 6 / 5, "{peak}");
}

#[test]
fn a_closed_output_is_no_panic() {
    let mut child =
        avr_tvar(&["disasm", FIXED]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), stderr(&output).contains("panic")), (Some(0), false), "{}", stderr(&output));
}

/// The report of a command that is interrupted after some seconds.
#[cfg(unix)]
fn interrupted(arguments: &[&str], seconds: u64) -> Value {
    let mut child = avr_tvar(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(seconds));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    let mut text = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut text).expect("output is UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    serde_json::from_str(&text).expect("the standard output is one JSON object")
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_a_report() {
    let report = interrupted(&endless(&["--timeout", "60s"]), 1);
    assert_eq!(column(&report, "verdict"), ["unknown"]);
    assert_eq!(report["stopped_by"], "interrupted");
}

#[test]
fn a_part_that_is_no_device_is_named() {
    let folder = tempfile::tempdir().expect("there is a directory for temporary files");
    let image = folder.path().join("f.elf");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/branch/branch.Og.elf");
    let mut bytes = std::fs::read(sample).expect("a sample");
    // The architecture is in the low seven bits of `e_flags`.
    bytes[0x24] = bytes[0x24] & 0x80 | 35;
    let name = b"atmega328p\0";
    let at = bytes.windows(name.len()).position(|window| window == name);
    std::fs::write(&image, &bytes).expect("it is written");
    let refused = |arguments: &[&str]| {
        let output = output(&[&["verify", image.to_str().expect("it is text")], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&[]).contains("f.elf: the family of the ATmega32U2 is not supported yet"), "{}", refused(&[]));
    let at = at.expect("the sample names its device");
    bytes[at..at + name.len()].copy_from_slice(b"atmega32u2\0");
    std::fs::write(&image, &bytes).expect("it is written");
    for arguments in [&[][..], &["--device", "atmega328p"]] {
        let message = refused(arguments);
        assert!(message.contains("f.elf: the ATmega32U2 is not supported yet\nhint: the devices are"), "{message}");
    }
}
