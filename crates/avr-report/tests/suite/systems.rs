//! Reports about a system: each fits its format, also with names that try to break out of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::{PropertyFile, Setting};
use avr_report::{Colour, InputFile, ReportOrigin, SystemNode, SystemReport};
use avr_system::{Limits, MomentKind, Repeats, Results, Run, SpecificationMoment, System, SystemFile, Verdict};
use avr_testkit::schema;
use quick_junit::{NonSuccessKind, TestCaseStatus};
use serde_json::Value;

use crate::sarif::sarif_problems;

/// Names that mean something to terminals, XML, HTML, Markdown and workflow commands.
const HOSTILE: &str = "\u{1b}[2J</testsuite><script>alert(1)</script>]]>&amp;|`**x**`\n::error::forged\r##[error]100%,a:b \u{202e}[l](http://x)";
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware-samples/systems");

/// A system of a sender and a receiver, of which each kind of verdict is there, with its answers.
struct Sample {
    text: String,
    file: SystemFile,
    images: Vec<Image>,
    assumptions: Vec<String>,
    results: Results,
}

fn sample() -> &'static Sample {
    static SAMPLE: OnceLock<Sample> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let text = std::fs::read_to_string(Path::new(FOLDER).join("burst.ron")).expect("the sample is there");
        let file = SystemFile::parse(&text).expect("it is a system");
        let device = device();
        let load = |path: &str| {
            let path = Path::new(FOLDER).join(path);
            Image::load(path, &LoadOptions::new(device.memory.flash_bytes, 1024)).expect("a sample")
        };
        let images: Vec<Image> = file.nodes.iter().map(|node| load(&node.firmware.text)).collect();
        let properties = PropertyFile::parse("p.ron", "()").expect("it says nothing");
        let eeprom = BTreeMap::new();
        let setting = |image| Setting { image, device, start: None, file: &properties, eeprom: &eeprom };
        let settings: Vec<Setting<'_>> = images.iter().map(setting).collect();
        let system = System::bind(&file, &settings, &BTreeMap::new()).expect("it can be bound");
        let results = system.verify(Limits::default(), &|| false);
        let assumptions = system.assumptions();
        drop(system);
        Sample { text, file, images, assumptions, results }
    })
}

fn device() -> &'static Device {
    Device::named("atmega328p").expect("there is such a device")
}

/// Renders the answers about the sample after a change.
fn rendered<T>(change: impl FnOnce(&mut Results), render: impl FnOnce(&SystemReport<'_>) -> T) -> T {
    let Sample { text, file, images, assumptions, results } = sample();
    let mut results = results.clone();
    change(&mut results);
    let nodes: Vec<SystemNode<'_>> = images.iter().map(|image| SystemNode { image, device: device() }).collect();
    let sha256 = "0".repeat(64);
    let inputs = [InputFile { role: "system".to_owned(), path: "out/a b.ron".to_owned(), sha256, bytes: 1 }];
    let origin = ReportOrigin { tool: "1", inputs: &inputs, ..ReportOrigin::default() };
    render(&SystemReport { path: "out/a b.ron", text, file, nodes: &nodes, assumptions, results: &results, origin })
}

fn run(results: &mut Results) -> &mut Run {
    match &mut results.properties[0].verdict {
        Verdict::Violated(run) => run,
        other => panic!("{other:?}"),
    }
}

/// Makes everything hostile that comes from files.
fn hostile(results: &mut Results) {
    results.properties.iter_mut().for_each(|result| result.name = HOSTILE.to_owned());
    results.properties[1].verdict = Verdict::Unknown(HOSTILE.to_owned());
    let run = run(results);
    run.moments.iter_mut().for_each(|moment| moment.text = HOSTILE.to_owned());
    run.last.iter_mut().for_each(|place| place.text = HOSTILE.to_owned());
    let names = || vec![HOSTILE.to_owned()];
    run.specification = vec![SpecificationMoment { moments: 1, events: names(), states: names() }];
}

fn sarif(change: impl FnOnce(&mut Results)) -> Value {
    serde_json::from_str(&rendered(change, |report| report.sarif())).expect("SARIF is JSON")
}

/// The text of a report in a format.
type Written = fn(&SystemReport<'_>) -> String;

#[test]
fn sarif_fits_the_standard_and_points_into_the_system_file() {
    let log = sarif(|_| ());
    assert_eq!(sarif_problems(&log), Vec::<String>::new());
    assert_eq!(sarif_problems(&sarif(hostile)), Vec::<String>::new());
    let results = log["runs"][0]["results"].as_array().expect("it is a list");
    let row = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "out/a%20b.ron");
        let region = &place["region"];
        let numbers = ["startLine", "startColumn", "endLine", "endColumn"].map(|name| region[name].as_u64());
        (result["ruleId"].clone(), result["level"].clone(), numbers.map(Option::unwrap_or_default))
    };
    let rows: Vec<_> = results.iter().map(row).collect();
    let expected = [("Deadlock", "error", [13, 9, 13, 19]), ("Always", "warning", [14, 9, 14, 40])];
    assert_eq!(rows, expected.map(|(rule, level, region)| (rule.into(), level.into(), region)));
    assert_eq!(log["runs"][0]["properties"]["summary"], serde_json::json!({"holds": 1, "violated": 1, "unknown": 1}));
    assert_eq!(log["runs"][0]["artifacts"].as_array().map(Vec::len), Some(3));
}

