//! Surroundings in property files: inputs, interrupts, resets, fuses, the content of the EEPROM.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// Waits until the EEPROM is ready, reads its byte 1 into PORTB and stays at 0x12: `1: sbic EECR,EEPE; rjmp 1b;
/// ldi r16,1; out EEARL,r16; ldi r16,0; out EEARH,r16; sbi EECR,EERE; in r16,EEDR; out PORTB,r16; rjmp .-2`.
const READS_EEPROM: &str = ":10000000F999FECF01E001BD00E002BDF89A00B50C\n:0400100005B9FFCF60\n:00000001FF\n";

/// Copies the pins of port B: `1: in r16,PINB; out PORTB,r16; rjmp 1b`.
const COPIES_PINS: &str = ":0600000003B105B9FDCFBC\n:00000001FF\n";

/// Enables INT1, whose handler sets PORTB.0: `rjmp main; nop; nop; nop; sbi PORTB,0; reti; main: ldi r16,2;
/// out EIMSK,r16; sei; rjmp .-2`.
const ENABLES_INT1: &str = ":1000000005C0000000000000289A189502E00DBB12\n:040010007894FFCF12\n:00000001FF\n";

/// Shows the causes of the reset in PORTB: `ldi r17,0; in r16,MCUSR; out MCUSR,r17; out PORTB,r16; rjmp .-2`.
const SHOWS_CAUSE: &str = ":0A00000010E004B714BF05B9FFCFEC\n:00000001FF\n";

/// A boot section with `rjmp .-2` at 0x7000.
const BOOT_LOADER: &str = ":02700000FFCFC0\n:00000001FF\n";

/// Switches the watchdog off as the data sheet says: `ldi r16,0x18; ldi r17,0; sts WDTCSR,r16; sts WDTCSR,r17;
/// rjmp .-2`.
const STOPS_WATCHDOG: &str = ":0E00000008E110E00093600010936000FFCF55\n:00000001FF\n";

/// The outcome of a verification.
struct Outcome {
    code: Option<i32>,
    report: Value,
    errors: String,
}

