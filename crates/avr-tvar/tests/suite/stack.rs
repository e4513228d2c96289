//! The worst-case stack: against the bounds that `firmware-samples/README.md` derives by hand, and the command.

use std::process::{Command, Output};

use crate::sample::{Sample, StateLimit, root, samples};
use avr_report::StackReport;
use avr_testkit::schema;
use avr_testkit::side_by_side;
use avr_verify::{Fit, Request, Routine, Survey, WorstCase, worst_case};
use expect_test::expect;
use serde_json::Value;

/// States that an analysis may reach. Time is no limit, so that the outcome does not depend on the machine.
const MAX_STATES: usize = 100_000;
/// States for a sample that may stay unknown.
const FEW_STATES: usize = 10_000;

fn analyse(sample: &Sample, image: &str, properties: &str) -> WorstCase {
    analyse_within(if sample.limit.is_some() { FEW_STATES } else { MAX_STATES }, sample, image, properties)
}

fn analyse_within(states: usize, sample: &Sample, image: &str, properties: &str) -> WorstCase {
    let firmware = sample.load(image, properties);
    let request = Request { watch: &StateLimit(states), ..firmware.request() };
    worst_case(&request, 0, &|_| {}).unwrap_or_else(|error| panic!("{image}: {error}"))
}

/// The difference from the exact bound, and from what belongs to it.
fn difference(sample: &Sample, image: &str, exact: u32, found: &WorstCase) -> Option<String> {
    let bound = found.bound;
    let contradicts = bound.lower.is_some_and(|lower| lower > exact) || bound.upper.is_some_and(|upper| upper < exact);
    if contradicts || bound.exact() != Some(exact) && sample.limit.is_none() {
        return Some(format!("{image}: {bound:?}, expected exactly {exact}: {:?}", found.reasons));
    }
    let chain: u32 = found.chain.iter().map(|segment| segment.bytes).sum();
    let is_shown = found.run.as_ref().is_some_and(|run| run.replayed) && found.run_depth() == Some(exact);
    let fits = found.fit == Fit::Fits || exact > found.room.bytes();
    // No run is needed to show that none is deeper than not at all, and a limit may leave none that is as deep.
    let is_right = sample.limit.is_some() || (is_shown || exact == 0) && chain == exact && fits;
    (bound.exact().is_some() && !is_right).then(|| format!("{image}: shown {is_shown}, chain {chain}, {:?}", found.fit))
}

