//! The EEPROM behind its registers (data sheet, "EEPROM Data Memory").

use super::bench::{Bench, NOP, cbi, input, ldi, out, sbi};
use avr_isa::{EepromAddress, Instruction};
use avr_machine::Options;

/// Addresses a byte.
fn address(low: u8, high: u8) -> [Instruction; 4] {
    [ldi(16, low), out("EEARL", 16), ldi(16, high), out("EEARH", 16)]
}

/// Programs a byte, with so many NOPs in the window; `mode` is EEPM1:0 in place.
fn program(value: u8, mode: u8, wait: usize) -> Vec<Instruction> {
    let mut program = vec![ldi(16, mode), out("EECR", 16), ldi(16, value), out("EEDR", 16), sbi("EECR", "EEMPE")];
    program.extend(std::iter::repeat_n(NOP, wait));
    program.push(sbi("EECR", "EEPE"));
    program
}

/// Reads the addressed byte into r20.
fn read() -> [Instruction; 2] {
    [sbi("EECR", "EERE"), input(20, "EEDR")]
}

/// The content of r20 after a program, when the EEPROM holds 0x3c at address 0x105 and 0x11 elsewhere.
#[track_caller]
fn r20(parts: &[&[Instruction]]) -> u8 {
    let program = parts.concat();
    let mut content: std::collections::BTreeMap<EepromAddress, u8> =
        (0..1024).map(|address| (EepromAddress(address), 0x11)).collect();
    content.insert(EepromAddress(0x105), 0x3c);
    let mut bench = Bench::with(&program, Options { eeprom: content, ..Options::default() });
    bench.run(program.len());
    bench.register(20)
}

#[test]
fn a_byte_is_read_where_the_address_register_says() {
    assert_eq!(r20(&[&address(0x05, 1), &read()]), 0x3c);
    assert_eq!(r20(&[&address(0x05, 0), &read()]), 0x11);
    assert_eq!(r20(&[&address(0xff, 3), &read()]), 0x11);
    assert_eq!(r20(&[&address(0x05, 1), &[NOP, input(20, "EEDR")]]), 0, "nothing is read without EERE");
}

#[test]
fn the_window_for_programming_is_four_cycles() {
    // SBI takes two cycles.
    for (wait, expected) in [(0, 0x5a), (1, 0x5a), (2, 0x5a), (3, 0x3c), (10, 0x3c)] {
        let found = r20(&[&address(0x05, 1), &program(0x5a, 0, wait), &read()]);
        assert_eq!(found, expected, "after {wait} cycles");
    }
}

#[test]
fn programming_needs_the_window() {
    let without = [ldi(16, 0x5a), out("EEDR", 16), sbi("EECR", "EEPE")];
    assert_eq!(r20(&[&address(0x05, 1), &without, &read()]), 0x3c);
    let both_at_once = [ldi(16, 0x5a), out("EEDR", 16), ldi(16, 0x06), out("EECR", 16)];
    assert_eq!(r20(&[&address(0x05, 1), &both_at_once, &read()]), 0x3c, "EEMPE must come first");
}

#[test]
fn the_modes_erase_write_or_both() {
    let with_mode = |mode: u8| r20(&[&address(0x05, 1), &program(0x5a, mode, 0), &read()]);
    assert_eq!(with_mode(0x00), 0x5a);
    assert_eq!(with_mode(0x10), 0xff, "erase only");
    assert_eq!(with_mode(0x20), 0x3c & 0x5a, "write only");
}

#[test]
fn other_bytes_stay() {
    assert_eq!(r20(&[&address(0x04, 1), &program(0x5a, 0, 0), &address(0x05, 1), &read()]), 0x3c);
}

/// A bench that has just begun to program the byte at address 5, and that stays busy as long as hardware says so.
fn busy(then: &[Instruction]) -> Bench {
    let begin = [&address(5, 0)[..], &program(0x5a, 0, 0)].concat();
    let mut bench = Bench::new(&[&begin, then].concat());
    bench.supply("EECR", 0xff);
    bench.run(begin.len());
    assert_eq!(bench.get("EECR.EEPE"), 1);
    bench
}

#[test]
fn a_busy_eeprom_is_left_alone() {
    let mut bench = busy(&[ldi(16, 6), out("EEARL", 16), ldi(16, 0x30), out("EECR", 16)]);
    bench.run(4);
    assert_eq!((bench.get("EEARL"), bench.get("EECR") & 0x30), (5, 0), "neither address nor mode change");
    let mut bench = busy(&[ldi(16, 0), out("EEDR", 16), sbi("EECR", "EERE")]);
    bench.run(3);
    assert_eq!(bench.get("EEDR"), 0, "nothing is read");
    bench.supply("EECR", 0);
    bench.state.control.pc = bench.state.control.pc.wrapping_sub(1);
    bench.run(1);
    assert_eq!(bench.get("EEDR"), 0x5a);
}

#[test]
fn programming_ends_when_hardware_says_so_and_not_by_a_write() {
    let mut bench = busy(&[cbi("EECR", "EEPE"), input(20, "EECR"), input(21, "EECR")]);
    bench.run(2);
    assert_eq!(bench.register(20) & 2, 2);
    bench.supply("EECR", 0);
    bench.run(1);
    assert_eq!((bench.register(21) & 2, bench.get("EECR.EEPE")), (0, 0));
}

#[test]
fn the_content_is_what_the_options_say_or_anything() {
    let options = Options { eeprom: [(EepromAddress(5), 0x42)].into(), ..Options::default() };
    let mut bench = Bench::with(&[&address(5, 0)[..], &read(), &address(6, 0), &read()].concat(), options);
    bench.run(6);
    assert_eq!(bench.register(20), 0x42);
    bench.run(6);
    assert_eq!(bench.register(20), 0, "what the world left there");
}
