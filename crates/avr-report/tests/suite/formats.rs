//! Reports for other programs: each fits its format, also with names that try to break out of it.

use crate::branch;
use crate::sarif::sarif_problems;
use avr_machine::Machine;
use avr_report::{Baseline, Colour, Detail, Report};
use avr_verify::{AtomTrace, Basis, Evidence, Results, Unknown, Vacuity, Verdict};
use expect_test::expect;
use quick_junit::TestCaseStatus;
use serde_json::Value;

/// Names that mean something to terminals, XML, HTML, Markdown and workflow commands.
const HOSTILE: &str = "\u{1b}[2J</testsuite><script>alert(1)</script>]]>&amp;|`**x**`\n::error::forged\r##[error]100%,a:b \u{202e}[l](http://x)";

const PROPERTIES: &str = r#"(properties: [
    Recovery(name: "gets back", to: "PORTD == 0"),
    Inherent(name: "no hazard"),
    Stack(name: "stack of 1", max_bytes: 1),
    Reachable(name: "HOSTILE", check: "PORTD == 77"),
    Formula(name: "not known", check: "AF PORTD == 1"),
])"#;

/// Renders what verification answers about a sample in which names are hostile, the last answer is taken away and the
/// second is vacuous.
fn with_machine<T>(image: &str, render: impl FnOnce(&Report<'_>, &Machine) -> T) -> T {
    let change = |results: &mut Results| {
        results.properties[1].vacuous =
            Some(Vacuity { subformula: HOSTILE.to_owned(), replaced_by: false, part: Some(0) });
        results.properties[3].name = HOSTILE.to_owned();
        results.properties[4].verdict = Verdict::Unknown(Unknown::because(format!("of {HOSTILE}")));
        results.properties[4].evidence = None;
        results.properties[4].basis = Basis::Model;
        results.assumptions.push(HOSTILE.to_owned());
    };
    branch::with_report((image, "out/branch 1.elf"), PROPERTIES, change, render)
}

fn with_report<T>(image: &str, render: impl FnOnce(&Report<'_>) -> T) -> T {
    with_machine(image, |report, _| render(report))
}

fn sarif(image: &str) -> Value {
    serde_json::from_str(&with_report(image, |report| report.sarif())).expect("SARIF is JSON")
}

#[test]
fn sarif_fits_the_standard() {
    for image in ["branch.Og.elf", "branch.Og.hex"] {
        assert_eq!(sarif_problems(&sarif(image)), Vec::<String>::new(), "{image}");
    }
    let mut other = sarif("branch.Og.elf");
    other["runs"][0]["results"][0]["level"] = "fatal".into();
    assert_eq!(sarif_problems(&other).len(), 1);
}

#[test]
fn sarif_has_what_is_not_proved_in_order() {
    let log = sarif("branch.Og.elf");
    let results = log["runs"][0]["results"].as_array().expect("results are a list");
    let row = |result: &Value| {
        let name = result["properties"]["name"].as_str().unwrap_or_default().chars().take(9).collect::<String>();
        let level = result["level"].as_str().unwrap_or_default().to_owned();
        (name, level, result["ruleId"].as_str().unwrap_or_default().to_owned())
    };
    let expected = [
        ("gets back", "error", "Recovery"),
        ("stack of ", "error", "Stack"),
        (&HOSTILE[..9], "error", "Reachable"),
        ("not known", "warning", "Formula"),
    ];
    let expected = expected.map(|(name, level, rule)| (name.to_owned(), level.to_owned(), rule.to_owned()));
    assert_eq!(results.iter().map(row).collect::<Vec<_>>(), expected);
    assert_eq!(log["runs"][0]["properties"]["summary"], serde_json::json!({"holds": 1, "violated": 3, "unknown": 1}));
    let message = results[2]["message"]["text"].as_str().expect("messages are texts");
    assert!(!message.contains(['\x1b', '\n', '\r', '\u{202e}']), "{message:?}");
    assert!(message.contains(r"\[l\](http://x)"), "{message}");
}

#[test]
fn sarif_points_to_files_that_exist() {
    let place = |log: &Value| log["runs"][0]["results"][0]["locations"][0]["physicalLocation"].clone();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/branch/branch.Og.elf");
    let render = |report: &Report<'_>, _: &Machine| report.sarif();
    let log = branch::with_report(("branch.Og.elf", sample), PROPERTIES, |_| (), render);
    let found = place(&serde_json::from_str(&log).expect("SARIF is JSON"));
    let uri = found["artifactLocation"]["uri"].as_str().expect("it is a text");
    assert!(uri.ends_with("firmware-samples/branch/main.c") && !uri.contains(".."), "{uri}");
    assert_eq!(found["region"]["startLine"], 10);
    // Neither the source nor debugging information is there: the place is an address in the firmware.
    for image in ["branch.Og.elf", "branch.Og.hex"] {
        let log = sarif(image);
        let found = place(&log);
        assert_eq!(found["artifactLocation"]["uri"], "out/branch%201.elf", "{image}");
        assert_eq!(found["address"], serde_json::json!({ "absoluteAddress": 0x8a, "kind": "instruction" }), "{image}");
        assert_eq!(log["runs"][0]["artifacts"].as_array().map(Vec::len), Some(1), "{image}");
    }
    let elf = sarif("branch.Og.elf");
    assert_eq!(elf["runs"][0]["results"][0]["locations"][0]["message"]["text"], "branch/main.c:10");
}

#[test]
fn sarif_has_rules_with_pages_and_a_rule_for_each_property() {
    let log = sarif("branch.Og.elf");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules are a list");
    for rule in rules {
        let page = rule["helpUri"].as_str().unwrap_or_default();
        assert!(page.contains(':') && page.ends_with(".html"), "{rule}");
    }
    for result in run["results"].as_array().expect("results are a list") {
        let index = result["ruleIndex"].as_u64().expect("it has a rule") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let own = rules.iter().find(|rule| rule["id"] == result["properties"]["relatedRule"]).expect("it has its own");
        assert_eq!(own["relationships"][0]["target"]["id"], result["ruleId"]);
        assert_eq!(own["relationships"][0]["target"]["index"], result["ruleIndex"]);
        // As the standard says: the kind takes in every case of the property.
        assert_eq!(own["relationships"][0]["kinds"], serde_json::json!(["superset"]));
    }
    assert_eq!(rules.len(), 5 + 5);
}

#[test]
fn an_unknown_verdict_has_no_basis_but_in_json() {
    let log = sarif("branch.Og.elf");
    let results = log["runs"][0]["results"].as_array().expect("results are a list");
    let basis =
        |result: &Value| (result["properties"]["verdict"] == "unknown", result["properties"].get("basis").is_some());
    assert!(results.iter().map(basis).all(|(is_unknown, has_basis)| is_unknown != has_basis), "{results:?}");
    let text = with_report("branch.Og.elf", |report| report.text(Colour::Never));
    assert!(!text.contains("in the model"), "{text}");
    let html = with_machine("branch.Og.elf", |report, machine| report.html(machine));
    assert!(html.contains("<li>not known: unknown</li>"), "{html}");
    let json: Value =
        serde_json::from_str(&with_report("branch.Og.elf", |report| report.json())).expect("the report is JSON");
    assert_eq!(json["results"][4]["basis"], "model");
}

#[test]
fn junit_counts_violated_as_failure_and_unknown_as_error() {
    let xml = with_report("branch.Og.elf", |report| report.junit());
    let suites = quick_junit::Report::deserialize_from_str(&xml).expect("the XML is a JUnit report");
    let suite = &suites.test_suites[0];
    let row = |case: &quick_junit::TestCase| {
        let outcome = match &case.status {
            TestCaseStatus::Success { .. } => "success",
            TestCaseStatus::NonSuccess { kind: quick_junit::NonSuccessKind::Failure, .. } => "failure",
            TestCaseStatus::NonSuccess { kind: quick_junit::NonSuccessKind::Error, .. } => "error",
            TestCaseStatus::Skipped { .. } => "skipped",
        };
        (case.name.as_str().chars().take(9).collect::<String>(), outcome)
    };
    let rows: Vec<_> = suite.test_cases.iter().map(row).collect();
    let expected = [
        ("gets back", "failure"),
        ("no hazard", "success"),
        ("stack of ", "failure"),
        (r"\u{1b}[2J", "failure"),
        ("not known", "error"),
    ];
    assert_eq!(rows, expected.map(|(name, outcome)| (name.to_owned(), outcome)));
    assert_eq!((suite.tests, suite.failures, suite.errors), (5, 3, 1));
    assert!(!xml.contains(['\x1b', '\u{202e}']) && !xml.contains("<script>"), "{xml}");
}

#[test]
fn github_gets_one_command_for_each_problem() {
    let expected = expect![[r#"
        ::error file=branch/main.c,line=10,title=violated%3A gets back::out/branch 1.elf: 'gets back' is violated%0Arun of 13 steps: after 13 steps 'EF (PORTD == 0)' does not hold
        ::notice title=holds%3A no hazard::out/branch 1.elf: 'no hazard' holds%0Avacuous: it holds as well with '\u{1b}[2J</testsuite><script>alert(1)</script>]]>&amp;|`**x**`\n::error::forged\r##[error]100%25,a:b \u{202e}[l](http://x)' replaced by false
        ::error title=violated%3A stack of 1::out/branch 1.elf: 'stack of 1' is violated%0Arun of 8 steps: after 8 steps 'sp_torn' is false, 'sp >= 0x8fe' is false
        ::error title=violated%3A \u{1b}[2J</testsuite><script>alert(1)</script>]]>&amp;|`**x**`\n%3A%3Aerror%3A%3Aforged\r##[error]100%25%2Ca%3Ab \u{202e}[l](http%3A//x)::out/branch 1.elf: '\u{1b}[2J</testsuite><script>alert(1)</script>]]>&amp;|`**x**`\n::error::forged\r##[error]100%25,a:b \u{202e}[l](http://x)' is violated%0Arun of 0 steps: in the first state 'EF (PORTD == 77)' does not hold
        ::warning title=unknown%3A not known::out/branch 1.elf: 'not known' is unknown%0Aof \u{1b}[2J</testsuite><script>alert(1)</script>]]>&amp;|`**x**`\n::error::forged\r##[error]100%25,a:b \u{202e}[l](http://x)
        ::notice title=avr-tvar::out/branch 1.elf: 1 holds, 3 violated, 1 unknown; stack: 2 bytes at most, and some run needs them
    "#]];
    expected.assert_eq(&with_report("branch.Og.elf", |report| report.github()));
}

#[test]
fn markdown_is_a_table_and_folded_runs() {
    let expected = expect![[r#"
        ### avr-tvar: out/branch 1\.elf (atmega328p-gpio)

        1 holds, 3 violated, 1 unknown

        | verdict | property | remarks |
        |---|---|---|
        | ❌ violated | gets back | run of 13 steps\: after 13 steps 'EF \(PORTD == 0\)' does not hold |
        | ✅ holds | no hazard | vacuous\: it holds as well with '\\u\{1b\}\[2J&lt;/testsuite&gt;&lt;script&gt;alert\(1\)&lt;/script&gt;\]\]&gt;&amp;amp;\|\`\*\*x\*\*\`\\n\:\:error\:\:forged\\r&#35;&#35;\[error\]100%,a\:b \\u\{202e\}\[l\]\(http\://x\)' replaced by false |
        | ❌ violated | stack of 1 | run of 8 steps\: after 8 steps 'sp\_torn' is false, 'sp &gt;= 0x8fe' is false |
        | ❌ violated | \\u\{1b\}\[2J&lt;/testsuite&gt;&lt;script&gt;alert\(1\)&lt;/script&gt;\]\]&gt;&amp;amp;\|\`\*\*x\*\*\`\\n\:\:error\:\:forged\\r&#35;&#35;\[error\]100%,a\:b \\u\{202e\}\[l\]\(http\://x\) | run of 0 steps\: in the first state 'EF \(PORTD == 77\)' does not hold |
        | ❓ unknown | not known | of \\u\{1b\}\[2J&lt;/testsuite&gt;&lt;script&gt;alert\(1\)&lt;/script&gt;\]\]&gt;&amp;amp;\|\`\*\*x\*\*\`\\n\:\:error\:\:forged\\r&#35;&#35;\[error\]100%,a\:b \\u\{202e\}\[l\]\(http\://x\) |

        Stack: 2 bytes at most, and some run needs them

        Assuming \\u\{1b\}\[2J&lt;/testsuite&gt;&lt;script&gt;alert\(1\)&lt;/script&gt;\]\]&gt;&amp;amp;\|\`\*\*x\*\*\`\\n\:\:error\:\:forged\\r&#35;&#35;\[error\]100%,a\:b \\u\{202e\}\[l\]\(http\://x\)
    "#]];
    let page = with_report("branch.Og.elf", |report| report.markdown());
    let table: Vec<&str> = page.lines().take_while(|line| !line.starts_with("<details>")).collect();
    expected.assert_eq(&table.join("\n"));
    assert!(!page.contains("<script>") && !page.contains('\x1b'), "{page}");
    assert_eq!(page.matches("<details>").count(), 3);
    assert_eq!(page.matches("```").count(), 6);
}

fn html(image: &str) -> String {
    with_machine(image, |report, machine| report.html(machine))
}

#[test]
fn html_needs_nothing_else_and_runs_no_foreign_script() {
    let page = html("branch.Og.elf");
    for foreign in ["<script>alert", "</testsuite>", "src=", "@import", "\x1b", "\u{202e}"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert!(page.matches("href=\"").count() == page.matches("href=\"#").count() + page.matches("href=\"data:").count());
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn html_has_the_runs_as_data() {
    let page = html("branch.Og.elf");
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").expect("there are data");
    let (data, _) = data.split_once("</script>").expect("they end");
    let data: Value = serde_json::from_str(data).expect("they are JSON");
    let runs = data["runs"].as_array().expect("it is a list");
    assert_eq!((runs.len(), page.matches("data-run=").count()), (3, 3));
    let steps = runs[0]["steps"].as_array().expect("it is a list");
    assert_eq!((steps.len(), &runs[0]["all"]), (13, &13.into()));
    // A step: address, clock cycles, changes of cells, reads, event, inputs.
    assert_eq!(steps[10][5], serde_json::json!(["PINB.0 = 1"]));
    // PORTD is written last.
    assert_eq!(steps[12][2], serde_json::json!([0x2b, 1]));
}

/// The values of atoms in the first run of a page.
fn atoms(change: impl FnOnce(&mut Evidence)) -> Value {
    let change = |results: &mut Results| change(results.properties[0].evidence.as_mut().expect("there is a run"));
    let render = |report: &Report<'_>, machine: &Machine| report.html(machine);
    let page = branch::with_report(("branch.Og.elf", "branch.elf"), PROPERTIES, change, render);
    let (_, data) = page.split_once("id=\"data\">").expect("there are data");
    let (data, _) = data.split_once("</script>").expect("they end");
    serde_json::from_str::<Value>(data).expect("they are JSON")["runs"][0]["atoms"].clone()
}

#[test]
fn runs_have_the_values_of_atoms() {
    // PORTD is written in the 13th step.
    assert_eq!(atoms(|_| ()), serde_json::json!([["PORTD == 0", [[0, true], [13, false]]]]));
    let changes = vec![(0, None), (3, Some(true))];
    let unknown = AtomTrace { text: "a\x1b[1m".to_owned(), changes };
    let expected = serde_json::json!([["a\\u{1b}[1m", [[0, null], [3, true]]]]);
    assert_eq!(atoms(|evidence| evidence.traces = vec![unknown]), expected);
    // Without them there is the end of the run.
    assert_eq!(atoms(|evidence| evidence.traces.clear()), serde_json::json!([["PORTD == 0", [[13, false]]]]));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let width = |text: &str| text.lines().map(|line| line.chars().count()).max();
    let plain = with_report("branch.Og.elf", |report| report.text(Colour::Never));
    assert!(width(&plain) > Some(90), "{plain}");
    for columns in [40, 60, 80, 120] {
        let text = with_report("branch.Og.elf", |report| report.text_within(Colour::Never, Detail::Methods, columns));
        assert!(width(&text) <= Some(columns), "{columns}: {text}");
        // Everything is told that a wide terminal shows, but what the work took.
        for told in ["input at step 10:", "sbis 0x03, 0", "rests on", "summary"] {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert_eq!(text.contains("refinements"), columns >= 90, "{text}");
    }
    // No terminal is so narrow that nothing can be told.
    let narrow = with_report("branch.Og.elf", |report| report.text_within(Colour::Never, Detail::Verdicts, 1));
    assert_eq!(width(&narrow), Some(40), "{narrow}");
}

/// Verdicts, stack and routines of an older report in place of those of the present one.
fn older(change: impl FnOnce(&mut Value)) -> Baseline {
    let mut report: Value =
        serde_json::from_str(&with_report("branch.Og.elf", |report| report.json())).expect("the report is JSON");
    change(&mut report);
    Baseline::parse(&report.to_string()).expect("it is a report")
}

#[track_caller]
fn check_changes(change: impl FnOnce(&mut Value), regressions: &[&str], expected: &[&str]) {
    let baseline = older(change);
    let (text, changes) = with_report("branch.Og.elf", |report| {
        let report = Report { baseline: Some(&baseline), ..*report };
        (report.text(Colour::Never), report.changes().expect("there is an older report"))
    });
    let told = text.lines().skip_while(|line| !line.starts_with("since ")).skip(1);
    let told: Vec<&str> = told.take_while(|line| line.starts_with("  ")).map(str::trim_start).collect();
    assert_eq!(told, expected);
    assert_eq!(changes.regressions(), regressions);
}

#[test]
fn changes_since_an_older_report_are_told() {
    check_changes(|_| {}, &[], &["the firmware is the same"]);
    check_changes(
        |report| {
            report["firmware"]["sha256"] = "0".repeat(64).into();
            report["results"][0]["verdict"] = "holds".into();
        },
        &["gets back"],
        &["worse: 'gets back' was holds and is violated"],
    );
    check_changes(
        |report| {
            report["firmware"]["sha256"] = "0".repeat(64).into();
            report["results"][1]["verdict"] = "unknown".into();
            report["results"][2]["name"] = "stack of 0".into();
        },
        &["stack of 0"],
        &[
            "'no hazard' was unknown and is holds",
            "'stack of 1' is new: violated",
            "worse: 'stack of 0' is gone: it was violated",
        ],
    );
    check_changes(
        |report| {
            report["stack"] = serde_json::json!({ "lower": 1, "upper": 1, "exact": 1 });
            report["reached"]["routines"] = serde_json::json!(["__ctors_end", "__vectors", "old"]);
        },
        &["stack"],
        &[
            "the firmware is the same",
            "worse: the stack was at most 1 bytes and is at most 2 bytes",
            "the proof reaches main, and did not before",
            "old is not reached any more",
        ],
    );
    check_changes(
        |report| report["results"][1]["basis"] = "model".into(),
        &[],
        &["the firmware is the same", "'no hazard' was holds in the model and is holds"],
    );
}

#[test]
fn what_an_older_report_does_not_say_is_not_comparable() {
    let check = |remove: &dyn Fn(&mut Value), expected: &[&str]| {
        let baseline = older(|report| remove(report));
        let changes = with_report("branch.Og.elf", |report| {
            Report { baseline: Some(&baseline), ..*report }.changes().expect("there is an older report")
        });
        assert_eq!((changes.incomparable(), changes.regressions()), (expected.to_vec(), Vec::new()));
    };
    let remove = |of: &mut Value, field: &str| {
        of.as_object_mut().expect("it is an object").remove(field).expect("it has the field");
    };
    let properties = ["gets back", "no hazard", "stack of 1", HOSTILE, "not known"];
    let conditions = ["start", "fuses", "eeprom", "assume", "allow", "environment", "forbid"];
    check(&|_| {}, &[]);
    check(&|report| remove(report, "specification"), &[&properties[..], &conditions].concat());
    check(&|report| remove(&mut report["firmware"], "device"), &["device"]);
    check(&|report| remove(&mut report["results"][1], "vacuous"), &["no hazard"]);
    check(&|report| remove(&mut report["specification"], "properties"), &properties);
    check(&|report| remove(&mut report["specification"]["properties"][0], "bound"), &["gets back"]);
    check(&|report| remove(&mut report["specification"]["properties"][2], "under"), &["stack of 1"]);
    for condition in conditions {
        check(&|report| remove(&mut report["specification"], condition), &[condition]);
    }
}

#[test]
fn older_reports_must_be_reports() {
    assert!(Baseline::parse("{").is_err());
    assert!(Baseline::parse("[]").is_err());
    let mut report: Value =
        serde_json::from_str(&with_report("branch.Og.elf", |report| report.json())).expect("the report is JSON");
    report["schema"] = "avr-tvar/stack/1".into();
    let error = Baseline::parse(&report.to_string()).expect_err("it is of another kind");
    assert_eq!(error.to_string(), "has the schema 'avr-tvar/stack/1', not 'avr-tvar/report/1'");
}

#[test]
fn findings_in_sarif_have_a_state() {
    let baseline = older(|report| report["results"][2]["name"] = "another".into());
    let text = with_report("branch.Og.elf", |report| Report { baseline: Some(&baseline), ..*report }.sarif());
    let log: Value = serde_json::from_str(&text).expect("SARIF is JSON");
    assert_eq!(sarif_problems(&log), Vec::<String>::new());
    let states: Vec<&Value> = (0..4).map(|index| &log["runs"][0]["results"][index]["baselineState"]).collect();
    assert_eq!(states, ["unchanged", "new", "unchanged", "unchanged"]);
}
