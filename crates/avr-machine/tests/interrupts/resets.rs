//! Resets: by the watchdog, from outside, and by the supply.

use super::bench::{Bench, NOP, START, address, ldi, out, sts};
use avr_isa::{DataAddress, FlashWordAddress, Instruction};
use avr_machine::Options;
use avr_machine::device::ResetCause;

#[test]
fn the_watchdog_resets_only_where_it_is_on() {
    #[track_caller]
    fn check(set: &[&str], expected: &str) {
        let mut bench = Bench::new(&[NOP]);
        bench.set(set);
        assert_eq!(bench.offers(), expected, "{set:?}");
    }
    check(&[], "go");
    check(&["WDTCSR.WDE"], "go Watchdog");
    check(&["WDTCSR.WDE", "SREG.I"], "go Watchdog");
    check(&["WDTCSR.WDIE", "SREG.I"], "go WDT");
    check(&["WDTCSR.WDIE"], "go");
    // With both modes on the interrupt comes first, unless I keeps it out until the second time-out.
    check(&["WDTCSR.WDE", "WDTCSR.WDIE", "SREG.I"], "go WDT");
    check(&["WDTCSR.WDE", "WDTCSR.WDIE"], "go Watchdog");
}

/// A bench in the middle of a run, with resets from outside.
fn running() -> Bench {
    let resets = vec![ResetCause::External, ResetCause::BrownOut];
    let mut bench = Bench::with(&[ldi(16, 0x5a), sts("PORTB", 16), NOP], Options { resets, ..Options::default() });
    bench.run(2);
    bench.state.data.set(DataAddress(0x100), 0x77);
    bench.state.data.set(DataAddress(0x8ff), 0x88);
    bench.set(&["SREG.I", "SREG.C", "TIMSK0.TOIE0", "WDTCSR.WDE"]);
    bench.leave_undefined(0xff);
    bench
}

/// Expects the causes in MCUSR, and everything else as after every reset.
#[track_caller]
fn check_reset(cause: ResetCause, before: &[&str], causes: u8) {
    let mut bench = running();
    bench.state.data.set(address("MCUSR"), 0);
    bench.set(before);
    bench.reset(cause);
    assert_eq!(bench.get("MCUSR"), causes, "{cause:?} {before:?}");
    assert_eq!(bench.pc(), START);
    assert_eq!((bench.cell(DataAddress(0x100)), bench.cell(DataAddress(0x8ff))), (0x77, 0x88), "the SRAM is kept");
    assert_eq!((bench.get("PORTB"), bench.get("SREG"), bench.get("TIMSK0"), bench.stack_pointer()), (0, 0, 0, 0x8ff));
    assert_eq!((bench.register(0), bench.register(16)), (0xff, 0xff), "the registers hold anything");
    // WDE is 1 as long as WDRF is (data sheet, "Watchdog Timer").
    assert_eq!(bench.get("WDTCSR.WDE"), bench.get("MCUSR.WDRF"), "{cause:?} {before:?}");
    assert!(bench.state.calls.frames().is_empty());
}

#[test]
fn a_reset_notes_its_cause_and_keeps_the_sram() {
    // WDRF is bit 3, BORF bit 2, EXTRF bit 1, PORF bit 0.
    check_reset(ResetCause::External, &[], 0b0010);
    check_reset(ResetCause::External, &["MCUSR.PORF", "MCUSR.WDRF"], 0b1011);
    check_reset(ResetCause::BrownOut, &[], 0b0100);
    check_reset(ResetCause::BrownOut, &["MCUSR.EXTRF"], 0b0110);
    check_reset(ResetCause::Watchdog, &[], 0b1000);
    check_reset(ResetCause::Watchdog, &["MCUSR.PORF"], 0b1001);
}

#[test]
fn resets_come_only_where_they_are_asked_for() {
    assert_eq!(Bench::new(&[NOP]).offers(), "go");
    let with = |resets: Vec<ResetCause>| Bench::with(&[NOP], Options { resets, ..Options::default() }).offers();
    assert_eq!(with(vec![ResetCause::External]), "go External");
    assert_eq!(with(vec![ResetCause::External, ResetCause::BrownOut]), "go External BrownOut");
}

#[test]
fn a_reset_ends_windows_and_torn_stack_pointers() {
    let program = [ldi(16, 0x18), sts("WDTCSR", 16), out("SPH", 16), NOP];
    let resets = vec![ResetCause::External];
    let mut bench = Bench::with(&program, Options { resets, ..Options::default() });
    bench.run(3);
    assert!(bench.state.control.torn && bench.state.control.windows.iter().any(|left| *left > 0));
    bench.reset(ResetCause::External);
    assert_eq!(bench.state.control, avr_machine::Control { pc: FlashWordAddress(START), ..Default::default() });
    assert_eq!(bench.get("WDTCSR.WDCE"), 0);
}

#[test]
fn the_watchdog_can_be_stopped_after_it_bit_once_its_cause_is_cleared() {
    let stop = [ldi(17, 0x18), sts("WDTCSR", 17), sts("WDTCSR", 18)];
    let clear_cause = [out("MCUSR", 18)];
    #[track_caller]
    fn check(program: &[Instruction], runs_on: u8) {
        let mut bench = Bench::new(program);
        bench.set(&["WDTCSR.WDE"]);
        bench.reset(ResetCause::Watchdog);
        bench.run(program.len());
        assert_eq!(bench.get("WDTCSR.WDE"), runs_on, "{program:?}");
    }
    check(&stop, 1);
    check(&[&clear_cause[..], &stop].concat(), 0);
}
