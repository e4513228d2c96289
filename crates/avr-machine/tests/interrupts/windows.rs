//! Changes that need an open window: watchdog, vector table, clock prescaler.

use super::bench::{Bench, NOP, START, ldi, out, sts};
use avr_isa::Instruction;
use avr_machine::{Hazard, HazardKind, Options, Stop};

/// Opens the window of the watchdog, waits for some cycles and writes r17.
fn watchdog(wait: usize, value: u8) -> Vec<Instruction> {
    let mut program = vec![ldi(16, 0x18), ldi(17, value), sts("WDTCSR", 16)];
    program.extend(std::iter::repeat_n(NOP, wait));
    program.push(sts("WDTCSR", 17));
    program
}

/// Runs a program to its end and gives WDTCSR without WDIF, or the hazard.
fn after(program: &[Instruction], set: &[&str]) -> Result<u8, HazardKind> {
    let mut bench = Bench::new(program);
    bench.set(set);
    for _ in program {
        match bench.try_step() {
            Err(Stop::Hazard(Hazard { kind, .. })) => return Err(kind),
            Err(other) => panic!("{other:?}"),
            Ok(_) => {}
        }
    }
    Ok(bench.get("WDTCSR") & 0x7f)
}

#[test]
fn the_watchdog_changes_within_four_cycles() {
    // STS takes two cycles, so that it may begin two cycles after the window was opened.
    assert_eq!(after(&watchdog(0, 0x00), &[]), Ok(0x00));
    assert_eq!(after(&watchdog(1, 0x00), &[]), Ok(0x00));
    assert_eq!(after(&watchdog(2, 0x27), &[]), Ok(0x27));
    assert_eq!(after(&watchdog(3, 0x00), &[]), Err(HazardKind::WatchdogSequence));
    assert_eq!(after(&watchdog(9, 0x07), &[]), Err(HazardKind::WatchdogSequence));
}

#[test]
fn outside_of_the_window_only_what_is_protected_is_a_hazard() {
    let write = |value: u8| [ldi(16, value), sts("WDTCSR", 16)];
    assert_eq!(after(&write(0x40), &[]), Ok(0x40), "WDIE is not protected");
    assert_eq!(after(&write(0x08), &[]), Ok(0x08), "setting WDE is not protected");
    assert_eq!(after(&write(0x00), &["WDTCSR.WDE"]), Err(HazardKind::WatchdogSequence));
    assert_eq!(after(&write(0x01), &[]), Err(HazardKind::WatchdogSequence), "the prescaler is");
    assert_eq!(after(&write(0x01), &["WDTCSR.WDP0"]), Ok(0x01), "it stays as it is");
}

#[test]
fn an_allowed_watchdog_hazard_leaves_the_bits() {
    let options = Options { allowed: [HazardKind::WatchdogSequence].into(), ..Options::default() };
    let mut bench = Bench::with(&[ldi(16, 0x41), sts("WDTCSR", 16)], options);
    bench.set(&["WDTCSR.WDE", "WDTCSR.WDP1"]);
    bench.run(2);
    assert_eq!(bench.get("WDTCSR") & 0x7f, 0x4a);
}

#[test]
fn a_window_is_seen_until_it_closes() {
    let mut bench = Bench::new(&[ldi(16, 0x18), sts("WDTCSR", 16), NOP, NOP, NOP, NOP, NOP]);
    bench.run(2);
    let mut seen = Vec::new();
    for _ in 0..5 {
        seen.push(bench.get("WDTCSR.WDCE"));
        bench.run(1);
    }
    assert_eq!(seen, [1, 1, 1, 1, 0]);
}

#[test]
fn the_vector_table_moves_only_within_its_window() {
    #[track_caller]
    fn check(wait: usize, moved: u8) {
        let mut program = vec![ldi(16, 0x01), ldi(17, 0x02), out("MCUCR", 16)];
        program.extend(std::iter::repeat_n(NOP, wait));
        program.extend([out("MCUCR", 17), NOP]);
        let mut bench = Bench::new(&program);
        bench.run(program.len());
        assert_eq!((bench.get("MCUCR.IVSEL"), bench.get("MCUCR.IVCE")), (moved, 0), "after {wait} cycles");
    }
    check(0, 1);
    check(3, 1);
    check(4, 0);
}

#[test]
fn no_interrupt_comes_while_the_vector_table_may_move() {
    let program = [ldi(16, 0x01), ldi(17, 0x02), out("MCUCR", 16), NOP, out("MCUCR", 17), NOP];
    let mut bench = Bench::new(&program);
    bench.set(&["TIMSK0.TOIE0", "SREG.I"]);
    bench.run(3);
    bench.set(&["TIFR0.TOV0"]);
    assert_eq!(bench.offers(), "go");
    bench.run(1);
    assert_eq!(bench.offers(), "go");
    bench.run(1);
    assert_eq!(bench.offers(), "go", "the instruction after the write runs first");
    bench.run(1);
    assert!(bench.offers().contains("TIMER0_OVF"), "the write closed the window");
    // Without the write the window closes by itself.
    let mut bench = Bench::new(&[ldi(16, 0x01), out("MCUCR", 16), NOP, NOP, NOP, NOP, NOP]);
    bench.set(&["TIMSK0.TOIE0", "SREG.I"]);
    bench.run(2);
    bench.set(&["TIFR0.TOV0"]);
    for _ in 0..4 {
        assert_eq!(bench.offers(), "go");
        bench.run(1);
    }
    assert_eq!(bench.offers(), "TIMER0_OVF");
    assert_eq!(bench.pc(), START + 6);
}

