//! Ends of runs, with the simulator in the last state that there was.

use crate::code::{BREAK, NOP, SEI, SLEEP, ldi, out, program, rjmp, store, with_handlers};
use crate::{machine, stimulus};
use avr_isa::DataAddress;
use avr_machine::device::ResetCause;
use avr_machine::simulator::{End, Limits, Simulator, Stimulus};
use avr_machine::{Happening, Hazard, HazardKind};

/// Runs a program and checks its end: steps, cycles, flash byte address.
#[track_caller]
fn check(code: &[u16], limits: Limits, end: End, expected: (u64, u64, u32)) {
    let machine = machine(code);
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    assert_eq!(simulator.run(limits), end);
    let reached =
        |simulator: &Simulator<'_>| (simulator.steps(), simulator.cycles(), simulator.state().control.pc.byte().0);
    assert_eq!(reached(&simulator), expected);
    // Once more from there: it is still the end.
    assert_eq!(simulator.run(limits), end);
    assert_eq!(reached(&simulator), expected);
}

fn steps(steps: u64) -> Limits {
    Limits { steps, cycles: u64::MAX }
}

#[test]
fn runs_end_at_limits() {
    let spin = [rjmp(-1)];
    check(&spin, steps(0), End::Steps, (0, 0, 0));
    check(&spin, steps(5), End::Steps, (5, 10, 0));
    check(&spin, Limits { steps: u64::MAX, cycles: 5 }, End::Cycles, (3, 6, 0));
    check(&spin, Limits::default(), End::Steps, (1_000_000, 2_000_000, 0));
}

#[test]
fn runs_end_before_break() {
    check(&[NOP, BREAK], steps(9), End::Break, (1, 1, 2));
    check(&[BREAK], steps(9), End::Break, (0, 0, 0));
    check(&[rjmp(1), BREAK, rjmp(-2)], steps(9), End::Break, (2, 4, 2));
}

#[test]
fn runs_end_in_a_sleep_that_nothing_ends() {
    let sleep = [ldi(16, 1), out(0x53, 16), SLEEP, rjmp(-1)];
    check(&sleep, steps(9), End::Asleep, (3, 3, 6));
    // An enabled interrupt that could come but does not: INT0 by a falling edge.
    let waiting = [ldi(16, 2), 0x9300, 0x0069, ldi(16, 1), out(0x3d, 16), out(0x53, 16), SEI, SLEEP, rjmp(-1)];
    check(&waiting, steps(99), End::Asleep, (7, 8, 16));
    // A timer that runs ends an idle sleep.
    let timed = with_handlers(&[], &[ldi(16, 1), out(0x45, 16), 0x9300, 0x006e, out(0x53, 16), SEI, SLEEP, BREAK]);
    let machine = machine(&timed);
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    assert_eq!(simulator.run(Limits::default()), End::Break);
    assert!((260..280).contains(&simulator.cycles()), "{}", simulator.cycles());
}

#[test]
fn a_hazard_leaves_the_state_before_it() {
    let hazard = |kind, address| End::Hazard(Hazard { kind, address: Some(address) });
    // The store would move the pointer before it fails.
    let code = [ldi(26, 0xff), ldi(27, 0x08), store(16), store(16)];
    check(&code, steps(9), hazard(HazardKind::OutsideMemory, 0x900), (3, 4, 6));
    let machine = machine(&code);
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    while simulator.step().is_ok() {}
    assert_eq!(
        (simulator.steps(), *simulator.state().data.get(DataAddress(26)), *simulator.state().data.get(DataAddress(27))),
        (3, 0, 9)
    );
    check(&[NOP], steps(9), hazard(HazardKind::OutsideImage, 2), (1, 1, 2));
    check(&[NOP, 0xffff], steps(9), hazard(HazardKind::ReservedOpcode, 2), (1, 1, 2));
}

#[test]
fn steps_one_by_one_and_a_run_agree() {
    let code = with_handlers(&[(16, 0x9403)], &[ldi(16, 1), out(0x45, 16), 0x9300, 0x006e, SEI, rjmp(-1)]);
    let machine = machine(&code);
    let mut whole = Simulator::new(&machine, Stimulus::default());
    let mut single = Simulator::new(&machine, Stimulus::default());
    assert_eq!(whole.run(steps(3_000)), End::Steps);
    let mut cells: Vec<u8> = single.state().data.cells().to_vec();
    for _ in 0..3_000 {
        assert_eq!(single.step(), Ok(()));
        single.changes().into_iter().for_each(|(address, value)| cells[address.index()] = value);
    }
    assert_eq!(whole.cycles(), single.cycles());
    assert_eq!(whole.state().data.cells(), single.state().data.cells());
    assert_eq!(cells[..0x900], whole.state().data.cells()[..0x900]);
    assert!(cells[0] > 10, "the handler has counted {}", cells[0]);
}

#[test]
fn a_long_run_can_go_back_behind_a_checkpoint() {
    // Counts 24 bits up to 3 << 16 in memory, then meets a hazard: millions of steps after the last checkpoint.
    let count = program(&[&[0x9403, 0xf7f1], &[0x9413, 0xf7e1], &[0x9423, 0xfe21, rjmp(-7)], &[0xffff]]);
    let machine = machine(&count);
    let mut simulator = Simulator::new(&machine, Stimulus::default());
    let end = simulator.run(Limits { steps: 10_000_000, ..Limits::default() });
    let hazard = Hazard { kind: HazardKind::ReservedOpcode, address: Some(14) };
    assert_eq!(end, End::Hazard(hazard));
    assert_eq!(simulator.state().data.cells()[..3], [0, 0, 2]);
    assert_eq!(simulator.state().control.pc.byte().0, 14);
}

#[test]
fn an_exact_stimulus_that_asks_for_the_impossible_ends_the_run() {
    let code = with_handlers(&[], &[ldi(16, 1), out(0x3d, 16), 0x9300, 0x0069, SEI, rjmp(-1)]);
    let machine = machine(&code);
    let refused = |step: u64, choice: &str, expected: Happening| {
        let wrong = stimulus(&format!("(exact: [(step: {step}, choice: \"{choice}\")])"));
        let mut simulator = Simulator::new(&machine, wrong);
        assert_eq!(simulator.run(steps(20)), End::Impossible(expected));
        assert_eq!(simulator.steps(), step);
    };
    refused(7, "TIMER0_OVF", Happening::Interrupt(16));
    refused(2, "INT0", Happening::Interrupt(1));
    refused(7, "external_reset", Happening::Reset(ResetCause::External));
    let right = stimulus("(exact: [(step: 7, choice: \"INT0\")])");
    let mut simulator = Simulator::new(&machine, right);
    assert_eq!(simulator.run(steps(8)), End::Steps);
    assert_eq!(simulator.state().control.pc.byte().0, 4);
}