#[test]
fn sarif_has_the_steps_of_all_nodes_in_one_order() {
    let log = sarif(|_| ());
    let threads = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array().expect("it is a list");
    let names: Vec<&str> = threads.iter().filter_map(|thread| thread["id"].as_str()).collect();
    assert_eq!(names, ["sender", "receiver", "lines"]);
    let mut all: Vec<(u64, String)> = Vec::new();
    for thread in threads {
        let own: Vec<(u64, String)> = thread["locations"]
            .as_array()
            .expect("it is a list")
            .iter()
            .map(|at| {
                let text = at["location"]["message"]["text"].as_str().expect("it is a text").to_owned();
                (at["executionOrder"].as_u64().expect("it is a number"), text)
            })
            .collect();
        assert!(own.is_sorted_by_key(|(order, _)| *order), "{own:?}");
        all.extend(own);
    }
    all.sort();
    let Verdict::Violated(run) = &sample().results.properties[0].verdict else { panic!("it is violated") };
    // Each moment once, and both nodes in the end.
    assert_eq!(all.len(), run.moments.len() + 2);
    for (number, moment) in run.moments.iter().enumerate() {
        assert_eq!(all[number].0, number as u64 + 1);
        assert!(all[number].1.contains(&moment.text), "{} is {}", all[number].1, moment.text);
    }
    // A character that arrives is at its wire.
    let wire = &threads[2]["locations"][0]["location"]["physicalLocation"];
    assert_eq!((&wire["artifactLocation"]["index"], &wire["region"]["startLine"]), (&0.into(), &8.into()));
    // The firmware of each node is an artifact of its own, and its steps are in its sources.
    let artifacts = &log["runs"][0]["artifacts"];
    for (number, name) in [(1, "sender"), (2, "receiver")] {
        let uri = artifacts[number]["location"]["uri"].as_str().expect("it is a text");
        assert!(uri.ends_with(&format!("burst-{name}.Os.elf")), "{uri}");
        let place = &threads[number - 1]["locations"][0]["location"];
        let source = place["physicalLocation"]["artifactLocation"]["uri"].as_str().expect("it is a text");
        assert!(source.ends_with(".h") && place["logicalLocations"][0]["name"] == "main", "{place}");
    }
}