#[test]
fn the_clock_prescaler_changes_only_within_its_window() {
    let program = |wait: usize| {
        let mut program = vec![ldi(16, 0x80), ldi(17, 0x04), sts("CLKPR", 16)];
        program.extend(std::iter::repeat_n(NOP, wait));
        program.push(sts("CLKPR", 17));
        program
    };
    let prescaler = |wait: usize| {
        let mut bench = Bench::new(&program(wait));
        bench.run(wait + 4);
        bench.get("CLKPR") & 0x0f
    };
    // The factory's fuse CKDIV8 starts it at 3.
    assert_eq!((prescaler(0), prescaler(2), prescaler(3)), (4, 4, 3));
}

#[test]
fn the_entry_into_a_handler_takes_the_time_of_a_window() {
    let mut bench = Bench::new(&[ldi(16, 0x80), sts("CLKPR", 16), NOP]);
    bench.set(&["TIMSK0.TOIE0", "SREG.I"]);
    bench.run(2);
    bench.set(&["TIFR0.TOV0"]);
    bench.interrupt("TIMER0_OVF");
    assert_eq!(bench.get("CLKPR.CLKPCE"), 0, "the entry takes four cycles");
}

#[test]
fn a_read_of_the_eeprom_takes_the_time_of_a_window() {
    let mut bench = Bench::new(&[ldi(16, 0x80), ldi(17, 0x01), sts("CLKPR", 16), out("EECR", 17), NOP]);
    bench.run(3);
    assert_eq!(bench.get("CLKPR.CLKPCE"), 1);
    assert_eq!(bench.try_step().expect("it goes on"), 5, "the processor is halted for four cycles");
    assert_eq!(bench.get("CLKPR.CLKPCE"), 0);
}

#[test]
fn it_is_open_what_a_write_does_that_leaves_the_enable_bit_1() {
    // Neither whether IVSEL changes nor whether the window stays open.
    let mut bench = Bench::new(&[ldi(16, 0x01), ldi(17, 0x03), out("MCUCR", 16), out("MCUCR", 17), NOP]);
    bench.run(4);
    assert_eq!((bench.get("MCUCR.IVSEL"), bench.get("MCUCR.IVCE")), (0, 1));
    let mut bench = Bench::new(&[ldi(16, 0x01), ldi(17, 0x03), out("MCUCR", 16), out("MCUCR", 17), NOP]);
    bench.run(3);
    bench.supply("MCUCR", 0x02);
    bench.run(1);
    assert_eq!((bench.get("MCUCR.IVSEL"), bench.get("MCUCR.IVCE")), (1, 1));
    let mut bench = Bench::new(&[ldi(16, 0x01), ldi(17, 0x02), out("MCUCR", 16), out("MCUCR", 17), NOP]);
    bench.run(4);
    assert_eq!((bench.get("MCUCR.IVSEL"), bench.get("MCUCR.IVCE")), (1, 0), "this is what the data sheet promises");
}

#[test]
fn the_master_write_enable_bit_needs_the_write_enable_bit_written_0() {
    let program = |value: u8| [ldi(16, value), ldi(17, 0x02), out("EECR", 16), out("EECR", 17), NOP];
    let started = |value: u8, doubt: u8| {
        let mut bench = Bench::new(&program(value));
        bench.run(2);
        bench.supply("EECR", doubt);
        bench.run(2);
        bench.get("EECR.EEPE")
    };
    assert_eq!(started(0x04, 0), 1);
    assert_eq!(started(0x04, 0x06), 1);
    assert_eq!((started(0x06, 0), started(0x06, 0x04)), (1, 0), "the data sheet does not say");
}

#[test]
fn self_programming_is_armed_for_four_cycles() {
    let program = |wait: usize| {
        let mut program = vec![ldi(30, 2), ldi(31, 0), ldi(16, 0x21), out("SPMCSR", 16)];
        program.extend(std::iter::repeat_n(NOP, wait));
        program.extend([Instruction::Lpm { rd: super::bench::general(18), mode: avr_isa::LpmMode::Plain }, NOP]);
        program
    };
    let read = |wait: usize| {
        let mut bench = Bench::new(&program(wait));
        bench.run(wait + 5);
        (bench.register(18), bench.get("SPMCSR") & 0x21)
    };
    assert_eq!(read(0), (0x95, 0), "the second byte of the signature, and the bits clear themselves");
    assert_eq!(read(1), (0x95, 0));
    assert_eq!(read(4), (0, 0), "the flash");
}
