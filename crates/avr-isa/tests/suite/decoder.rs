//! The decoder and the encoder against the rows of the table, read here in the plainest way.

use avr_isa::{
    DataAddress, DecodeErrorKind, FeatureSet, Instruction, LpmMode, Opcode, Pointer, PointerMode, Register, decode,
    is_two_words,
};

const TABLE: &str = include_str!("../../isa-tables/instructions.txt");

/// Every part of the instruction set.
const ALL: FeatureSet = FeatureSet::AVR6;

/// Operation, pattern and number of words of each row.
fn rows() -> Vec<(&'static str, String, usize)> {
    let cells = TABLE.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let rows = cells.filter(|cells| cells.len() == 13 && cells[0] != "operation");
    rows.map(|cells| (cells[0], cells[2].replace(' ', ""), cells[3].parse().expect("words are a number"))).collect()
}

fn matches(pattern: &str, word: u16) -> bool {
    let bits = format!("{word:016b}");
    pattern.chars().zip(bits.chars()).all(|(symbol, bit)| !matches!(symbol, '0' | '1') || symbol == bit)
}

fn register(index: u8) -> Register {
    Register::new(index).expect("test registers exist")
}

#[test]
fn each_word_matches_the_row_it_decodes_by_and_no_other() {
    let rows = rows();
    let mut reserved = 0;
    for word in 0..=u16::MAX {
        let matching: Vec<_> = rows.iter().filter(|(_, pattern, _)| matches(pattern, word)).collect();
        let decoded = decode(word, Some(0), ALL);
        match matching.as_slice() {
            [] => {
                reserved += 1;
                assert_eq!(decoded.map_err(|error| error.kind), Err(DecodeErrorKind::Reserved), "{word:#06x}");
                assert!(!is_two_words(word), "{word:#06x}");
            }
            [(operation, _, words)] => {
                let instruction = decoded.expect("a row matches");
                assert_eq!(format!("{:?}", instruction.opcode()), **operation, "{word:#06x}");
                assert_eq!(usize::from(instruction.words()), *words, "{word:#06x}");
                assert_eq!(is_two_words(word), *words == 2, "{word:#06x}");
            }
            _ => panic!("{word:#06x} matches {matching:?}"),
        }
    }
    assert_eq!(reserved, 1_699);
}

#[test]
fn every_operation_has_a_word() {
    let decoded = (0..=u16::MAX).filter_map(|word| decode(word, Some(0), ALL).ok());
    let opcodes: std::collections::BTreeSet<Opcode> = decoded.map(Instruction::opcode).collect();
    assert_eq!(opcodes.into_iter().collect::<Vec<_>>(), Opcode::ALL);
}

#[test]
fn decoded_words_encode_to_themselves() {
    for first in 0..=u16::MAX {
        for second in [0, 1, 0x1234, 0x8000, 0xffff] {
            let Ok(instruction) = decode(first, Some(second), ALL) else { continue };
            let encoded = instruction.encode().expect("what decodes has machine code");
            let expected = match first {
                0x95c8 => 0x9004,
                0x95d8 => 0x9006,
                other => other,
            };
            assert_eq!(encoded.first, expected, "{instruction:?}");
            assert_eq!(encoded.second, is_two_words(first).then_some(second), "{instruction:?}");
            assert_eq!(decode(encoded.first, encoded.second, ALL), Ok(instruction));
        }
    }
}

#[track_caller]
fn check_decode(words: &[u16], expected: Instruction) {
    assert_eq!(decode(words[0], words.get(1).copied(), ALL), Ok(expected));
}

