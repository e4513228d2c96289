//! Whole reports: the text and the JSON as users see them, and the JSON against its published schema.

use avr_testkit::schema;
use std::time::Duration;

use avr_image::{Image, LoadOptions};
use avr_report::{Colour, Report, ReportOrigin, Summary};
use avr_verify::{
    Basis, Exploration, InvariantsOutcome, PropertyResult, Results, StackBound, Statistics, Stored, Unknown, Vacuity,
    Verdict,
};
use expect_test::{Expect, expect};
use serde_json::Value;

/// An image of one instruction, with a fuse byte that the loader leaves out.
fn image() -> Image {
    let hex = b":02000000FFCF30\n:02000004008278\n:01000000629D\n:00000001FF\n";
    Image::parse("endless\x1b[31m.hex", hex, &LoadOptions::new(0x8000, 0x400)).expect("the image is valid")
}

fn result(name: &str, verdict: Verdict) -> PropertyResult {
    PropertyResult {
        name: name.to_owned(),
        kind: "Formula".to_owned(),
        formula: "AG (PORTB < 4)".to_owned(),
        verdict,
        detail: None,
        evidence: None,
        evidence_missing: None,
        vacuous: None,
        explanation: None,
        notes: Vec::new(),
        promises: Vec::new(),
        basis: Basis::Hardware,
        methods: Vec::new(),
        predicates: Vec::new(),
        recheck: None,
        statistics: Statistics { refinements: 2, states: 1234, transitions: 2345, time: Duration::from_millis(12) },
    }
}

fn results() -> Results {
    let mut model = result("in the model only", Verdict::Violated);
    model.basis = Basis::Model;
    let mut vacuous = result("inherent", Verdict::Holds);
    vacuous.vacuous = Some(Vacuity { subformula: "AF \x1b[2J".to_owned(), replaced_by: false, part: Some(0) });
    Results {
        properties: vec![
            vacuous,
            model,
            result("a name of more than sixty characters, as formulas without a name have them", Verdict::Holds),
            result("hostile \x1b[2J", Verdict::Unknown(Unknown::because("the time limit of 10 s was reached"))),
        ],
        findings: Vec::new(),
        stack: StackBound { lower: Some(2), upper: Some(2) },
        stacks: Vec::new(),
        survey: None,
        assumptions: vec!["PINB & 0xf0 == 0".to_owned(), "the hazard stack-into-data is allowed: \x07".to_owned()],
        ended_paths: std::collections::BTreeMap::new(),
        interrupted: false,
        passes: 3,
        last_pass: Duration::ZERO,
        exploration: Some(Exploration {
            steps: 6000,
            repeated: 300,
            reused: 900,
            time: Duration::from_millis(12),
            stored: Some(Stored { states: 1000, bytes: 84_500 }),
        }),
        invariants: Some(InvariantsOutcome {
            states: None,
            steps: 9,
            open: vec!["a reason \x1b[2J".to_owned()],
            alarms: Vec::new(),
        }),
        contracts: Vec::new(),
    }
}

