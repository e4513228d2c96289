//! Assembler text, aliases and symbols.

use avr_isa::{FeatureSet, Instruction, decode};

fn instruction(words: &[u16]) -> Instruction {
    decode(words[0], words.get(1).copied(), FeatureSet::AVR6).expect("the words are an instruction")
}

#[track_caller]
fn check(words: &[u16], expected: &str) {
    assert_eq!(instruction(words).to_string(), expected);
}

#[test]
fn plain_text() {
    check(&[0x0000], "nop");
    check(&[0x1c01], "adc r0, r1");
    check(&[0xe08d], "ldi r24, 0x0D");
    check(&[0x960d], "adiw r24, 0x0d");
    check(&[0xb60d], "in r0, 0x3d");
    check(&[0x9a2f], "sbi 0x05, 7");
    check(&[0x9180, 0x01fe], "lds r24, 0x01FE");
    check(&[0x940e, 0x0034], "call 0x68");
    check(&[0xcffe], "rjmp .-4");
    check(&[0xd000], "rcall .+0");
    check(&[0x918d], "ld r24, X+");
    check(&[0x8188], "ld r24, Y");
    check(&[0x818b], "ldd r24, Y+3");
    check(&[0x8383], "std Z+3, r24");
    check(&[0x8380], "st Z, r24");
    check(&[0x95c8], "lpm r0, Z");
    check(&[0x9185], "lpm r24, Z+");
    check(&[0xf3e1], "breq .-8");
    check(&[0x9478], "sei");
    check(&[0x94f8], "cli");
    check(&[0x0f88], "add r24, r24");
}

/// The name that the listing shows is among the aliases too.
#[track_caller]
fn check_aliases(words: &[u16], expected: &[&str]) {
    let aliases = instruction(words).aliases();
    assert_eq!(aliases.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>(), expected);
}

#[test]
fn aliases() {
    check_aliases(&[0x0f88], &["lsl r24"]);
    check_aliases(&[0x0f89], &[]);
    check_aliases(&[0x1f88], &["rol r24"]);
    check_aliases(&[0x2388], &["tst r24"]);
    check_aliases(&[0x2788], &["clr r24"]);
    check_aliases(&[0xef8f], &["ser r24"]);
    check_aliases(&[0xef8e], &[]);
    check_aliases(&[0x6081], &["sbr r24, 0x01"]);
    check_aliases(&[0x7f8e], &["cbr r24, 0x01"]);
    check_aliases(&[0xf008], &["brcs .+2", "brlo .+2"]);
    check_aliases(&[0xf40c], &["brge .+2"]);
    check_aliases(&[0x9478], &["sei"]);
}

#[track_caller]
fn check_at(pc: u32, words: &[u16], expected: &str) {
    let symbols = |address| match address {
        0x68 => Some("main".to_owned()),
        0x6a => Some("main+0x2".to_owned()),
        0x80_0100 => Some("counter".to_owned()),
        _ => None,
    };
    assert_eq!(instruction(words).disassemble(pc, &symbols).to_string(), expected);
}

#[test]
fn listings_name_targets_and_variables() {
    check_at(0, &[0x940c, 0x0034], "jmp\t0x68\t; 0x68 <main>");
    check_at(0x6c, &[0xcffe], "rjmp\t.-4\t; 0x6a <main+0x2>");
    check_at(0x6c, &[0xf011], "breq\t.+4\t; 0x72");
    check_at(0, &[0x9180, 0x0100], "lds\tr24, 0x0100\t; 0x800100 <counter>");
    check_at(0, &[0xe58a], "ldi\tr24, 0x5A\t; 90");
    check_at(0, &[0x818b], "ldd\tr24, Y+3\t; 0x03");
    check_at(0, &[0x9508], "ret");
    check_at(0, &[0x91ad], "ld\tr26, X+\t; undefined");
    check_at(0, &[0x940c, 0], "jmp\t0\t; 0x0");
}
