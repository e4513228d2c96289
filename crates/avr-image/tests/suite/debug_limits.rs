//! Debug information that asks for more work than its size: it is read in part, and a warning says so.

use std::time::{Duration, Instant};

use avr_image::{Image, LoadOptions, Warning};

const SENSOR_ELF: &[u8] = include_bytes!("../fixtures/sensor.elf");

/// The section `.debug_line` of the fixture (`readelf -S`).
const DEBUG_LINE: usize = 12;
/// The place of the second unit's line program, after that of avr-libc.
const SECOND_PROGRAM: usize = 0x1a;

fn word(bytes: &[u8], offset: usize) -> usize {
    u32::from_le_bytes([bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3]]) as usize
}

/// The fixture with another line program for its second unit.
fn with_line_program(instructions: &[u8]) -> Vec<u8> {
    let header = word(SENSOR_ELF, 32) + DEBUG_LINE * 40;
    let first = word(SENSOR_ELF, header + 16);
    let mut lines = SENSOR_ELF[first..first + SECOND_PROGRAM].to_vec();
    // After the length: version 2, header length, minimum instruction length 1, default is_stmt, line base, line
    // range, opcode base 10 with nine lengths, no directory, the file "a", end of files.
    let rest = [1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, b'a', 0, 0, 0, 0, 0];
    let length = 2 + 4 + rest.len() + instructions.len();
    lines.extend((length as u32).to_le_bytes());
    lines.extend([2, 0]);
    lines.extend((rest.len() as u32).to_le_bytes());
    lines.extend(rest);
    lines.extend(instructions);
    let mut file = SENSOR_ELF.to_vec();
    let (offset, size) = (file.len() as u32, lines.len() as u32);
    file[header + 16..header + 20].copy_from_slice(&offset.to_le_bytes());
    file[header + 20..header + 24].copy_from_slice(&size.to_le_bytes());
    file.extend(lines);
    file
}

/// A sequence from address 2 to the end of all flash: set the address, copy a row, advance by 0xffff, end.
const SEQUENCE: [u8; 14] = [0, 5, 2, 2, 0, 0, 0, 1, 9, 0xff, 0xff, 0, 1, 1];

#[track_caller]
fn check(sequences: usize, warnings: &[&str]) {
    let file = with_line_program(&SEQUENCE.repeat(sequences));
    let start = Instant::now();
    let image = Image::parse("test", &file, &LoadOptions::new(0x8000, 0x400)).expect("a good image");
    assert!(start.elapsed() < Duration::from_secs(5));
    let found: Vec<String> = image
        .warnings
        .iter()
        .filter(|warning| !matches!(warning, Warning::LeftOut(_)))
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, warnings);
    let line = image.source_line(avr_image::FlashByteAddress(0x7ffe)).expect("the sequences cover all flash");
    assert_eq!((line.file, line.line), ("a", 1));
}

#[test]
fn overlapping_sequences_are_read_up_to_a_limit() {
    check(1, &[]);
    check(100, &[]);
    check(1_000_000, &["debug information is read in part: the line tables overlap too often"]);
}