#[test]
fn operands_are_where_the_manual_has_them() {
    let [r1, r4, r24, r31] = [1, 4, 24, 31].map(register);
    check_decode(&[0x0c14], Instruction::Add { rd: r1, rr: r4 });
    check_decode(&[0x0e41], Instruction::Add { rd: r4, rr: register(17) });
    check_decode(&[0x9601], Instruction::Adiw { rd: r24, k: 1 });
    check_decode(&[0x97ff], Instruction::Sbiw { rd: register(30), k: 63 });
    check_decode(&[0xe58a], Instruction::Ldi { rd: r24, k: 0x5a });
    check_decode(&[0x01cf], Instruction::Movw { rd: r24, rr: register(30) });
    check_decode(&[0x0397], Instruction::Fmuls { rd: register(17), rr: register(23) });
    check_decode(&[0xcfff], Instruction::Rjmp { offset: -1 });
    check_decode(&[0xd7ff], Instruction::Rcall { offset: 2047 });
    check_decode(&[0xf3f9], Instruction::Brbs { flag: 1, offset: -1 });
    check_decode(&[0xf200], Instruction::Brbs { flag: 0, offset: -64 });
    check_decode(&[0xf5fc], Instruction::Brbc { flag: 4, offset: 63 });
    check_decode(&[0x95ff, 0xffff], Instruction::Call { target: 0x3f_ffff });
    check_decode(&[0x940d, 0x0002], Instruction::Jmp { target: 0x1_0002 });
    check_decode(&[0x9180, 0x0100], Instruction::Lds { rd: r24, address: DataAddress(0x100) });
    check_decode(&[0x9210, 0xbeef], Instruction::Sts { address: DataAddress(0xbeef), rr: r1 });
    check_decode(&[0xb7ff], Instruction::In { rd: r31, io: 0x3f });
    check_decode(&[0xbe1d], Instruction::Out { io: 0x3d, rr: r1 });
    check_decode(&[0x9a2f], Instruction::Sbi { io: 5, bit: 7 });
    check_decode(&[0xfd10], Instruction::Sbrc { rr: register(17), bit: 0 });
    check_decode(&[0xfb87], Instruction::Bst { rd: r24, bit: 7 });
    check_decode(&[0x9478], Instruction::Bset { flag: 7 });
    check_decode(&[0x94e8], Instruction::Bclr { flag: 6 });
}

#[test]
fn memory_operands_have_one_form_each() {
    let rd = register(24);
    let ld = |pointer, mode| Instruction::Ld { rd, pointer, mode };
    let st = |pointer, mode| Instruction::St { pointer, mode, rr: rd };
    check_decode(&[0x918c], ld(Pointer::X, PointerMode::Displacement(0)));
    check_decode(&[0x918d], ld(Pointer::X, PointerMode::PostIncrement));
    check_decode(&[0x918a], ld(Pointer::Y, PointerMode::PreDecrement));
    check_decode(&[0x8188], ld(Pointer::Y, PointerMode::Displacement(0)));
    check_decode(&[0xad8f], ld(Pointer::Y, PointerMode::Displacement(63)));
    check_decode(&[0xa180], ld(Pointer::Z, PointerMode::Displacement(32)));
    check_decode(&[0x938e], st(Pointer::X, PointerMode::PreDecrement));
    check_decode(&[0x8380], st(Pointer::Z, PointerMode::Displacement(0)));
    check_decode(&[0x9381], st(Pointer::Z, PointerMode::PostIncrement));
    check_decode(&[0x95c8], Instruction::Lpm { rd: Register::R0, mode: LpmMode::Plain });
    check_decode(&[0x9184], Instruction::Lpm { rd, mode: LpmMode::Plain });
    check_decode(&[0x9187], Instruction::Elpm { rd, mode: LpmMode::PostIncrement });
}

#[track_caller]
fn check_lacking(architecture: &str, word: u16, feature: Option<&str>) {
    let features = FeatureSet::architecture(architecture).expect("the table names it");
    let lacking = match decode(word, Some(0), features).map_err(|error| error.kind) {
        Err(DecodeErrorKind::NotOnThisDevice { feature, .. }) => Some(feature.name()),
        Ok(_) => None,
        Err(other) => panic!("{word:#06x}: {other}"),
    };
    assert_eq!(lacking, feature, "{word:#06x} on {architecture}");
}