fn with_report<T>(render: impl FnOnce(&Report<'_>) -> T) -> T {
    let (image, results) = (image(), results());
    render(&Report {
        image: &image,
        device: "atmega328p",
        results: &results,
        specification: None,
        stopped_by: None,
        peak_memory_bytes: 12_345_678,
        machine: None,
        baseline: None,
        origin: ReportOrigin::default(),
    })
}

#[test]
fn text_is_a_table() {
    let expected = expect![[r#"
        endless\u{1b}[31m.hex (hex for atmega328p)

        verdict   property                                                      states  refinements   time
        holds     inherent                                                        1234            2  12 ms
                  vacuous: it holds as well with 'AF \u{1b}[2J' replaced by false
        violated  in the model only                                               1234            2  12 ms
                  in the model: it rests on a choice that the hardware would determine
        holds     a name of more than sixty characters, as formulas without a     1234            2  12 ms
                  name have them
        unknown   hostile \u{1b}[2J                                               1234            2  12 ms
                  because the time limit of 10 s was reached

        assuming  PINB & 0xf0 == 0
        assuming  the hazard stack-into-data is allowed: \u{7}
        stack     2 bytes at most, and some run needs them
        summary   2 hold, 1 violated, 1 unknown
        work      6000 steps (300 repeated), 900 more used again, 500000 steps/s, 84 bytes/state
        memory    11.8 MiB at most
    "#]];
    expected.assert_eq(&with_report(|report| report.text(Colour::Never)));
}

#[test]
fn colour_adds_nothing_but_escape_sequences() {
    let (plain, coloured) = with_report(|report| (report.text(Colour::Never), report.text(Colour::Always)));
    assert!(coloured.contains("\x1b[1m\x1b[32mholds\x1b[0m"), "{coloured:?}");
    let mut stripped = coloured;
    for sequence in ["\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"] {
        stripped = stripped.replace(sequence, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn warnings_name_what_was_left_out_and_what_to_do() {
    let expected = expect![[r#"
        warning: endless\u{1b}[31m.hex: left out 1 byte (fuse bytes): 0x820000..0x820001 = 62
          hint: to verify with these fuses give them in the property file: `fuses: (low: ..., ...)`
    "#]];
    expected.assert_eq(&avr_report::warnings(&image()));
}

/// Expects what a part of the report is, with its fields in alphabetical order.
#[track_caller]
fn check_json(part: impl FnOnce(&Value) -> &Value, expected: Expect) {
    let text = serde_json::to_string_pretty(part(&json())).expect("it was JSON before");
    expected.assert_eq(&format!("{text}\n"));
}

#[test]
fn json_has_the_fields_of_the_contract_in_their_order() {
    let text = with_report(|report| report.json());
    let is_field = |line: &&str| line.starts_with("  \"");
    let name = |line: &str| line.trim_start().split('"').nth(1).expect("a field has a name").to_owned();
    let fields: Vec<String> = text.lines().filter(is_field).map(name).collect();
    let expected =
        ["schema", "firmware", "results", "findings", "stack", "reached", "changes", "assumptions", "specification"];
    let last = [
        "stopped_by",
        "ended_paths",
        "summary",
        "warnings",
        "tool",
        "inputs",
        "exploration",
        "invariants",
        "peak_memory_bytes",
    ];
    assert_eq!(fields, [&expected[..], &last].concat());
    assert_eq!(json()["schema"], "avr-tvar/report/1");
    assert_eq!((&json()["reached"], &json()["changes"]), (&Value::Null, &Value::Null));
    assert_eq!(json()["peak_memory_bytes"], 12_345_678);
}

#[test]
fn json_names_the_firmware() {
    check_json(
        |report| &report["firmware"],
        expect![[r#"
            {
              "device": "atmega328p",
              "format": "hex",
              "path": "endless\u001b[31m.hex",
              "sha256": "10b87403149fce9589a5341da966a31062a51e996955a4d4911a1c54e6c8c9f3"
            }
        "#]],
    );
}

#[test]
fn json_has_all_of_a_result() {
    check_json(
        |report| &report["results"][0],
        expect![[r#"
            {
              "basis": "hardware",
              "certified": true,
              "evidence": null,
              "evidence_missing": null,
              "explanation": null,
              "formula": "AG (PORTB < 4)",
              "kind": "Formula",
              "name": "inherent",
              "notes": [],
              "predicates": [],
              "promises": [],
              "reason": null,
              "recheck": null,
              "rests_on": [],
              "stats": {
                "refinements": 2,
                "seconds": 0.012,
                "states": 1234,
                "transitions": 2345
              },
              "unknown": null,
              "vacuous": {
                "replaced_by": "false",
                "subformula": "AF \u001b[2J"
              },
              "verdict": "holds"
            }
        "#]],
    );
}

#[test]
fn json_says_what_it_took_to_explore() {
    check_json(
        |report| &report["exploration"],
        expect![[r#"
            {
              "bytes_per_state": 84.5,
              "cpu_seconds": 0.012,
              "repeated_steps": 300,
              "reused_steps": 900,
              "state_bytes": 84500,
              "states": 1000,
              "steps": 6000,
              "steps_per_second": 500000.0
            }
        "#]],
    );
}

#[test]
fn json_says_what_is_different_in_other_results() {
    let report = json();
    let result = |number: usize, field: &str| report["results"][number][field].clone();
    assert_eq!(result(1, "name"), "in the model only");
    assert_eq!((result(1, "verdict"), result(1, "basis")), ("violated".into(), "model".into()));
    assert_eq!(result(2, "vacuous"), Value::Null);
    assert_eq!(result(3, "name"), "hostile \u{1b}[2J");
    assert_eq!(result(3, "verdict"), "unknown");
    assert_eq!(result(3, "reason"), "the time limit of 10 s was reached");
    check_json(
        |report| &report["results"][3]["unknown"],
        expect![[r#"
            {
              "bits": [],
              "bits_omitted": 0,
              "cause": null,
              "explodes": null,
              "help": [],
              "limit": "property",
              "path": [],
              "refinements": 0,
              "steps": 0
            }
        "#]],
    );
}

#[test]
fn json_has_what_the_results_rest_on() {
    let report = json();
    assert_eq!(report["stack"], serde_json::json!({ "lower": 2, "upper": 2, "exact": 2 }));
    assert_eq!(report["summary"], serde_json::json!({ "holds": 2, "violated": 1, "unknown": 1 }));
    let assumptions = ["PINB & 0xf0 == 0", "the hazard stack-into-data is allowed: \u{7}"];
    assert_eq!(report["assumptions"], serde_json::json!(assumptions));
    assert_eq!(report["warnings"], serde_json::json!(["left out 1 byte (fuse bytes): 0x820000..0x820001 = 62"]));
}

#[test]
fn summary_counts_verdicts() {
    assert_eq!(Summary::of(&results()), Summary { holds: 2, violated: 1, unknown: 1 });
}

fn json() -> Value {
    serde_json::from_str(&with_report(|report| report.json())).expect("the report is JSON")
}

#[test]
fn json_fits_the_published_schema() {
    assert_eq!(schema::problems(&json(), schema::REPORT), Vec::<String>::new());
}

/// Changes the report so that it breaks the contract, and expects the schema to notice.
#[track_caller]
fn check_refused(change: impl FnOnce(&mut Value), place: &str) {
    let mut report = json();
    change(&mut report);
    let problems = schema::problems(&report, schema::REPORT);
    assert!(problems.len() == 1 && problems[0].starts_with(&format!("{place}: ")), "{problems:?}");
}

#[test]
fn the_schema_refuses_other_reports() {
    check_refused(|report| report["schema"] = "avr-tvar/report/2".into(), "/schema");
    check_refused(|report| report["results"][1]["verdict"] = "maybe".into(), "/results/1/verdict");
    check_refused(|report| report["stack"]["exact"] = 1.5.into(), "/stack/exact");
    check_refused(|report| report["firmware"]["sha256"] = "12".into(), "/firmware/sha256");
    check_refused(|report| report["assumptions"][0] = 1.into(), "/assumptions/0");
    check_refused(|report| report["peak_memory_bytes"] = (-1).into(), "/peak_memory_bytes");
    check_refused(|report| report["invariants"]["open"] = "a reason".into(), "/invariants/open");
    check_refused(|report| report["results"][0]["certified"] = "yes".into(), "/results/0/certified");
    check_refused(|report| report["exploration"]["steps"] = 0.5.into(), "/exploration");
    check_refused(
        |report| {
            report["summary"].as_object_mut().expect("it is an object").remove("holds");
        },
        "/summary",
    );
}
