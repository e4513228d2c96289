//! Reports on the standard output and in files: formats, strictness, and what happens when a file cannot be written.

use avr_isa::Instruction;
use avr_testkit::image::{bytes, encoded, hex, r};
use avr_testkit::programs::stored_outcome;
use avr_testkit::schema;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const ECHO: &str = "firmware-samples/usart-echo/usart-echo.Os.elf";
const NESTED: &str = "firmware-samples/nested-unbounded/nested-unbounded.Og.elf";
const HAZARD: &str = "firmware-samples/hazard-reserved-opcode/hazard-reserved-opcode.elf";
const STRING: &str = "firmware-samples/sketch-string/sketch-string.Os.elf";
const BRANCH: &str = "firmware-samples/branch/branch.Og.elf";
const PROPERTIES: &str = "properties/branch.ron";
/// A sample with verdicts that hold in the model only.
const TIMER: [&str; 2] = ["firmware-samples/timer-blink/timer-blink.Os.elf", "properties/timer-blink.ron"];

/// Runs the program in the root of the repository.
fn avr_tvar(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(root).env_remove("CLICOLOR_FORCE").output().expect("the program starts")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

/// The text without what differs from run to run.
fn without_times(text: &str) -> String {
    let changing = [
        "\"seconds\"",
        "\"cpu_seconds\"",
        "\"steps_per_second\"",
        "\"peak_memory_bytes\"",
        "time=",
        "work      ",
        "memory    ",
    ];
    // The page has few lines; its table has the times in cells of their own.
    let text = text.replace("</td>", "</td>\n");
    let changing = [&changing[..], &[" ms</td>", " s</td>"]].concat();
    text.lines().filter(|line| !changing.iter().any(|part| line.contains(part))).collect::<Vec<_>>().join("\n")
}

#[test]
fn alarms_are_told_in_all_reports() {
    let folder = folder();
    let json = folder.path().join("report.json");
    let html = folder.path().join("report.html");
    let reports = [format!("--report=json={}", json.display()), format!("--report=html={}", html.display())];
    let output = avr_tvar(&["verify", STRING, "-v", &reports[0], &reports[1]]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let alarm = "a memory access through an unknown pointer at 0x0514 (in memcpy)";
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let told: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("alarms ")).map(str::trim).collect();
    assert_eq!(told[0], format!("alarms    {alarm}"), "{text}");
    assert_eq!(told[1], "it depends on r31:r30, from 0x0000 to 0xffff");
    assert!(told.iter().any(|line| line.starts_with("what would help: to check the pointer")), "{text}");
    let written = fs::read_to_string(&json).expect("the report is there");
    let report: Value = serde_json::from_str(&written).expect("it is JSON");
    assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new());
    let told = &report["invariants"]["alarms"][0];
    assert_eq!((&told["text"], &told["kind"], &told["pc"]), (&alarm.into(), &"limit".into(), &0x514.into()));
    assert_eq!(told["depends_on"][0]["loop"]["function"], "memcpy");
    assert!(fs::read_to_string(&html).expect("the page is there").contains(alarm));
}

#[test]
fn several_reports_are_written_at_once() {
    let folder = folder();
    let formats = ["json", "sarif", "junit", "github", "markdown", "html"];
    let path = |format: &str| folder.path().join(format);
    let reports: Vec<String> =
        formats.iter().map(|format| format!("--report={format}={}", path(format).display())).collect();
    let arguments = |stdout: &'static str| {
        let fixed = ["verify", BRANCH, PROPERTIES, "--format", stdout];
        fixed.into_iter().chain(reports.iter().map(String::as_str)).collect::<Vec<_>>()
    };
    let code = avr_tvar(&["verify", BRANCH, PROPERTIES]).status.code();
    for format in formats {
        let output = avr_tvar(&arguments(format));
        assert_eq!((output.status.code(), stderr(&output)), (code, String::new()), "{format}");
        let file = fs::read_to_string(path(format)).expect("the file is there");
        let stdout = String::from_utf8(output.stdout).expect("output is UTF-8");
        assert_eq!(without_times(&file), without_times(&stdout), "{format}");
    }
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), formats.len());
}

