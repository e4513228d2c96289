//! The worst-case stack: against the bounds that `firmware-samples/README.md` derives by hand, and the command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use avr_image::{FlashByteAddress, Image, LoadOptions};
use avr_machine::device::Device;
use avr_properties::PropertyFile;
use avr_verify::{Exhausted, Fit, Progress, Request, Routine, Strategy, Watch, WorstCase, worst_case};
use expect_test::expect;
use jsonschema::Registry;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

/// States that an analysis may reach. Time is no limit, so that the outcome does not depend on the machine.
const MAX_STATES: usize = 100_000;
/// States for a sample that may stay unknown.
const FEW_STATES: usize = 10_000;

/// The parts of an entry of `expected.ron` that matter here; the file explains them.
#[derive(Debug, Deserialize)]
struct Sample {
    sample: String,
    device: String,
    images: Vec<(String, String)>,
    stack: Option<u32>,
    limit: Option<String>,
}

/// A limit on the states that an analysis may reach.
struct StateLimit(usize);

impl Watch for StateLimit {
    fn check(&self, progress: &Progress) -> Option<Exhausted> {
        (progress.states > self.0).then_some(Exhausted::Memory(0))
    }

    fn cancelled(&self) -> bool {
        false
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn analyse(sample: &Sample, image: &str, properties: &str) -> WorstCase {
    analyse_within(if sample.limit.is_some() { FEW_STATES } else { MAX_STATES }, sample, image, properties)
}

fn analyse_within(states: usize, sample: &Sample, image: &str, properties: &str) -> WorstCase {
    let device = Device::named(&sample.device).expect("the device exists");
    let text = std::fs::read_to_string(root().join("properties").join(properties)).expect("the file is there");
    let file = PropertyFile::parse(properties, &text).unwrap_or_else(|error| panic!("{error}"));
    let mut options = LoadOptions::new(device.memory.flash_bytes, device.memory.eeprom_bytes.into());
    options.start = FlashByteAddress(file.start.unwrap_or(0));
    let path = root().join("firmware-samples").join(&sample.sample).join(image);
    let image = Image::load(path, &options).unwrap_or_else(|error| panic!("{error}"));
    let request = Request {
        image: &image,
        device,
        start: None,
        file: &file,
        eeprom: &BTreeMap::new(),
        strategy: Strategy::Default,
        reduces_interrupts: true,
        watch: &StateLimit(states),
    };
    worst_case(&request, 0, &|_| {}).unwrap_or_else(|error| panic!("{}: {error}", image.name))
}

/// What differs from the exact bound, and from what belongs to it.
fn difference(sample: &Sample, image: &str, exact: u32, found: &WorstCase) -> Option<String> {
    let bound = found.bound;
    let contradicts = bound.lower.is_some_and(|lower| lower > exact) || bound.upper.is_some_and(|upper| upper < exact);
    if contradicts || bound.exact() != Some(exact) && sample.limit.is_none() {
        return Some(format!("{image}: {bound:?}, expected exactly {exact}: {:?}", found.reasons));
    }
    let chain: u32 = found.chain.iter().map(|segment| segment.bytes).sum();
    let is_shown = found.run.as_ref().is_some_and(|run| run.replayed) && found.run_depth() == Some(exact);
    let fits = found.fit == Fit::Fits || exact > found.room.bytes();
    let is_right = is_shown && chain == exact && fits;
    (bound.exact().is_some() && !is_right).then(|| format!("{image}: shown {is_shown}, chain {chain}, {:?}", found.fit))
}

#[test]
fn bounds_are_those_derived_by_hand() {
    let text = std::fs::read_to_string(root().join("firmware-samples/expected.ron")).expect("the file is there");
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let samples: Vec<Sample> = options.from_str(&text).expect("the file has the form that its head describes");
    let bounded = samples.iter().filter_map(|sample| Some((sample, sample.stack?)));
    // One image of each optimisation, one with symbols and one without.
    let chosen = |image: &str| !(image.ends_with(".Os.hex") || image.ends_with(".Og.elf"));
    let images: Vec<_> = bounded
        .flat_map(|(sample, exact)| sample.images.iter().map(move |(image, file)| (sample, exact, image, file)))
        .filter(|(_, _, image, _)| chosen(image))
        .collect();
    assert!(images.len() >= 60, "only {} images", images.len());
    let check = |(sample, exact, image, file): &(&Sample, u32, &String, &String)| {
        difference(sample, image, *exact, &analyse(sample, image, file))
    };
    let found: Vec<String> = images.par_iter().filter_map(check).collect();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn nesting_without_end_is_told_with_a_run() {
    let (sample, image) = ("nested-unbounded".to_owned(), "nested-unbounded.Os.elf");
    let sample = Sample { sample, device: "atmega328p".to_owned(), images: Vec::new(), stack: None, limit: None };
    let found = analyse_within(30_000, &sample, image, "nested-unbounded.ron");
    assert_eq!((found.fit, found.bound.upper), (Fit::Unknown, None));
    assert_eq!(found.run_depth(), found.bound.lower);
    assert!(found.bound.lower > Some(14) && found.run.is_some_and(|run| run.replayed), "{:?}", found.bound);
    let mut routines = found.cycles_shown.keys().flat_map(|cycle| &cycle.routines).peekable();
    assert!(routines.peek().is_some() && routines.all(|routine| matches!(routine, Routine::Handler(_))));
    assert!(!found.reasons.is_empty());
}

/// Runs the command in the root of the repository.
fn stack(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    command.arg("stack").args(arguments).current_dir(root()).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

/// Expects an exit code and a last line.
#[track_caller]
fn check(arguments: &[&str], code: i32, summary: &str) {
    let output = stack(arguments);
    let text = stdout(&output);
    let observed = (output.status.code(), text.lines().last().unwrap_or_default());
    assert_eq!(observed, (Some(code), summary), "{}", String::from_utf8_lossy(&output.stderr));
}

const BLINK: &str = "firmware-samples/timer-blink/timer-blink.Os.elf";

#[test]
fn the_last_line_and_the_exit_code_tell_the_verdict() {
    check(&[BLINK], 0, "stack: fits, lower 8, upper 8, room 2047, free 2039");
    check(&[BLINK, "--margin", "2039"], 0, "stack: fits, lower 8, upper 8, room 2047, free 2039");
    check(&[BLINK, "--margin", "2040"], 1, "stack: overflows, lower 8, upper 8, room 2047, free 2039");
    check(&[BLINK, "--timeout", "0"], 3, "stack: unknown, lower -, upper -, room 2047, free -");
    let overflow = "firmware-samples/hazard-stack-into-data/hazard-stack-into-data.elf";
    let text = stdout(&stack(&[overflow]));
    assert!(text.contains("\nOn the stack before it overflows:\n"), "{text}");
    assert_eq!(stack(&[overflow]).status.code(), Some(1));
    let hex = "firmware-samples/nested-bounded/nested-bounded.Os.hex";
    check(&[hex, "--device", "atmega328p"], 0, "stack: fits, lower 14, upper 14, room 2048, free 2034");
    assert_eq!(stack(&["no-such-file"]).status.code(), Some(2));
}

#[test]
fn the_text_is_in_the_manner_of_avr_size() {
    let text = stdout(&stack(&["firmware-samples/function-table/function-table.Os.elf"]));
    let without_run: Vec<&str> = text.lines().filter(|line| !line.starts_with("  ") || line.len() < 60).collect();
    let until_run = without_run.iter().position(|line| line.starts_with("The run that leads")).expect("there is one");
    let after_run = without_run.iter().position(|line| line.starts_with("What routines")).expect("there is one");
    let shown = [&without_run[..until_run], &without_run[after_run..]].concat().join("\n");
    let expected = expect![[r#"
        AVR Stack Usage
        ---------------
        Device: atmega328p

        Stack:        4 bytes (0.2% Full)
        (of 2040 bytes from 0x0108, the end of static data, to 0x08ff)

        Free:      2036 bytes in every run

        On the stack where it is deepest:
          bytes  depth  address  routine
              0      0   0x008e  __ctors_end
              2      2   0x00c6  main at common/function-table.h:19
              2      4   0x0096  stop at common/function-table.h:5

        What routines take at most, with their return address; total with what they call:
          own  total  routine          called by
            2      4  __ctors_end      main
            2      4  main             __ctors_end
            2      2  __vectors        main
            2      2  __bad_interrupt  main
            2      2  stop             main
            2      2  forward          main
            2      2  backward         main
            2      2  brake            main
            0      0  __do_copy_data

        recursion that the proof does not exclude: __ctors_end -> main -> __ctors_end, at most 2 times
        stack: fits, lower 4, upper 4, room 2040, free 2036"#]];
    expected.assert_eq(&shown);
}

fn json(arguments: &[&str]) -> Value {
    let output = stack(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object")
}

#[test]
fn the_json_fits_its_schema() {
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("the schema is JSON");
    let report = parse(include_str!("../../../docs/schema/report-1.json"));
    let registry = Registry::new().add("urn:avr-tvar:report:1", report).expect("the name is a URI");
    let registry = registry.prepare().expect("the schema is one");
    let schema = parse(include_str!("../../../docs/schema/stack-1.json"));
    let validator = jsonschema::options().with_registry(&registry).build(&schema).expect("the schema is one");
    let overflow = "firmware-samples/hazard-stack-into-data/hazard-stack-into-data.elf";
    for arguments in [&[BLINK][..], &[BLINK, "--timeout", "0"], &[overflow]] {
        let report = json(arguments);
        let problems: Vec<String> = validator.iter_errors(&report).map(|problem| problem.to_string()).collect();
        assert_eq!(problems, Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn the_chain_of_a_nested_interrupt_is_told() {
    let report = json(&["firmware-samples/nested-bounded/nested-bounded.Os.elf"]);
    let row = |segment: &Value| (segment["routine"].as_str().map(str::to_owned), segment["bytes"].as_u64());
    let chain: Vec<_> = report["chain"].as_array().expect("it is a list").iter().map(row).collect();
    let named = |name: &str, bytes| (Some(name.to_owned()), Some(bytes));
    assert_eq!(chain[1..], [named("main", 2), named("interrupt INT0", 6), named("interrupt INT1", 6)]);
    let handler =
        report["routines"].as_array().expect("it is a list").iter().find(|one| one["routine"] == "interrupt INT1");
    let handler = handler.expect("the handler is reached");
    assert_eq!((&handler["own"], &handler["total"]), (&6.into(), &6.into()));
    assert_eq!(handler["callers"], serde_json::json!(["main", "interrupt INT0"]));
}

#[test]
fn recursion_is_told_with_its_depth() {
    let report = json(&["firmware-samples/deep-recursion-limited/deep-recursion-limited.Os.elf"]);
    assert_eq!(report["exact"], 66);
    let cycle = serde_json::json!({ "routines": ["sum", "sum"], "kind": "recursion", "times": 16, "bounded": true, "shown": true });
    assert_eq!(report["cycles"], serde_json::json!([cycle]));
}
