//! The states in which the program begins, where the property file restricts them, and applications of which nothing is known.

use std::collections::BTreeMap;

use super::bench::{Bench, NOP, START, address, device, general, ldi, out};
use avr_isa::{DataAddress, EepromAddress, FlashWordAddress, Instruction, LpmMode};
use avr_machine::device::{FuseBytes, ResetCause};
use avr_machine::{Application, HazardKind, Options, Starts, Stop};
use three_valued::TvByte;

const FLAG: DataAddress = DataAddress(0x100);

/// Restrictions of two cells.
fn said(cells: &[(DataAddress, u8, u8)]) -> BTreeMap<DataAddress, TvByte> {
    cells.iter().map(|(cell, value, mask)| (*cell, TvByte::new(*value, *mask))).collect()
}

#[test]
fn the_first_start_is_as_it_is_said() {
    let causes = address("MCUSR");
    let first =
        |cells: &[_]| Options { starts: Starts { first: said(cells), ..Starts::default() }, ..Options::default() };
    let bench = Bench::with(&[NOP], first(&[(FLAG, 0x50, 0xf0)]));
    assert_eq!((bench.cell(FLAG), bench.get("MCUSR"), bench.get("WDTCSR.WDE")), (0x50, 1, 0));
    let bench = Bench::with(&[NOP], first(&[(causes, 2, 0xff)]));
    assert_eq!((bench.get("MCUSR"), bench.get("WDTCSR.WDE")), (2, 0), "an external reset");
    let bench = Bench::with(&[NOP], first(&[(causes, 8, 0xf8)]));
    assert_eq!((bench.get("MCUSR"), bench.get("WDTCSR.WDE")), (8, 1), "the watchdog runs as long as WDRF stands");
    assert_eq!(bench.get("SREG"), 0);
    let cell = bench.machine.eeprom_cell(EepromAddress(3));
    let bench = Bench::with(&[NOP], first(&[(cell, 0xa5, 0xff)]));
    assert_eq!(bench.cell(cell), 0xa5);
}

#[test]
fn a_reset_comes_only_where_it_leaves_what_is_said() {
    let causes = address("MCUSR");
    #[track_caller]
    fn check(later: &[(DataAddress, u8, u8)], set: &[&str], flag: u8, expected: &str) {
        let resets = vec![ResetCause::External, ResetCause::BrownOut];
        let starts = Starts { later: said(later), ..Starts::default() };
        let mut bench = Bench::with(&[NOP], Options { resets, starts, ..Options::default() });
        bench.state.data.set(address("MCUSR"), 0);
        bench.state.data.set(FLAG, flag);
        bench.set(set);
        assert_eq!(bench.offers(), expected, "{later:?} {set:?} {flag}");
    }
    let watchdog = ["WDTCSR.WDE"];
    check(&[], &watchdog, 0, "go External BrownOut Watchdog");
    check(&[(causes, 2, 0xff)], &watchdog, 0, "go External");
    check(&[(causes, 2, 0xff)], &["WDTCSR.WDE", "MCUSR.PORF"], 0, "go");
    check(&[(causes, 8, 0x08)], &["WDTCSR.WDE", "MCUSR.PORF"], 0, "go Watchdog");
    check(&[(causes, 8, 0x08)], &["MCUSR.WDRF"], 0, "go External BrownOut");
    check(&[(causes, 0, 0x08)], &["MCUSR.WDRF"], 0, "go");
    check(&[(FLAG, 0x50, 0xf0)], &watchdog, 0x5a, "go External BrownOut Watchdog");
    check(&[(FLAG, 0x50, 0xf0)], &watchdog, 0x6a, "go");
    check(&[(FLAG, 0x50, 0xf0), (causes, 4, 0x04)], &watchdog, 0x50, "go BrownOut");
}

/// A boot loader in the boot section of the fuses 0xd8.
fn loader(program: &[Instruction], application: Application, resets: Vec<ResetCause>) -> Bench {
    let fuses = FuseBytes { high: 0xd8, ..device().default_fuses };
    let start = device().reset_vector(fuses);
    let options = Options { application, resets, fuses: Some(fuses), start, ..Options::default() };
    Bench::alone_at(start.0, program, options)
}

#[test]
fn nothing_comes_where_the_run_has_ended() {
    let resets = vec![ResetCause::External];
    let mut bench =
        loader(&[ldi(16, 7), out("GPIOR0", 16), Instruction::Jmp { target: START }], Application::Any, resets);
    assert_eq!(bench.offers(), "go External");
    bench.run(3);
    bench.set(&["SREG.I", "TIMSK0.TOIE0", "TIFR0.TOV0", "WDTCSR.WDE"]);
    assert_eq!(bench.pc(), START);
    let before: Vec<u8> = bench.state.data.cells().to_vec();
    for _ in 0..3 {
        assert_eq!(bench.offers(), "go", "nothing may happen");
        bench.run(1);
        assert_eq!((bench.pc(), bench.get("GPIOR0")), (START, 7));
    }
    assert_eq!(bench.state.data.cells(), before);
}

#[test]
fn an_absent_application_is_a_hazard_of_its_own() {
    let jump = [Instruction::Jmp { target: START }];
    let stop = |application, target| {
        let program = if target == START { jump.to_vec() } else { vec![Instruction::Jmp { target }] };
        let mut bench = loader(&program, application, Vec::new());
        bench.run(1);
        bench.machine.step(&mut bench.state, &mut bench.world)
    };
    let hazard = |stop: Result<u32, Stop>| match stop {
        Err(Stop::Hazard(hazard)) => Some((hazard.kind, hazard.address)),
        _ => None,
    };
    let boot = device().reset_vector(FuseBytes { high: 0xd8, ..device().default_fuses });
    let at = |word: FlashWordAddress| Some(word.byte().0);
    let start = FlashWordAddress(START);
    assert_eq!(hazard(stop(Application::Absent, START)), Some((HazardKind::AbsentApplication, at(start))));
    assert_eq!(hazard(stop(Application::Unsaid, START)), Some((HazardKind::OutsideImage, at(start))));
    let behind = boot.wrapping_add(9);
    assert_eq!(hazard(stop(Application::Absent, behind.0)), Some((HazardKind::OutsideImage, at(behind))));
    assert_eq!(hazard(stop(Application::Any, behind.0)), Some((HazardKind::OutsideImage, at(behind))));
    let last = FlashWordAddress(boot.0 - 1);
    assert_eq!(hazard(stop(Application::Absent, last.0)), Some((HazardKind::AbsentApplication, at(last))));
    assert_eq!(hazard(stop(Application::Any, last.0)), None);
}

#[test]
fn the_application_reads_anything() {
    let read = |application, supplied: u8, high: u8| {
        let program = [ldi(31, high), ldi(30, 0), Instruction::Lpm { rd: general(16), mode: LpmMode::Plain }];
        let mut bench = loader(&program, application, Vec::new());
        bench.world.supply_at(address("SREG"), supplied);
        bench.run(3);
        bench.register(16)
    };
    assert_eq!(read(Application::Any, 0x12, 0), 0x12);
    assert_eq!(read(Application::Any, 0x12, 0x6f), 0x12);
    // The first instruction of the boot loader, and the same behind the end of the flash.
    assert_eq!(read(Application::Any, 0x12, 0x70), 0xf0);
    assert_eq!(read(Application::Any, 0x12, 0xf0), 0xf0);
    assert_eq!(read(Application::Absent, 0x12, 0), 0xff);
}
