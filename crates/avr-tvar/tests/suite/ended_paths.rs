//! Paths that end in hazards that are allowed and after which nothing is defined.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const ALLOW: &str = r#"allow: {"outside-image": "erased flash", "reserved-opcode": "a guard"}"#;

fn run(arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let output = command.output().expect("the program starts");
    assert_ne!(output.status.code(), Some(4), "a self-check failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// Checks the verdicts on an image where both hazards are allowed, and that the certificate is accepted with the same; gives the report.
#[track_caller]
fn check(name: &str, properties: &[(&str, &str)]) -> Value {
    let folder = tempfile::tempdir().expect("there is room");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is UTF-8").to_owned();
    let (file, certificate) = (path("properties.ron"), path("certificate"));
    let list: Vec<&str> = properties.iter().map(|(property, _)| *property).collect();
    std::fs::write(&file, format!("({ALLOW}, properties: [{}])", list.join(", "))).expect("it is written");
    let image = format!("tests/regressions/images/{name}.elf");
    let report =
        run(&["verify", &image, &file, "--device", "atmega328p", "--format", "json", "--certificate", &certificate]);
    let checked = run(&["check", &certificate, &image, "--format", "json"]);
    assert_eq!(avr_testkit::schema::problems(&report, avr_testkit::schema::REPORT), Vec::<String>::new());
    for (number, (property, expected)) in properties.iter().enumerate() {
        let result = &report["results"][number];
        assert_eq!(result["verdict"], *expected, "{name}: {property}: {}", result["reason"]);
        assert!(
            *expected != "violated" || result["evidence"]["replayed"] == true,
            "{name}: {property}: {}",
            result["evidence_missing"]
        );
        if *expected != "unknown" {
            assert_eq!(checked["results"][number]["verdict"], *expected, "{name}: {property}: {checked}");
        }
    }
    report
}

#[test]
fn what_leads_only_to_ends_is_left_out() {
    let properties = [
        ("Inherent()", "holds"),
        ("Always(check: \"PORTB != 4\")", "holds"),
        ("Always(check: \"PORTB != 3\")", "violated"),
        ("Reachable(check: \"PORTB == 4\")", "violated"),
        ("Reachable(check: \"PORTB == 3\")", "holds"),
        ("Recovery(to: \"PORTB == 2\")", "holds"),
        ("Formula(check: \"AG AF (PORTB == 2)\")", "violated"),
        ("Formula(check: \"AG (PORTB == 4 -> EX true)\")", "holds"),
        ("Formula(check: \"EF (PORTB == 4 && AX false)\")", "violated"),
        ("Formula(check: \"nu X. PORTB != 4 && []X\")", "holds"),
        ("Ltl(check: \"G F (PORTB == 1)\")", "holds"),
        ("Formula(check: \"A[!hazard W PORTB == 4]\")", "holds"),
        ("InfinitelyOften(check: \"PORTB == 1\")", "holds"),
        ("Always(check: \"PORTB != 4\", under: [\"G F (PORTB == 2)\"])", "holds"),
    ];
    let report = check("ended-by-input", &properties);
    assert_eq!(report["ended_paths"], json!({"outside-image": 1}));
    assert_eq!(report["results"][4]["evidence"]["replayed"], true, "what is reachable is shown");
}

#[test]
fn initial_contents_of_which_nothing_is_left_do_not_count() {
    let properties = [
        ("Inherent()", "holds"),
        ("Reachable(check: \"PORTB.PORTB0\")", "holds"),
        ("Formula(check: \"AF PORTB.PORTB0\")", "holds"),
        ("Formula(check: \"EX EX EX (pc == 0x6e)\")", "holds"),
    ];
    let report = check("ended-by-content", &properties);
    assert_eq!(report["ended_paths"], json!({"reserved-opcode": 1}));
}

#[test]
fn a_handler_that_ends_takes_back_no_hazard() {
    let properties =
        [("Inherent()", "holds"), ("Never(check: \"PORTB == 9\")", "holds"), ("Stack(max_bytes: 0)", "holds")];
    let report = check("ended-in-handler", &properties);
    assert_eq!(report["ended_paths"], json!({"reserved-opcode": 1, "outside-image": 1}));
    assert_eq!(report["stack"]["exact"], 0, "once the handler is entered, every path ends");
}

#[test]
fn nothing_holds_where_every_path_ends() {
    let properties = [
        ("Inherent()", "unknown"),
        ("Always(check: \"PORTB != 200\")", "unknown"),
        ("Reachable(check: \"PORTB == 5\")", "unknown"),
        ("Recovery(to: \"PORTB == 5\")", "unknown"),
        ("Ltl(check: \"G F (PORTB == 1)\")", "unknown"),
        ("Formula(check: \"AX true\")", "unknown"),
    ];
    let report = check("ended-always", &properties);
    let reason = report["results"][0]["reason"].as_str().expect("there is a reason");
    assert!(reason.starts_with("every path ends in hazards that are allowed"), "{reason}");
}

#[test]
fn hazards_that_are_not_allowed_are_hazards() {
    let report =
        run(&["verify", "tests/regressions/images/ended-by-input.elf", "--device", "atmega328p", "--format", "json"]);
    assert_eq!(report["results"][0]["verdict"], "violated");
    assert_eq!(report["ended_paths"], json!({}));
}
