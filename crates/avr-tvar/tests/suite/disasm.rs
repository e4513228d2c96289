//! The listing of fixtures.

use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};

fn listing(image: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    let output = command.arg("disasm").arg(image).current_dir(root).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the listing is UTF-8")
}

/// The part of a listing from one text up to another.
#[track_caller]
fn check(image: &str, from: &str, to: &str, expected: Expect) {
    let listing = listing(image);
    let start = listing.find(from).unwrap_or_else(|| panic!("no {from:?} in\n{listing}"));
    let rest = &listing[start..];
    let end = rest.find(to).unwrap_or(rest.len());
    expected.assert_eq(&rest[..end]);
}

#[test]
fn an_elf_file_has_labels_lines_and_register_names() {
    check(
        "firmware-samples/blink/blink.Og.elf",
        "00000080 <main>:",
        "\n00000",
        expect![[r#"
        00000080 <main>:
        blink/main.c:10
              80:	e280     	ldi	r24, 0x20	; 32
              82:	b984     	out	0x04, r24	; 4 <DDRB>
        blink/main.c:12
              84:	b185     	in	r24, 0x05	; 5 <PORTB>
              86:	6280     	ori	r24, 0x20	; 32
              88:	b985     	out	0x05, r24	; 5 <PORTB>
        /usr/lib/avr/include/util/delay.h:276
              8a:	ee87     	ldi	r24, 0xE7	; 231
              8c:	e093     	ldi	r25, 0x03	; 3
              8e:	9701     	sbiw	r24, 0x01	; 1
              90:	f7f1     	brne	.-4	; 0x8e <main+0xe>
              92:	c000     	rjmp	.+0	; 0x94 <main+0x14>
              94:	0000     	nop
        blink/main.c:14
              96:	b185     	in	r24, 0x05	; 5 <PORTB>
              98:	7d8f     	andi	r24, 0xDF	; 223
              9a:	b985     	out	0x05, r24	; 5 <PORTB>
        /usr/lib/avr/include/util/delay.h:276
              9c:	ee87     	ldi	r24, 0xE7	; 231
              9e:	e093     	ldi	r25, 0x03	; 3
              a0:	9701     	sbiw	r24, 0x01	; 1
              a2:	f7f1     	brne	.-4	; 0xa0 <main+0x20>
              a4:	c000     	rjmp	.+0	; 0xa6 <main+0x26>
              a6:	0000     	nop
              a8:	cfed     	rjmp	.-38	; 0x84 <main+0x4>
    "#]],
    );
}

#[test]
fn a_hex_file_has_addresses_only() {
    check(
        "firmware-samples/blink/blink.Og.hex",
        "firmware-samples",
        "       8:",
        expect![[r#"
        firmware-samples/blink/blink.Og.hex: hex for atmega328p, 174 of 32768 bytes used

               0:	940c 0034	jmp	0x68	; 0x68
               4:	940c 003e	jmp	0x7c	; 0x7c
    "#]],
    );
}

#[test]
fn erased_flash_is_left_out() {
    let image = "firmware-samples/hazard-self-programming-in-boot-section/hazard-self-programming-in-boot-section.elf";
    check(
        image,
        "firmware",
        "never",
        expect![[r#"
        firmware-samples/hazard-self-programming-in-boot-section/hazard-self-programming-in-boot-section.elf: elf for atmega328p, 16 of 32768 bytes used

        00000000 <__ctors_end>:
        hazard-self-programming-in-boot-section/main.S:4
               0:	940c 3800	jmp	0x7000	; 0x7000 <boot>

                ...

        00007000 <boot>:
        hazard-self-programming-in-boot-section/main.S:6
            7000:	e001     	ldi	r16, 0x01	; 1
        hazard-self-programming-in-boot-section/main.S:7
            7002:	e1f0     	ldi	r31, 0x10	; 16
        hazard-self-programming-in-boot-section/main.S:8
            7004:	e0e0     	ldi	r30, 0x00	; 0
        hazard-self-programming-in-boot-section/main.S:9
            7006:	bf07     	out	0x37, r16	; 55 <SPMCSR>
        hazard-self-programming-in-boot-section/main.S:10
            7008:	95e8     	spm

        0000700a <loop>:
        hazard-self-programming-in-boot-section/main.S:11
            700a:	cfff     	rjmp	.-2	; 0x700a <loop>
    "#]],
    );
}

#[test]
fn reserved_opcodes_are_words() {
    check(
        "firmware-samples/hazard-reserved-opcode/hazard-reserved-opcode.elf",
        "00",
        "never",
        expect![[r#"
        00000000 <__ctors_end>:
               0:	0001     	.word	0x0001	; no instruction

        00000002 <loop>:
        hazard-reserved-opcode/main.S:5
               2:	cfff     	rjmp	.-2	; 0x2 <loop>
    "#]],
    );
}

/// The flash byte addresses of the instructions of a sample, with the mark of the listing.
fn marks(image: &str) -> Vec<(u32, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    let output =
        command.args(["disasm", "--interrupts", image]).current_dir(root).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the listing is UTF-8");
    let row = |line: &str| {
        let (place, rest) = line.split_once('\t')?;
        let (address, mark) = place.split_once(':')?;
        let address = u32::from_str_radix(address.trim(), 16).ok().filter(|_| !rest.contains(".word"))?;
        Some((address, mark.trim().to_owned()))
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn interrupts_are_marked_as_the_state_space_has_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (image, both) in [("shared-counter-protected", true), ("timer-blink", true), ("branch", false)] {
        let image = format!("firmware-samples/{image}/{image}.Og.elf");
        let marks = marks(&image);
        assert!(!marks.is_empty());
        assert_eq!(marks.iter().any(|(_, mark)| mark == "I"), both, "{image}: {marks:?}");
        let at = |wanted: &str| {
            let places: Vec<String> = marks
                .iter()
                .filter(|(_, mark)| mark == wanted)
                .map(|(address, _)| format!("pc == {address:#x}"))
                .collect();
            if places.is_empty() { "false".to_owned() } else { places.join(" || ") }
        };
        let always = format!("AG (({}) -> SREG.I == 1)", at("I"));
        let never = format!("AG (({}) -> SREG.I == 0)", at(""));
        let output = Command::new(env!("CARGO_BIN_EXE_avr-tvar"))
            .args(["verify", &image, "--property", &always, "--property", &never])
            .current_dir(&root)
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{image}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