/// Runs the verifier on a program; `fields` are those of the property file beside the device and the property. Another
/// file may lie beside it.
fn verify(firmware: &str, fields: &str, formula: &str, other: Option<(&str, &[u8])>) -> Outcome {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, content: &[u8]| std::fs::write(folder.path().join(name), content).expect("it is written");
    write("firmware.hex", firmware.as_bytes());
    let properties = format!("(device: \"atmega328p\", {fields}, properties: [Formula(check: {formula:?})])");
    write("p.ron", properties.as_bytes());
    if let Some((name, content)) = other {
        write(name, content);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_avr-tvar"));
    let path = |name: &str| folder.path().join(name).display().to_string();
    command.args(["verify", &path("firmware.hex"), &path("p.ron"), "--format", "json"]).current_dir(Path::new("/"));
    let output = command.output().expect("the program starts");
    Outcome {
        code: output.status.code(),
        report: serde_json::from_slice(&output.stdout).unwrap_or(Value::Null),
        errors: String::from_utf8(output.stderr).expect("output is UTF-8").replace(&path(""), ""),
    }
}

/// Expects an exit code, and what the report says it rests on.
#[track_caller]
fn check(firmware: &str, fields: &str, formula: &str, code: i32, assumptions: &[&str]) {
    let Outcome { code: found, report, errors } = verify(firmware, fields, formula, None);
    assert_eq!(found, Some(code), "{fields}: {formula}: {report} {errors}");
    assert_eq!(report["assumptions"], Value::from(assumptions), "{fields}");
}

#[track_caller]
fn check_content(file_name: &str, content: &[u8], formula: &str, code: i32) {
    let fields = format!("eeprom: {file_name:?}");
    let Outcome { code: found, report, errors } = verify(READS_EEPROM, &fields, formula, Some((file_name, content)));
    assert_eq!(found, Some(code), "{file_name}: {formula}: {report} {errors}");
    assert_eq!(report["assumptions"][0], format!("the EEPROM has the content of {file_name}"));
}

#[track_caller]
fn check_refused(file_name: &str, content: &[u8], expected: &str) {
    let fields = format!("eeprom: {file_name:?}");
    let Outcome { code, errors, .. } = verify(READS_EEPROM, &fields, "true", Some((file_name, content)));
    assert_eq!((errors.as_str(), code), (expected, Some(2)));
}

const READ: &str = "AG (pc == 0x12 -> PORTB == 0x42)";

#[test]
fn the_program_reads_what_the_file_says() {
    let hex = b":020001004200BB\n:00000001FF\n";
    check_content("a.eep", hex, READ, 0);
    check_content("a.eep", b"\x00\x42\x01", READ, 0);
    check_content("a.bin", b"AB", READ, 0);
    check_content("a.eep", b"\x00\x43\x01", READ, 1);
    // Cells that the file leaves out may hold anything.
    check_content("a.eep", b":0100000042BD\n:00000001FF\n", READ, 1);
    check_content("a.eep", b"\xff", READ, 1);
    check_content("a.eep", &[0x80; 1024], READ, 1);
    check_content("a.RAW", &[0x42; 1024], READ, 0);
}

#[test]
fn what_is_no_content_of_this_eeprom_is_refused() {
    let beyond = "error: a.eep: has content outside of the EEPROM of 1024 bytes\n\
        hint: write it with `avr-objcopy -O ihex -j .eeprom --change-section-lma .eeprom=0`\n";
    check_refused("a.eep", &[0xff; 1025], beyond);
    check_refused("a.eep", b":0104000042B9\n:00000001FF\n", beyond);
    check_refused("a.eep", b":0100000042BD\n:0104000042B9\n:00000001FF\n", beyond);
    check_refused(
        "a.eep",
        b"(device: \"atmega328p\")",
        "error: a.eep: is neither Intel HEX nor ELF, and rather text than the raw content of an EEPROM\n\
         hint: give raw content the extension .bin or .raw\n",
    );
    check_refused(
        "a.eep",
        &vec![0xff; (1 << 24) + 1],
        "error: a.eep: is larger than 16777216 bytes, which no file with EEPROM content is\n\
         hint: give the file with the content of the EEPROM, such as FIRMWARE.eep\n",
    );
}

#[test]
fn assumed_inputs_are_constant() {
    let formula = "AG (PORTB & 0xf0 == 0)";
    check(COPIES_PINS, "assume: []", formula, 1, &[]);
    check(COPIES_PINS, "assume: [\"PINB & 0xf0 == 0\"]", formula, 0, &["PINB & 0xf0 == 0"]);
    check(COPIES_PINS, "assume: [\"PINB & 0x70 == 0\"]", formula, 1, &["PINB & 0x70 == 0"]);
    check(COPIES_PINS, "assume: [\"PINB.7\"]", "EF PORTB.6", 0, &["PINB.7"]);
    check(COPIES_PINS, "assume: [\"!PINB.6\"]", "EF PORTB.6", 1, &["!PINB.6"]);
}

#[test]
fn interrupts_that_never_come_are_not_taken() {
    check(ENABLES_INT1, "assume: []", "AG (PORTB == 0)", 1, &[]);
    check(ENABLES_INT1, "assume: [never(INT0)]", "AG (PORTB == 0)", 1, &["never(INT0)"]);
    check(ENABLES_INT1, "assume: [never(INT1)]", "AG (PORTB == 0)", 0, &["never(INT1)"]);
}

#[test]
fn an_assumption_that_cannot_be_used_is_an_error() {
    let Outcome { code, errors, .. } = verify(COPIES_PINS, "assume: [\"PINB < 3\"]", "true", None);
    let expected = "error: 3 of 256 values of PINB satisfy this; they are not all those with some bits fixed\n \
        --> p.ron:1:33\n  |\n\
        1 | (device: \"atmega328p\", assume: [\"PINB < 3\"], properties: [Formula(check: \"true\")])\n  \
        |                                 ^^^^^^^^^^\n\
        hint: what it says of single bits can be assumed: `PINB & 0xfc == 0x00`\n";
    assert_eq!((errors.as_str(), code), (expected, Some(2)));
}

#[test]
fn resets_come_only_where_the_file_says_so() {
    let formula = "AG (pc == 8 -> PORTB.0)";
    check(SHOWS_CAUSE, "environment: []", formula, 0, &[]);
    check(SHOWS_CAUSE, "environment: [reset]", formula, 1, &["an external reset may come at any moment"]);
    check(SHOWS_CAUSE, "environment: [brown_out]", formula, 1, &["a brown-out reset may come at any moment"]);
}

#[test]
fn fuses_move_the_reset_vector_and_lock_the_watchdog() {
    let high = |byte: u8| format!("the high fuse byte is {byte:#04x} (factory value 0xd9)");
    check(BOOT_LOADER, "fuses: (high: 0xd8)", "AG (pc == 0x7000)", 0, &[&high(0xd8)]);
    check(STOPS_WATCHDOG, "fuses: (high: 0xd9)", "EF AG !WDTCSR.WDE", 0, &[]);
    check(STOPS_WATCHDOG, "fuses: (high: 0xc9)", "AG WDTCSR.WDE", 0, &[&high(0xc9)]);
}