#[test]
fn junit_has_a_case_for_each_property() {
    let xml = rendered(|results| results.properties[2].name = HOSTILE.to_owned(), |report| report.junit());
    let suites = quick_junit::Report::deserialize_from_str(&xml).expect("the XML is a JUnit report");
    let suite = &suites.test_suites[0];
    let outcome = |status: &TestCaseStatus| match status {
        TestCaseStatus::Success { .. } => "success",
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => "failure",
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => "error",
        TestCaseStatus::Skipped { .. } => "skipped",
    };
    let rows: Vec<_> = suite.test_cases.iter().map(|case| outcome(&case.status)).collect();
    assert_eq!(rows, ["failure", "error", "success"]);
    assert_eq!((suite.tests, suite.failures, suite.errors), (3, 1, 1));
    assert_eq!(suite.test_cases[0].name.as_str(), "Deadlock()");
    for part in
        ["receiver at 0x0098 reads the character 0x02", "node receiver", "is lost, because the receiver is full"]
    {
        assert!(xml.contains(part), "{part}: {xml}");
    }
}

#[test]
fn nothing_hostile_gets_out() {
    let formats: [(&str, Written); 7] = [
        ("text", |report| report.text(Colour::Never)),
        ("json", |report| report.json()),
        ("sarif", |report| report.sarif()),
        ("junit", |report| report.junit()),
        ("github", |report| report.github()),
        ("markdown", |report| report.markdown()),
        ("html", |report| report.html()),
    ];
    for (format, render) in formats {
        let text = rendered(hostile, render);
        let is_harmful = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(is_harmful), "{format}: {text}");
        let forged = |line: &str| ["::error::", "##["].iter().any(|start| line.trim_start().starts_with(start));
        assert!(!text.lines().any(forged), "{format}: {text}");
        let is_markup = matches!(format, "junit" | "html");
        assert!(
            !is_markup || !text.contains("<script") && text.matches("</testsuite>").count() <= 1,
            "{format}: {text}"
        );
    }
    let xml = rendered(hostile, |report| report.junit());
    quick_junit::Report::deserialize_from_str(&xml).expect("the XML is a JUnit report");
    let json: Value = serde_json::from_str(&rendered(hostile, |report| report.json())).expect("it is JSON");
    assert_eq!(schema::problems(&json, schema::SYSTEM), Vec::<String>::new());
    assert_eq!(json["properties"][0]["name"], HOSTILE);
    let page = rendered(hostile, |report| report.markdown());
    let outside = page.split("```").step_by(2).collect::<Vec<_>>().concat();
    assert!(!outside.contains("<script"), "{page}");
    // A summary is HTML, in which links of Markdown are none.
    assert!(!outside.lines().any(|line| !line.starts_with("<details>") && line.contains("[l](")), "{page}");
}

#[test]
fn github_gets_the_place_in_the_system_file() {
    let text = rendered(|_| (), |report| report.github());
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("::error file=out/a b.ron,line=13,title=violated%3A Deadlock()::"), "{text}");
    assert!(lines[1].starts_with("::warning file=out/a b.ron,line=14,title=unknown%3A Always("), "{text}");
    assert_eq!(lines[2..], ["::notice title=avr-tvar::out/a b.ron: 1 holds, 1 violated, 1 unknown"]);
}

