//! Journals of batches: what counts as the same verification, and which journals are refused.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

/// Waits until the EEPROM is ready, reads its byte 1 into PORTB and stays at 0x12: `1: sbic EECR,EEPE; rjmp 1b;
/// ldi r16,1; out EEARL,r16; ldi r16,0; out EEARH,r16; sbi EECR,EERE; in r16,EEDR; out PORTB,r16; rjmp .-2`.
const READS_EEPROM: &str = ":10000000F999FECF01E001BD00E002BDF89A00B50C\n:0400100005B9FFCF60\n:00000001FF\n";
/// The same text in each folder.
const PROPERTIES: &str =
    r#"(device: "atmega328p", eeprom: "e.bin", properties: [Formula(check: "AG (pc == 0x12 -> PORTB == 0x42)")])"#;
/// Two runs: the first holds, the second is violated.
const MANIFEST: &str = r#"(timeout: "60s", runs: [
    (name: "good", firmware: "a/f.hex", properties: "a/p.ron"),
    (name: "bad", firmware: "b/f.hex", properties: "b/p.ron"),
])"#;

/// A folder with a manifest and two runs that differ in nothing but the content of their EEPROM.
fn folder() -> TempDir {
    let folder = tempdir().expect("there is a directory for temporary files");
    let write = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("it is written");
    for (name, eeprom) in [("a", b"AB"), ("b", b"AC")] {
        fs::create_dir(folder.path().join(name)).expect("it is made");
        write(&format!("{name}/f.hex"), READS_EEPROM.as_bytes());
        write(&format!("{name}/p.ron"), PROPERTIES.as_bytes());
        write(&format!("{name}/e.bin"), eeprom);
    }
    write("m.ron", MANIFEST.as_bytes());
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(folder.path()).output().expect("the program starts")
}

/// Runs a command that must end with this code: what it prints and what it tells.
#[track_caller]
fn check(folder: &TempDir, arguments: &[&str], code: i32) -> (String, String) {
    let output = run(folder, arguments);
    let errors = String::from_utf8(output.stderr).expect("the output is text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    (String::from_utf8(output.stdout).expect("the output is text"), errors)
}

/// Verifies with a journal that is there already or not.
#[track_caller]
fn resume(folder: &TempDir, journal: &str, code: i32) -> (String, String) {
    check(folder, &["verify-all", "m.ron", "--journal", journal, "--resume"], code)
}

/// The lines, in the order of the manifest: runs end in any order.
fn lines(folder: &TempDir, journal: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path().join(journal)).expect("it is there");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect();
    lines.sort_by_key(|line| line["subject"]["position"].as_u64());
    lines
}

fn write_lines(folder: &TempDir, journal: &str, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join(journal), text).expect("it is written");
}

#[test]
fn equal_texts_in_different_folders_are_different_runs() {
    let folder = folder();
    let shard = |part: &str, journal: &str, code| {
        check(&folder, &["verify-all", "m.ron", "--shard", part, "--journal", journal], code);
    };
    shard("1/2", "1.jsonl", 0);
    let (_, errors) = check(&folder, &["merge", "m.ron", "1.jsonl"], 2);
    assert!(errors.contains("no journal has what came of bad"), "{errors}");
    resume(&folder, "1.jsonl", 1);
    shard("2/2", "2.jsonl", 1);
    let (text, _) = check(&folder, &["merge", "m.ron", "1.jsonl", "2.jsonl"], 1);
    assert!(text.contains("good\n  holds ") && text.contains("bad\n  violated "), "{text}");
}

#[test]
fn the_same_run_twice_is_two_runs() {
    let folder = folder();
    let twice = MANIFEST.replace("b/f.hex", "a/f.hex").replace("b/p.ron", "a/p.ron");
    fs::write(folder.path().join("m.ron"), twice).expect("it is written");
    check(&folder, &["verify-all", "m.ron", "--shard", "1/2", "--journal", "1.jsonl"], 0);
    let (_, errors) = check(&folder, &["merge", "m.ron", "1.jsonl"], 2);
    assert!(errors.contains("no journal has what came of bad"), "{errors}");
}

