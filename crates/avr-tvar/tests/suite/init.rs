//! Starting out: `init`, `props`, completions and man pages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::tempdir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(root()).output().expect("the program starts")
}

/// The standard output and the error output of a command that must end with this code.
#[track_caller]
fn outputs(arguments: &[&str], code: i32) -> (String, String) {
    let output = run(arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{stdout}{stderr}");
    (stdout, stderr)
}

/// Writes a property file for a sample, checks it, and verifies it with this outcome; the file.
#[track_caller]
fn check(sample: &str, more: &[&str], code: i32) -> String {
    let directory = tempdir().expect("there is a directory for temporary files");
    let file = directory.path().join("first.ron");
    let (file, firmware) = (file.to_str().expect("a text"), format!("firmware-samples/{sample}"));
    outputs(&[&["init", &firmware, "--output", file], more].concat(), 0);
    outputs(&["props", file], 0);
    outputs(&["props", file, &firmware], 0);
    outputs(&["verify", &firmware, file, "--timeout", "20s"], code);
    fs::read_to_string(file).expect("it was written")
}

#[test]
fn the_first_file_has_what_holds() {
    let text = check("timer-blink/timer-blink.Os.elf", &[], 0);
    for line in ["    device: \"atmega328p\",", "        Inherent(),", "    //   interrupt handlers  TIMER0_OVF"] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("        Stack(max_bytes: ") && text.contains("some run needs them"), "{text}");
    assert!(text.contains("    //   variables           overflows"), "{text}");
    assert!(text.contains("        \"loop_in_main_at_00c0\": \"pc == 0x00c0\",    // timer-blink/main.c:22"), "{text}");
    assert!(text.contains("        Recovery(name: \"can always get back to loop_in_main_at_00c0\""), "{text}");
    assert!(text.contains("DDRB") && text.contains("I/O written"), "{text}");
}

#[test]
fn stacks_of_tasks_are_found_where_the_program_sets_sp() {
    let text = check("kernel-turns/kernel-turns.Os.elf", &[], 0);
    for stack in ["stack_of_lights", "stack_of_keys"] {
        assert!(text.contains(&format!("        (symbol: \"{stack}\"),\n")), "{text}");
        assert!(text.contains(&format!("        Stack(of: \"{stack}\", max_bytes: 20),\n")), "{text}");
    }
    assert!(text.contains("        Stack(max_bytes: 22),\n"), "{text}");
}

#[test]
fn a_stack_that_grows_into_variables_is_not_taken_for_one_of_a_task() {
    for sample in ["deep-recursion/deep-recursion.Os.elf", "hazard-stack-into-data/hazard-stack-into-data.elf"] {
        let text = check(sample, &[], 1);
        assert!(text.contains("violated at present: stack-into-data") && !text.contains("stacks:"), "{text}");
    }
}

#[test]
fn an_image_without_names_will_do() {
    let text = check("branch/branch.Og.hex", &["--device", "atmega328p-gpio"], 0);
    assert!(text.contains("as the command line says\n    device: \"atmega328p-gpio\","), "{text}");
    assert!(text.contains("loop_in_code_at_0092"), "{text}");
}

#[test]
fn what_does_not_hold_is_a_comment() {
    let text = check("hazard-reserved-opcode/hazard-reserved-opcode.elf", &[], 1);
    let why = text.lines().position(|line| line.starts_with("        // violated at present: reserved-opcode"));
    let why = why.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(text.lines().nth(why + 1), Some("        Inherent(),"));
    assert!(text.contains("// Stack(max_bytes: "), "{text}");
}

#[test]
fn what_is_not_decided_in_time_is_a_comment() {
    let (text, _) = outputs(&["init", "firmware-samples/sketch-string/sketch-string.Os.elf", "--timeout", "1s"], 0);
    let why =
        text.lines().position(|line| line.starts_with("        // not decided: the time limit of 1 s was reached"));
    let why = why.unwrap_or_else(|| panic!("{text}"));
    assert_eq!(text.lines().nth(why + 1), Some("        Inherent(),"));
}

#[test]
fn nothing_is_said_twice_and_libraries_are_left_out() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (text, _) = outputs(&["init", "firmware-samples/parser-repaired/parser-repaired.Os.elf", "--timeout", "1s"], 0);
    // The macro of line 24 is in `main` three times.
    assert_eq!(text.matches("parser.h:24\n").count(), 1, "{text}");
    assert!(!text.contains("exit"), "{text}");
    let (text, _) = outputs(&["init", "firmware-samples/lamp/lamp.Os.elf", "--timeout", "0"], 0);
    assert_eq!(text.matches("// not decided: ").count(), 1, "{text}");
    assert!(lines(&text).iter().filter(|line| line.contains("// Recovery(")).count() > 1, "{text}");
}