/// The rows of the table of a page, each as its cells with their classes and the number of columns that they take.
fn rows(page: &str) -> Vec<Vec<(String, usize, String)>> {
    let (_, table) = page.split_once("<table>").expect("there is a table");
    let (table, _) = table.split_once("</table>").expect("it ends");
    let cell = |part: &str| {
        let (tag, content) = part.split_once('>').expect("the tag ends");
        let attribute = |name: &str| {
            let (_, rest) = tag.split_once(&format!("{name}=\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        let columns = attribute("colspan").map_or(1, |columns| columns.parse().expect("it is a number"));
        let content = content.split("</t").next().unwrap_or_default().to_owned();
        (attribute("class").unwrap_or_default(), columns, content)
    };
    let rows = table.split("<tr>").skip(1);
    rows.map(|row| row.replace("<th", "<td").split("<td").skip(1).map(cell).collect()).collect()
}

#[test]
fn pages_have_a_column_for_each_node() {
    let page = rendered(|_| (), |report| report.html());
    let rows = rows(&page);
    let Verdict::Violated(run) = &sample().results.properties[0].verdict else { panic!("it is violated") };
    assert_eq!(rows.len(), run.moments.len() + 2);
    for row in &rows {
        assert_eq!(row.iter().map(|(_, columns, _)| columns).sum::<usize>(), 3, "{row:?}");
    }
    let titles: Vec<&str> = rows[0][1..].iter().map(|(_, _, text)| text.as_str()).collect();
    assert_eq!(titles, ["sender", "receiver"]);
    for (moment, row) in run.moments.iter().zip(&rows[1..]) {
        let place = row.iter().position(|(.., text)| text.contains(&moment.text));
        let (class, columns, text) = &row[place.unwrap_or_else(|| panic!("{moment:?}: {row:?}"))];
        assert_eq!(class.contains("wire"), moment.kind.is_on_wire(), "{row:?}");
        match moment.kind {
            MomentKind::Line { from, to } => {
                let arrow = if from < to { '→' } else { '←' };
                assert_eq!((*columns, text.starts_with(arrow)), (2, true), "{row:?}");
            }
            _ => assert_eq!(place, moment.node.map(|node| node + 1), "{row:?}"),
        }
    }
    let ends = rows.last().expect("there is an end");
    for (cell, place) in ends[1..].iter().zip(&run.last) {
        assert!(cell.2.starts_with(&place.text), "{ends:?}");
    }
}

#[test]
fn pages_need_nothing_else_and_run_no_script() {
    let page = rendered(hostile, |report| report.html());
    for foreign in ["<script", "src=", "@import", "onclick", "javascript:"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert_eq!(
        page.matches("href=\"").count(),
        page.matches("href=\"#").count() + page.matches("href=\"data:").count()
    );
    assert!(page.contains("default-src 'none'") && !page.contains("script-src"), "{page}");
    assert!(page.ends_with("</html>"), "the page is complete");
    // Each link leads to something.
    for part in page.split("href=\"#").skip(1) {
        let name = part.split('"').next().unwrap_or_default();
        assert!(page.contains(&format!("id=\"{name}\"")), "{name}");
    }
}

#[test]
fn long_runs_are_shortened_where_they_are_shown() {
    let long = |results: &mut Results| {
        let run = run(results);
        run.moments = run.moments.iter().cycle().take(3_000).cloned().collect();
    };
    let page = rendered(long, |report| report.html());
    let rows = rows(&page);
    assert_eq!(rows.len(), 1_003);
    assert!(rows.iter().any(|row| row.iter().any(|(.., text)| text.starts_with("2000 moments are left out"))));
    assert_eq!(rows[1_001][0].2, "3000");
    assert!(rendered(long, |report| report.text(Colour::Never)).contains("and 2960 more; --format json has all"));
    let json: Value = serde_json::from_str(&rendered(long, |report| report.json())).expect("it is JSON");
    assert_eq!(json["properties"][0]["run"]["moments"].as_array().map(Vec::len), Some(3_000));
}

#[test]
fn what_repeats_is_marked() {
    let repeating = |before: usize| {
        move |results: &mut Results| {
            run(results).repeats = Some(Repeats { moments: before, schedule: 1, steps: 7 });
        }
    };
    let all = match &sample().results.properties[0].verdict {
        Verdict::Violated(run) => run.moments.len(),
        other => panic!("{other:?}"),
    };
    for (before, said) in [
        (0, "from here on the same 7 steps repeat for ever:"),
        (3, "from here on the same 7 steps repeat for ever:"),
        (all, "the last 7 steps repeat for ever, and nothing happens on a wire"),
    ] {
        let text = rendered(repeating(before), |report| report.text(Colour::Never));
        let lines: Vec<&str> = text.lines().map(str::trim).skip_while(|line| !line.starts_with("run of all")).collect();
        assert_eq!(lines[1 + before], said, "{text}");
        assert!(lines[0].ends_with(" steps, the last 7 for ever, replayed:"), "{text}");
        let page = rendered(repeating(before), |report| report.html());
        let (_, table) = page.split_once("<tbody>").expect("there is a table");
        let rows: Vec<&str> = table.split("<tr").skip(1).collect();
        assert!(rows[before].contains("between") && rows[before].contains(said), "{before}: {page}");
        assert_eq!(page.matches("for ever:</td>").count() + page.matches("on a wire</td>").count(), 1, "{page}");
        let json: Value =
            serde_json::from_str(&rendered(repeating(before), |report| report.json())).expect("it is JSON");
        assert_eq!(schema::problems(&json, schema::SYSTEM), Vec::<String>::new());
        assert_eq!(json["properties"][0]["run"]["repeats"]["moments"], before);
    }
    // The beginning of it is left out with all before it.
    let long = |results: &mut Results| {
        let run = run(results);
        run.moments = run.moments.iter().cycle().take(3_000).cloned().collect();
        run.repeats = Some(Repeats { moments: 1_500, schedule: 1, steps: 7 });
    };
    assert_eq!(rendered(long, |report| report.html()).matches("repeat for ever:</td>").count(), 1);
    let text = rendered(long, |report| report.text(Colour::Never));
    assert_eq!(text.matches("the same 7 steps repeat for ever").count(), 1, "{text}");
}

#[test]
fn the_states_of_a_specification_stand_beside_the_run() {
    let moment = |moments: usize, events: &[&str], states: &[&str]| {
        let [events, states] = [events, states].map(|all| all.iter().map(|one| (*one).to_owned()).collect());
        SpecificationMoment { moments, events, states }
    };
    let beside = |results: &mut Results| {
        let first = moment(0, &[], &["idle"]);
        run(results).specification =
            vec![first, moment(2, &["a.write(UDR0)"], &["busy", "done"]), moment(4, &["b.read(UDR0)"], &[])];
    };
    let text = rendered(beside, |report| report.text(Colour::Never));
    let lines: Vec<&str> = text.lines().map(str::trim).skip_while(|line| !line.starts_with("run of all")).collect();
    assert_eq!(lines[1], "specification: idle");
    assert_eq!(lines[4], "specification after a.write(UDR0): busy or done");
    assert_eq!(lines[7], "specification after b.read(UDR0): no answer");
    let github = rendered(beside, |report| report.github());
    assert!(github.contains(": the specification in state busy or done cannot answer b.read(UDR0)"), "{github}");
    let page = rendered(beside, |report| report.html());
    assert_eq!(page.matches("<tr class=\"between\">").count(), 3, "{page}");
    let log = sarif(beside);
    assert_eq!(sarif_problems(&log), Vec::<String>::new());
    let threads = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array().expect("it is a list");
    let thread = threads.iter().find(|thread| thread["id"] == "specification").expect("it has a thread");
    let row = |one: &Value| (one["location"]["message"]["text"].clone(), one["executionOrder"].clone());
    let rows: Vec<_> = thread["locations"].as_array().expect("it is a list").iter().map(row).collect();
    let expected = [lines[1], lines[4], lines[7]].map(Value::from).into_iter().zip([0, 2, 4].map(Value::from));
    assert_eq!(rows, expected.collect::<Vec<_>>());
    let json: Value = serde_json::from_str(&rendered(beside, |report| report.json())).expect("it is JSON");
    assert_eq!(schema::problems(&json, schema::SYSTEM), Vec::<String>::new());
    assert_eq!(json["properties"][0]["run"]["specification"][1]["states"], serde_json::json!(["busy", "done"]));
}