#[test]
fn bounds_are_those_derived_by_hand() {
    let samples = samples();
    let bounded = samples.iter().filter_map(|sample| Some((sample, sample.stack?)));
    // One image of each optimisation, one with symbols and one without.
    let chosen = |image: &str| !(image.ends_with(".Os.hex") || image.ends_with(".Og.elf"));
    let images: Vec<_> = bounded
        .flat_map(|(sample, exact)| sample.images.iter().map(move |(image, file)| (sample, exact, image, file)))
        .filter(|(sample, _, image, _)| chosen(image) && sample.is_selected(image))
        .collect();
    assert!(images.len() as u64 >= avr_testkit::cases(40, 115), "only {} images", images.len());
    let check = |(sample, exact, image, file): &(&Sample, u32, &String, &String)| {
        difference(sample, image, *exact, &analyse(sample, image, file))
    };
    let found: Vec<String> = side_by_side(&images, check).into_iter().flatten().collect();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

/// The lines of the report that tell of recursion and nesting.
fn told_cycles(sample: &Sample, image: &str, properties: &str, worst_case: &WorstCase) -> Vec<String> {
    let firmware = sample.load(image, properties);
    let (image, device) = (&firmware.image, firmware.device);
    let text = StackReport { image, device, machine: None, worst_case, stopped_by: None, peak_memory_bytes: 0 }.text();
    let cycles = text.lines().filter(|line| line.starts_with("recursion") || line.starts_with("nesting"));
    cycles.map(str::to_owned).collect()
}

#[test]
fn nesting_without_end_is_told_with_a_run() {
    let samples = samples();
    let sample = samples.iter().find(|sample| sample.sample == "nested-unbounded").expect("there is one");
    let found = analyse_within(30_000, sample, "nested-unbounded.Os.elf", "nested-unbounded.ron");
    assert_eq!((found.fit, found.bound.upper), (Fit::Unknown, None));
    assert!(found.run_depth() <= found.bound.lower);
    assert!(found.run_depth() > Some(14) && found.run.as_ref().is_some_and(|run| run.replayed), "{:?}", found.bound);
    let mut routines = found.cycles_shown.keys().flat_map(|cycle| &cycle.routines).peekable();
    assert!(routines.peek().is_some() && routines.all(|routine| matches!(routine, Routine::Handler(_))));
    assert!(!found.reasons.is_empty());
    let told = told_cycles(sample, "nested-unbounded.Os.elf", "nested-unbounded.ron", &found);
    let nesting = "nesting: interrupt INT0 -> interrupt INT0, without a bound that is known, at least ";
    assert!(told.iter().any(|line| line.starts_with(nesting)), "{told:?}");
    // A limit may leave nothing but the run.
    let cut = WorstCase { survey: Survey::default(), ..found };
    let told = told_cycles(sample, "nested-unbounded.Os.elf", "nested-unbounded.ron", &cut);
    assert!(told.iter().any(|line| line.starts_with(nesting)), "{told:?}");
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
    // A run may have told a lower bound before the limit was noticed.
    let given_up = stack(&[BLINK, "--timeout", "0"]);
    let text = stdout(&given_up);
    let summary = text.lines().last().unwrap_or_default();
    assert!(
        summary.starts_with("stack: unknown, lower ") && summary.ends_with(", upper -, room 2047, free -"),
        "{text}"
    );
    assert_eq!(given_up.status.code(), Some(3));
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
          own  total  routine         called by
            0      4  __ctors_end
            2      4  main            __ctors_end
            2      2  stop            main
            2      2  forward         main
            2      2  backward        main
            2      2  brake           main
            0      0  __vectors
            0      0  __do_copy_data

        stack: fits, lower 4, upper 4, room 2040, free 2036"#]];
    expected.assert_eq(&shown);
}

fn json(arguments: &[&str]) -> Value {
    let output = stack(&[arguments, &["--format", "json"]].concat());
    serde_json::from_slice(&output.stdout).expect("the standard output is one JSON object")
}

#[test]
fn the_json_fits_its_schema() {
    let overflow = "firmware-samples/hazard-stack-into-data/hazard-stack-into-data.elf";
    for arguments in [&[BLINK][..], &[BLINK, "--timeout", "0"], &[overflow]] {
        let report = json(arguments);
        assert_eq!(schema::problems(&report, schema::STACK), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn stacks_of_tasks_are_listed() {
    let arguments = ["firmware-samples/kernel-turns/kernel-turns.Os.elf", "properties/kernel-turns.ron"];
    let report = json(&arguments);
    assert_eq!(schema::problems(&report, schema::STACK), Vec::<String>::new());
    let of = |name: &str| serde_json::json!({"symbol": name, "lower": 20, "upper": 20, "exact": 20, "room": 48});
    assert_eq!(report["stacks"], serde_json::json!([of("stack_of_lights"), of("stack_of_keys")]));
    assert_eq!((&report["verdict"], &report["exact"]), (&"fits".into(), &22.into()));
    let text = String::from_utf8(stack(&arguments).stdout).expect("the report is text");
    assert!(text.contains("stack_of_keys of 48 bytes: 20 bytes at most, and some run needs them\n"), "{text}");
    let small =
        json(&["firmware-samples/kernel-turns-small/kernel-turns-small.Os.elf", "properties/kernel-turns-small.ron"]);
    let upper: Vec<_> = small["stacks"].as_array().expect("it is a list").iter().map(|one| &one["upper"]).collect();
    assert_eq!((&small["verdict"], upper), (&"overflows".into(), vec![&Value::Null; 2]));
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
fn strictness_accepts_no_run_that_the_hardware_would_determine() {
    // Here the timer overflows by itself.
    check(&[BLINK, "--strict"], 0, "stack: fits, lower 8, upper 8, room 2047, free 2039");
    check(&[BLINK, "--strict", "--margin", "2040"], 1, "stack: overflows, lower 8, upper 8, room 2047, free 2039");
    // Here it would have to overflow at a certain moment.
    let cooperative = ["firmware-samples/sketch-cooperative/sketch-cooperative.Os.elf", "--strict", "--timeout", "10s"];
    check(&cooperative, 0, "stack: fits, lower -, upper 11, room 2024, free 2013");
    let calls = "firmware-samples/function-table/function-table.Os.elf";
    check(&[calls, "--strict", "--margin", "2037"], 1, "stack: overflows, lower 4, upper 4, room 2040, free 2036");
}

#[test]
fn the_run_is_written_as_evidence() {
    let folder = tempfile::tempdir().expect("there is a directory for temporary files");
    let path = folder.path().display().to_string();
    let function_table = "firmware-samples/function-table/function-table.Os.elf";
    assert_eq!(stack(&[function_table, "--evidence", &path]).status.code(), Some(0));
    let trace = std::fs::read(folder.path().join("stack-max-bytes-3/trace.json")).expect("it is written");
    let trace: Value = serde_json::from_slice(&trace).expect("it is JSON");
    assert_eq!((&trace["property"]["verdict"], &trace["evidence"]["end"]["sp"]), (&"violated".into(), &0x8fb.into()));
    let overflow = "firmware-samples/hazard-stack-into-data/hazard-stack-into-data.elf";
    assert_eq!(stack(&[overflow, "--evidence", &path]).status.code(), Some(1));
    assert!(folder.path().join("inherent/replay.c").exists());
    let output = stack(&[BLINK, "--timeout", "0", "--evidence", &path]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("note: no run is known"));
}

#[test]
fn recursion_is_told_with_its_depth() {
    let report = json(&["firmware-samples/deep-recursion-limited/deep-recursion-limited.Os.elf"]);
    assert_eq!(report["exact"], 66);
    let cycle = serde_json::json!({ "routines": ["sum", "sum"], "kind": "recursion", "times": 16, "bounded": true, "shown": true });
    assert_eq!(report["cycles"], serde_json::json!([cycle]));
}
