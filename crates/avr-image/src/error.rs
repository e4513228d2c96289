//! Errors of images: the problem, its place, and advice.

use std::fmt;

use avr_isa::FlashByteAddress;
use thiserror::Error;

use crate::problem::{ElfProblem, HexProblem};

/// An image was refused. `Display` says what is wrong and where; [`ImageError::hint`] says what to do.
#[derive(Debug, Error)]
#[error("{name}: {kind}")]
pub struct ImageError {
    /// The path, or the name that the caller gave the bytes.
    pub name: String,
    /// The kind of error.
    #[source]
    pub kind: ImageErrorKind,
}

/// A place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// A line of a text file, counted from 1.
    Line(u32),
    /// A byte offset, counted from 0.
    Offset(u32),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Offset(offset) => write!(f, "file offset {offset:#x}"),
        }
    }
}

/// The kind of an [`ImageError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageErrorKind {
    /// The file could not be read.
    #[error("cannot be read: {0}")]
    Io(#[source] std::io::Error),
    /// The file is larger than any AVR image.
    #[error("is {bytes} bytes long, more than the limit of {limit}")]
    TooLarge {
        /// Size of the file in bytes.
        bytes: u64,
        /// The largest accepted size in bytes.
        limit: u64,
    },
    /// There is nothing in the file.
    #[error("is empty")]
    Empty,
    /// The content is neither ELF nor Intel HEX.
    #[error("is neither ELF nor Intel HEX: it starts with the bytes {}", hex_bytes(.first))]
    UnknownFormat {
        /// The first bytes of the file, at most four.
        first: Vec<u8>,
    },
    /// A line of an Intel HEX file is malformed.
    #[error("line {line}: {problem}")]
    Hex {
        /// The line, counted from 1.
        line: u32,
        /// The error in it.
        problem: HexProblem,
    },
    /// An Intel HEX file ends without an end-of-file record.
    #[error("line {line}: the file ends here without an end-of-file record (:00000001FF)")]
    MissingEnd {
        /// The last line.
        line: u32,
    },
    /// Part of an ELF file is malformed or is not what this tool can use.
    #[error("file offset {offset:#x}: {problem}")]
    Elf {
        /// The place of the offending field or content, in bytes.
        offset: u64,
        /// The error in it.
        problem: ElfProblem,
    },
    /// Two parts of the file give the same memory cell different values.
    #[error("{second}: the byte at {address:#x} is {second_value:#04x} here but {first_value:#04x} at {first}")]
    Overlap {
        /// The load address, with the linker's offset for memories other than flash.
        address: u32,
        /// The place where the cell was given first.
        first: Position,
        /// The value there.
        first_value: u8,
        /// The place where it was given again.
        second: Position,
        /// The value there.
        second_value: u8,
    },
    /// Nothing in the file lies in flash.
    #[error("holds no program: nothing in it lies in flash")]
    NoProgram,
    /// The start address cannot be one.
    #[error("the start address {start} is not an even byte address below the flash size of {flash_bytes:#x}")]
    BadStart {
        /// The requested start.
        start: FlashByteAddress,
        /// Size of the flash in bytes.
        flash_bytes: u32,
    },
    /// Flash is erased where execution starts.
    #[error("no code at the reset address {start}: the first byte of the image is at {first}")]
    NoCodeAtStart {
        /// The address where execution would start.
        start: FlashByteAddress,
        /// The lowest address in the image.
        first: FlashByteAddress,
        /// A start that the file itself suggests, or else the lowest word.
        suggestion: FlashByteAddress,
    },
    /// The image names another device than the one asked for.
    #[error("was built for {image}, but {requested} was asked for")]
    Device {
        /// The device that the image names.
        image: String,
        /// The device that was asked for.
        requested: String,
    },
    /// The image was linked for another AVR architecture.
    #[error("was linked for {}, not for {}", family_text(*image), family_text(*device))]
    Architecture {
        /// The architecture number in the ELF header's flags.
        image: u8,
        /// The device's.
        device: u8,
    },
}

/// A well-known part of an architecture of the AVR, as the data sheets spell it, by the number that ELF files have.
#[must_use]
pub fn known_part(architecture: u8) -> Option<&'static str> {
    Some(match architecture {
        1 => "AT90S1200",
        2 => "AT90S8515",
        25 => "ATtiny85",
        3 => "AT43USB355",
        31 => "ATmega103",
        35 => "ATmega32U2",
        4 => "ATmega8",
        5 => "ATmega328P",
        51 => "ATmega1284P",
        6 => "ATmega2560",
        100 => "ATtiny10",
        102 => "ATxmega32A4",
        103 => "ATmega4809",
        104 => "ATxmega64A3",
        105 => "ATxmega64A1",
        106 => "ATxmega128A3",
        107 => "ATxmega128A1",
        _ => return None,
    })
}

fn family_text(architecture: u8) -> String {
    known_part(architecture)
        .map_or_else(|| "an unknown family of parts".to_owned(), |part| format!("the family of the {part}"))
}

fn hex_bytes(bytes: &[u8]) -> String {
    let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    parts.join(" ")
}

impl ImageError {
    /// Advice to the user.
    #[must_use]
    pub fn hint(&self) -> String {
        self.kind.hint()
    }
}

impl ImageErrorKind {
    /// Adds the name of the file.
    pub(crate) fn of(self, name: &str) -> ImageError {
        ImageError { name: name.to_owned(), kind: self }
    }

    fn hint(&self) -> String {
        let text = match self {
            Self::Io(_) => "check the path and its permissions",
            Self::TooLarge { .. } => "give the ELF or HEX file of one firmware",
            Self::Empty => "the build probably failed before it wrote the file; build again",
            Self::UnknownFormat { first } => return unknown_format_hint(first).to_owned(),
            Self::Hex { problem, .. } => problem.hint(),
            Self::MissingEnd { .. } => "the file is cut short; write it again with `avr-objcopy -O ihex`",
            Self::Elf { problem, .. } => return problem.hint(),
            Self::Overlap { .. } => "two images seem merged wrongly; rebuild the file so that each byte has one value",
            Self::NoProgram => "give the file that is flashed, not one for EEPROM or fuses only",
            Self::BadStart { .. } => "give an even byte address inside flash, such as `--start 0x7e00`",
            Self::NoCodeAtStart { suggestion, .. } => return start_hint(*suggestion),
            Self::Device { image, .. } => return format!("use `--device {image}`, or build for the other device"),
            Self::Architecture { .. } => "choose the device that the image was linked for, or link with its `-mmcu`",
        };
        text.to_owned()
    }
}

fn unknown_format_hint(first: &[u8]) -> &'static str {
    if first.starts_with(b"S") {
        "for Motorola S-records: `avr-objcopy -I srec -O ihex IN OUT.hex`"
    } else {
        "for a raw binary: `avr-objcopy -I binary -O ihex IN OUT.hex`"
    }
}

fn start_hint(suggestion: FlashByteAddress) -> String {
    format!("for a boot loader name its start: `--start {suggestion}` or `start: {suggestion}` in the property file")
}
