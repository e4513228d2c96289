//! Findings on the command line: reports, exit codes, and what allows them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use avr_testkit::schema;
use serde_json::Value;

/// An image whose handler stores behind an array, and a property that says nothing.
const FAULT: &str = "tests/findings/images/fault-1.elf";
const NOTHING: [&str; 2] = ["--property", "true"];
/// An image in which an interrupt may tear an access.
const TORN: &str = "firmware-samples/shared-counter-torn/shared-counter-torn.Os.elf";

fn verify(firmware: &str, arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.current_dir(root).args(["verify", firmware]).args(NOTHING).args(arguments);
    // The search for invariants of this one takes nearly a minute and says nothing.
    command.args(["--no-invariants"].iter().filter(|_| firmware == FAULT));
    command.output().expect("the program runs")
}

/// The exit code with a property file that allows something.
fn code_with(firmware: &str, file: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("allow.ron");
    fs::write(&path, file).expect("the folder can be written");
    let path = path.display().to_string();
    let output = verify(firmware, &[&[path.as_str()], arguments].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object")
}

#[test]
fn a_store_outside_of_its_object_fails_and_is_reported() {
    let output = verify(FAULT, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new());
    assert_eq!(report["results"][0]["verdict"], "holds");
    let [finding] = report["findings"].as_array().expect("a list").as_slice() else { panic!("{report}") };
    assert_eq!((&finding["name"], &finding["certainty"]), (&"out-of-object".into(), &"replayed".into()));
    assert_eq!(finding["place"]["function"], "__vector_1");
    assert!(finding["place"]["line"].as_str().is_some_and(|line| line.starts_with("sources/idioms.c:")), "{finding}");
    assert_eq!(finding["evidence"]["replayed"], true);
    let last = finding["evidence"]["trace"].as_array().and_then(|trace| trace.last()).expect("there are steps");
    assert_eq!(last["pc"], finding["place"]["pc"], "the run ends with the store");
}

#[test]
fn runs_of_findings_are_written_and_can_be_repeated() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let runs = folder.path().join("runs");
    // A property of the same name does not take the folder.
    let name = r#"Reachable(name: "out-of-object 0x00aa", check: "PORTB == 0")"#;
    let output = verify(FAULT, &["--format", "json", "--property", name, "--evidence", &runs.display().to_string()]);
    let report = json(&output);
    let [finding] = report["findings"].as_array().expect("a list").as_slice() else { panic!("{report}") };
    let pc = finding["place"]["pc"].as_u64().expect("a number");
    assert_eq!(finding["folder"], format!("out-of-object-{pc:#06x}"));
    let of_finding = runs.join(finding["folder"].as_str().expect("a name"));
    for file in ["stimulus.ron", "trace.json", "trace.vcd", "replay.c"] {
        assert!(of_finding.join(file).is_file(), "{file}");
    }
    let trace = fs::read(of_finding.join("trace.json")).expect("it was written");
    let trace: Value = serde_json::from_slice(&trace).expect("it is JSON");
    assert_eq!(schema::problems(&trace, schema::TRACE), Vec::<String>::new());
    assert_eq!(trace["evidence"], finding["evidence"]);
    assert_eq!(trace["property"]["name"], format!("out-of-object at {pc:#06x}"));
    // The same run again ends behind the store.
    let (steps, stimulus) = (finding["evidence"]["steps"].to_string(), of_finding.join("stimulus.ron"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut again = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    again.current_dir(root).args(["run", FAULT, "--steps", &steps, "--stimulus"]).arg(stimulus);
    let again = again.output().expect("the program runs");
    let said = String::from_utf8_lossy(&again.stdout).into_owned();
    let end = finding["evidence"]["end"]["pc"].as_u64().expect("a number");
    assert!(said.contains(&format!("PC {end:#06x}")), "{said}");
}

#[test]
fn every_format_of_reports_has_findings() {
    for format in ["text", "markdown", "html", "github", "sarif", "junit"] {
        let output = verify(FAULT, &["--format", format]);
        // Markdown escapes what has a meaning there.
        let text = String::from_utf8(output.stdout).expect("reports are UTF-8").replace('\\', "");
        assert!(text.contains("out-of-object"), "{format}: {text}");
        assert!(text.contains("a store through a pointer into seen (10 bytes"), "{format}: {text}");
    }
}

#[test]
fn torn_accesses_fail_where_findings_are_denied() {
    assert_eq!(verify(TORN, &[]).status.code(), Some(0));
    assert_eq!(verify(TORN, &["--deny", "findings"]).status.code(), Some(1));
    let allow = r#"(allow: {"torn-access at counter": "shown to students"})"#;
    assert_eq!(code_with(TORN, allow, &["--deny", "findings"]).0, Some(0));
}

#[test]
fn what_is_allowed_is_listed_and_does_not_fail() {
    for place in ["", " at __vector_1", " at seen"] {
        let allow = format!("(allow: {{\"out-of-object{place}\": \"why\"}})");
        assert_eq!(code_with(FAULT, &allow, &["--deny", "findings"]).0, Some(0), "{place}");
    }
    assert_eq!(code_with(FAULT, r#"(allow: {"out-of-object at main": "why"})"#, &[]).0, Some(1));
}

#[test]
fn a_place_that_does_not_exist_is_an_error() {
    for place in ["mian", "idioms.c:9999", "sources/other.c:1"] {
        let (code, said) = code_with(FAULT, &format!("(allow: {{\"out-of-object at {place}\": \"why\"}})"), &[]);
        assert_eq!(code, Some(2), "{place}: {said}");
        assert!(said.contains("allow.ron:1:10\n") && said.contains(place), "{said}");
    }
    let (code, said) = code_with(FAULT, r#"(forbid: ["torn-access"])"#, &[]);
    assert!(code == Some(2) && said.contains("cannot be forbidden"), "{said}");
}

#[test]
fn a_proof_that_stores_stay_in_their_objects_has_no_certificate() {
    const STORES: &str = "tests/findings/images/stores-1.elf";
    let file = r#"(forbid: ["out-of-object"], properties: [Inherent()])"#;
    assert_eq!(code_with(STORES, file, &[]).0, Some(0));
    assert_eq!(code_with("tests/findings/images/stores-3.elf", file, &[]).0, Some(3));
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let certificate = folder.path().join("certificate").display().to_string();
    let (code, said) = code_with(STORES, file, &["--certificate", &certificate]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no certificate can carry the proof that 'out-of-object' never happens"), "{said}");
    // A certificate of the same firmware that proves less does not do.
    let (code, said) = code_with(STORES, "(properties: [Inherent()])", &["--certificate", &certificate]);
    assert_eq!(code, Some(0), "{said}");
    let path = folder.path().join("asked.ron");
    fs::write(&path, file).expect("the folder can be written");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut check = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    check.current_dir(root).args(["check", &certificate, STORES, "--expect", "holds", "--properties"]).arg(path);
    let checked = check.output().expect("the program runs");
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert_eq!(checked.status.code(), Some(3), "{said}");
    assert!(said.contains("out-of-object is not forbidden"), "{said}");
}

#[test]
fn what_is_allowed_now_and_was_not_before_is_a_regression() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let report = folder.path().join("old.json").display().to_string();
    let output = verify(TORN, &["--report", &format!("json={report}")]);
    assert_eq!(output.status.code(), Some(0));
    let gate = ["--baseline", &report, "--deny", "regressions"];
    assert_eq!(verify(TORN, &gate).status.code(), Some(0));
    let (code, said) = code_with(TORN, r#"(allow: {"torn-access": "why"})"#, &gate);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("'allow torn-access'"), "{said}");
}