#[test]
fn the_json_fits_its_schema() {
    let strict = [&TIMER[..], &["--strict"]].concat();
    let unfinished = [BRANCH, "--timeout", "0"];
    let rechecked = [BRANCH, PROPERTIES, "--recheck"];
    for arguments in [&[BRANCH, PROPERTIES][..], &TIMER, &strict, &unfinished, &[BRANCH], &rechecked] {
        let output = avr_tvar(&[&["verify", "--format", "json"], arguments].concat());
        let report = serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object");
        assert_eq!(schema::problems(&report, schema::REPORT), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for format in ["json", "sarif", "markdown"] {
        let run = |jobs| {
            let output = avr_tvar(&["verify", BRANCH, PROPERTIES, "--format", format, "--jobs", jobs]);
            without_times(&String::from_utf8(output.stdout).expect("output is UTF-8"))
        };
        assert_eq!(run("1"), run("3"), "{format}");
    }
}

/// The HTML report of a verification, with a fixed date.
fn page(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(["verify", "--format", "html"]).args(arguments);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).env("SOURCE_DATE_EPOCH", "1709210096");
    String::from_utf8(command.output().expect("the program starts").stdout).expect("output is UTF-8")
}

#[test]
fn pages_have_the_date_that_is_asked_for() {
    let asked = page(&[BRANCH, PROPERTIES]);
    assert!(asked.contains("<dt>Date</dt><dd>2024-02-29 12:34 UTC</dd>"), "{asked}");
}

#[test]
fn the_number_of_threads_changes_nothing_in_pages() {
    for input in [[BRANCH, PROPERTIES], TIMER] {
        let page = |jobs| {
            let page = page(&[&input[..], &["--jobs", jobs]].concat());
            assert!(page.contains(&format!("--jobs {jobs}</code>")), "{page}");
            without_times(&page.replace(&format!("--jobs {jobs}"), "--jobs N"))
        };
        let (one, four) = (page("1"), page("4"));
        assert!(one.len() > 10_000 && one == four && four == page("4"), "{input:?}");
    }
}

/// The size that a page has at most, in bytes.
const MAX_PAGE: usize = 2_000_000;

/// Expects a page that is complete and not too large.
#[track_caller]
fn check_size(page: &str) {
    assert!(page.ends_with("</html>") && page.contains("id=\"coverage\""), "the page is not complete");
    assert!(page.len() < MAX_PAGE, "{} bytes", page.len());
}

#[test]
fn pages_of_the_largest_samples_are_small() {
    let string = ["firmware-samples/sketch-string/sketch-string.Og.elf", "properties/sketch-string.Og.ron"];
    for input in [string, ["firmware-samples/lamp-buggy/lamp-buggy.Og.elf", "properties/lamp-line.ron"]] {
        check_size(&page(&[&input[..], &["--timeout", "20s"]].concat()));
    }
}

#[test]
fn the_page_of_a_full_flash_is_small() {
    // All of 32 KiB: counters in registers, written to ports, and a loop at the end.
    let last = 0x3fff;
    let block = [Instruction::Inc { rd: r(16) }, Instruction::Out { io: 0x05, rr: r(16) }];
    let block: Vec<u16> = block.into_iter().flat_map(encoded).collect();
    let mut words: Vec<u16> = block.iter().copied().cycle().take(last).collect();
    words.extend(encoded(Instruction::Rjmp { offset: -1 }));
    let folder = folder();
    let firmware = folder.path().join("full.hex").display().to_string();
    fs::write(&firmware, hex(&bytes(&words))).expect("there is room");
    let page = page(&[&firmware, "--property", "AG EF (PORTB == 0)", "--inherent", "--timeout", "60s"]);
    assert!(page.contains("7ffe"), "the last instruction is in the listing");
    check_size(&page);
}

/// Expects an error that names the file, before anything is verified.
#[track_caller]
fn check_refused(report: &str, expected: &str) {
    let output = avr_tvar(&["verify", BRANCH, "--report", report]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{}", stderr(&output));
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_written_is_an_error_before_the_work() {
    check_refused("json=no/such/folder/report.json", "no/such/folder/report.json: cannot be written: No such file");
    check_refused("json=docs", "docs: cannot be written: is a directory");
    check_refused("json=", "the name of the file is missing");
    check_refused("pdf=report", "'pdf' is no format of reports");
    check_refused(
        &format!("json={BRANCH}"),
        "the report would replace firmware-samples/branch/branch.Og.elf, which is an input",
    );
    let folder = folder();
    let file = folder.path().join("r").display().to_string();
    let twice = [format!("json={file}"), format!("sarif={file}")];
    let output = avr_tvar(&["verify", BRANCH, "--report", &twice[0], "--report", &twice[1]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("two outputs would go there, the report and the report"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path()).expect("the folder is there").count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_the_other_reports_are_written() {
    let folder = folder();
    let file = folder.path().join("report.json");
    let other = format!("json={}", file.display());
    let output = avr_tvar(&["verify", BRANCH, "--report", "text=/dev/full", "--report", &other]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "error: /dev/full: cannot be written: No space left on device (os error 28)\n\
                    hint: make room on the device that it goes to\n";
    assert_eq!(stderr(&output), expected);
    assert!(String::from_utf8_lossy(&output.stdout).contains("summary   1 holds"));
    assert!(fs::read_to_string(&file).expect("the other one is there").ends_with("}\n"));
    // The device is still one.
    assert!(!fs::metadata("/dev/full").expect("it is there").is_file());
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_what_it_leads_to_is_replaced() {
    let folder = folder();
    let (target, link) = (folder.path().join("old.json"), folder.path().join("latest.json"));
    fs::write(&target, "old").expect("there is room");
    std::os::unix::fs::symlink(&target, &link).expect("links are possible");
    let report = format!("json={}", link.display());
    assert_eq!(avr_tvar(&["verify", BRANCH, "--report", &report]).status.code(), Some(0));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert!(fs::read_to_string(&target).expect("it is there").contains("avr-tvar/report/1"));
}

#[test]
fn strictness_takes_away_verdicts_about_the_model() {
    let results = |more: &[&str]| {
        let output = avr_tvar(&[&["verify", "--format", "json"], &TIMER[..], more].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object");
        report["results"].as_array().expect("results are a list").clone()
    };
    let (lenient, strict) = (results(&[]), results(&["--strict"]));
    assert!(lenient.iter().any(|result| result["basis"] == "model"));
    assert!(lenient.iter().all(|result| result["verdict"] != "unknown"));
    for (before, after) in lenient.iter().zip(&strict) {
        let rests_on_model = before["basis"] == "model";
        let expected = if rests_on_model { &Value::from("unknown") } else { &before["verdict"] };
        assert_eq!(&after["verdict"], expected);
        let reason = after["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.ends_with("strictness was asked for"), rests_on_model, "{reason}");
    }
}

#[test]
fn reports_say_what_verdicts_rest_on() {
    let results = |arguments: &[&str]| {
        let output = avr_tvar(&[&["verify", "--format", "json"], arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object");
        report["results"].as_array().expect("results are a list").clone()
    };
    let rests_on = |arguments: &[&str]| results(arguments)[0]["rests_on"].to_string();
    let off = ["--no-invariants", "--all-interrupts", "--all-states", "--all-handlers", "--no-facts"];
    let all = r#"["partial-order-reduction","path-compression","handler-summaries","case-merging","ranges","facts"]"#;
    assert_eq!(rests_on(&[ECHO, "--inherent"]), r#"["invariants"]"#);
    assert_eq!(rests_on(&[ECHO, "--inherent", "--no-invariants"]), all);
    assert_eq!(rests_on(&[&[ECHO, "--inherent"], &off[..]].concat()), "[]");
    let without_facts = r#"["partial-order-reduction","path-compression","handler-summaries","case-merging"]"#;
    assert_eq!(rests_on(&[ECHO, "--inherent", "--no-invariants", "--no-facts"]), without_facts);

    let text = |arguments: &[&str]| String::from_utf8(avr_tvar(arguments).stdout).expect("output is UTF-8");
    assert!(text(&["verify", ECHO, "-v"]).contains("          rests on invariants\n"));
    let verbose = text(&["verify", ECHO, "-v", "--no-invariants"]);
    assert!(verbose.contains("          rests on partial-order-reduction, path-compression, "), "{verbose}");
    assert!(verbose.contains("; not certified\n") && !verbose.contains("\nmap  "), "{verbose}");
    let map = text(&["verify", ECHO, "-v"]);
    assert!(
        map.contains("\nmap       ") && map.contains(" states, one or more for each place of the program\n"),
        "{map}"
    );
    let nested = text(&["verify", NESTED, "-v", "--timeout", "2s"]);
    assert!(
        nested.contains("\nmap       says nothing: interrupt 1 may come in its own handler, more than 8 times at 0x"),
        "{nested}"
    );
    assert!(nested.contains(" in the handler of "), "{nested}");
    let hazard = text(&["verify", HAZARD, "-v", "--timeout", "2s"]);
    assert!(hazard.contains("\nmap       says nothing: reserved-opcode ("), "{hazard}");
    assert!(!text(&["verify", ECHO]).contains("rests on"));
    let certified = |arguments: &[&str]| results(&[&[ECHO], arguments].concat())[0]["certified"].clone();
    assert_eq!(certified(&["--inherent"]), true);
    assert_eq!(certified(&["--inherent", "--no-invariants"]), false);
    assert_eq!(certified(&[&["--inherent"], &off[..]].concat()), true);
    assert_eq!(certified(&["--property", "Stack(max_bytes: 0)", "--no-invariants"]), true);
    assert_eq!(certified(&["--inherent", "--timeout", "0"]), Value::Null);
    assert!(text(&["verify", ECHO, "--format", "html"]).contains("rests on invariants"));
}

#[test]
fn reports_list_the_predicates_that_verdicts_need() {
    let folder = folder();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("the folder can be written");
        path.display().to_string()
    };
    let image = "firmware-samples/word-twice/word-twice.Og.elf";
    let never = r#"properties: [Always(check: "PORTB != 0x2a"), Always(check: "pc == 0x94 -> number == 0x1234")]"#;
    let named = file("named.ron", &format!("({never}, predicates: [\"number > 5 || rounds == 7\"])"));
    let report = folder.path().join("report.json").display().to_string();
    let options = ["--no-invariants", "--enumerate", "8", "--report", &format!("json={report}"), "-v"];
    let output = avr_tvar(&[&["verify", image, &named][..], &options].concat());
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\n          by the predicates number == 0x1234\n"), "{text}");
    let written = fs::read(&report).expect("it was written");
    let written: Value = serde_json::from_slice(&written).expect("it is JSON");
    let result = |place: usize| &written["results"][place];
    assert_eq!(result(1)["predicates"], Value::from(vec!["number == 0x1234"]));
    assert!(result(1)["rests_on"].to_string().contains("\"predicates\""));
    let explained = avr_tvar(&["explain", &report]);
    assert!(String::from_utf8_lossy(&explained.stdout).contains("  by the predicates number == 0x1234\n"));
    let explained = avr_tvar(&["explain", image, &named, "--no-invariants"]);
    let text = String::from_utf8_lossy(&explained.stdout);
    assert!(text.contains("\n          by the predicates number == 0x1234\n"), "{text}");
    let off = avr_tvar(&["verify", image, &named, "--no-invariants", "--no-predicates", "--timeout", "2s"]);
    assert_eq!(off.status.code(), Some(3));
    let wrong = file("wrong.ron", &format!("({never}, predicates: [\"PORTB == 1\"])"));
    let output = avr_tvar(&["verify", image, &wrong]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("error: predicates: expected a constant, or a number of up to four bytes"), "{message}");
    let output = avr_tvar(&["verify", image, "--enumerate", "0"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a number from 1 to 4096"));
}

#[test]
fn reports_list_the_disjunctions_that_verdicts_need() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("program.hex"), hex(&bytes(&stored_outcome::program()))).expect("the folder can be written");
    let text =
        "predicates: [\"mem[0x102] == 0 || mem16[0x100] == 0x1234\"], properties: [Always(check: \"PORTB != 0x2a\")]";
    fs::write(path("p.ron"), format!("(device: \"atmega328p-gpio\", {text})")).expect("the folder can be written");
    let options = ["--no-invariants", "--enumerate", "1", "-v"];
    let output = avr_tvar(&[&["verify", &path("program.hex"), &path("p.ron")][..], &options].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("mem[0x0102] == 0x0 || mem16[0x0100] == 0x1234"), "{text}");
}

#[test]
fn verdicts_can_be_decided_again() {
    let rechecks = |arguments: &[&str]| {
        let output = avr_tvar(&[&["verify", "--recheck", "--format", "json"], arguments].concat());
        let report: Value = serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object");
        let results = report["results"].as_array().expect("results are a list").clone();
        (output.status.code(), results.into_iter().map(|result| result["recheck"].clone()).collect::<Vec<_>>())
    };
    let (code, all) = rechecks(&[ECHO, "--inherent", "--property", "Stack(max_bytes: 11)"]);
    assert_eq!((code, all), (Some(1), vec![Value::from("agrees"); 2]));
    assert_eq!(rechecks(&[ECHO, "--timeout", "0"]), (Some(3), vec![Value::from("undecided")]));
    let off = ["--no-invariants", "--all-interrupts", "--all-states", "--all-handlers", "--no-facts"];
    let output = avr_tvar(&[&["verify", "--recheck", ECHO], &off[..]].concat());
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("'--recheck' cannot be used with all of"), "{message}");
}

#[test]
fn regressions_can_be_denied() {
    let folder = folder();
    let old = folder.path().join("old.json");
    let report = format!("json={}", old.display());
    let verify = |property: &str, more: &[&str]| {
        avr_tvar(&[&["verify", BRANCH, "--property", property], more].concat()).status.code()
    };
    let good = r#"Always(name: "p", check: "PORTB == 0")"#;
    let bad = r#"Always(name: "p", check: "PORTD == 0")"#;
    let denied = ["--baseline", old.to_str().expect("the path is text"), "--deny", "regressions"];
    assert_eq!(verify(bad, &["--report", &report]), Some(1));
    // It holds now, but says something else.
    assert_eq!(verify(good, &denied), Some(1));
    assert_eq!(verify(good, &["--report", &report]), Some(0));
    assert_eq!(verify(good, &denied), Some(0));
    assert_eq!(verify(good, &[&denied[..], &["--timeout", "0"]].concat()), Some(1));
    assert_eq!(verify(good, &["--timeout", "0"]), Some(3));
    assert_eq!(verify(good, &["--property", "true", "--deny", "regressions"]), Some(2));
    let text = String::from_utf8(avr_tvar(&[&["verify", BRANCH, "--property", bad], &denied[..2]].concat()).stdout);
    let text = text.expect("output is UTF-8");
    assert!(text.contains("\n          worse: 'p' was holds and is violated\n"), "{text}");
    fs::write(&old, "{}").expect("there is room");
    let output = avr_tvar(&["verify", BRANCH, "--baseline", denied[1]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("old.json: is no report in JSON: missing field `schema`"), "{}", stderr(&output));
}
