//! Contracts of functions on the command line: what rests on them, proofs of bodies, and what reports and baselines say.

use std::fs;

use avr_testkit::schema;
use serde_json::Value;
use tempfile::TempDir;

use crate::from_root::{self, avr_tvar, text};

fn run(arguments: &[&str]) -> (Value, Option<i32>) {
    let output = avr_tvar(&[arguments, &["--format", "json"]].concat());
    let report =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    (report, output.status.code())
}

fn verdicts(report: &Value) -> Vec<&str> {
    let all = report["results"].as_array().expect("a list").iter();
    all.map(|result| result["verdict"].as_str().expect("a text")).collect()
}

#[test]
fn bodies_are_proved_or_broken() {
    for (sample, level, verdict, code) in [
        ("level-limit", "Os", "holds", 0),
        ("level-limit", "Og", "holds", 0),
        ("level-limit-missed", "Os", "violated", 1),
        ("level-limit-missed", "Og", "violated", 1),
    ] {
        let properties = format!("properties/{sample}.ron");
        let (report, ended) = run(&["contract", &from_root::image(sample, level), &properties]);
        assert_eq!((verdicts(&report), ended), (vec![verdict], Some(code)), "{report}");
        assert_eq!(
            (&report["results"][0]["kind"], &report["results"][0]["name"]),
            (&"Contract".into(), &"read_level".into())
        );
        assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new());
    }
}

#[test]
fn verdicts_rest_on_proved_contracts() {
    let (right, code) = run(&["verify", &from_root::image("level-limit", "Os"), "properties/level-limit.ron"]);
    assert_eq!((verdicts(&right), code), (vec!["holds"; 3], Some(0)), "{right}");
    assert_eq!(
        (&right["contracts"][0]["proved"], right["assumptions"].as_array().map(Vec::len)),
        (&true.into(), Some(0))
    );
    assert_eq!(schema::problems(&right, schema::REPORT), Vec::<String>::new());
    // The contract is broken, so the body is looked at, and a run of the whole firmware shows the violation.
    let missed = from_root::image("level-limit-missed", "Os");
    let (wrong, code) = run(&["verify", &missed, "properties/level-limit-missed.ron"]);
    assert_eq!((verdicts(&wrong), code), (vec!["holds", "holds", "violated"], Some(1)), "{wrong}");
    assert_eq!(wrong["results"][2]["evidence"]["replayed"], true);
    assert_eq!(wrong["contracts"][0]["proved"], false);
}

#[test]
fn a_contract_that_is_not_proved_any_more_is_a_regression() {
    let folder = TempDir::new().expect("there is room for a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let firmware = from_root::image("level-limit", "Os");
    let (before, _) = run(&["verify", &firmware, "properties/level-limit.ron"]);
    fs::write(path("before.json"), before.to_string()).expect("it is written");
    let missed = from_root::image("level-limit-missed", "Os");
    let properties = "properties/level-limit-missed.ron";
    let (now, _) = run(&["verify", &missed, properties, "--baseline", &path("before.json")]);
    let changes = now["changes"].to_string();
    assert!(changes.contains("the function read_level returns with r24 <= 100"), "{changes}");
}

#[test]
fn what_is_wrong_is_told() {
    let firmware = from_root::image("level-limit", "Os");
    let without = avr_tvar(&["contract", &firmware, "properties/blink.ron"]);
    assert_eq!(without.status.code(), Some(2), "{}", text(&without.stderr));
    let folder = TempDir::new().expect("there is room for a folder");
    let path = folder.path().join("p.ron");
    fs::write(&path, "(contracts: {\"read_levle\": (stack: 2)})").expect("it is written");
    for command in ["contract", "verify"] {
        let wrong = avr_tvar(&[command, &firmware, &path.display().to_string()]);
        let said = text(&wrong.stderr);
        assert_eq!(wrong.status.code(), Some(2), "{said}");
        assert!(said.contains("read_levle") && said.contains(":1:"), "{said}");
    }
}
