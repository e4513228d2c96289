//! The disassembly of every word against avr-objdump. Needs binutils-avr:
//! `cargo test -p avr-isa --test objdump -- --ignored`.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use avr_isa::{FeatureSet, Instruction, decode};

/// Operations of AVRxm and AVRxt that this instruction set lacks.
const LACKING: [&str; 6] = ["des", "lac", "las", "lat", "xch", "spm Z+"];

/// The text of avr-objdump at each byte address of a program.
fn objdump(name: &str, words: &[u16]) -> HashMap<u32, String> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(&path, bytes).expect("the directory for temporary files is writable");
    let output = Command::new("avr-objdump").args(["-D", "-z", "-b", "binary", "-m", "avr:5"]).arg(&path).output();
    let output = output.expect("avr-objdump is installed (Debian: binutils-avr)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().filter_map(line).collect()
}

/// Address and normalised text of a line `  address:\tbytes\tmnemonic\toperands\t; comment`.
fn line(line: &str) -> Option<(u32, String)> {
    let (address, rest) = line.trim_start().split_once(":\t")?;
    let (_, text) = rest.split_once('\t')?;
    Some((u32::from_str_radix(address, 16).ok()?, normalise(text)))
}

/// One space between words; LPM and ELPM with the operands that they imply.
fn normalise(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if matches!(text.as_str(), "lpm" | "elpm") { format!("{text} r0, Z") } else { text }
}

fn is_reserved(theirs: &str) -> bool {
    theirs.starts_with(".word") || LACKING.iter().any(|lacking| theirs.starts_with(lacking))
}

/// Compares the instructions at every `stride` words; gives how many were instructions and how many reserved.
fn compare(name: &str, words: &[u16], stride: usize) -> (usize, usize) {
    let theirs = objdump(name, words);
    let (mut instructions, mut differences) = (0, Vec::new());
    for (index, pair) in words.chunks_exact(stride).enumerate() {
        let address = u32::try_from(2 * stride * index).expect("the program is small");
        let theirs = theirs.get(&address).map_or("nothing", String::as_str);
        let ours = decode(pair[0], Some(pair[1]), FeatureSet::AVR6).ok();
        let text = |instruction: Instruction| normalise(&instruction.disassemble(address, &|_| None).to_string());
        if ours.map(text).as_deref() != (!is_reserved(theirs)).then_some(theirs) {
            differences.push(format!("{:04x} {:04x}: {ours:?}, avr-objdump: {theirs}", pair[0], pair[1]));
        }
        instructions += usize::from(ours.is_some());
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    (instructions, words.len() / stride - instructions)
}

#[test]
#[ignore = "needs avr-objdump; run by tests/oracle/all.sh"]
fn all_first_words() {
    for second in [0x0100, 0xfffe] {
        let words: Vec<u16> = (0..=u16::MAX).flat_map(|first| [first, second, 0]).collect();
        assert_eq!(compare("first-words.bin", &words, 3), (63_837, 1_699));
    }
}

#[test]
#[ignore = "needs avr-objdump; run by tests/oracle/all.sh"]
fn all_second_words() {
    for first in [0x9000, 0x93f0, 0x940c, 0x95ff] {
        let words: Vec<u16> = (0..=u16::MAX).flat_map(|second| [first, second]).collect();
        assert_eq!(compare("second-words.bin", &words, 2), (65_536, 0));
    }
}