#[test]
fn every_file_that_is_read_counts() {
    let folder = folder();
    resume(&folder, "j.jsonl", 1);
    assert_eq!(lines(&folder, "j.jsonl").len(), 2);
    let roles = |line: &Value| {
        let inputs = line["subject"]["inputs"].as_array().expect("a list").iter();
        inputs.map(|input| input["role"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(&lines(&folder, "j.jsonl")[0]), ["firmware", "properties", "eeprom"]);
    let comment = READS_EEPROM.replace(":0000", "\n:0000");
    for (file, content) in [("a/e.bin", "AB\0"), ("a/p.ron", &format!("{PROPERTIES}\n")), ("a/f.hex", &comment)] {
        let before = lines(&folder, "j.jsonl").len();
        fs::write(folder.path().join(file), content).expect("it is written");
        let (_, errors) = check(&folder, &["merge", "m.ron", "j.jsonl"], 2);
        assert!(errors.contains("no journal has what came of good\n"), "{file}: {errors}");
        resume(&folder, "j.jsonl", 1);
        assert_eq!(lines(&folder, "j.jsonl").len(), before + 1, "{file}");
        check(&folder, &["merge", "m.ron", "j.jsonl"], 1);
    }
}

#[test]
fn what_crashed_is_tried_again() {
    let folder = folder();
    resume(&folder, "j.jsonl", 1);
    let mut all = lines(&folder, "j.jsonl");
    for line in &mut all {
        line["failure"] = json!({ "code": 4, "message": "it ended with signal 9" });
        line["of"] = 0.into();
        line["code"] = 4.into();
        let fields = line.as_object_mut().expect("an object");
        fields.remove("report");
        fields.remove("result");
    }
    write_lines(&folder, "j.jsonl", &all);
    check(&folder, &["merge", "m.ron", "j.jsonl"], 4);
    resume(&folder, "j.jsonl", 1);
    assert_eq!(lines(&folder, "j.jsonl").len(), 4);
    check(&folder, &["merge", "m.ron", "j.jsonl"], 1);
}

#[test]
fn journals_of_other_versions_are_not_used() {
    let folder = folder();
    resume(&folder, "j.jsonl", 1);
    let ours = lines(&folder, "j.jsonl");
    let schema = "avr-tvar/journal/1";
    for (field, value, name) in
        [("/subject/tool", "0.0.1+00", "avr-tvar 0.0.1+00"), ("/schema", schema, "the format avr-tvar/journal/1")]
    {
        let mut theirs = ours.clone();
        theirs.iter_mut().for_each(|line| *line.pointer_mut(field).expect("it is there") = value.into());
        write_lines(&folder, "j.jsonl", &theirs);
        let (_, errors) = check(&folder, &["merge", "m.ron", "j.jsonl"], 2);
        assert!(errors.contains(&format!("error: j.jsonl: is of {name}\nhint: ")), "{errors}");
        let (_, errors) = resume(&folder, "j.jsonl", 1);
        assert_eq!(errors, format!("note: j.jsonl is of {name}: everything is verified anew\n"));
        assert_eq!(lines(&folder, "j.jsonl").len(), 2, "the others are gone");
        check(&folder, &["merge", "m.ron", "j.jsonl"], 1);
        write_lines(&folder, "mixed.jsonl", &[ours[0].clone(), theirs[1].clone()]);
        for command in
            [&["merge", "m.ron", "mixed.jsonl"][..], &["verify-all", "m.ron", "--journal", "mixed.jsonl", "--resume"]]
        {
            let (_, errors) = check(&folder, command, 2);
            assert!(errors.contains("mixed.jsonl: line 2 is no entry of a journal"), "{errors}");
        }
    }
}

#[test]
fn journals_that_contradict_each_other_are_refused() {
    let folder = folder();
    resume(&folder, "j.jsonl", 1);
    let mut other = lines(&folder, "j.jsonl");
    other[1]["result"]["verdict"] = "holds".into();
    other[1]["code"] = 0.into();
    write_lines(&folder, "other.jsonl", &other);
    let (_, errors) = check(&folder, &["merge", "m.ron", "j.jsonl", "other.jsonl"], 2);
    assert!(errors.contains("other.jsonl: has other verdicts of bad than were read before"), "{errors}");
    check(&folder, &["merge", "m.ron", "j.jsonl", "j.jsonl"], 1);
    fs::write(folder.path().join("n.ron"), "(runs: [(firmware: \"a/f.hex\")])").expect("it is written");
    check(&folder, &["verify-all", "n.ron", "--journal", "n.jsonl"], 0);
    let (_, errors) = check(&folder, &["merge", "m.ron", "j.jsonl", "n.jsonl"], 2);
    assert!(errors.contains("n.jsonl: has no run of this manifest"), "{errors}");
}

#[test]
fn a_line_that_was_altered_is_refused() {
    let folder = folder();
    resume(&folder, "j.jsonl", 1);
    let ours = lines(&folder, "j.jsonl");
    // The verdict of the first run, given to the second.
    let mut forged = ours[0].clone();
    forged["subject"]["position"] = 1.into();
    write_lines(&folder, "j.jsonl", &[ours[0].clone(), forged]);
    let (_, errors) = check(&folder, &["merge", "m.ron", "j.jsonl"], 2);
    assert!(errors.contains("line 2 is no entry of a journal: its key is not that of what was verified"), "{errors}");
}

#[test]
fn reports_list_the_files_that_were_read() {
    let folder = folder();
    let (text, _) = check(&folder, &["verify", "a/f.hex", "a/p.ron", "--recheck", "--format", "json"], 0);
    let report: Value = serde_json::from_str(&text).expect("it is JSON");
    let inputs = report["inputs"].as_array().expect("a list");
    let paths: Vec<&str> = inputs.iter().filter_map(|input| input["path"].as_str()).collect();
    assert_eq!(paths, ["a/f.hex", "a/p.ron", &Path::new("a").join("e.bin").display().to_string()]);
    assert_eq!(inputs[0]["sha256"], report["firmware"]["sha256"]);
    assert_eq!(inputs[2]["bytes"], 2);
    assert!(report["tool"].as_str().is_some_and(|tool| tool.starts_with(concat!(env!("CARGO_PKG_VERSION"), "+"))));
}
