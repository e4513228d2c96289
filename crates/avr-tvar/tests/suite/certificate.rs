//! Certificates as users meet them: `verify --certificate` writes one, `check` says what it proves.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use avr_certificate::Claim;
use avr_image::{Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_testkit::Random;
use avr_verify::{Exhausted, InvariantUse, Progress, PropertyText, Request, Verdict, Watch};
use serde_json::Value;
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program in the root of the repository.
fn avr_tvar<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.args(arguments).current_dir(root()).env_remove("CLICOLOR_FORCE").env("RUST_BACKTRACE", "0");
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// A folder for one test, with what it needs to write and check certificates.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("there is room for temporary files") }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("the path is UTF-8").to_owned()
    }

    /// Verifies and writes a certificate; the verdicts by the names of the properties.
    fn verify(&self, firmware: &str, more: &[&str]) -> BTreeMap<String, String> {
        verdicts(&self.report(firmware, more))
    }

    /// Verifies and writes a certificate; the report.
    fn report(&self, firmware: &str, more: &[&str]) -> Value {
        self.report_and_notes(firmware, more).0
    }

    /// Verifies and writes a certificate; the report, and what is said on the standard error stream.
    fn report_and_notes(&self, firmware: &str, more: &[&str]) -> (Value, String) {
        let certificate = self.path("certificate");
        let arguments = [&["verify", firmware, "--format", "json", "--certificate", &certificate], more].concat();
        let output = avr_tvar(&arguments);
        let notes = text(&output.stderr);
        let report = serde_json::from_slice(&output.stdout);
        (report.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {notes}")), notes)
    }

    fn check(&self, firmware: &str) -> Output {
        avr_tvar(&["check", &self.path("certificate"), firmware])
    }

    /// The verdicts that a valid certificate proves.
    #[track_caller]
    fn proved(&self, firmware: &str) -> BTreeMap<String, String> {
        verdicts(&self.proved_report(firmware))
    }

    /// The report of a valid certificate.
    #[track_caller]
    fn proved_report(&self, firmware: &str) -> Value {
        let output = avr_tvar(&["check", &self.path("certificate"), firmware, "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
        assert_eq!(output.status.code(), Some(0), "{firmware}: {}", report["reason"]);
        assert_eq!(report["valid"], true);
        assert_eq!(problems(&report), Vec::<String>::new());
        report
    }

    fn certificate(&self) -> Vec<u8> {
        fs::read(self.path("certificate")).expect("the certificate was written")
    }

    fn replace(&self, bytes: &[u8]) {
        fs::write(self.path("certificate"), bytes).expect("the folder can be written");
    }
}

/// The contradictions between a report and `docs/schema/check-1.json`.
fn problems(report: &Value) -> Vec<String> {
    avr_testkit::schema::problems(report, avr_testkit::schema::CHECK)
}

/// The verdicts of a report by the names of the properties; what is not proved is unknown.
fn verdicts(report: &Value) -> BTreeMap<String, String> {
    let results = report["results"].as_array().expect("there are results");
    let name = |result: &Value| result["name"].as_str().expect("every property has a name").to_owned();
    let verdict = |result: &Value| result["verdict"].as_str().unwrap_or("unknown").to_owned();
    results.iter().map(|result| (name(result), verdict(result))).collect()
}

/// True if symbolic execution decided a property of a report of `verify`, by claims about loops, ranks, or everywhere.
fn rests_on_symbolic_execution(result: &Value) -> bool {
    let is_symbolic = |pass: &Value| pass == "claims" || pass == "ranks" || pass == "symbolic-execution";
    result["rests_on"].as_array().is_some_and(|all| all.iter().any(is_symbolic))
}

/// The bounds of the stack that are more than 0, and the parts of properties that do not matter.
fn beside_verdicts(report: &Value) -> (Vec<Option<u64>>, Vec<String>) {
    let depth = |side: &str| report["stack"][side].as_u64().filter(|bytes| *bytes > 0);
    let results = report["results"].as_array().expect("there are results").iter();
    let parts =
        results.map(|result| format!("{} {}", result["vacuous"]["subformula"], result["vacuous"]["replaced_by"]));
    (["lower", "upper"].map(depth).to_vec(), parts.collect())
}

/// Verifies, checks, and expects that everything that was decided is proved.
#[track_caller]
fn check_all(firmware: &str, more: &[&str], at_least: usize) {
    let bench = Bench::new();
    let verified = bench.verify(firmware, more);
    let decided = verified.values().filter(|verdict| *verdict != "unknown").count();
    assert!(decided >= at_least, "{firmware}: {verified:?}");
    assert_eq!(bench.proved(firmware), verified, "{firmware}");
}

/// The images of all samples with their property files, as `firmware-samples/expected.ron` has them.
fn images() -> Vec<(String, String)> {
    let listing = fs::read_to_string(root().join("firmware-samples/expected.ron")).expect("the file is there");
    let code = listing.lines().filter(|line| !line.trim_start().starts_with("//"));
    let text: String = code.collect();
    let quoted: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
    let is_image = |name: &str| name.ends_with(".elf") || name.ends_with(".hex");
    let pairs = quoted.windows(2).filter(|pair| is_image(pair[0]) && pair[1].ends_with(".ron"));
    let folder = |image: &str| image.split('.').next().unwrap_or(image).to_owned();
    let named = pairs
        .map(|pair| (format!("firmware-samples/{}/{}", folder(pair[0]), pair[0]), format!("properties/{}", pair[1])));
    named.collect()
}

/// Verifies and checks the samples whose images are wanted.
#[track_caller]
fn check_samples(wanted: impl Fn(&str) -> bool) {
    let mut images: Vec<_> = images().into_iter().filter(|(image, _)| wanted(image)).collect();
    assert!(images.len() >= 35, "only {} images", images.len());
    let step = avr_testkit::cases(4, 1) as usize;
    images = images.into_iter().step_by(step).collect();
    let (number, mut lacking, mut with_lower) = (images.len(), Vec::new(), 0);
    for (image, properties) in images {
        let bench = Bench::new();
        let (report, notes) = bench.report_and_notes(&image, &[&properties, "--timeout", "1s"]);
        let verified = verdicts(&report);
        // A verification that must be given up in the middle of a step has nothing to prove, whatever it had decided before.
        if Path::new(&bench.path("certificate")).exists() {
            let proved = bench.proved_report(&image);
            let proved_verdicts = verdicts(&proved);
            // A violation that a run shows may have no proof in time.
            let is_shown = |(name, verdict): (&String, &String)| {
                let may_lack = verdict == "violated";
                proved_verdicts.get(name).is_some_and(|proved| proved == verdict || may_lack && proved == "unknown")
            };
            assert!(verified.iter().all(is_shown), "{image}: {proved_verdicts:?}, {verified:?}");
            let ((proved_depth, proved_parts), (depth, parts)) = (beside_verdicts(&proved), beside_verdicts(&report));
            // A bound of the stack that the reductions or random runs found may take too long without them, or have no proof.
            assert!(proved_depth[0] <= depth[0], "{image}: {proved_depth:?}, {depth:?}");
            assert!([None, depth[1]].contains(&proved_depth[1]), "{image}: {proved_depth:?}, {depth:?}");
            // What is vacuous is proved last, and not where the time is over before.
            let is_claimed = |(proved, told): (&String, &String)| proved == told || proved == "null null";
            assert!(proved_parts.iter().zip(&parts).all(is_claimed), "{image}: {proved_parts:?}, {parts:?}");
            with_lower += usize::from(proved_depth[0].is_some());
            if (proved_depth[1], proved_parts, proved_verdicts) != (depth[1], parts, verified) {
                lacking.push(image);
            }
        } else {
            assert!(notes.contains("nothing was proved in time"), "{image}: {verified:?}: {notes}");
        }
    }
    // The machine may be slow: what is claimed was compared above.
    assert!(lacking.len() <= number / 4, "bounds or vacuity are not proved of {lacking:?}");
    assert!(with_lower > 2, "the depth of the stack is shown of {with_lower} images");
}

const FIXED: &str = "firmware-samples/calibration-fixed/calibration-fixed.Og.elf";
const ORIGINAL: &str = "firmware-samples/calibration-original/calibration-original.Og.elf";
const BLINK: &str = "firmware-samples/timer-blink/timer-blink.Os.elf";
const BRANCH: &str = "firmware-samples/branch/branch.Og.elf";

#[test]
fn decided_properties_of_the_samples_are_proved_for_size() {
    check_samples(|image| image.ends_with(".Os.elf"));
}

#[test]
fn decided_properties_of_the_samples_are_proved_for_debugging_and_hazards() {
    check_samples(|image| image.ends_with(".Og.hex") || image.contains("hazard"));
}

#[test]
fn every_kind_of_formula_is_proved() {
    let formulas = [
        "AG EF (PORTD == 0)",
        "nu X. pc != 0x8c && [][]X",
        "Ltl(check: \"G F (PORTD == 0)\")",
        "Ltl(check: \"F G (PORTD == 0)\")",
        "Ltl(check: \"G (PORTD == 0 -> X X (PORTC < 9))\")",
        "E[F G (PORTD == 0)]",
        "A[G F (PORTD == 0 && X (PORTD == 0))]",
        "mu X. nu Y. []X || (PORTD == 0 && []Y)",
        "nu X. mu Y. <>X && PORTD == 0 || <>Y",
        "Reachable(check: \"write(PORTD) == 0x80\")",
        "Never(check: \"write(PORTD) == 0x80\")",
        "InfinitelyOften(check: \"PORTD == 0\")",
        "Stack(max_bytes: 1)",
        "Stack(max_bytes: 2)",
        "Ltl(check: \"G F (PORTD == 0)\", under: [\"G F (PORTD == 0)\"])",
    ];
    let more: Vec<&str> = formulas.iter().flat_map(|formula| ["--property", formula]).collect();
    check_all(ORIGINAL, &more, 12);
    check_all(FIXED, &more, 12);
}

const ECHO: &str = "firmware-samples/usart-echo/usart-echo.Os.elf";

#[test]
fn the_inherent_property_and_the_stack_are_proved_by_a_map() {
    let bench = Bench::new();
    let (report, notes) = bench.report_and_notes(ECHO, &["--inherent", "--property", "Stack(max_bytes: 60)"]);
    assert!(!notes.contains("takes state spaces"), "{notes}");
    let proved = bench.proved_report(ECHO);
    assert_eq!(verdicts(&proved), verdicts(&report));
    assert_eq!(proved["stack"]["upper"], report["stack"]["upper"]);
    assert!(proved["states"].as_u64().is_some_and(|states| states < 500), "{}", proved["states"]);
    let (_, notes) = bench.report_and_notes(ECHO, &["--inherent", "--property", "EG (PORTB == 0)"]);
    assert!(notes.contains("note: a proof of EG (PORTB == 0) takes state spaces with interrupts wherever"), "{notes}");
    let (_, notes) = bench.report_and_notes(ECHO, &["--inherent", "--no-invariants"]);
    assert!(notes.contains("note: a proof of Inherent() takes state spaces"), "{notes}");
}

fn blinking(sample: &str) -> String {
    format!("firmware-samples/{sample}/{sample}.Os.elf")
}

#[test]
fn recoveries_through_loops_are_proved_with_sat() {
    for sample in ["blink-delays", "blink-ticks", "wait-flags"] {
        let (bench, firmware) = (Bench::new(), blinking(sample));
        let report = bench.report(&firmware, &["properties/blinking.ron"]);
        let proved = bench.proved_report(&firmware);
        assert_eq!(verdicts(&proved), verdicts(&report), "{sample}");
        let results = |report: &Value| report["results"].as_array().expect("there are results").clone();
        for (told, checked) in results(&report).iter().zip(results(&proved)) {
            assert!(rests_on_symbolic_execution(told) && told["verdict"] == "holds", "{sample}: {told}");
            assert_eq!((&checked["with_sat"], &checked["basis"]), (&Value::Bool(true), &told["basis"]), "{sample}");
            assert_eq!(told["certified"], true, "{sample}");
        }
        assert!(proved["queries"].as_u64().is_some_and(|queries| queries > 0), "{sample}");
        let checked = bench.check(&firmware);
        let shown = text(&checked.stdout);
        assert_eq!(shown.matches("proved with SAT: symbolic execution").count(), 2, "{shown}");
        assert!(shown.contains(" queries)\n"), "{shown}");
        let certificate = bench.path("certificate");
        let gate = ["check", &certificate, &firmware, "--expect", "holds", "--strict"];
        let expected = if sample == "blink-delays" { 0 } else { 3 };
        assert_eq!(avr_tvar(&gate).status.code(), Some(expected), "{sample}");
        assert_eq!(avr_tvar(&gate[..5]).status.code(), Some(0), "{sample}");
    }
}

#[test]
fn what_always_comes_is_proved_with_sat() {
    let (bench, firmware) = (Bench::new(), blinking("answer-in-time"));
    let report = bench.report(&firmware, &["properties/answer-in-time.ron"]);
    let proved = bench.proved_report(&firmware);
    assert_eq!(verdicts(&proved), verdicts(&report));
    let results = |report: &Value| report["results"].as_array().expect("there are results").clone();
    assert_eq!(results(&report).len(), 3);
    for (told, checked) in results(&report).iter().zip(results(&proved)) {
        assert!(rests_on_symbolic_execution(told) && told["verdict"] == "holds", "{told}");
        assert_eq!((&checked["with_sat"], &checked["basis"]), (&Value::Bool(true), &told["basis"]));
        assert_eq!(told["certified"], true);
    }
    let certificate = bench.path("certificate");
    let gate = ["check", &certificate, &firmware, "--expect", "holds"];
    assert_eq!(avr_tvar(&gate).status.code(), Some(0));
}

#[test]
fn no_claims_are_written_about_a_loop_that_hangs() {
    let (bench, firmware) = (Bench::new(), blinking("blink-ticks-hang"));
    let verified = bench.verify(&firmware, &["properties/blinking.ron"]);
    let proved = bench.proved_report(&firmware);
    assert!(verified.values().any(|verdict| verdict == "violated"), "{verified:?}");
    assert_eq!(verdicts(&proved), verified);
    assert_eq!(proved["queries"], 0);
}

#[test]
fn a_run_into_a_closed_set_is_proved() {
    let (bench, firmware) = (Bench::new(), blinking("blink-modes-hang"));
    let report = bench.report(&firmware, &["properties/waits.ron"]);
    let proved = bench.proved_report(&firmware);
    assert!(verdicts(&report).values().all(|verdict| verdict == "violated"), "{}", report["results"]);
    assert_eq!(verdicts(&proved), verdicts(&report));
    let results = proved["results"].as_array().expect("there are results");
    assert!(results.iter().all(|result| result["with_sat"] == false), "{results:?}");
    let certificate = bench.path("certificate");
    assert_eq!(avr_tvar(&["check", &certificate, &firmware, "--expect", "holds"]).status.code(), Some(1));
}

#[test]
fn fairness_takes_a_second_proof() {
    let response = "Response(after: \"SREG.I\", eventually: \"in_interrupt\", under: [\"G F interrupt(TIMER0_OVF)\"])";
    let bench = Bench::new();
    let verified = bench.verify(BLINK, &["properties/timer-blink.ron", "--property", response]);
    assert_eq!(verified[response], "holds");
    assert_eq!(bench.proved(BLINK), verified);
    assert!(text(&bench.check(BLINK).stdout).contains("on fair paths only: G F interrupt(TIMER0_OVF)"));
}

#[test]
fn all_strategies_are_proved() {
    for strategy in ["naive", "decay", "paper", "paper-decay"] {
        check_all(BRANCH, &["properties/branch.ron", "--strategy", strategy, "--timeout", "20s"], 1);
    }
}

#[test]
fn the_same_verification_gives_the_same_bytes() {
    let (one, other) = (Bench::new(), Bench::new());
    one.verify(FIXED, &["properties/calibration-fixed.ron", "--jobs", "1"]);
    other.verify(FIXED, &["properties/calibration-fixed.ron", "--jobs", "4"]);
    assert_eq!(one.certificate(), other.certificate());
}

#[test]
fn settings_of_the_property_file_are_part_of_it() {
    let bench = Bench::new();
    let properties = bench.path("properties.ron");
    let content = "(device: \"atmega328p-gpio\", assume: [\"PINC.1 == 0\"], properties: [Formula(check: \"AG EF (PORTD == 0)\")])";
    fs::write(&properties, content).expect("the folder can be written");
    bench.verify(ORIGINAL, &[&properties]);
    let output = bench.check(ORIGINAL);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("assuming  PINC.1 == 0"), "{}", text(&output.stdout));
}

#[test]
fn other_firmware_is_rejected() {
    let bench = Bench::new();
    bench.verify(FIXED, &["properties/calibration-fixed.ron"]);
    let output = bench.check(ORIGINAL);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).starts_with("rejected  it is for a firmware file with SHA-256 "), "{output:?}");
    // One byte of a string in the debug information is enough.
    let mut altered = fs::read(root().join(FIXED)).expect("the sample is there");
    let place = altered.windows(4).rposition(|window| window == b"main").expect("there is a name");
    altered[place] = b'M';
    let path = bench.path("altered.elf");
    fs::write(&path, altered).expect("the folder can be written");
    assert_eq!(bench.check(&path).status.code(), Some(1));
    let output = avr_tvar(&["check", &bench.path("certificate"), ORIGINAL, "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!((&report["valid"], output.status.code()), (&Value::Bool(false), Some(1)));
    assert_eq!(problems(&report), Vec::<String>::new());
}

#[test]
fn the_schema_tells_what_is_no_report() {
    let bench = Bench::new();
    bench.verify(BRANCH, &["properties/branch.ron"]);
    let output = avr_tvar(&["check", &bench.path("certificate"), BRANCH, "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(problems(&report), Vec::<String>::new());
    let altered = |alter: &dyn Fn(&mut Value)| {
        let mut altered = report.clone();
        alter(&mut altered);
        assert!(!problems(&altered).is_empty(), "{altered}");
    };
    altered(&|report| report["schema"] = "avr-tvar/check/2".into());
    altered(&|report| report["valid"] = "yes".into());
    altered(&|report| report["stack"]["upper"] = (-1).into());
    altered(&|report| report["stack"] = Value::Null);
    altered(&|report| report["firmware"]["sha256"] = 5.into());
    altered(&|report| report["results"][0]["verdict"] = "unknown".into());
    altered(&|report| report["results"][0]["vacuous"] = serde_json::json!({ "subformula": "p" }));
    altered(&|report| _ = report["results"][0].as_object_mut().expect("it is one").remove("basis"));
}

#[test]
fn the_stack_bound_and_vacuity_are_proved() {
    let bench = Bench::new();
    let vacuous = "AG (PORTB == 77 && PORTB == 78 -> AF PORTB == 3)";
    let arguments = ["verify", BLINK, "--property", vacuous, "--property", "AG EF PORTB.5 == 0", "--format", "json"];
    let output = avr_tvar(&[&arguments[..], &["--certificate", &bench.path("certificate")]].concat());
    let verified: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let output = avr_tvar(&["check", &bench.path("certificate"), BLINK, "--format", "json"]);
    let proved: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    for bound in ["lower", "upper", "exact"] {
        assert_eq!(proved["stack"][bound], 8, "{}", proved["stack"]);
        assert_eq!(verified["stack"][bound], 8, "{}", verified["stack"]);
    }
    // The interrupt that needs the eight bytes comes when the timer says.
    assert_eq!(proved["stack"]["lower_basis"], "model");
    let (of_proof, of_report) = (&proved["results"][0]["vacuous"], &verified["results"][0]["vacuous"]);
    assert_eq!(of_proof["subformula"], of_report["subformula"]);
    assert_eq!(of_proof["replaced_by"], of_report["replaced_by"]);
    assert_eq!(of_proof["subformula"], "AF PORTB == 3");
    assert!(proved["results"][1]["vacuous"].is_null() && verified["results"][1]["vacuous"].is_null());
    let shown = text(&bench.check(BLINK).stdout);
    let expected = [
        "          vacuous: it holds as well with 'AF PORTB == 3' replaced by false\n",
        "stack     8 bytes at most, and some run needs them (in the model)\n",
    ];
    assert!(expected.iter().all(|line| shown.contains(line)), "{shown}");
}

#[test]
fn a_stack_without_a_bound_has_the_proof_of_a_depth() {
    let bench = Bench::new();
    const UNBOUNDED: &str = "firmware-samples/nested-unbounded/nested-unbounded.Og.elf";
    bench.verify(UNBOUNDED, &["--property", "Stack(max_bytes: 4)", "--timeout", "2s"]);
    let output = avr_tvar(&["check", &bench.path("certificate"), UNBOUNDED, "--format", "json"]);
    let proved: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(proved["results"][0]["verdict"], "violated");
    assert!(proved["stack"]["upper"].is_null(), "{}", proved["stack"]);
    assert!(proved["stack"]["lower"].as_u64().is_some_and(|depth| depth > 4), "{}", proved["stack"]);
}

#[test]
fn an_undecided_property_claims_nothing() {
    let bench = Bench::new();
    bench.verify("firmware-samples/nested-unbounded/nested-unbounded.Og.elf", &["--inherent", "--timeout", "1s"]);
    let output = bench.check("firmware-samples/nested-unbounded/nested-unbounded.Og.elf");
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output.stdout);
    assert!(shown.contains("nothing   Inherent()\n          the property was not decided\n"), "{shown}");
    let certificate = bench.path("certificate");
    let arguments =
        ["verify", "firmware-samples/nested-unbounded/nested-unbounded.Og.elf", "--inherent", "--timeout", "1s"];
    let noted = text(&avr_tvar(&[&arguments[..], &["--certificate", &certificate]].concat()).stderr);
    let expected = format!("note: {certificate} has no proof of Inherent(): it is undecided with interrupts wherever");
    assert!(noted.contains(&expected), "{noted}");
}

#[test]
fn whatever_the_bytes_are_there_is_an_answer() {
    let bench = Bench::new();
    bench.verify(BRANCH, &["properties/branch.ron"]);
    let whole = bench.certificate();
    let mut random = Random::new(7);
    let check = |bytes: &[u8]| {
        bench.replace(bytes);
        let output = bench.check(BRANCH);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains("hint: "), "{output:?}");
    };
    check(b"");
    check(b"nonsense");
    check(&[&whole[..22], &[200]].concat());
    check(&[&whole[..], &[0]].concat());
    for _ in 0..12 {
        check(&whole[..random.below(whole.len())]);
        let mut flipped = whole.clone();
        let place = 23 + random.below(whole.len() - 23);
        flipped[place] ^= 1 << random.below(8);
        check(&flipped);
        let noise: Vec<u8> = (0..random.below(2000)).map(|_| random.byte()).collect();
        check(&[&whole[..23], &noise].concat());
    }
    assert_eq!(avr_tvar(&["check", "no-such-file", BRANCH]).status.code(), Some(2));
    bench.replace(&whole);
    assert_eq!(bench.check("no-such-file").status.code(), Some(2));
    assert_eq!(bench.check(BRANCH).status.code(), Some(0));
}

#[test]
fn a_certificate_is_written_as_a_whole_or_not_at_all() {
    let output = avr_tvar(&["verify", BRANCH, "--certificate", "/no-such-folder/certificate"]);
    assert_eq!(output.status.code(), Some(2));
    let bench = Bench::new();
    bench.verify(BRANCH, &["properties/branch.ron"]);
    let files = fs::read_dir(bench.folder.path()).expect("the folder is there");
    assert_eq!(files.count(), 1);
}

/// Ends the first of two verifications in its second pass.
#[derive(Default)]
struct OnlyTheSecond {
    pass: AtomicUsize,
    is_second: AtomicBool,
}

impl Watch for OnlyTheSecond {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        if self.pass.swap(progress.pass, Ordering::Relaxed) > progress.pass {
            self.is_second.store(true, Ordering::Relaxed);
        }
        let must_end = progress.pass > 1 && !self.is_second.load(Ordering::Relaxed);
        must_end.then_some(Exhausted::Memory(1 << 20))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn what_is_decided_with_reductions_alone_stays_decided_and_has_no_proof() {
    let device = Device::named("atmega328p").expect("it exists");
    let options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    let path = root().join("firmware-samples/usart-echo/usart-echo.Os.elf");
    let image = Image::load(path, &options).unwrap_or_else(|error| panic!("{error}"));
    let text = "(properties: [Inherent()])";
    let file = PropertyFile::parse("inherent", text).unwrap_or_else(|error| panic!("{error}"));
    let watch = OnlyTheSecond::default();
    let invariants = InvariantUse::Off;
    let request = Request { watch: &watch, invariants, ..Request::of(&image, device, &file) };
    let text = PropertyText { file: text.to_owned(), ..PropertyText::default() };
    let mut verdict = None;
    let certificate = avr_verify::certify(
        &request,
        &text,
        |_| {},
        |results| {
            verdict = Some(results.properties[0].verdict.clone());
            assert!(results.stack.upper.is_some());
        },
    );
    let certificate = certificate.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verdict, Some(Verdict::Holds));
    let Claim::Uncertified(reason) = &certificate.claims[0] else { panic!("{:?}", certificate.claims) };
    let expected = "it was decided with partial-order reduction of interrupts and path compression, \
                    and a proof needs all interrupts and all states, for which the memory limit of";
    assert!(reason.starts_with(expected), "{reason}");
    let checked = avr_check::check(&certificate, &image, device).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(checked.properties[0].proved, avr_check::Proved::Uncertified(reason.clone()));
}
