//! A run that was recorded can be repeated exactly, from the file that the recording makes.

use crate::code::{SEI, SLEEP, inc, input, ldi, lds, out, program, rjmp, sts, with_handlers};
use crate::{device, machine, machine_with, stimulus};
use avr_machine::Options;
use avr_machine::simulator::{Limits, Simulator, Stimulus};

/// Records a run, and compares it with what its recording gives.
#[track_caller]
fn check(code: &[u16], text: &str) {
    let resets = stimulus(text).resets();
    let machine = machine_with(code, Options { resets, ..Options::default() });
    let limits = Limits { steps: 5_000, ..Limits::default() };
    let mut original = Simulator::new(&machine, stimulus(text));
    original.record();
    let end = original.run(limits);
    let recorded = original.recorded().expect("the run was recorded");
    let written = recorded.exact_to_ron(device());
    let read = Stimulus::parse("recorded.ron", &written, device()).expect("a recording is a stimulus");
    assert_eq!(read, recorded, "{written}");
    let mut repeated = Simulator::new(&machine, read);
    assert_eq!(repeated.run(limits), end, "{written}");
    assert_eq!((repeated.steps(), repeated.cycles()), (original.steps(), original.cycles()));
    assert_eq!(repeated.state().data.cells(), original.state().data.cells(), "{written}");
    assert_eq!(repeated.state().control, original.state().control);
}

#[test]
fn recordings_repeat_runs() {
    let timers = program(&[&[ldi(16, 1), out(0x45, 16)], &sts(0x6e, 16), &[ldi(16, 2), out(0x35, 16), SEI]]);
    let look = program(&[&[input(18, 0x46), input(19, 0x23)], &lds(21, 0xc0), &lds(22, 0xc6), &[inc(23), rjmp(-8)]]);
    let code = with_handlers(&[(16, inc(20)), (1, inc(24))], &program(&[&timers, &look]));
    check(&code, "()");
    check(&code, "(registers: {\"r20\": 7, \"EECR\": 0x20}, memory: {0x0123: 5}, eeprom: {9: 1}, shared: [4])");
    check(&code, "(events: [(cycle: 700, pins: {\"PB3\": 1}), (step: 900, reset: \"external_reset\")])");
    check(&code, "(events: [(step: 50, inputs: [(\"UCSR0A\", 0x80, 0x80), (\"UDR0\", 0xff, 0x61)])])");
}

#[test]
fn recordings_repeat_sleep() {
    let sleep = program(&[&[ldi(16, 1), out(0x45, 16)], &sts(0x6e, 16), &[out(0x53, 16), SEI, SLEEP, rjmp(-2)]]);
    check(&with_handlers(&[(16, inc(20))], &sleep), "()");
}

#[test]
fn inputs_of_a_step_serve_its_questions_in_order() {
    // Reading TCNT1L asks for both halves, the high one first.
    let code = program(&[&[ldi(16, 1)], &sts(0x81, 16), &lds(20, 0x84), &lds(21, 0x85), &[rjmp(-1)]]);
    let machine = machine(&code);
    let text = "(exact: [(step: 2, inputs: [(\"TCNT1H\", 0xff, 0x12), (\"TCNT1L\", 0xff, 0x34)])])";
    let mut simulator = Simulator::new(&machine, stimulus(text));
    simulator.run(Limits { steps: 6, ..Limits::default() });
    assert_eq!(simulator.state().data.cells()[20..22], [0x34, 0x12]);
    let alone = program(&[&[input(20, 0x23), input(21, 0x23), rjmp(-1)]]);
    let machine = crate::machine(&alone);
    let text = "(exact: [(step: 1, inputs: [(\"PINB\", 0xff, 0x99)])])";
    let mut simulator = Simulator::new(&machine, stimulus(text));
    simulator.run(Limits { steps: 3, ..Limits::default() });
    assert_eq!(simulator.state().data.cells()[20..22], [0, 0x99], "what is not listed is 0");
}

#[test]
fn polled_bits_are_written_once() {
    // Two questions in each round of six steps, and a level that changes in between.
    let step =
        |step: u64, register: &str, value: u8| format!("(step: {step}, inputs: [(\"{register}\", 0x01, {value})])");
    let round = |number: u64| [step(4 + 6 * number, "PINB", u8::from(number >= 400)), step(7 + 6 * number, "PIND", 0)];
    let steps: Vec<String> = (0..1000).flat_map(round).collect();
    let read = stimulus(&format!("(exact: [{}])", steps.join(", ")));
    let written = read.exact_to_ron(device());
    assert_eq!(Stimulus::parse("written.ron", &written, device()), Ok(read), "{written}");
    let entries: Vec<&str> = written.lines().filter(|line| line.contains("step: ")).map(str::trim).collect();
    let expected = [
        "(step: 4, every: 6, times: 400, inputs: [(\"PINB\", 0x01, 0x00)]),",
        "(step: 7, every: 6, times: 1000, inputs: [(\"PIND\", 0x01, 0x00)]),",
        "(step: 2404, every: 6, times: 600, inputs: [(\"PINB\", 0x01, 0x01)]),",
    ];
    assert_eq!(entries, expected);
}

#[test]
fn repetitions_are_exact_or_refused() {
    let error = |text: &str| Stimulus::parse("s.ron", text, device()).expect_err("it is wrong").to_string();
    let twice = error("(exact: [(step: 1, every: 3, times: 4, choice: \"none\"), (step: 7, choice: \"none\")])");
    assert!(twice.contains("step 7 does not come after step 7"), "{twice}");
    for text in
        ["(step: 1, every: 3)", "(step: 1, times: 3)", "(step: 1, every: 0, times: 2)", "(step: 1, every: 1, times: 0)"]
    {
        let refused = error(&format!("(exact: [{text}])"));
        assert!(refused.contains("both at least 1"), "{refused}");
    }
    let large = error("(exact: [(step: 1, every: 1, times: 100000000)])");
    assert!(large.contains("out of range"), "{large}");
    let far = error("(exact: [(step: 1, every: 18446744073709551615, times: 3)])");
    assert!(far.contains("out of range"), "{far}");
}
