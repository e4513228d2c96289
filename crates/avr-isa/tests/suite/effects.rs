//! Cycles, flags, registers and undefined results, as the manual has them.

use avr_isa::{Feature, FeatureSet, FlagSet, Instruction, Register, decode};

fn instruction(first: u16) -> Instruction {
    decode(first, Some(0), FeatureSet::AVR6).expect("the word is an instruction")
}

/// Base cycles, when a branch is taken, when two words are skipped, with a 22-bit PC.
#[track_caller]
fn check_cycles(first: u16, expected: [u8; 4]) {
    let cycles = instruction(first).cycles();
    let wide = cycles.not_taken(FeatureSet::AVR6);
    assert_eq!(cycles.not_taken(FeatureSet::AVR5), cycles.base);
    assert_eq!([cycles.base, cycles.base + cycles.if_taken, cycles.base + 2 * cycles.per_skipped_word, wide], expected);
}

#[test]
fn cycles() {
    check_cycles(0x0c00, [1, 1, 1, 1]); // add
    check_cycles(0x9600, [2, 2, 2, 2]); // adiw
    check_cycles(0x9c00, [2, 2, 2, 2]); // mul
    check_cycles(0x9a00, [2, 2, 2, 2]); // sbi
    check_cycles(0x9900, [1, 1, 3, 1]); // sbic
    check_cycles(0x1000, [1, 1, 3, 1]); // cpse
    check_cycles(0xfc00, [1, 1, 3, 1]); // sbrc
    check_cycles(0xf000, [1, 2, 1, 1]); // brbs
    check_cycles(0xc000, [2, 2, 2, 2]); // rjmp
    check_cycles(0x940c, [3, 3, 3, 3]); // jmp
    check_cycles(0xd000, [3, 3, 3, 4]); // rcall
    check_cycles(0x9509, [3, 3, 3, 4]); // icall
    check_cycles(0x9519, [4, 4, 4, 4]); // eicall
    check_cycles(0x940e, [4, 4, 4, 5]); // call
    check_cycles(0x9508, [4, 4, 4, 5]); // ret
    check_cycles(0x9518, [4, 4, 4, 5]); // reti
    check_cycles(0x900e, [2, 2, 2, 2]); // ld -X
    check_cycles(0x9000, [2, 2, 2, 2]); // lds
    check_cycles(0x95c8, [3, 3, 3, 3]); // lpm
    check_cycles(0x920f, [2, 2, 2, 2]); // push
    assert!(instruction(0x95e8).cycles().varies); // spm
}

/// Flags written, of those always set and always cleared, and flags read.
#[track_caller]
fn check_flags(first: u16, expected: [&str; 4]) {
    let i = instruction(first);
    let flags = [i.flags_written(), i.flags_set(), i.flags_cleared(), i.flags_read()];
    assert_eq!(flags.map(|flags| flags.to_string()), expected);
}

#[test]
fn flags() {
    check_flags(0x0c00, ["HSVNZC", "", "", ""]); // add
    check_flags(0x1c00, ["HSVNZC", "", "", "C"]); // adc
    check_flags(0x0800, ["HSVNZC", "", "", "ZC"]); // sbc
    check_flags(0x9600, ["SVNZC", "", "", ""]); // adiw
    check_flags(0x2000, ["SVNZ", "", "V", ""]); // and
    check_flags(0x9400, ["SVNZC", "C", "V", ""]); // com
    check_flags(0x9403, ["SVNZ", "", "", ""]); // inc
    check_flags(0x9406, ["SVNZC", "", "N", ""]); // lsr
    check_flags(0x9407, ["SVNZC", "", "", "C"]); // ror
    check_flags(0x9c00, ["ZC", "", "", ""]); // mul
    check_flags(0x9478, ["I", "I", "", ""]); // sei
    check_flags(0x94e8, ["T", "", "T", ""]); // clt
    check_flags(0x9518, ["I", "I", "", ""]); // reti
    check_flags(0xfa00, ["T", "", "", ""]); // bst
    check_flags(0xf800, ["", "", "", "T"]); // bld
    check_flags(0xf405, ["", "", "", "H"]); // brhc
    check_flags(0x2c00, ["", "", "", ""]); // mov
}