#[test]
fn a_file_is_not_written_over() {
    let directory = tempdir().expect("there is a directory for temporary files");
    let file = directory.path().join("mine.ron");
    fs::write(&file, "mine").expect("it is written");
    let arguments = ["init", "firmware-samples/branch/branch.Og.elf", "--output", file.to_str().expect("a text")];
    let (_, message) = outputs(&arguments, 2);
    assert!(message.contains("mine.ron: is there already") && message.contains("hint: give another name"), "{message}");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "mine");
}

/// Checks a property file with this content.
fn props(content: &str, firmware: Option<&str>, code: i32) -> (String, String) {
    let directory = tempdir().expect("there is a directory for temporary files");
    let file = directory.path().join("p.ron");
    fs::write(&file, content).expect("it is written");
    let file = file.to_str().expect("a text");
    outputs(&[&["props", file], firmware.as_slice()].concat(), code)
}

#[test]
fn every_wrong_property_is_told() {
    let content = "(properties: [
        Inherent(),
        Always(check: \"nowhere == 1\"),
        Recovery(to: \"PORTB = 0\"),
        Always(name: \"of main\", check: \"pc in main\"),
    ])";
    let (table, messages) = props(content, None, 2);
    assert!(table.ends_with("4 properties, 1 wrong\n"), "{table}");
    assert!(messages.contains("p.ron:4:29") && messages.contains("write `==` to compare"), "{messages}");
    let firmware = "firmware-samples/branch/branch.Og.elf";
    let (table, messages) = props(content, Some(firmware), 2);
    assert!(table.ends_with("4 properties, 2 wrong\n"), "{table}");
    assert!(table.contains("ok          of main\n            AG (pc in main)\n"), "{table}");
    assert!(table.contains("wrong       Always(check: \"nowhere == 1\")\n"), "{table}");
    assert!(messages.contains("nothing is named 'nowhere'") && messages.matches("error:").count() == 2, "{messages}");
}

#[test]
fn what_is_no_property_is_checked_as_well() {
    let firmware = Some("firmware-samples/branch/branch.Og.elf");
    let (_, message) = props("(assume: [\"PINX == 0\"])", firmware, 2);
    assert!(message.contains("nothing is named 'PINX'"), "{message}");
    let (_, message) = props("(device: \"atmega9\")", firmware, 2);
    assert!(message.contains("the ATmega9 is not supported yet"), "{message}");
    let (_, message) = props("(eeprom: \"no-such-file.eep\")", firmware, 2);
    assert!(message.contains("no-such-file.eep"), "{message}");
    let (_, message) = props("(propertys: [])", None, 2);
    assert!(message.contains("propertys"), "{message}");
    assert_eq!(props("()", firmware, 0).0, "0 properties, 0 wrong\n");
}

#[test]
fn all_property_files_of_the_samples_are_right() {
    let files = fs::read_dir(root().join("properties")).expect("the folder is there");
    let files: Vec<PathBuf> = files.map(|entry| entry.expect("it is readable").path()).collect();
    assert!(files.len() > 50);
    // Specifications are no property files.
    let is_specification = |file: &PathBuf| file.to_string_lossy().ends_with(".spec.ron");
    for file in files.into_iter().filter(|file| !is_specification(file)) {
        outputs(&["props", file.to_str().expect("a text")], 0);
    }
}

#[test]
fn shells_learn_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (script, _) = outputs(&["completions", shell], 0);
        assert!(script.contains("verify") && script.contains("inherent"), "{shell}");
    }
    outputs(&["completions", "csh"], 2);
}

#[test]
fn there_is_a_man_page_for_each_command() {
    let directory = tempdir().expect("there is a directory for temporary files");
    let folder = directory.path().join("man1");
    outputs(&["man", "--output", folder.to_str().expect("a text")], 0);
    let page = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(page("avr-tvar.1").contains("avr\\-tvar\\-verify(1)"), "{}", page("avr-tvar.1"));
    let verify = page("avr-tvar-verify.1");
    assert!(verify.contains(".SH OPTIONS") && verify.contains("\\-\\-timeout"), "{verify}");
    for name in ["disasm", "run", "init", "props", "explain", "graph"] {
        assert!(page(&format!("avr-tvar-{name}.1")).starts_with(".ie"), "{name}");
    }
    assert!(outputs(&["man"], 0).0.contains(".TH avr-tvar 1"));
}
