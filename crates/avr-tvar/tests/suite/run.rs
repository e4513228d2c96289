//! The command `run` on the firmware samples.

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use expect_test::{Expect, expect};
use serde_json::Value;
use tempfile::TempDir;

/// The path of an image of a sample.
fn image(name: &str) -> PathBuf {
    let sample = name.split('.').next().unwrap_or(name);
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../firmware-samples").join(sample).join(name)
}

fn run(name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("avr-tvar").expect("the binary is built");
    command.arg("run").arg(image(name)).args(["--device", "atmega328p"]).args(arguments);
    command.output().expect("the binary runs")
}

/// The standard output of a run that took place.
#[track_caller]
fn output(name: &str, arguments: &[&str]) -> String {
    let output = run(name, arguments);
    assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

/// The final state of a run.
#[track_caller]
fn last(name: &str, arguments: &[&str]) -> Value {
    let output = output(name, &[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&output).expect("the output is one JSON object")
}

/// A cell of the data memory in a final state.
fn cell(state: &Value, address: usize) -> u8 {
    let data = state["data"].as_str().expect("data is text");
    assert_eq!(data.len(), 2 * 0x900);
    u8::from_str_radix(&data[2 * address..2 * address + 2], 16).expect("data is hexadecimal")
}

const PORTB: usize = 0x25;
const PORTD: usize = 0x2b;

/// Runs with a stimulus.
fn with_stimulus(name: &str, text: &str, arguments: &[&str]) -> Value {
    let folder = TempDir::new().expect("there is a place for temporary files");
    let path = folder.path().join("stimulus.ron");
    std::fs::write(&path, text).expect("the file can be written");
    last(name, &[arguments, &["--stimulus", path.to_str().expect("the path is text")]].concat())
}

#[test]
fn final_states_have_the_documented_form() {
    let state = last("blink.Os.hex", &["--steps", "20"]);
    let fields: Vec<&String> = state.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["cycles", "data", "hazard", "pc", "registers", "sp", "sreg", "steps", "stopped"]);
    assert_eq!(state["registers"].as_array().map(Vec::len), Some(32));
    assert_eq!((&state["steps"], &state["stopped"], &state["hazard"]), (&20.into(), &"steps".into(), &Value::Null));
    // DDRB is set, the light is on, and the delay loop runs with r25:r24 = 999 less two rounds.
    assert_eq!((cell(&state, 0x24), cell(&state, PORTB)), (0x20, 0x20));
    assert_eq!((cell(&state, 0x5d), cell(&state, 0x5e), &state["sp"]), (0xfd, 0x08, &0x8fd.into()));
    assert_eq!(last("blink.Os.hex", &["--cycles", "100000"])["stopped"], "cycles");
    assert_eq!(last("blink.Os.hex", &[])["steps"], 1_000_000);
    assert_eq!(last("blink.Os.hex", &["--start", "0x80", "--steps", "1"])["pc"], 0x82);
}

#[test]
fn the_text_is_for_people() {
    let text = output("sketch-print.Os.elf", &["--cycles", "40000"]);
    let expected = expect![[r#"
        24612 steps, 40000 cycles, until the limit of cycles
        PC 0x017e   SP 0x08f6   SREG ------Z-
        r0  4c 00 00 00 00 00 00 00
        r8  00 00 0a 00 00 00 06 01
        r16 40 01 00 0a 00 10 0a 00
        r24 01 00 00 00 f8 08 f9 08
        USART sent 26 bytes: "0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n"
    "#]];
    expected.assert_eq(&text);
}

/// The trace of a few steps, and that its last line and the final state agree.
#[test]
fn a_trace_has_a_line_for_every_step() {
    let text = output("blink.Os.hex", &["--steps", "10", "--trace", "--format", "json"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(lines.len(), 11);
    let (step, state) = (&lines[9], &lines[10]);
    assert_eq!((&step["step"], &step["cycle"]), (&state["steps"], &state["cycles"]));
    assert_eq!((&step["pc"], &step["sp"], &step["sreg"]), (&state["pc"], &state["sp"], &state["sreg"]));
    let head = text.lines().take(10).collect::<Vec<_>>().join("\n");
    expect![[r#"
        {"step":1,"cycle":3,"pc":104,"sp":2303,"sreg":0,"registers":{},"memory":{}}
        {"step":2,"cycle":4,"pc":106,"sp":2303,"sreg":2,"registers":{},"memory":{}}
        {"step":3,"cycle":5,"pc":108,"sp":2303,"sreg":0,"registers":{},"memory":{}}
        {"step":4,"cycle":6,"pc":110,"sp":2303,"sreg":0,"registers":{"r28":255},"memory":{}}
        {"step":5,"cycle":7,"pc":112,"sp":2303,"sreg":0,"registers":{"r29":8},"memory":{}}
        {"step":6,"cycle":8,"pc":114,"sp":2303,"sreg":0,"registers":{},"memory":{}}
        {"step":7,"cycle":9,"pc":116,"sp":2303,"sreg":0,"registers":{},"memory":{}}
        {"step":8,"cycle":13,"pc":128,"sp":2301,"sreg":0,"registers":{},"memory":{"0x08ff":60}}
        {"step":9,"cycle":14,"pc":130,"sp":2301,"sreg":0,"registers":{"r24":32},"memory":{}}
        {"step":10,"cycle":15,"pc":132,"sp":2301,"sreg":0,"registers":{},"memory":{"0x0024":32}}"#]]
    .assert_eq(&head);
}

#[test]
fn hazards_are_named_with_their_place() {
    #[track_caller]
    fn check(name: &str, expected: &Expect) {
        let state = last(name, &[]);
        expected.assert_eq(&format!("{} {} {}", state["stopped"], state["pc"], state["hazard"]));
    }
    check(
        "hazard-outside-image.hex",
        &expect![[
            r#""hazard" 28672 {"address":28672,"meaning":"execution leaves the program image or enters erased flash","name":"outside-image","pc":28672}"#
        ]],
    );
    check(
        "hazard-stack-outside-sram.hex",
        &expect![[
            r#""hazard" 10 {"address":255,"meaning":"the stack is accessed outside the SRAM","name":"stack-outside-sram","pc":10}"#
        ]],
    );
    check("hazard-sleep-for-ever.hex", &expect![[r#""sleep" 8 null"#]]);
    check("sleep-wake.Os.hex", &expect![[r#""sleep" 204 null"#]]);
}

#[test]
fn samples_behave_as_written() {
    let timer = |cycles: &str| cell(&last("timer-blink.Os.hex", &["--cycles", cycles]), PORTB);
    assert_eq!((timer("4000"), timer("4300"), timer("8100"), timer("8400")), (0, 0x20, 0x20, 0));
    let edges = "(events: [(cycle: 0, pins: {\"PD2\": 1}), (cycle: 1000, pins: {\"PD2\": 0})])";
    let woken = with_stimulus("sleep-wake.Os.hex", edges, &[]);
    assert_eq!((cell(&woken, PORTB), &woken["stopped"]), (1, &"sleep".into()));
    let voltage = |level: u16| {
        let stimulus = format!("(events: [(cycle: 0, adc: {{0: {level}}})])");
        cell(&with_stimulus("adc-poll.Os.hex", &stimulus, &["--cycles", "20000"]), PORTB)
    };
    assert_eq!((voltage(600), voltage(601), voltage(1023)), (0, 1, 1));
    let hung =
        with_stimulus("watchdog.Os.hex", "(events: [(cycle: 5000, pins: {\"PD0\": 1})])", &["--cycles", "400000"]);
    assert_eq!(cell(&hung, PORTB), 1);
    assert_eq!(cell(&last("watchdog.Os.hex", &["--cycles", "1000000"]), PORTB), 0);
    // 5! = 120 on port D.
    let pins = "(events: [(cycle: 0, pins: {\"PB0\": 1, \"PB2\": 1})])";
    assert_eq!(cell(&with_stimulus("factorial-3-bits.Os.hex", pins, &["--steps", "10000"]), PORTD), 120);
}

#[test]
fn bytes_are_echoed() {
    let echo = |name: &str, arguments: &[&str]| output(name, arguments).lines().last().map(str::to_owned);
    let folder = TempDir::new().expect("there is a place for temporary files");
    let path = folder.path().join("hello.ron");
    std::fs::write(&path, "(events: [(cycle: 3000, uart: \"hello\")])").expect("the file can be written");
    let stimulus = ["--cycles", "50000", "--stimulus", path.to_str().expect("the path is text")];
    for name in ["usart-echo.Os.hex", "usart-echo.Og.hex"] {
        assert_eq!(echo(name, &stimulus).as_deref(), Some("USART sent 5 bytes: \"hello\""), "{name}");
    }
}

/// Recording a run and repeating it gives the same bytes, trace and all.
#[test]
fn recorded_runs_can_be_repeated() {
    let folder = TempDir::new().expect("there is a place for temporary files");
    let path = folder.path().join("recorded.ron");
    let path = path.to_str().expect("the path is text");
    let samples = [
        "timer-blink.Os.hex",
        "usart-echo.Os.hex",
        "sketch-cooperative.Os.hex",
        "sketch-tone.Os.hex",
        "nested-bounded.Os.hex",
        "eeprom-log.Os.hex",
        "sketch-print.Og.hex",
        "watchdog.Os.hex",
    ];
    for name in samples {
        let options = ["--cycles", "20000", "--trace", "--format", "json"];
        let original = output(name, &[&options[..], &["--record", path]].concat());
        let repeated = output(name, &[&options[..], &["--stimulus", path]].concat());
        assert!(original == repeated, "{name}");
        assert!(original == output(name, &options), "{name} differs from run to run");
    }
}

#[test]
fn wrong_input_ends_with_2_and_says_what_to_do() {
    #[track_caller]
    fn check(name: &str, stimulus: &str, arguments: &[&str], expected: &Expect) {
        let folder = TempDir::new().expect("there is a place for temporary files");
        let path = folder.path().join("s.ron");
        std::fs::write(&path, stimulus).expect("the file can be written");
        let path = path.to_str().expect("the path is text").to_owned();
        let output = run(name, &[arguments, &["--stimulus", &path]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        expected.assert_eq(&String::from_utf8_lossy(&output.stderr).replace(&path, "s.ron"));
    }
    check(
        "blink.Os.hex",
        "(events: [\n  (cycel: 3)\n])",
        &[],
        &expect![[r#"
        error: there is no field 'cycel' here; did you mean cycle?
         --> s.ron:2:4
          |
        2 |   (cycel: 3)
          |    ^^^^^
    "#]],
    );
    check(
        "blink.Os.hex",
        "(exact: [(step: 3, choice: \"INT0\"), (step: 3)])",
        &[],
        &expect![[r#"
        error: step 3 does not come after step 3
         --> s.ron:1:37
          |
        1 | (exact: [(step: 3, choice: "INT0"), (step: 3)])
          |                                     ^
        hint: sort the entries by step and join those of one step
    "#]],
    );
    check(
        "blink.Os.hex",
        "(events: [(cycle: 0, pins: {\"PX0\": 1})])",
        &[],
        &expect![[r#"
        error: the device has no pin 'PX0'; did you mean PB0 or PC0 or PD0?
         --> s.ron:1:29
          |
        1 | (events: [(cycle: 0, pins: {"PX0": 1})])
          |                             ^^^^^
        hint: pins are named by port and bit, as in "PB3"
    "#]],
    );
    check(
        "blink.Os.hex",
        "(events: [\n  (cycle: 3, adc: {0: 2000}),\n])",
        &[],
        &expect![[r#"
        error: result 0x7d0 is out of range: the last one is 0x3ff
         --> s.ron:2:20
          |
        2 |   (cycle: 3, adc: {0: 2000}),
          |                    ^
    "#]],
    );
    check(
        "blink.Os.hex",
        "(events: [\n",
        &[],
        &expect![[r#"
        error: the file ends here, and a bracket or a quote is open
         --> s.ron:1:11
          |
        1 | (events: [
          |           ^
    "#]],
    );
    let never = "(exact: [(step: 50, choice: \"ADC\")])";
    check(
        "timer-blink.Os.hex",
        never,
        &["--steps", "100"],
        &expect![[r#"
        error: ADC is not possible in step 50
         --> s.ron:1:29
          |
        1 | (exact: [(step: 50, choice: "ADC")])
          |                             ^^^^^
        hint: an interrupt must be enabled and requested there; is the stimulus for this firmware?
    "#]],
    );
    check(
        "timer-blink.Os.hex",
        "(exact: [\n  (step: 3),\n  (step: 40, every: 5, times: 2, choice: \"none\"),\n  (step: 43, every: 7, times: 3,\n   choice: \"ADC\")])",
        &["--steps", "100"],
        &expect![[r#"
            error: ADC is not possible in step 43
             --> s.ron:5:12
              |
            5 |    choice: "ADC")])
              |            ^^^^^
            hint: an interrupt must be enabled and requested there; is the stimulus for this firmware?
        "#]],
    );
    let missing = run("blink.Os.hex", &["--stimulus", "/nowhere.ron"]);
    assert_eq!(missing.status.code(), Some(2));
    let both = run("blink.Os.hex", &["--steps", "1", "--cycles", "1"]);
    assert_eq!(both.status.code(), Some(2));
}
