//! Images that are refused: what is wrong, where, and what to do.

use avr_image::{FlashByteAddress, Image, LoadOptions};

const SENSOR_ELF: &[u8] = include_bytes!("../fixtures/sensor.elf");
const BOOT_ELF: &[u8] = include_bytes!("../fixtures/boot.elf");
const BOOT_HEX: &[u8] = include_bytes!("../fixtures/boot.hex");

/// File offsets in `SENSOR_ELF` (`readelf -h`): program headers of 32 bytes, section headers of 40.
const SEGMENTS: usize = 52;

fn sections() -> usize {
    word(SENSOR_ELF, 32) as usize
}

fn word(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes([bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]])
}

#[track_caller]
fn check_with(bytes: &[u8], options: &LoadOptions, message: &str, hint: &str) {
    let error = Image::parse("x", bytes, options).expect_err("the image is to be refused");
    assert_eq!(error.to_string(), format!("x: {message}"));
    assert!(error.hint().contains(hint), "hint: {}", error.hint());
}

#[track_caller]
fn check(bytes: impl AsRef<[u8]>, message: &str, hint: &str) {
    check_with(bytes.as_ref(), &LoadOptions::new(0x8000, 0x400), message, hint);
}

const END: &str = "\n:00000001FF\n";

#[test]
fn files_that_are_neither() {
    check("", "is empty", "build again");
    check(" \r\n\n", "is empty", "build again");
    check("S00600004844521B", "is neither ELF nor Intel HEX: it starts with the bytes 53 30 30 36", "-I srec");
    check([0x0c, 0x94], "is neither ELF nor Intel HEX: it starts with the bytes 0c 94", "-I binary");
    check("\x7fEL", "is neither ELF nor Intel HEX: it starts with the bytes 7f 45 4c", "");
}

#[test]
fn hex_lines_that_are_malformed() {
    let damaged = "avr-objcopy -O ihex";
    let check = |line: &str, message: &str, hint: &str| check(format!(":0100000011EE\n{line}{END}"), message, hint);
    check("; made by hand", "line 2: expected a record, which starts with ':', found ';'", "remove text");
    check(":01000G0022DE", "line 2: column 7: expected a hexadecimal digit, found 'G'", damaged);
    check(":01000100é", "line 2: column 10: expected a hexadecimal digit, found 'é'", damaged);
    check(":0100010022", "line 2: the record is cut short: 12 digits expected after ':', found 10", damaged);
    check(":01000100220", "line 2: the record is cut short: 12 digits expected after ':', found 11", damaged);
    check(":", "line 2: the record is cut short: 10 digits expected after ':', found 0", damaged);
    check(":0100010022DC00", "line 2: the record is too long: 12 digits expected after ':', found 14", damaged);
    check(":0100010022DD", "line 2: wrong checksum: the record ends in DD, its content needs DC", damaged);
    check(":00000006FA", "line 2: record type 06 is not defined (00 to 05 are)", damaged);
    check(":0100000400FB", "line 2: a record of this type cannot have this length", damaged);
    check(":02FFFF00000000", "line 2: 2 bytes at offset 0xffff run over the end of a 64 KiB block", "split the record");
}

#[test]
fn hex_files_that_end_wrongly() {
    check(":0100000011EE\n\n", "line 1: the file ends here without an end-of-file record (:00000001FF)", "cut short");
    let more = ":0100000011EE\n:00000001FF\n:0100010022DC\n:00000001FF\n";
    check(more, "line 3: the file goes on after its end-of-file record in line 2", "srec_cat");
}

#[test]
fn bytes_that_contradict_each_other() {
    let twice = format!(":0100000011EE\n:0100010022DC\n:01000000 12ED{END}").replace(' ', "");
    check(twice, "line 3: the byte at 0x0 is 0x12 here but 0x11 at line 1", "one value");
    // `.data` moved onto the start of `.text`.
    let elf = patched(SENSOR_ELF, SEGMENTS + 32 + 12, 0);
    let message = "file offset 0xd4: the byte at 0x0 is 0x0c here but 0xfd at file offset 0x218";
    check(elf, message, "one value");
}

#[test]
fn programs_that_do_not_start() {
    let start = "no code at the reset address 0x0: the first byte of the image is at 0x7e00";
    check(BOOT_HEX, start, "`--start 0x7e00`");
    check(BOOT_ELF, start, "`start: 0x7e00`");
    check(":00000001FF", "holds no program: nothing in it lies in flash", "EEPROM");
    check(
        ":020000040081 79\n:0100000007F8\n:00000001FF".replace(' ', ""),
        "holds no program: nothing in it lies in flash",
        "EEPROM",
    );
    let start = |start| LoadOptions { start: FlashByteAddress(start), ..LoadOptions::new(0x8000, 0x400) };
    let bad =
        |start: &str| format!("the start address {start} is not an even byte address below the flash size of 0x8000");
    check_with(BOOT_HEX, &start(0x7e01), &bad("0x7e01"), "even");
    check_with(BOOT_HEX, &start(0x8000), &bad("0x8000"), "even");
    let after = "no code at the reset address 0x7e0c: the first byte of the image is at 0x7e00";
    check_with(BOOT_HEX, &start(0x7e0c), after, "0x7e00");
    // One byte of the word is enough: the device reads 0xff for the other.
    assert!(Image::parse("x", b":0100000011EE\n:00000001FF", &start(0)).is_ok());
}

