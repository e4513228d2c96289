//! Intel HEX files (Intel, "Hexadecimal Object File Format Specification", 1988).
//!
//! `ihex` decodes single records. Lines, their order, the end of the file and addresses are checked here. The crate's
//! reader stops silently at the first end-of-file record and does not miss an absent one.

use ihex::{ReaderError, Record};
use thiserror::Error;

use crate::error::{ImageErrorKind, Position};
use crate::placement::Placement;

/// The error in a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HexProblem {
    /// The line does not begin with a colon.
    #[error("expected a record, which starts with ':', found {found:?}")]
    NotARecord {
        /// The first character of the line.
        found: char,
    },
    /// A character that is no hexadecimal digit.
    #[error("column {column}: expected a hexadecimal digit, found {found:?}")]
    NotADigit {
        /// The column, counted from 1.
        column: usize,
        /// The character.
        found: char,
    },
    /// The record is shorter than its length byte says.
    #[error("the record is cut short: {expected} digits expected after ':', found {found}")]
    Truncated {
        /// Digits that a record of the stated length has.
        expected: usize,
        /// Digits that there are.
        found: usize,
    },
    /// The record is longer than its length byte says.
    #[error("the record is too long: {expected} digits expected after ':', found {found}")]
    TooLong {
        /// Digits that a record of the stated length has.
        expected: usize,
        /// Digits that there are.
        found: usize,
    },
    /// The checksum is wrong.
    #[error("wrong checksum: the record ends in {found:02X}, its content needs {expected:02X}")]
    Checksum {
        /// The number in the record.
        found: u8,
        /// The number that its content needs.
        expected: u8,
    },
    /// A record type that is not defined.
    #[error("record type {found:02X} is not defined (00 to 05 are)")]
    UnknownType {
        /// The type byte.
        found: u8,
    },
    /// The length does not suit the record type.
    #[error("a record of this type cannot have this length")]
    LengthForType,
    /// A record follows the end-of-file record.
    #[error("the file goes on after its end-of-file record in line {end}")]
    AfterEnd {
        /// The line of the end-of-file record.
        end: u32,
    },
    /// A data record runs over the end of its 64 KiB block, where tools disagree about the address.
    #[error("{length} bytes at offset {offset:#06x} run over the end of a 64 KiB block")]
    CrossesBlock {
        /// The offset of the record.
        offset: u16,
        /// Its data bytes.
        length: usize,
    },
}

impl HexProblem {
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::NotARecord { .. } => "remove text that is no record",
            Self::AfterEnd { .. } => "programmers stop at that record; join files with `srec_cat` instead of `cat`",
            Self::CrossesBlock { .. } => "split the record, for example with `avr-objcopy -I ihex -O ihex IN OUT`",
            _ => "the file is damaged; write it again with `avr-objcopy -O ihex`",
        }
    }
}

/// A start address that a type 03 or 05 record names; no AVR programmer uses it.
pub(crate) type StartRecord = Option<u32>;

/// Reads all records of `text` into `placement`.
///
/// # Errors
/// For the first line that is malformed, contradicts an earlier one, or is missing at the end.
pub(crate) fn read(text: &[u8], placement: &mut Placement) -> Result<StartRecord, ImageErrorKind> {
    let mut reader = Reader { placement, base: 0, end: None, start: None };
    let mut last = 1;
    for (number, line) in (1u32..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        // Old DOS tools end a text file with ^Z.
        if line.is_empty() || line == [0x1a] {
            continue;
        }
        last = number;
        reader.line(number, &String::from_utf8_lossy(line))?;
    }
    match reader.end {
        Some(_) => Ok(reader.start),
        None => Err(ImageErrorKind::MissingEnd { line: last }),
    }
}

struct Reader<'a> {
    placement: &'a mut Placement,
    /// Added to the offset of each data record: from the last type 02 or 04 record.
    base: u32,
    /// The line of the end-of-file record.
    end: Option<u32>,
    start: StartRecord,
}

impl Reader<'_> {
    fn line(&mut self, line: u32, text: &str) -> Result<(), ImageErrorKind> {
        let problem = |problem| ImageErrorKind::Hex { line, problem };
        if let Some(end) = self.end {
            return Err(problem(HexProblem::AfterEnd { end }));
        }
        match record(text).map_err(problem)? {
            Record::Data { offset, value } => self.data(line, offset, &value)?,
            Record::EndOfFile => self.end = Some(line),
            Record::ExtendedSegmentAddress(segment) => self.base = u32::from(segment) << 4,
            Record::ExtendedLinearAddress(upper) => self.base = u32::from(upper) << 16,
            Record::StartSegmentAddress { cs, ip } => self.start = Some((u32::from(cs) << 4) + u32::from(ip)),
            Record::StartLinearAddress(address) => self.start = Some(address),
        }
        Ok(())
    }

    fn data(&mut self, line: u32, offset: u16, value: &[u8]) -> Result<(), ImageErrorKind> {
        let length = value.len();
        if usize::from(offset) + length > 0x1_0000 {
            return Err(ImageErrorKind::Hex { line, problem: HexProblem::CrossesBlock { offset, length } });
        }
        for (index, &byte) in (0u32..).zip(value) {
            // At most 0xffff_0000 + 0xffff, so neither addition overflows.
            self.placement.put(self.base + u32::from(offset) + index, byte, Position::Line(line))?;
        }
        Ok(())
    }
}

/// Decodes one record; the length is judged before the checksum, which a truncated record fails as well.
fn record(text: &str) -> Result<Record, HexProblem> {
    let digits = text.strip_prefix(':').ok_or_else(|| HexProblem::NotARecord { found: first_char(text) })?;
    if let Some((index, found)) = digits.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit()) {
        return Err(HexProblem::NotADigit { column: index + 2, found });
    }
    let found = digits.len();
    let length = digits.get(..2).and_then(|byte| usize::from_str_radix(byte, 16).ok());
    // Length, address, type and checksum are five bytes.
    let expected = (length.unwrap_or(0) + 5) * 2;
    if found < expected {
        return Err(HexProblem::Truncated { expected, found });
    }
    if found > expected {
        return Err(HexProblem::TooLong { expected, found });
    }
    Record::from_record_string(text).map_err(|error| remaining_problem(error, expected, found))
}

fn first_char(text: &str) -> char {
    text.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Translates what `ihex` finds; the lengths were right before it was asked.
fn remaining_problem(error: ReaderError, expected: usize, found: usize) -> HexProblem {
    match error {
        ReaderError::ChecksumMismatch(expected, found) => HexProblem::Checksum { found, expected },
        ReaderError::UnsupportedRecordType(found) => HexProblem::UnknownType { found },
        ReaderError::InvalidLengthForType => HexProblem::LengthForType,
        ReaderError::RecordTooLong => HexProblem::TooLong { expected, found },
        _ => HexProblem::Truncated { expected, found },
    }
}
