//! Fuses: the boot section, the vector table in it, and the watchdog that is always on.

use super::bench::{Bench, NOP, START, device, ldi, out, sts};
use avr_isa::{FlashWordAddress, Instruction};
use avr_machine::device::{FuseBytes, ResetCause};
use avr_machine::{Machine, Options, Program};

/// The factory fuses with another high byte.
fn high(byte: u8) -> FuseBytes {
    FuseBytes { high: byte, ..device().default_fuses }
}

#[test]
fn bootrst_starts_in_the_boot_section() {
    // BOOTRST is bit 0, BOOTSZ bits 2 and 1; programmed is 0.
    let check =
        |byte: u8, word: u32| assert_eq!(device().reset_vector(high(byte)), FlashWordAddress(word), "{byte:#04x}");
    check(0xd9, 0);
    check(0xd8, 0x3800);
    check(0xda, 0x3c00);
    check(0xdc, 0x3e00);
    check(0xde, 0x3f00);
    check(0xdf, 0);
}

#[test]
fn a_reset_goes_to_the_boot_section_again() {
    let fuses = high(0xde);
    let start = device().reset_vector(fuses);
    let options = Options { fuses: Some(fuses), start, ..Options::default() };
    let mut bench = Bench::at(start.0, &[ldi(20, 7), NOP], options);
    bench.run(2);
    assert_eq!((bench.register(20), bench.pc()), (7, 0x3f02));
    bench.set(&["WDTCSR.WDE"]);
    bench.reset(ResetCause::Watchdog);
    assert_eq!(bench.pc(), 0x3f00);
}

#[test]
fn ivsel_moves_the_vectors_to_the_boot_section() {
    let select = [ldi(16, 0x01), ldi(17, 0x02), out("MCUCR", 16), out("MCUCR", 17), NOP];
    let check = |byte: u8, base: u32| {
        let mut bench = Bench::with(&select, Options { fuses: Some(high(byte)), ..Options::default() });
        bench.set(&["TIMSK0.TOIE0", "TIFR0.TOV0"]);
        bench.run(5);
        bench.set(&["SREG.I"]);
        bench.interrupt("TIMER0_OVF");
        assert_eq!(bench.pc(), base + 0x20, "{byte:#04x}");
    };
    check(0xd9, 0x3800);
    check(0xdf, 0x3f00);
    check(0xdd, 0x3e00);
}

#[test]
fn without_ivsel_the_vectors_stay_at_0_also_with_bootrst() {
    let mut bench = Bench::with(&[NOP], Options { fuses: Some(high(0xd8)), ..Options::default() });
    bench.set(&["TIMSK0.TOIE0", "TIFR0.TOV0", "SREG.I"]);
    bench.interrupt("TIMER0_OVF");
    assert_eq!(bench.pc(), 0x20);
}

/// Runs a program with the fuse WDTON programmed or not, and gives WDE and WDIE.
fn watchdog(programmed: bool, program: &[Instruction]) -> (u8, u8) {
    let fuses = Some(high(if programmed { 0xc9 } else { 0xd9 }));
    let mut bench = Bench::with(program, Options { fuses, ..Options::default() });
    bench.run(program.len());
    (bench.get("WDTCSR.WDE"), bench.get("WDTCSR.WDIE"))
}

#[test]
fn wdton_keeps_the_watchdog_in_reset_mode() {
    let stop = [ldi(16, 0x18), ldi(17, 0), sts("WDTCSR", 16), sts("WDTCSR", 17)];
    let interrupt_mode = [ldi(16, 0x40), sts("WDTCSR", 16)];
    let timed = [ldi(16, 0x18), ldi(17, 0x47), sts("WDTCSR", 16), sts("WDTCSR", 17)];
    assert_eq!((watchdog(false, &[NOP]), watchdog(true, &[NOP])), ((0, 0), (1, 0)));
    assert_eq!((watchdog(false, &stop), watchdog(true, &stop)), ((0, 0), (1, 0)));
    assert_eq!(watchdog(false, &interrupt_mode), (0, 1));
    assert_eq!((watchdog(false, &timed), watchdog(true, &timed)), ((0, 1), (1, 0)));
}

#[test]
fn wdton_leaves_the_prescaler_to_the_program() {
    let program = [ldi(16, 0x18), ldi(17, 0x05), sts("WDTCSR", 16), sts("WDTCSR", 17)];
    let mut bench = Bench::with(&program, Options { fuses: Some(high(0xc9)), ..Options::default() });
    bench.run(4);
    assert_eq!(bench.get("WDTCSR"), 0x0d);
    assert_eq!(bench.offers(), "go Watchdog");
}

#[test]
fn wdton_holds_after_a_reset() {
    let mut bench = Bench::with(&[NOP], Options { fuses: Some(high(0xc9)), ..Options::default() });
    bench.reset(ResetCause::Watchdog);
    assert_eq!((bench.get("WDTCSR.WDE"), bench.pc()), (1, START));
}

#[test]
fn self_programming_works_in_the_boot_section_only() {
    // SPM with no operation selected fills the page buffer.
    let at = |place: u32| {
        let mut bench =
            Bench::at(place, &[Instruction::Spm], Options { start: FlashWordAddress(place), ..Options::default() });
        bench.try_step()
    };
    assert_eq!(at(0x3800), Ok(1));
    assert!(at(0x37ff).is_err());
}

#[test]
fn fuses_are_the_factorys_where_nothing_is_said() {
    let program = Program::decode(device().memory.flash_words(), device().core.features, |_| Some(0));
    let machine = Machine::new(device(), program, Options::default());
    assert_eq!(machine.options().fuses, None);
    assert_eq!(Bench::new(&[NOP]).get("CLKPR"), 3, "CKDIV8 is programmed");
    let unprogrammed = FuseBytes { low: 0xe2, ..device().default_fuses };
    let bench = Bench::with(&[NOP], Options { fuses: Some(unprogrammed), ..Options::default() });
    assert_eq!(bench.get("CLKPR"), 0);
}
