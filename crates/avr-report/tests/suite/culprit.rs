//! Causes of unknown verdicts, as text and as JSON.

use avr_isa::DataAddress;
use avr_testkit::schema;
use std::time::Duration;

use avr_image::{Image, LoadOptions};
use avr_machine::{Hazard, HazardKind, Limit};
use avr_report::{Colour, Detail, Report, ReportOrigin, StoppedBy};
use avr_verify::{
    Along, Basis, Counts, Culprit, Exhausted, Explained, Explanation, Explosion, Help, Obstacle, Origin,
    PropertyResult, Results, StackBound, Statistics, Stretch, Unknown, UnknownBits, VaryingCell, Verdict,
};
use expect_test::expect;
use serde_json::Value;
use three_valued::Truth;

const HELP: [Help; 11] = [
    Help::Assume(DataAddress(0x26), 0x03),
    Help::Assume(DataAddress(0xc6), 0xff),
    Help::Name(DataAddress(0x0123)),
    Help::Initialise(DataAddress(5)),
    Help::Hazard(HazardKind::StackIntoData),
    Help::Bound(Limit::UnknownPointer),
    Help::Bound(Limit::TooManyCases),
    Help::Resume,
    Help::RaiseTime(Duration::from_millis(10_500)),
    Help::RaiseTime(Duration::ZERO),
    Help::RaiseMemory(512 << 20),
];

fn bits(origin: Origin, cell: u16, mask: u8, pc: Option<u32>) -> UnknownBits {
    UnknownBits { origin, cell: DataAddress(cell), mask, step: 7, pc }
}

fn culprit() -> Culprit {
    Culprit {
        obstacle: Obstacle::Abstraction,
        cause: "'x\x1b == 0' is unknown".to_owned(),
        steps: 9,
        path: vec![0, 0, 2, 0],
        bits: vec![
            bits(Origin::Input, 0x26, 0x02, Some(0)),
            bits(Origin::Decay, 0x0123, 0xff, Some(2)),
            bits(Origin::CaseSplit, 24, 0x0f, Some(2)),
            bits(Origin::Initial, 5, 0xff, None),
        ],
        more_bits: 3,
        refinements: 12,
        help: HELP.to_vec(),
        explosion: None,
    }
}

fn explanation() -> Explanation {
    let stretch = |first, last, value| Stretch { first, last, value, pc: Some(2 * first as u32) };
    Explanation {
        along: Along::Culprit,
        positions: 9,
        subformulas: vec![Explained {
            text: "AG x\x1b == 0".to_owned(),
            depth: 0,
            stretches: vec![stretch(0, 0, Truth::True), stretch(1, 7, Truth::False), stretch(8, 8, Truth::Unknown)],
            states: Counts { holds: 1, fails: 7, unknown: 3 },
        }],
        left_out: 2,
    }
}

fn result(verdict: Verdict, explanation: Option<Explanation>) -> PropertyResult {
    PropertyResult {
        name: "p".to_owned(),
        kind: "Formula".to_owned(),
        formula: "p".to_owned(),
        verdict,
        detail: None,
        evidence: None,
        evidence_missing: None,
        vacuous: None,
        explanation,
        notes: Vec::new(),
        promises: Vec::new(),
        basis: Basis::Hardware,
        methods: Vec::new(),
        predicates: Vec::new(),
        recheck: None,
        statistics: Statistics::default(),
    }
}

