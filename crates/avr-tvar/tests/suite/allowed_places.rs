//! Hazards that are allowed at one place.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use avr_testkit::schema;
use serde_json::Value;

/// An image with `reserved-register` in `first` and `second`, and `undefined-pointer-use` in `third` and `fourth`.
const IMAGE: &str = "tests/findings/images/places.elf";
/// The entry that lets the path end in both functions.
const ENDS: &str = r#""undefined-pointer-use": "ends""#;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.output().expect("the program runs")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object")
}

/// A folder with a property file.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(allow: &str) -> Self {
        let folder = Self(tempfile::tempdir().expect("there is room for temporary files"));
        folder.write("properties.ron", &format!("(allow: {{{allow}}}, properties: [Inherent()])"));
        folder
    }

    fn path(&self, name: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        path.to_str().expect("it is UTF-8").to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the folder can be written");
    }

    fn verify(&self, more: &[&str]) -> Output {
        run(&[&["verify", IMAGE, &self.path("properties.ron"), "--format", "json"], more].concat())
    }
}

/// Flash byte address of the hazard in a function.
fn violation_of(function: &str) -> u32 {
    match function {
        "first" => 0x14,
        "second" => 0x1c,
        "third" => 0x22,
        _ => 0x26,
    }
}

/// Checks the verdict with and without reductions, that the checker accepts it with what is allowed, and the function of a violation.
#[track_caller]
fn check(allow: &str, violated_in: Option<&str>) -> Value {
    let folder = Folder::new(allow);
    let certificate = folder.path("certificate");
    let plain = json(&folder.verify(&[]));
    let certified = json(&folder.verify(&["--certificate", &certificate]));
    assert_eq!(schema::problems(&plain, schema::REPORT), Vec::<String>::new());
    let checked = json(&run(&["check", &certificate, IMAGE, "--format", "json"]));
    let expected = if violated_in.is_some() { "violated" } else { "holds" };
    assert_eq!(checked["results"][0]["verdict"], expected, "{allow}: {checked}");
    for report in [&plain, &certified] {
        let result = &report["results"][0];
        assert_eq!(result["verdict"], expected, "{allow}: {}", result["reason"]);
        if let Some(function) = violated_in {
            let (end, pc) = (&result["evidence"]["end"], violation_of(function));
            assert_eq!(end["pc"], pc, "{allow}: {end}");
            assert_eq!(result["evidence"]["replayed"], true, "{allow}");
        }
    }
    plain
}

#[test]
fn a_hazard_is_allowed_where_its_place_is_and_nowhere_else() {
    let report = check(&format!(r#"{ENDS}, "reserved-register at first": "old part""#), Some("second"));
    let formula = "AG !(hazard other than reserved-register at first)";
    assert_eq!(report["results"][0]["formula"], formula);
    let assumed = report["assumptions"].as_array().expect("a list");
    let expected = "the hazard reserved-register at first is allowed: old part";
    assert!(assumed.iter().any(|assumed| assumed == expected), "{assumed:?}");
    check(&format!(r#"{ENDS}, "reserved-register at second": "x""#), Some("first"));
    check(&format!(r#"{ENDS}, "reserved-register at start": "x", "reserved-register at second": "x""#), Some("first"));
    let both = format!(r#"{ENDS}, "reserved-register at first": "x", "reserved-register at second": "y""#);
    let report = check(&both, None);
    let formula = "AG !(hazard other than reserved-register at first, reserved-register at second)";
    assert_eq!(report["results"][0]["formula"], formula);
    check(&format!(r#"{ENDS}, "reserved-register": "x", "reserved-register at second": "y""#), None);
}

#[test]
fn a_label_and_a_line_are_places() {
    let first = r#""reserved-register at first": "x""#;
    check(&format!(r#"{ENDS}, {first}, "reserved-register at inner": "x""#), None);
    check(&format!(r#"{ENDS}, {first}, "reserved-register at places.S:25": "x""#), None);
    check(&format!(r#"{ENDS}, {first}, "reserved-register at sources/places.S:25": "x""#), None);
    check(&format!(r#"{ENDS}, {first}, "reserved-register at places.S:24": "x""#), Some("second"));
}

#[test]
fn paths_end_where_the_place_is_and_nowhere_else() {
    let reserved = r#""reserved-register": "x""#;
    let report = check(&format!(r#"{reserved}, "undefined-pointer-use at third": "x""#), Some("fourth"));
    assert_eq!(report["results"][0]["formula"], "AG !(hazard other than undefined-pointer-use at third)");
    let both = format!(r#"{reserved}, "undefined-pointer-use at third": "x", "undefined-pointer-use at fourth": "x""#);
    let report = check(&both, None);
    assert_eq!(report["ended_paths"]["undefined-pointer-use"], 2);
}

#[test]
fn the_line_that_a_report_has_to_paste_allows_the_hazard_there() {
    let mut allowed: Vec<String> = vec![ENDS.to_owned()];
    for function in ["first", "second"] {
        let report = json(&Folder::new(&allowed.join(", ")).verify(&[]));
        let result = &report["results"][0];
        assert_eq!(result["verdict"], "violated", "{allowed:?}");
        let line = result["evidence"]["end"]["hazard"]["allow"].as_str().expect("a line");
        let entry = line.strip_prefix("allow: {").and_then(|rest| rest.strip_suffix('}')).expect("an entry");
        assert!(entry.starts_with("\"reserved-register at "), "{function}: {entry}");
        allowed.push(entry.to_owned());
    }
    check(&allowed.join(", "), None);
}

#[test]
fn a_place_that_does_not_exist_is_an_error() {
    for (entry, said) in [
        ("reserved-register at frist", "nothing is named 'frist', and no code is of such a line; did you mean first?"),
        ("reserved-register at places.S:999", "nothing is named 'places.S:999'"),
        ("reserved-register at other.S:25", "nothing is named 'other.S:25'"),
        ("reserved-register at cell", "'cell' is no code"),
        ("bad-interrupt at first", "the hazard 'bad-interrupt' comes between instructions"),
    ] {
        let output = Folder::new(&format!("{entry:?}: \"x\"")).verify(&[]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{entry}: {error}");
        assert!(error.contains("properties.ron:1:10\n") && error.contains(said), "{entry}: {error}");
    }
}

#[test]
fn a_place_is_more_than_nothing_and_less_than_everywhere() {
    let place = format!(r#"{ENDS}, "reserved-register at first": "x", "reserved-register at second": "x""#);
    let everywhere = format!(r#"{ENDS}, "reserved-register": "x""#);
    let folder = Folder::new(&place);
    let (certificate, report) = (folder.path("certificate"), folder.path("report.json"));
    folder.verify(&["--certificate", &certificate, "--report", &format!("json={report}")]);
    let asks = |allow: &str| {
        folder.write("asked.ron", &format!("(allow: {{{allow}}}, properties: [Inherent()])"));
        let output =
            run(&["check", &certificate, IMAGE, "--expect", "holds", "--properties", &folder.path("asked.ron")]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(asks(&place).0, Some(0));
    let (code, said) = asks(ENDS);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("reserved-register at first is allowed"), "{said}");
    let regresses = |before: &str, now: &str| {
        let folder = Folder::new(before);
        folder.verify(&["--report", &format!("json={report}")]);
        Folder::new(now).verify(&["--baseline", &report, "--deny", "regressions"]).status.code()
    };
    assert_eq!(regresses(&everywhere, &place), Some(0));
    assert_eq!(regresses(&place, &everywhere), Some(1));
}
