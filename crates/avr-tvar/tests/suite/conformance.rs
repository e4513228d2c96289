//! Specifications on the command line: samples and their defect twins, every format of reports, and certificates.

use std::fs;

use avr_testkit::schema;
use serde_json::Value;
use tempfile::TempDir;

use crate::from_root::{avr_tvar, image, text};

/// Samples, their defect twins, and the event that has no answer.
const SAMPLES: [(&str, &str, &str); 3] = [
    ("surge-protector", "surge-protector-late", "write(PORTD)"),
    ("kernel-lock", "kernel-lock-twice", "call(unlock)"),
    ("serial-answer", "serial-answer-twice", "write(UDR0)"),
];

/// The report about an image and a property file.
fn report(image: &str, properties: &str, more: &[&str]) -> (Value, Option<i32>) {
    let output = avr_tvar(&[&["verify", image, properties, "--format", "json"], more].concat());
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|error| panic!("{image}: {error}: {}", text(&output.stderr)));
    (report, output.status.code())
}

#[test]
fn samples_conform_and_their_twins_do_not() {
    for (right, wrong, event) in SAMPLES {
        let properties = format!("properties/{right}.protocol.ron");
        for level in ["Os", "Og"] {
            let (said, code) = report(&image(right, level), &properties, &[]);
            let verdicts: Vec<&Value> = said["results"].as_array().expect("a list").iter().collect();
            assert!(verdicts.iter().all(|one| one["verdict"] == "holds" && one["kind"] == "Conforms"), "{said}");
            assert_eq!((verdicts.len(), code), (3, Some(0)));
            let (said, code) = report(&image(wrong, level), &properties, &[]);
            assert_eq!(code, Some(1), "{said}");
            assert_eq!(schema::problems(&said, schema::REPORT), Vec::<String>::new());
            for result in said["results"].as_array().expect("a list") {
                let run = &result["evidence"];
                let last = run["specification"].as_array().and_then(|moments| moments.last()).expect("it is told");
                assert_eq!(result["verdict"], "violated", "{result}");
                assert_eq!(run["replayed"], true, "{result}");
                assert_eq!((&last["events"][0], last["states"].as_array().map(Vec::len)), (&event.into(), Some(0)));
                assert_eq!(last["step"], run["steps"], "{result}");
                assert!(run["claim"].as_str().is_some_and(|claim| claim.ends_with(&format!("cannot answer {event}"))));
            }
        }
    }
}

