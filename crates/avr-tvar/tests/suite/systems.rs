//! Systems of several nodes on the command line.

use std::fs;

use avr_testkit::schema;
use serde_json::Value;

use crate::from_root::{avr_tvar, text};

const FOLDER: &str = "firmware-samples/systems";

/// The report about a system, and the exit code.
fn verified(name: &str) -> (Value, Option<i32>) {
    let output = avr_tvar(&["verify-system", &format!("{FOLDER}/{name}.ron"), "--format", "json"]);
    let report: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}: {}", text(&output.stderr)));
    assert_eq!(schema::problems(&report, schema::SYSTEM), Vec::<String>::new());
    (report, output.status.code())
}

fn verdicts(report: &Value) -> Vec<&str> {
    let properties = report["properties"].as_array().expect("a list").iter();
    properties.map(|property| property["verdict"].as_str().expect("a text")).collect()
}

#[test]
fn systems_have_their_verdicts() {
    for (name, expected, code) in [
        ("philosophers-2", &["violated", "holds"][..], 1),
        ("philosophers-2-repaired", &["holds", "holds"], 0),
        ("philosophers-3", &["violated", "holds", "holds", "holds"], 1),
        ("philosophers-3-repaired", &["holds", "holds", "holds", "holds"], 0),
        ("burst", &["violated", "unknown", "holds"], 1),
        ("paced", &["holds", "holds", "holds"], 0),
        ("readers-writers-2", &["holds", "holds", "holds"], 0),
        ("readers-writers-2-hasty", &["holds", "violated"], 1),
        ("readers-writers-3", &["holds", "holds", "holds"], 0),
        ("readers-writers-3-hasty", &["holds", "holds", "violated"], 1),
        ("philosophers-2-starving", &["holds", "holds", "violated", "holds"], 1),
        ("pages", &["holds", "holds", "holds"], 0),
        ("pages-early", &["holds", "holds", "violated"], 1),
        ("pages-greedy", &["violated", "holds", "holds"], 1),
        ("paced-turns", &["holds"], 0),
        ("burst-turns", &["violated"], 1),
    ] {
        let (report, found) = verified(name);
        assert_eq!((verdicts(&report), found), (expected.to_vec(), Some(code)), "{name}: {report}");
        for property in report["properties"].as_array().expect("a list") {
            assert_eq!(property["run"].is_null(), property["verdict"] != "violated", "{property}");
            assert_eq!(property["basis"].is_null(), property["verdict"] == "unknown", "{property}");
        }
    }
}

#[test]
fn the_run_of_a_violation_has_all_nodes() {
    let (report, _) = verified("burst");
    let moments = report["properties"][0]["run"]["moments"].as_array().expect("a list");
    let has = |node: &Value, part: &str| {
        moments.iter().any(|moment| moment["node"] == *node && moment["text"].as_str().expect("a text").contains(part))
    };
    assert!(has(&"sender".into(), "writes the character 0x04"), "{report}");
    assert!(has(&"receiver".into(), "PORTB.1 becomes 1"), "{report}");
    assert!(has(&Value::Null, "is lost, because the receiver is full"), "{report}");
    assert_eq!(verified("burst").0, report, "the same input gives the same report");
}

#[test]
fn the_run_of_a_starving_node_repeats() {
    let (report, _) = verified("philosophers-2-starving");
    let run = &report["properties"][2]["run"];
    let schedule = run["schedule"].as_array().expect("a list");
    let repeats = run["repeats"]["schedule"].as_u64().expect("a number") as usize;
    let steps: u64 = schedule[repeats..].iter().map(|entry| entry[1].as_u64().expect("a number")).sum();
    assert_eq!(run["repeats"]["steps"], steps, "{run}");
    // Each node goes on in it, and only one eats.
    for node in [0, 1] {
        assert!(schedule[repeats..].iter().any(|entry| entry[0] == node), "{run}");
    }
    let text = text(&avr_tvar(&["verify-system", &format!("{FOLDER}/philosophers-2-starving.ron")]).stdout);
    assert!(text.contains("steps repeat for ever"), "{text}");
}

#[test]
fn what_a_specification_does_not_answer_is_said() {
    let (report, _) = verified("burst-turns");
    let beside = report["properties"][0]["run"]["specification"].as_array().expect("a list");
    assert_eq!(beside[0]["states"], serde_json::json!(["free"]));
    assert_eq!(beside.last().expect("there is an end")["states"], serde_json::json!([]));
    let output = avr_tvar(&["verify-system", &format!("{FOLDER}/burst-turns.ron"), "--format", "github"]);
    assert!(text(&output.stdout).contains("cannot answer sender.write(UDR0)"), "{}", text(&output.stdout));
}

