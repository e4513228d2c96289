//! Intel HEX files (Intel, "Hexadecimal Object File Format Specification", 1988).
//!
//! `ihex` decodes single records. Lines, their order, the end of the file and addresses are checked here. The crate's
//! reader stops silently at the first end-of-file record and does not miss an absent one.

use ihex::{ReaderError, Record};

use crate::error::{ImageErrorKind, Position};
use crate::placement::Placement;
use crate::problem::HexProblem;

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
