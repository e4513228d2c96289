//! Names in files are hostile: symbols, source files, variables, properties and paths with control characters, markup and
//! commands reach no terminal, page or log as what they want to be.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

/// Names of the sample, each with one of the same length.
const NAMES: [(&str, &str); 4] = [
    // A source file.
    ("function-table.h", "\x1b[2J<q>&\r::err\"x"),
    // The code before main, which every run goes through.
    ("__ctors_end", "\x1b]0;<q>\n::a"),
    ("backward", "```\n# x|"),
    // A variable.
    ("actions", "\u{202e}<q>\x07"),
];
const IMAGE: &str = "f\x1b[31m<q>&\n::error::x.elf";
const PROPERTIES: &str = r##"(define: {"idle": "PORTD == 0"}, properties: [
    Inherent(),
    Stack(name: "\u{1b}[2J<q>]]>&amp;|`**x**`\n::error::forged\r##[error]\u{202e}", max_bytes: 3),
    Reachable(name: "<q>\u{0}\u{fffe}\u{9b}2J", check: "PORTD == 3"),
    Recovery(to: "idle"),
])"##;

/// A folder with the image, a property file and a manifest.
fn folder() -> TempDir {
    let folder = tempdir().expect("there is a directory for temporary files");
    let sample = "../../firmware-samples/function-table/function-table.Os.elf";
    let mut image = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(sample)).expect("the sample is there");
    for (name, hostile) in NAMES {
        assert_eq!(name.len(), hostile.len(), "{hostile:?}");
        let places: Vec<usize> = image
            .windows(name.len())
            .enumerate()
            .filter(|(_, part)| *part == name.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty(), "{name}");
        places.iter().for_each(|at| image[*at..at + name.len()].copy_from_slice(hostile.as_bytes()));
    }
    fs::write(folder.path().join(IMAGE), image).expect("it is written");
    fs::write(folder.path().join("p.ron"), PROPERTIES).expect("it is written");
    let manifest = format!("(runs: [(name: {IMAGE:?}, firmware: {IMAGE:?}, properties: \"p.ron\")])");
    fs::write(folder.path().join("m.ron"), manifest).expect("it is written");
    folder
}

fn run(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(folder.path()).output().expect("the program starts")
}

/// Fails if a text does to a terminal, a log of a build server or a reader what a name wanted.
#[track_caller]
fn expect_harmless(what: &[&str], text: &str) {
    let is_harmful = |c: char| c.is_control() && c != '\n' && c != '\t' || "\u{202e}\u{fffe}".contains(c);
    if let Some(line) = text.lines().find(|line| line.contains(is_harmful)) {
        panic!("{what:?}: {line:?}");
    }
    let forged = ["::a", "::error::x", "::error::forged", "# x", "##["];
    let line = text.lines().find(|line| forged.iter().any(|start| line.trim_start().starts_with(start)));
    assert_eq!(line, None, "{what:?}");
}

/// Both outputs of a command, which must end with this code and be harmless.
#[track_caller]
fn harmless(folder: &TempDir, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the output is text");
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    expect_harmless(arguments, &stdout);
    expect_harmless(arguments, &stderr);
    stdout + &stderr
}

#[test]
fn commands_print_nothing_harmful() {
    let folder = folder();
    let certificate = &["--certificate", "c.cert"][..];
    let text = harmless(&folder, &[&["verify", IMAGE, "p.ron"], certificate].concat(), 1);
    assert!(text.contains(r"\u{1b}]0;<q>\n::a"), "the name is shown: {text}");
    harmless(&folder, &["check", "c.cert", IMAGE], 0);
    let stack = harmless(&folder, &["stack", IMAGE], 0);
    assert!(stack.contains(r"\u{1b}[2J<q>&\r::err"), "the source file is shown: {stack}");
    harmless(&folder, &["disasm", IMAGE], 0);
    harmless(&folder, &["explain", IMAGE, "p.ron"], 1);
    harmless(&folder, &["graph", IMAGE, "p.ron"], 0);
    harmless(&folder, &["init", IMAGE], 0);
    harmless(&folder, &["props", "p.ron", IMAGE], 0);
    harmless(&folder, &["run", IMAGE, "--steps", "40"], 0);
    harmless(&folder, &["run", IMAGE, "--steps", "40", "--trace"], 0);
    harmless(&folder, &["verify-all", "m.ron", "--journal", "j"], 1);
    harmless(&folder, &["merge", "m.ron", "j"], 1);
}

#[test]
fn errors_print_nothing_harmful() {
    let folder = folder();
    for arguments in [
        &["verify", IMAGE, "--property", "AG (actionz == 0)"][..],
        &["verify", IMAGE, "--property", "AG (\x1b[2J == 0)"],
        &["verify", "\x1b[2J\n::error::x"],
        &["verify", IMAGE, "\x1b[2J\n::error::x"],
        &["verify", IMAGE, "--report", "json=\x1b[2J\n::error::x/y"],
        &["merge", "m.ron", "\x1b[2J\n::error::x"],
    ] {
        harmless(&folder, arguments, 2);
    }
}