#[test]
fn wrong_specifications_of_systems_are_refused() {
    let folder = tempfile::tempdir().expect("there is a directory for temporary files");
    let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).expect("it is written");
    write("a.hex", ":02000000FFCF30\n:00000001FF\n");
    write(
        "s.ron",
        "(nodes: {\"a\": (firmware: \"a.hex\")}, wires: [], properties: [\n Conforms(to: \"p.ron\", alphabet: [\"a.write(PORTB)\"], by: \"traces\")])",
    );
    let system = folder.path().join("s.ron");
    for (specification, part) in [
        ("(initial: [], states: {})", "no state is initial"),
        ("(initial: [\"s\"], states: {\"s\": (moves: [(on: \"a.x()\", to: \"s\")])})", "s.ron:2:"),
    ] {
        write("p.ron", specification);
        let output = avr_tvar(&["verify-system", system.to_str().expect("it is UTF-8")]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
}

#[test]
fn limits_leave_a_property_unknown() {
    let system = format!("{FOLDER}/philosophers-3-repaired.ron");
    let output = avr_tvar(&["verify-system", &system, "--states", "50"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("because a limit was hit after"), "{}", text(&output.stdout));
}

#[test]
fn wrong_systems_are_refused_with_their_place() {
    let folder = tempfile::tempdir().expect("there is a directory for temporary files");
    let path = folder.path().join("wrong.ron");
    let wrong =
        "(nodes: {\"a\": (firmware: \"a.elf\")},\n wires: [Uart(from: \"a\", to: \"b\")], properties: [Deadlock()])";
    for (content, part) in [
        (wrong, "there is no node `b`"),
        ("(nodes: {\"a\": (firmware: \"a.elf\")}, wires: [], properties: [Deadlock()])", "a.elf"),
    ] {
        fs::write(&path, content).expect("it is written");
        let output = avr_tvar(&["verify-system", path.to_str().expect("it is UTF-8")]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(part), "{}", text(&output.stderr));
    }
}

#[test]
fn reports_of_systems_are_written_in_every_form_at_once() {
    let folder = tempfile::tempdir().expect("there is a directory for temporary files");
    let system = format!("{FOLDER}/philosophers-2.ron");
    let formats = ["text", "json", "sarif", "junit", "github", "markdown", "html"];
    let path = |format: &str| folder.path().join(format);
    let reports: Vec<String> =
        formats.iter().map(|format| format!("--report={format}={}", path(format).display())).collect();
    for format in formats {
        let arguments: Vec<&str> = ["verify-system", &system, "--format", format]
            .into_iter()
            .chain(reports.iter().map(String::as_str))
            .collect();
        let output = avr_tvar(&arguments);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(1), ""), "{format}");
        let file = fs::read_to_string(path(format)).expect("the file is there");
        // The page has the command line and the date.
        let comparable = |text: &str| match text.split_once("<dt>Date</dt>") {
            Some((before, rest)) => before.to_owned() + rest.split_once("</dl>").expect("it ends").1,
            None => text.to_owned(),
        };
        assert_eq!(comparable(&file), comparable(&text(&output.stdout)), "{format}");
        assert!(file.contains("Deadlock"), "{format}: {file}");
    }
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), formats.len());
}

#[test]
fn reports_of_systems_replace_no_inputs() {
    let folder = tempfile::tempdir().expect("there is a directory for temporary files");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples");
    let image = fs::read(root.join("philosopher/philosopher.Os.elf")).expect("the sample is there");
    fs::write(folder.path().join("a.elf"), &image).expect("it is written");
    let content = "(nodes: {\"a\": (firmware: \"a.elf\")}, wires: [], properties: [Deadlock()])";
    let system = folder.path().join("s.ron");
    fs::write(&system, content).expect("it is written");
    for victim in ["s.ron", "a.elf"] {
        let report = format!("--report=json={}", folder.path().join(victim).display());
        let output = avr_tvar(&["verify-system", system.to_str().expect("it is UTF-8"), &report]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{victim}");
    }
    assert_eq!(fs::read(folder.path().join("a.elf")).expect("it is there"), image);
    assert_eq!(fs::read_to_string(&system).expect("it is there"), content);
    let missing = format!("--report=json={}/none/report", folder.path().display());
    let output = avr_tvar(&["verify-system", system.to_str().expect("it is UTF-8"), &missing]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", text(&output.stderr));
}
