//! Whole reports: the text and the JSON as users see them, and the JSON against its published schema.

mod schema;

use std::time::Duration;

use avr_image::{Image, LoadOptions};
use avr_report::{Colour, Report, Summary};
use avr_verify::{Basis, PropertyResult, Results, StackBound, Statistics, Unknown, Vacuity, Verdict};
use expect_test::expect;
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
        basis: Basis::Hardware,
        statistics: Statistics { refinements: 2, states: 1234, transitions: 2345, time: Duration::from_millis(12) },
    }
}

fn results() -> Results {
    let mut model = result("in the model only", Verdict::Violated);
    model.basis = Basis::Model;
    let mut vacuous = result("inherent", Verdict::Holds);
    vacuous.vacuous = Some(Vacuity { subformula: "AF \x1b[2J".to_owned(), replaced_by: false });
    Results {
        properties: vec![
            vacuous,
            model,
            result("a name of more than sixty characters, as formulas without a name have them", Verdict::Holds),
            result("hostile \x1b[2J", Verdict::Unknown(Unknown::because("the time limit of 10 s was reached"))),
        ],
        stack: StackBound { lower: Some(2), upper: Some(2) },
        survey: None,
        assumptions: vec!["PINB & 0xf0 == 0".to_owned(), "the hazard stack-into-data is allowed: \x07".to_owned()],
        interrupted: false,
        passes: 3,
    }
}

fn with_report<T>(render: impl FnOnce(&Report<'_>) -> T) -> T {
    let (image, results) = (image(), results());
    render(&Report {
        image: &image,
        device: "atmega328p",
        results: &results,
        peak_memory_bytes: 12_345_678,
        baseline: None,
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

#[test]
fn json_has_every_field_of_the_contract() {
    let expected = expect![[r#"
        {
          "schema": "avr-tvar/report/1",
          "firmware": {
            "path": "endless\u001b[31m.hex",
            "sha256": "10b87403149fce9589a5341da966a31062a51e996955a4d4911a1c54e6c8c9f3",
            "format": "hex",
            "device": "atmega328p"
          },
          "results": [
            {
              "name": "inherent",
              "kind": "Formula",
              "formula": "AG (PORTB < 4)",
              "verdict": "holds",
              "basis": "hardware",
              "reason": null,
              "stats": {
                "refinements": 2,
                "states": 1234,
                "transitions": 2345,
                "seconds": 0.012
              },
              "evidence": null,
              "evidence_missing": null,
              "vacuous": {
                "subformula": "AF \u001b[2J",
                "replaced_by": "false"
              },
              "unknown": null,
              "explanation": null
            },
            {
              "name": "in the model only",
              "kind": "Formula",
              "formula": "AG (PORTB < 4)",
              "verdict": "violated",
              "basis": "model",
              "reason": null,
              "stats": {
                "refinements": 2,
                "states": 1234,
                "transitions": 2345,
                "seconds": 0.012
              },
              "evidence": null,
              "evidence_missing": null,
              "vacuous": null,
              "unknown": null,
              "explanation": null
            },
            {
              "name": "a name of more than sixty characters, as formulas without a name have them",
              "kind": "Formula",
              "formula": "AG (PORTB < 4)",
              "verdict": "holds",
              "basis": "hardware",
              "reason": null,
              "stats": {
                "refinements": 2,
                "states": 1234,
                "transitions": 2345,
                "seconds": 0.012
              },
              "evidence": null,
              "evidence_missing": null,
              "vacuous": null,
              "unknown": null,
              "explanation": null
            },
            {
              "name": "hostile \u001b[2J",
              "kind": "Formula",
              "formula": "AG (PORTB < 4)",
              "verdict": "unknown",
              "basis": "hardware",
              "reason": "the time limit of 10 s was reached",
              "stats": {
                "refinements": 2,
                "states": 1234,
                "transitions": 2345,
                "seconds": 0.012
              },
              "evidence": null,
              "evidence_missing": null,
              "vacuous": null,
              "unknown": {
                "limit": "property",
                "cause": null,
                "steps": 0,
                "path": [],
                "bits": [],
                "bits_omitted": 0,
                "refinements": 0,
                "help": []
              },
              "explanation": null
            }
          ],
          "stack": {
            "lower": 2,
            "upper": 2,
            "exact": 2
          },
          "reached": null,
          "changes": null,
          "assumptions": [
            "PINB & 0xf0 == 0",
            "the hazard stack-into-data is allowed: \u0007"
          ],
          "summary": {
            "holds": 2,
            "violated": 1,
            "unknown": 1
          },
          "warnings": [
            "left out 1 byte (fuse bytes): 0x820000..0x820001 = 62"
          ],
          "peak_memory_bytes": 12345678
        }
    "#]];
    expected.assert_eq(&with_report(|report| report.json()));
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
    assert_eq!(schema::problems(&json()), Vec::<String>::new());
}

/// Changes the report so that it breaks the contract, and expects the schema to notice.
#[track_caller]
fn check_refused(change: impl FnOnce(&mut Value), place: &str) {
    let mut report = json();
    change(&mut report);
    let problems = schema::problems(&report);
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
    check_refused(
        |report| {
            report["summary"].as_object_mut().expect("it is an object").remove("holds");
        },
        "/summary",
    );
}