#[test]
fn every_format_tells_the_states() {
    let folder = TempDir::new().expect("there is room for a folder");
    let formats = ["text", "sarif", "junit", "html", "markdown"];
    let path = |format: &str| folder.path().join(format);
    let reports: Vec<String> =
        formats.iter().map(|format| format!("--report={format}={}", path(format).display())).collect();
    let firmware = image("kernel-lock-twice", "Os");
    let arguments = ["verify", &firmware, "properties/kernel-lock.protocol.ron"];
    let output = avr_tvar(&[&arguments[..], &reports.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    for format in formats {
        let report = fs::read_to_string(path(format)).expect("it is written");
        assert!(report.contains("the specification in state free cannot answer call(unlock)"), "{format}: {report}");
    }
    for format in ["text", "sarif", "junit", "html"] {
        let report = fs::read_to_string(path(format)).expect("it is written");
        assert!(report.contains("no answer") && report.contains("taken"), "{format}: {report}");
    }
}

#[test]
fn certificates_carry_the_specification() {
    let folder = TempDir::new().expect("there is room for a folder");
    let certificate = folder.path().join("certificate").display().to_string();
    for (sample, verdict) in [("surge-protector", "holds"), ("surge-protector-late", "violated")] {
        let firmware = image(sample, "Os");
        let (said, _) = report(&firmware, "properties/surge-protector.protocol.ron", &["--certificate", &certificate]);
        assert_eq!(said["results"][0]["verdict"], verdict, "{said}");
        let output = avr_tvar(&["check", &certificate, &firmware, "--format", "json"]);
        let checked: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!((&checked["valid"], output.status.code()), (&true.into(), Some(0)), "{checked}");
        let proved = checked["results"].as_array().expect("a list");
        assert!(proved.len() == 3 && proved.iter().all(|one| one["verdict"] == verdict), "{checked}");
    }
}

/// The specification file is an input: a report lists it, and a file that is wrong or missing is an error.
#[test]
fn specifications_are_inputs() {
    let (said, _) = report(&image("kernel-lock", "Os"), "properties/kernel-lock.protocol.ron", &[]);
    assert_eq!(schema::problems(&said, schema::REPORT), Vec::<String>::new());
    let roles: Vec<&Value> = said["inputs"].as_array().expect("a list").iter().map(|input| &input["role"]).collect();
    assert_eq!(roles, ["firmware", "properties", "specification"]);
    let firmware = image("kernel-lock", "Os");
    let wrong = |property: &str| {
        let output = avr_tvar(&["verify", &firmware, "--property", property]);
        (output.status.code(), text(&output.stderr))
    };
    let (code, message) = wrong("Conforms(to: \"properties/nowhere.spec.ron\")");
    assert!(code == Some(2) && message.contains("nowhere.spec.ron"), "{message}");
    let (code, message) = wrong("Conforms(to: \"properties/kernel-lock.ron\")");
    assert!(code == Some(2) && message.contains("there is no field 'device' here"), "{message}");
    assert!(message.contains("properties/kernel-lock.ron:3:5"), "{message}");
}

#[test]
fn specifications_are_drawn() {
    let output = avr_tvar(&["graph", "properties/surge-protector.spec.ron"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let drawn = text(&output.stdout);
    for part in
        ["digraph specification {", "[label=\"none\\nthreshold == 0\"]", "i0 -> n0;", "[label=\"write(PORTD) <= 1\"]"]
    {
        assert!(drawn.contains(part), "{part}: {drawn}");
    }
    let output = avr_tvar(&["graph", "properties/surge-protector.spec.ron", "--property", "AG true"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("drawn as it is"));
    let output = avr_tvar(&["graph", "properties/kernel-lock.ron"]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("no field 'device'"));
}

/// Nothing is wrong with any single run, but the specification says in advance what the pin will be.
#[test]
fn simulation_is_more_than_inclusion_of_traces() {
    let folder = TempDir::new().expect("there is room for a folder");
    let path = folder.path().join("guess.spec.ron");
    let guess = "(initial: [\"one\", \"two\"], states: { \
        \"one\": (moves: [(on: \"write(PORTD) == 1\", to: \"end\")]), \
        \"two\": (moves: [(on: \"write(PORTD) == 2\", to: \"end\")]), \
        \"end\": (may_stop: true) })";
    fs::write(&path, guess).expect("it is written");
    let entry = |by: &str| format!("Conforms(to: {:?}, by: \"{by}\", deadlock: true)", path.display().to_string());
    let (firmware, traces, simulation) = (image("branch", "Os"), entry("traces"), entry("simulation"));
    let arguments = ["verify", &firmware, "--device", "atmega328p-gpio", "--format", "json"];
    let output = avr_tvar(&[&arguments[..], &["--property", &traces, "--property", &simulation]].concat());
    let said: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let [traces, simulation] = [&said["results"][0], &said["results"][1]];
    assert_eq!((&traces["verdict"], &simulation["verdict"]), (&"holds".into(), &"violated".into()), "{said}");
    let branches = simulation["evidence"]["branches"].as_array().expect("a list");
    assert_eq!(branches.len(), 1, "{simulation}");
    let claim = branches[0]["claim"].as_str().expect("a text");
    assert!(claim.starts_with("where the specification answers otherwise, after 13 steps"), "{claim}");
}