/// Registers written and read.
#[track_caller]
fn check_registers(first: u16, written: &[u8], read: &[u8]) {
    let indices = |set: avr_isa::RegisterSet| set.iter().map(Register::index).collect::<Vec<_>>();
    assert_eq!(indices(instruction(first).registers_written()), written);
    assert_eq!(indices(instruction(first).registers_read()), read);
}

#[test]
fn registers() {
    check_registers(0x0c12, &[1], &[1, 2]); // add r1, r2
    check_registers(0x1412, &[], &[1, 2]); // cp r1, r2
    check_registers(0x9601, &[24, 25], &[24, 25]); // adiw r24, 1
    check_registers(0x0110, &[2, 3], &[0, 1]); // movw r2, r0
    check_registers(0x9d23, &[0, 1], &[3, 18]); // mul r18, r3
    check_registers(0xe0f0, &[31], &[]); // ldi r31, 0
    check_registers(0x900d, &[0, 26, 27], &[26, 27]); // ld r0, X+
    check_registers(0x8008, &[0], &[28, 29]); // ld r0, Y
    check_registers(0x9202, &[30, 31], &[0, 30, 31]); // st -Z, r0
    check_registers(0x95c8, &[0], &[30, 31]); // lpm
    check_registers(0x95e8, &[], &[0, 1, 30, 31]); // spm
    check_registers(0x9409, &[], &[30, 31]); // ijmp
    check_registers(0xf843, &[4], &[4]); // bld r4, 3
    check_registers(0x920f, &[], &[0]); // push r0
    check_registers(0x900f, &[0], &[]); // pop r0
}

#[track_caller]
fn check_undefined(first: u16, expected: bool) {
    assert_eq!(instruction(first).has_undefined_result(), expected, "{}", instruction(first));
}

#[test]
fn undefined_results() {
    check_undefined(0x91ad, true); // ld r26, X+
    check_undefined(0x91be, true); // ld r27, -X
    check_undefined(0x91ac, false); // ld r26, X
    check_undefined(0x91cd, false); // ld r28, X+
    check_undefined(0x93c9, true); // st Y+, r28
    check_undefined(0x93f2, true); // st -Z, r31
    check_undefined(0x81e1, false); // ldd r30, Z+1
    check_undefined(0x91e5, true); // lpm r30, Z+
    check_undefined(0x91e4, false); // lpm r30, Z
    check_undefined(0x91f7, true); // elpm r31, Z+
}

#[test]
fn the_words_with_undefined_results_are_exactly_the_overlaps() {
    let decoded = (0..=u16::MAX).filter_map(|word| decode(word, Some(0), FeatureSet::AVR6).ok());
    // Two registers for each of two modes, three pointers, load and store; LPM and ELPM with Z+.
    assert_eq!(decoded.filter(|instruction| instruction.has_undefined_result()).count(), 2 * 2 * 3 * 2 + 2 * 2);
}

#[test]
fn sets_follow_sreg_and_register_numbers() {
    assert_eq!(FlagSet::of_flag(7).bits(), 0x80);
    assert_eq!(FlagSet::from_bits(0x41).to_string(), "TC");
    assert!(FlagSet::from_bits(0x41).contains(6) && !FlagSet::from_bits(0x41).contains(7));
    assert_eq!(instruction(0x9c00).registers_written().bits(), 3);
    assert_eq!(Feature::from_name("jmp-call"), Some(Feature::JmpCall));
    assert_eq!(Feature::from_name("jump"), None);
    assert_eq!(Feature::Pc22.name(), "pc22");
    assert_eq!(FeatureSet::AVR5.without(Feature::Mul).with(Feature::Mul), FeatureSet::AVR5);
    assert!(Register::new(32).is_none());
}

#[test]
fn sections_are_named_after_the_manual() {
    assert_eq!(instruction(0x9601).manual_section(), "ADIW - Add Immediate to Word");
}
