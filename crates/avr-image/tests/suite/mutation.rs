//! Hostile input: damaged copies of good files are loaded or refused, without a panic and in bounded time.

use std::time::{Duration, Instant};

use avr_image::{FlashByteAddress, Image, LoadOptions};
use fastrand::Rng;

const FIXTURES: [&[u8]; 5] = [
    include_bytes!("../fixtures/sensor.elf"),
    include_bytes!("../fixtures/twins.elf"),
    include_bytes!("../fixtures/sensor-stripped.elf"),
    include_bytes!("../fixtures/boot.elf"),
    include_bytes!("../fixtures/sensor.hex"),
];

/// Copies of each fixture.
const MUTANTS: u64 = 3000;
/// Far above the milliseconds that one load takes, far below what an unbounded loop does.
const LIMIT: Duration = Duration::from_secs(5);

/// One damage: another digit in a HEX file, a flipped bit, an extreme byte or word, a cut, or a block copied elsewhere.
fn damage(bytes: &mut Vec<u8>, random: &mut Rng) {
    let at = random.usize(..bytes.len());
    if bytes.starts_with(b":") && random.usize(..2) == 0 {
        bytes[at] = b"0123456789ABCDEF"[random.usize(..16)];
        return;
    }
    match random.usize(..8) {
        0..=2 => bytes[at] ^= 1 << random.usize(..8),
        3 => bytes[at] = [0x00, 0x7f, 0x80, 0xff][random.usize(..4)],
        4 | 5 => overwrite(bytes, at & !3, &[0xff, 0xff, 0xff, [0x00, 0x7f, 0xff][random.usize(..3)]]),
        6 => {
            let block = bytes[at..bytes.len().min(at + 16)].to_vec();
            let to = random.usize(..bytes.len());
            overwrite(bytes, to, &block);
        }
        _ if random.usize(..4) == 0 => bytes.truncate(at + 1),
        _ => bytes[at] = random.u8(..),
    }
}

fn overwrite(bytes: &mut [u8], at: usize, with: &[u8]) {
    for (byte, &value) in bytes[at..].iter_mut().zip(with) {
        *byte = value;
    }
}

/// Headers are a small part of the file but decide most: every other mutant is damaged there.
fn mutant(original: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=random.usize(..4) {
        damage(&mut bytes, random);
    }
    if random.usize(..2) == 0 && bytes.len() > 1200 && !original.starts_with(b":") {
        let headers = if random.usize(..2) == 0 { 0..256 } else { bytes.len() - 900..bytes.len() };
        let at = headers.start + random.usize(..headers.len());
        bytes[at] = [0x00, 0x01, 0x7f, 0x80, 0xff][random.usize(..5)];
    }
    if original.starts_with(b":") && random.usize(..2) == 0 { repaired(&bytes) } else { bytes }
}

/// A HEX file whose checksums are right again, so that the damage is found elsewhere or not at all.
fn repaired(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|&byte| byte == b'\n').map(|line| String::from_utf8_lossy(line.trim_ascii()).into_owned());
    let repair = |line: String| {
        let digits = line.strip_prefix(':').unwrap_or_default();
        let pairs = digits.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).ok());
        let bytes: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect();
        let Some([content @ .., _]) = bytes.as_deref() else { return line };
        let sum = content.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte)).wrapping_neg();
        format!("{}{sum:02X}", &line[..1 + 2 * content.len()])
    };
    lines.map(repair).collect::<Vec<_>>().join("\n").into_bytes()
}

/// Everything that a caller may ask of an image or an error.
fn exercise(bytes: &[u8]) -> bool {
    let image = match Image::parse("mutant", bytes, &LoadOptions::new(0x8000, 0x400)) {
        Ok(image) => image,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.hint().is_empty());
            return false;
        }
    };
    for address in (0..0x8002).step_by(256).map(FlashByteAddress) {
        let (_, _) = (image.source_line(address), image.symbols.function_at(address));
    }
    for symbol in image.symbols.all() {
        assert!(!image.symbols.matches(&symbol.name).is_empty());
        let _ = image.symbols.extent(symbol);
    }
    let _ = (image.static_data_end(), image.symbols.nearest("conter"), image.check_device("atmega328p"));
    image.warnings.iter().for_each(|warning| assert!(!warning.to_string().is_empty()));
    true
}

#[test]
fn mutants_are_loaded_or_refused() {
    let mut random = Rng::with_seed(1);
    for (index, original) in FIXTURES.into_iter().enumerate() {
        let mut loaded = 0;
        for number in 0..MUTANTS {
            let bytes = mutant(original, &mut random);
            let start = Instant::now();
            loaded += u64::from(exercise(&bytes));
            assert!(start.elapsed() < LIMIT, "fixture {index}, mutant {number}");
        }
        // Both ends of the loader are reached, except that a boot loader has no code at 0.
        let refused = MUTANTS - loaded;
        assert!(refused > MUTANTS / 20 && (loaded > MUTANTS / 20 || index == 3), "fixture {index}: {loaded} loaded");
    }
}

#[test]
fn every_truncation_of_a_file_is_refused() {
    for original in [FIXTURES[2], FIXTURES[4]] {
        // The last line end of a HEX file is no loss.
        let whole = original.trim_ascii_end().len();
        for length in 0..whole {
            assert!(!exercise(&original[..length]), "{length} bytes");
        }
    }
}