/// A copy with the 32-bit word at `offset` replaced.
fn patched(bytes: &[u8], offset: usize, value: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

/// A copy with the 16-bit word at `offset` replaced.
fn patched_half(offset: usize, value: u16) -> Vec<u8> {
    let mut bytes = SENSOR_ELF.to_vec();
    bytes[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
    bytes
}

fn patched_byte(offset: usize, value: u8) -> Vec<u8> {
    let mut bytes = SENSOR_ELF.to_vec();
    bytes[offset] = value;
    bytes
}

#[test]
fn elf_files_of_another_kind() {
    let other = "linked with avr-gcc";
    check(patched_half(18, 62), "file offset 0x12: the machine is 62 (x86-64), expected 83 (AVR)", other);
    check(patched_half(18, 9999), "file offset 0x12: the machine is 9999 (another machine), expected 83 (AVR)", other);
    check(patched_byte(4, 2), "file offset 0x4: the class is 2, expected 1 (32-bit)", other);
    let mut big_endian = patched_half(18, 83_u16.swap_bytes());
    big_endian[5] = 2;
    check(big_endian, "file offset 0x5: the byte order is 2, expected 1 (little-endian)", other);
    let object = "file offset 0x10: the file type is 1 (relocatable object), expected 2 (executable)";
    check(patched_half(16, 1), object, "link it first");
    let core = "file offset 0x10: the file type is 4 (core dump), expected 2 (executable)";
    check(patched_half(16, 4), core, "executable");
}

#[test]
fn elf_headers_that_lie() {
    let damaged = "damaged";
    check(
        &SENSOR_ELF[..51],
        "file offset 0x0: the fields of the ELF header take 52 bytes from here, the file has 51",
        damaged,
    );
    check(&SENSOR_ELF[..100], "file offset 0x34: program headers take 160 bytes from here, the file has 48", damaged);
    let size = "file offset 0x2a: the entries of program headers have 56 bytes, expected 32";
    check(patched_half(42, 56), size, damaged);
    let many = "file offset 0x2c: 65535 program headers are more than the limit of 256";
    check(patched_half(44, 0xffff), many, damaged);
    let size = "file offset 0x2e: the entries of section headers have 64 bytes, expected 40";
    check(patched_half(46, 64), size, damaged);
    let many = "file offset 0x30: 65280 section headers are more than the limit of 4096";
    check(patched_half(48, 0xff00), many, damaged);
    let message = "file offset 0xffffff00: section headers take 800 bytes from here, the file has 0";
    check(patched(SENSOR_ELF, 32, 0xffff_ff00), message, damaged);
    let message = "file offset 0x32: section index 20 does not exist: there are 20 sections";
    check(patched_half(50, 20), message, damaged);
}

#[test]
fn elf_content_outside_of_the_file() {
    let (sections, length) = (sections(), SENSOR_ELF.len());
    let text = sections + 2 * 40;
    let message = format!(
        "file offset {text:#x}: section 2 (.text) has its content at 0xffffff00..0x100000044, outside the file of \
         {length:#x} bytes"
    );
    check(patched(SENSOR_ELF, text + 16, 0xffff_ff00), &message, "damaged");
    let message =
        format!("file offset 0x34: segment 0 has its content at 0x7d00..0x7e44, outside the file of {length:#x} bytes");
    check(patched(SENSOR_ELF, SEGMENTS + 4, 0x7d00), &message, "damaged");
    let message = "file offset 0x34: segment 0 has load addresses 0xffffff00..0x100000044, which end beyond 32 bits";
    check(patched(SENSOR_ELF, SEGMENTS + 12, 0xffff_ff00), message, "damaged");
}

#[test]
fn elf_sections_that_tools_treat_differently() {
    // The segment of `.text` ends before the section does.
    let message = format!(
        "file offset {:#x}: section 2 (.text) has content for 0x0 in flash, but no segment loads all of it",
        sections()
    );
    check(patched(SENSOR_ELF, SEGMENTS + 16, 0x100), &message, "HEX");
}

#[test]
fn elf_symbol_tables_that_lie() {
    let symtab = sections() + 18 * 40;
    let (content, length) = (word(SENSOR_ELF, symtab + 16), SENSOR_ELF.len());
    let size = format!("file offset {content:#x}: the entries of symbols have 24 bytes, expected 16");
    check(patched(SENSOR_ELF, symtab + 36, 24), &size, "damaged");
    let link = format!("file offset {:#x}: section index 99 does not exist: there are 20 sections", sections());
    check(patched(SENSOR_ELF, symtab + 24, 99), &link, "damaged");
    let last = content as usize + word(SENSOR_ELF, symtab + 20) as usize - 16;
    let index = (last - content as usize) / 16;
    let name = format!("file offset {last:#x}: symbol {index} has its name at 0xffffffff, outside the string table");
    check(patched(SENSOR_ELF, last, u32::MAX), &name, "damaged");
    // A table of 2²⁸ entries: refused by its place in the file before anything is allocated.
    let huge = format!(
        "file offset {symtab:#x}: section 18 (.symtab) has its content at {content:#x}..{:#x}, outside the file of \
         {length:#x} bytes",
        u64::from(content) + 0xffff_fff0
    );
    check(patched(SENSOR_ELF, symtab + 20, 0xffff_fff0), &huge, "damaged");
}