#[test]
fn parts_lack_what_their_architecture_lacks() {
    check_lacking("avr5", 0x9c00, None);
    check_lacking("avr5", 0x940c, None);
    check_lacking("avr5", 0x95d8, Some("elpm"));
    check_lacking("avr5", 0x9006, Some("elpmx"));
    check_lacking("avr5", 0x9419, Some("eind"));
    check_lacking("avr25", 0x9c00, Some("mul"));
    check_lacking("avr25", 0x940e, Some("jmp-call"));
    check_lacking("avr25", 0x9598, None);
    check_lacking("avr2", 0x0100, Some("movw"));
    check_lacking("avr2", 0x95c8, None);
    check_lacking("avr2", 0x9004, Some("lpmx"));
    check_lacking("avr2", 0x95e8, Some("spm"));
    check_lacking("avr2", 0x9598, Some("break"));
    check_lacking("avr51", 0x9519, Some("eind"));
    check_lacking("avr6", 0x9519, None);
    assert_eq!(FeatureSet::architecture("avr7"), None);
}

#[test]
fn an_instruction_cut_in_half_is_an_error() {
    let kind = decode(0x940e, None, ALL).map_err(|error| error.kind);
    assert_eq!(kind, Err(DecodeErrorKind::MissingSecondWord { opcode: Opcode::Call }));
    assert_eq!(decode(0x0000, None, ALL), Ok(Instruction::Nop));
}

#[test]
fn errors_say_what_to_check() {
    let text = |word, second| decode(word, second, FeatureSet::AVR5).map_err(|error| error.to_string());
    let check = |word, expected: &str| assert_eq!(text(word, None), Err(expected.to_owned()));
    check(0xffff, "0xffff is a reserved opcode; data in flash is no code: check that the program cannot run into it");
    check(0x9419, "0x9419 is Eijmp, which this part lacks (it needs `eind`); check the device that the program is for");
    check(0x9000, "0x9000 is the first of the two words of Lds, but no word follows; check that the image is complete");
}

#[track_caller]
fn check_unencodable(instruction: Instruction, operand: &str, value: i64) {
    let error = instruction.encode().expect_err("an operand is out of range");
    assert_eq!((error.operand, error.value), (operand, value));
}

#[test]
fn operands_out_of_range_do_not_encode() {
    let [r1, r3, r24, r25] = [1, 3, 24, 25].map(register);
    check_unencodable(Instruction::Ldi { rd: r3, k: 0 }, "rd", 3);
    check_unencodable(Instruction::Movw { rd: r24, rr: r3 }, "rr", 3);
    check_unencodable(Instruction::Mulsu { rd: register(16), rr: r24 }, "rr", 24);
    check_unencodable(Instruction::Adiw { rd: r25, k: 1 }, "rd", 25);
    check_unencodable(Instruction::Adiw { rd: r24, k: 64 }, "k", 64);
    check_unencodable(Instruction::Rjmp { offset: 2048 }, "offset", 2048);
    check_unencodable(Instruction::Rjmp { offset: -2049 }, "offset", -2049);
    check_unencodable(Instruction::Brbs { flag: 0, offset: 64 }, "offset", 64);
    check_unencodable(Instruction::Brbs { flag: 8, offset: 0 }, "flag", 8);
    check_unencodable(Instruction::Jmp { target: 0x40_0000 }, "target", 0x40_0000);
    check_unencodable(Instruction::In { rd: r1, io: 64 }, "io", 64);
    check_unencodable(Instruction::Sbi { io: 32, bit: 0 }, "io", 32);
    let ld = |pointer, mode| Instruction::Ld { rd: r1, pointer, mode };
    check_unencodable(ld(Pointer::X, PointerMode::Displacement(1)), "mode", 1);
    check_unencodable(ld(Pointer::Y, PointerMode::Displacement(64)), "mode", 64);
}
