//! ELF files that no linker writes, built here field by field.

use std::time::{Duration, Instant};

use avr_image::{FlashByteAddress, Image, ImageError, LoadOptions, Warning};

const HEADER_BYTES: usize = 52;
const SEGMENT_BYTES: usize = 32;
const ALLOCATED: u32 = 6;

/// Type, flags, address, file offset, size, linked section, size of an entry.
type Section = [u32; 7];

/// File offset, load address, size.
type Segment = [u32; 3];

/// An AVR executable: the ELF header, the segments, the content, the sections (after the null section).
fn elf(segments: &[Segment], content: &[u8], sections: &[Section]) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let section_headers = content_offset(segments.len()) + content.len();
    let section_count = if sections.is_empty() { 0 } else { 1 + sections.len() as u16 };
    halves(&mut file, &[2, 83]);
    words(&mut file, &[1, 0, HEADER_BYTES as u32, section_headers as u32, 5]);
    halves(&mut file, &[52, 32, segments.len() as u16, 40, section_count, 0]);
    for &[offset, address, size] in segments {
        words(&mut file, &[1, offset, address, address, size, size, 5, 2]);
    }
    file.extend(content);
    words(&mut file, &[0; 10]);
    for &[kind, flags, address, offset, size, link, entry] in sections {
        words(&mut file, &[0, kind, flags, address, offset, size, link, 0, 1, entry]);
    }
    file
}

fn halves(file: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
}

fn words(file: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| file.extend(value.to_le_bytes()));
}

/// The place where the content begins.
fn content_offset(segments: usize) -> usize {
    HEADER_BYTES + segments * SEGMENT_BYTES
}

fn load(file: &[u8]) -> Result<Image, ImageError> {
    Image::parse("test", file, &LoadOptions::new(0x8000, 0))
}

/// Two code bytes, two of padding, two code bytes, in one segment.
const PADDED: [u8; 6] = [0x11, 0x22, 0, 0, 0x33, 0x44];

#[track_caller]
fn check_padded(sections: &[Section], expected: [Option<u8>; 6], warnings: &[Warning]) {
    let image = load(&elf(&[[84, 0, 6]], &PADDED, sections)).expect("a good image");
    assert_eq!([0, 1, 2, 3, 4, 5].map(|address| image.program.byte(FlashByteAddress(address))), expected);
    assert_eq!(image.warnings, warnings);
}

/// Padding between sections is in the file but not on the device, where it stays erased: execution must not run
/// through it as if it were a `nop`.
#[test]
fn padding_is_erased_flash() {
    let sections = [[1, ALLOCATED, 0, 84, 2, 0, 0], [1, ALLOCATED, 4, 88, 2, 0, 0]];
    check_padded(&sections, [Some(0x11), Some(0x22), None, None, Some(0x33), Some(0x44)], &[]);
    check_padded(&[], PADDED.map(Some), &[Warning::NoSectionHeaders]);
}

#[test]
fn initial_sram_content_without_a_load_address_is_left_out() {
    let sections = [[1, ALLOCATED, 0, 116, 2, 0, 0], [1, 3, 0x80_0100, 118, 4, 0, 0]];
    let image = load(&elf(&[[116, 0, 2], [118, 0x80_0100, 4]], &PADDED, &sections)).expect("a good image");
    let text =
        "left out 4 bytes (initial SRAM content without a load address in flash): 0x800100..0x800104 = 00 00 33 44";
    assert_eq!(image.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
    assert_eq!(image.program.used_bytes(), 2);
}

/// Loads or refuses within a time that work without a bound would exceed by far.
#[track_caller]
fn check_bounded(file: &[u8], expected: Option<&str>) {
    let start = Instant::now();
    let error = load(file).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), expected);
    // Work that multiplies takes hours: a minute is enough for a machine that does other things as well.
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn sections_that_share_their_content_do_not_multiply_it() {
    let size = 1 << 20;
    let file = elf(&[[84, 0, size]], &vec![0; size as usize], &vec![[1, ALLOCATED, 0, 84, size, 0, 0]; 4000]);
    let message = "test: file offset 0x34: 17825792 loaded bytes are more than the limit of 16777216";
    check_bounded(&file, Some(message));
}

/// A program, `count` symbols of one name in flash, and that name.
fn with_symbols(count: usize, name: &[u8]) -> Vec<u8> {
    let mut content = vec![0; 2];
    for index in 0..count as u32 {
        words(&mut content, &[0, index % 0x8000, 0x8000]);
        content.extend([2, 0, 1, 0]);
    }
    content.extend(name);
    content.push(0);
    let strings = 84 + 2 + 16 * count as u32;
    let sections = [
        [1, ALLOCATED, 0, 84, 2, 0, 0],
        [2, 0, 0, 86, 16 * count as u32, 3, 16],
        [3, 0, 0, strings, name.len() as u32 + 1, 0, 0],
    ];
    elf(&[[84, 0, 2]], &content, &sections)
}

#[test]
fn symbols_that_share_a_name_or_overlap_do_not_multiply_work() {
    check_bounded(&with_symbols(100, b"overlapping"), None);
    check_bounded(&with_symbols(100_000, b"overlapping"), None);
    let names = "test: file offset 0x40056: 16777217 bytes of symbol names are more than the limit of 16777216";
    check_bounded(&with_symbols(100_000, &[b'n'; 1024]), Some(names));
    let count = "test: file offset 0x56: 200000 symbols are more than the limit of 131072";
    check_bounded(&with_symbols(200_000, b"n"), Some(count));
    // A name that doubles with every back reference when it is demangled.
    let doubling: String = "S_".repeat(400);
    check_bounded(&with_symbols(10_000, format!("_Z1fILi1E{doubling}E").as_bytes()), None);
}