fn with_report<T>(results: Vec<PropertyResult>, render: impl FnOnce(&Report<'_>) -> T) -> T {
    let hex = b":02000000FFCF30\n:00000001FF\n";
    let image = Image::parse("endless.hex", hex, &LoadOptions::new(0x8000, 0x400)).expect("the image is valid");
    let results = Results {
        properties: results,
        findings: Vec::new(),
        stack: StackBound::default(),
        stacks: Vec::new(),
        survey: None,
        assumptions: Vec::new(),
        ended_paths: std::collections::BTreeMap::new(),
        interrupted: false,
        passes: 1,
        last_pass: Duration::ZERO,
        exploration: None,
        invariants: None,
        contracts: Vec::new(),
    };
    render(&Report {
        image: &image,
        device: "atmega328p",
        results: &results,
        specification: None,
        stopped_by: None,
        peak_memory_bytes: 0,
        machine: None,
        baseline: None,
        origin: ReportOrigin::default(),
    })
}

fn unknown(culprit: Culprit) -> Verdict {
    Verdict::Unknown(Unknown { culprit: Some(Box::new(culprit)), ..Unknown::because("why") })
}

#[test]
fn text_names_the_cause_the_path_the_bits_and_what_would_help() {
    let result = result(unknown(culprit()), Some(explanation()));
    let expected = expect![[r#"
        endless.hex (hex for atmega328p)

        verdict   property  states  refinements     time
        unknown   p              0            0  0.00 ms
                  because why
                  in the way: 'x\u{1b} == 0' is unknown, after 9 steps, at 0x0000
                  path: ... -> 0x0000 -> 0x0000 -> 0x0002 -> 0x0000
                  it depends on PINC.1, read as input at 0x0000, step 7
                  it depends on mem[0x0123], forgotten by the abstraction at 0x0002, step 7
                  it depends on the bits 0x0f of r24, stored and unknown, not split into cases at 0x0002, step 7
                  it depends on the initial content of r5, open before the start, step 7
                  and on 3 more
                  refinements spent on it: 12
                  what would help: an assumption in the property file, if one is right, such as `assume: ["PINC & 0x03 == 0"]`
                  what would help: an assumption in the property file, if one is right, such as `assume: ["UDR0 == 0"]`
                  what would help: to name mem[0x0123] in a property or to bound it, so that its values are distinguished
                  what would help: to give r5 a value before it is used
                  what would help: to repair what leads to the hazard, or to allow it: `allow: {"stack-into-data": "why"}`
                  what would help: to check the pointer or index against its bounds right before the access
                  what would help: to narrow what the step depends on: an assumption, or fewer values at once
                  what would help: to let it run to its end
                  what would help: more time, such as `--timeout 21s`
                  what would help: more time, such as `--timeout 1s`
                  what would help: more memory, such as `--memory 1024M`
                  along the path to what stands in the way, 8 steps from the first state:
                    AG x\u{1b} == 0
                        holds   0 from 0x0000
                        fails   1 to 7 from 0x0002
                        unknown 8 from 0x0010
                        of all states: holds in 1, fails in 7, unknown in 3
                    2 more subformulas were not evaluated

        stack     no bound found
        summary   0 hold, 0 violated, 1 unknown
        memory    0.0 MiB at most
    "#]];
    expected.assert_eq(&with_report(vec![result], |report| report.text_with(Colour::Never, Detail::Subformulas)));
}

/// A limit at which the states of one instruction exploded.
fn exploded() -> Culprit {
    let cells = vec![
        VaryingCell { cell: DataAddress(28), contents: 200 },
        VaryingCell { cell: DataAddress(0x23), contents: 16 },
    ];
    let explosion = Explosion { pc: 2, states: 3000, cells, more_cells: 2 };
    let help = vec![Help::RaiseTime(Duration::from_secs(60))];
    Culprit { obstacle: Obstacle::Time(Duration::from_secs(60)), explosion: Some(explosion), help, ..culprit() }
}

#[test]
fn a_cause_that_several_properties_share_is_told_once() {
    let other = Culprit { refinements: 3, ..exploded() };
    let apart = Culprit { explosion: None, ..exploded() };
    let results = [exploded(), other, apart].map(|culprit| result(unknown(culprit), None));
    let text = with_report(results.into(), |report| report.text(Colour::Never));
    let count = |part: &str| text.matches(part).count();
    let told = "the states explode at 0x0002: 3000 of them, which differ in r28 (200 contents) times PINB (16 contents), and 2 other cells";
    assert_eq!((count(told), count("because of the same as 'p'"), count("because why")), (1, 1, 2), "{text}");
    let found = &json(unknown(exploded()))["unknown"]["explodes"];
    assert_eq!((&found["states"], &found["cells"][0]["cell"]), (&Value::from(3000), &Value::from("r28")));
}

#[test]
fn the_first_line_names_a_limit_that_nobody_chose() {
    let stopped = |limit, is_default, verdict| {
        let stopped_by = Some(StoppedBy { limit, is_default });
        let told = |report: &Report<'_>| {
            let report = Report { stopped_by, ..*report };
            (report.text(Colour::Never), report.json())
        };
        let (text, json) = with_report(vec![result(verdict, None)], told);
        let json: Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(schema::problems(&json, schema::REPORT), Vec::<String>::new());
        (text.lines().next().expect("there is a line").to_owned(), json["stopped_by"].clone())
    };
    let (minute, heading) = (Exhausted::Time(Duration::from_secs(60)), "endless.hex (hex for atmega328p)".to_owned());
    let line = "stopped after 60 s, which is the default: 1 property is unknown; `--timeout 10m` allows more, `--timeout none` any time";
    assert_eq!(stopped(minute, true, unknown(exploded())), (line.to_owned(), Value::from("default-time")));
    assert_eq!(stopped(minute, true, Verdict::Holds), (heading.clone(), Value::from("default-time")));
    assert_eq!(stopped(minute, false, unknown(exploded())), (heading.clone(), Value::from("time")));
    assert_eq!(stopped(Exhausted::Memory(1), false, unknown(exploded())), (heading, Value::from("memory")));
}

fn json(verdict: Verdict) -> Value {
    let text = with_report(vec![result(verdict, Some(explanation()))], |report| report.json());
    let report: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new());
    report["results"][0].clone()
}

#[test]
fn json_has_the_same_as_data() {
    let result = json(unknown(culprit()));
    let unknown = &result["unknown"];
    assert_eq!((&unknown["limit"], &unknown["refinements"]), (&Value::from("abstraction"), &Value::from(12)));
    assert_eq!(unknown["path"].as_array().map(Vec::len), Some(4));
    let origins: Vec<_> = (0..4).map(|index| unknown["bits"][index]["origin"].clone()).collect();
    assert_eq!(origins, ["input", "decay", "case-split", "initial"]);
    assert_eq!((&unknown["bits"][0]["cell"], &unknown["bits"][0]["mask"]), (&Value::from("PINC"), &Value::from(2)));
    assert_eq!(unknown["help"].as_array().map(Vec::len), Some(HELP.len()));
    assert_eq!(result["explanation"]["subformulas"][0]["stretches"][2]["value"], "unknown");
}

#[test]
fn every_unknown_verdict_has_an_object() {
    let limit = |verdict| json(verdict)["unknown"]["limit"].clone();
    let of = |obstacle| limit(unknown(Culprit { obstacle, ..culprit() }));
    assert_eq!(limit(Verdict::Unknown(Unknown::because("unsupported"))), "property");
    assert_eq!(limit(Verdict::Unknown(Unknown::failed_self_check("why"))), "self-check");
    assert_eq!(of(Obstacle::Time(Duration::ZERO)), "time");
    assert_eq!(of(Obstacle::Memory(1)), "memory");
    assert_eq!(of(Obstacle::Interrupted), "interrupted");
    assert_eq!(of(Obstacle::Engine(Limit::UnknownTarget)), "engine");
    assert_eq!(of(Obstacle::Hazard(Hazard { kind: HazardKind::OutsideImage, address: None })), "hazard");
    assert!(json(Verdict::Holds)["unknown"].is_null());
}