/// A page of Markdown without its blocks of code, in which markup means nothing. The fence that opens one closes it.
fn outside_of_blocks(page: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut outside = String::new();
    for line in page.lines() {
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = line.strip_suffix("text"),
            None => outside.push_str(line),
        }
    }
    assert_eq!(fence, None, "every block ends");
    outside
}

#[test]
fn reports_are_what_they_are() {
    let folder = folder();
    let formats = ["text", "json", "sarif", "junit", "github", "markdown", "html"];
    let reports: Vec<String> = formats.iter().map(|format| format!("{format}={format}")).collect();
    let reports = reports.iter().flat_map(|report| ["--report", report]);
    let arguments: Vec<&str> = ["verify", IMAGE, "p.ron"].into_iter().chain(reports).collect();
    harmless(&folder, &arguments, 1);
    let read = |format: &str| fs::read_to_string(folder.path().join(format)).expect("it is written");
    formats.iter().for_each(|format| expect_harmless(&[format], &read(format)));
    for format in ["json", "sarif"] {
        serde_json::from_str::<Value>(&read(format)).expect("it is JSON");
    }
    for text in [read("junit"), read("html"), outside_of_blocks(&read("markdown"))] {
        assert!(!text.contains("<q>"), "{text}");
    }
    let is_command = |line: &str| ["::error ", "::warning ", "::notice "].iter().any(|start| line.starts_with(start));
    assert!(read("github").lines().all(is_command), "{}", read("github"));
}

#[test]
fn reports_of_systems_are_what_they_are() {
    let folder = tempdir().expect("there is a directory for temporary files");
    let sample = "../../firmware-samples/philosopher/philosopher.Os.elf";
    let image = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(sample)).expect("the sample is there");
    let mut hostile = image.clone();
    for at in (0..image.len() - 6).filter(|at| &image[*at..*at + 6] == b"\0main\0") {
        hostile[at..at + 6].copy_from_slice(b"\0\x1b<q>\0");
    }
    assert_ne!(hostile, image);
    fs::write(folder.path().join(IMAGE), hostile).expect("it is written");
    let system = "s\x1b[31m<q>&\n::error::x.ron";
    // A property is named by its text, and that can name a function.
    let properties = r##"Deadlock(), Never("a.pc in \"\u{1b}<q>\""), Always("a.PORTB.0 == 0")"##;
    let node = format!("(firmware: {IMAGE:?}, device: \"atmega328p-gpio\")");
    let content = format!("(nodes: {{\"a\": {node}}}, wires: [], properties: [{properties}])");
    fs::write(folder.path().join(system), content).expect("it is written");
    let formats = ["text", "json", "sarif", "junit", "github", "markdown", "html"];
    let reports: Vec<String> = formats.iter().map(|format| format!("{format}={format}")).collect();
    let reports = reports.iter().flat_map(|report| ["--report", report]);
    let arguments: Vec<&str> = ["verify-system", system].into_iter().chain(reports).collect();
    let output = harmless(&folder, &arguments, 1);
    assert!(output.contains(r"s\u{1b}[31m<q>&\n::error::x.ron"), "the name is shown: {output}");
    let read = |format: &str| fs::read_to_string(folder.path().join(format)).expect("it is written");
    formats.iter().for_each(|format| expect_harmless(&[format], &read(format)));
    for format in ["json", "sarif"] {
        serde_json::from_str::<Value>(&read(format)).expect("it is JSON");
    }
    for text in [read("junit"), read("html"), outside_of_blocks(&read("markdown"))] {
        assert!(!text.contains("<q>"), "{text}");
    }
    let is_command = |line: &str| ["::error ", "::warning ", "::notice "].iter().any(|start| line.starts_with(start));
    assert!(read("github").lines().all(is_command), "{}", read("github"));
}

#[test]
fn evidence_stays_in_its_folder_and_its_comments() {
    let folder = folder();
    harmless(&folder, &["verify", IMAGE, "p.ron", "--evidence", "runs"], 1);
    let mut written: Vec<PathBuf> = fs::read_dir(folder.path().join("runs"))
        .expect("it is there")
        .map(|entry| entry.expect("it is read").path())
        .collect();
    written.sort();
    let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    assert_eq!(names, ["2j-q-amp-x-error-forged-error", "q-2j"]);
    for path in written {
        for file in ["stimulus.ron", "trace.json", "replay.c", "trace.vcd"] {
            let path = path.join(file);
            expect_harmless(&[file], &fs::read_to_string(path).expect("it is written"));
        }
    }
}
