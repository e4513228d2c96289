//! Problems in lines of Intel HEX files.

use thiserror::Error;

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
