//! Runs as the text report tells them: variables by their names and types, waits folded, sources as they are written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::{TempDir, tempdir};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn avr_tvar(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(root()).env_remove("CLICOLOR_FORCE").output().expect("the program starts")
}

/// The text report about a property of a sample.
#[track_caller]
fn told(image: &str, property: &str, code: i32) -> String {
    let output = avr_tvar(&["verify", &format!("firmware-samples/{image}"), "--property", property]);
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

#[test]
fn variables_of_several_bytes_have_one_value() {
    // The handler stores the high byte first: in between the counter is what it never was meant to be.
    let torn = told("shared-counter-torn/shared-counter-torn.Og.elf", "EF counter == 0x0100", 0);
    let stored = |line: &str| Some(line.trim().split_once("<counter")?.1.split_once("  counter ")?.1.to_owned());
    let stores: Vec<String> = torn.lines().filter_map(stored).collect();
    assert_eq!(stores, ["0x0000->0x00ff", "0x00ff->0x01ff", "0x01ff->0x0100"], "{torn}");
}

#[test]
fn members_have_their_names() {
    // There is a finding as well.
    let packet = told("packet-overflow/packet-overflow.Og.elf", "EF UBRR0L == 8", 1);
    assert!(packet.contains("  packet.handle 0x0000->0x0048"), "{packet}");
    // A path without the folder that it leaves again.
    assert!(packet.contains("main at common/packet.h:") && !packet.contains("/../"), "{packet}");
}

#[test]
fn reasons_and_findings_have_paths_without_detours() {
    let image = "firmware-samples/stack-smash/stack-smash.Og.elf";
    let output = avr_tvar(&["verify", "-v", image, "--inherent"]);
    let text = String::from_utf8(output.stdout).expect("the output is text");
    assert!(text.contains("map       says nothing:") && !text.contains("/../"), "{text}");
    assert!(text.contains("because return-to-non-call") && text.contains(", common/stack-smash.h:21)\n"), "{text}");
}

#[test]
fn waits_among_the_last_steps_are_folded() {
    let text = told("adc-poll/adc-poll.Os.elf", "EF PORTB.0 == 1", 0);
    let (_, last) = text.split_once("... the last 20 steps:").expect("the run is longer");
    assert!(last.contains(" waits for ADCSRA, "), "{text}");
    // The last iteration is told in full.
    assert!(last.lines().any(|line| line.contains("lds ") && line.contains("<ADCSRA>")), "{text}");
}

/// A copy of the firmware where its sources are not.
fn alone(image: &str) -> (TempDir, String) {
    let folder = tempdir().expect("there is a directory for temporary files");
    // Sources are looked for in the folders above as well.
    let inner = folder.path().join("a/b/c");
    fs::create_dir_all(&inner).expect("there is room");
    let copy = inner.join("firmware.elf");
    fs::copy(root().join("firmware-samples").join(image), &copy).expect("there is room");
    let copy = copy.display().to_string();
    (folder, copy)
}

#[test]
fn lines_of_sources_are_shown_where_their_folder_is_named() {
    let (folder, firmware) = alone("branch/branch.Og.elf");
    let text = |more: &[&str]| {
        let arguments = [&["verify", firmware.as_str(), "--property", "EF PORTD == 1"], more].concat();
        let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
        // The recorded paths lead nowhere from here.
        let output = command.args(arguments).current_dir(folder.path()).output().expect("the program starts");
        String::from_utf8(output.stdout).expect("the output is text")
    };
    let samples = root().join("firmware-samples").display().to_string();
    let (without, with) = (text(&[]), text(&["--source", samples.as_str()]));
    let code = ":  PORTD = 1;";
    assert!(without.contains("main at branch/main.c:10\n") && !without.contains(code), "{without}");
    assert!(with.contains(&format!("main at branch/main.c:10{code}\n")), "{with}");
}
