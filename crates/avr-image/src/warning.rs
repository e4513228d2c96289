//! Warnings of the loader.

use std::fmt;
use std::ops::Range;

/// Something in the image that the user should know about. It never makes the image unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Bytes with a load address outside flash and EEPROM; they are no part of the program.
    LeftOut(LeftOut),
    /// An ELF file has no section headers, so the padding between sections counts as program.
    NoSectionHeaders,
    /// There is debug information, but only in STABS, which gives no source lines here.
    StabsOnly,
    /// Some debug information is unreadable; source lines or types may be missing.
    Debug {
        /// The error in it.
        problem: String,
    },
    /// The debug information is larger than the loader is willing to read.
    DebugLimit {
        /// The limit that was reached.
        limit: &'static str,
    },
}

/// Bytes of one memory that were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The memory.
    pub region: Region,
    /// Load addresses with the linker's offset, at most [`LeftOut::MAX_RANGES`] ranges in file order.
    pub ranges: Vec<Range<u32>>,
    /// The first bytes, at most [`LeftOut::MAX_VALUES`].
    pub values: Vec<u8>,
    /// The number of bytes.
    pub bytes: u64,
}

impl LeftOut {
    /// The largest number of ranges that are kept.
    pub const MAX_RANGES: usize = 4;
    /// The largest number of values that are kept, enough for fuses and lock bits.
    pub const MAX_VALUES: usize = 4;
}

/// A memory that the linker places at an offset of its own (avr-libc, "Memory Sections"; binutils `avr.sc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// Above the device's flash, below the data space.
    BeyondFlash,
    /// The data space at 0x800000: content without a load address in flash, which no programmer can write.
    Data,
    /// Above the device's EEPROM.
    BeyondEeprom,
    /// Fuse bytes at 0x820000.
    Fuses,
    /// Lock bits at 0x830000.
    Lock,
    /// Device signature at 0x840000.
    Signature,
    /// User signatures at 0x850000.
    UserSignatures,
    /// An address that no tool gives a meaning.
    Unassigned,
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeyondFlash => "beyond the flash",
            Self::Data => "initial SRAM content without a load address in flash",
            Self::BeyondEeprom => "beyond the EEPROM",
            Self::Fuses => "fuse bytes",
            Self::Lock => "lock bits",
            Self::Signature => "device signature",
            Self::UserSignatures => "user signatures",
            Self::Unassigned => "at no memory's address",
        })
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.bytes == 1 { "byte" } else { "bytes" };
        write!(f, "left out {} {plural} ({}):", self.bytes, self.region)?;
        for (index, range) in self.ranges.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma} {:#x}..{:#x}", range.start, range.end)?;
        }
        let named: u64 = self.ranges.iter().map(|range| u64::from(range.end - range.start)).sum();
        if named < self.bytes {
            f.write_str(" and more")?;
        }
        if self.bytes <= self.values.len() as u64 {
            f.write_str(" =")?;
            self.values.iter().try_for_each(|value| write!(f, " {value:02x}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut(left_out) => left_out.fmt(f),
            Self::NoSectionHeaders => f.write_str("no section headers: padding between sections counts as program"),
            Self::StabsOnly => f.write_str("the debug information is STABS: no source lines"),
            Self::Debug { problem } => write!(f, "debug information is unreadable in part: {problem}"),
            Self::DebugLimit { limit } => write!(f, "debug information is read in part: {limit}"),
        }
    }
}

impl Warning {
    /// Advice to the user, where there is something to do.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::LeftOut(left_out) => left_out.region.hint(),
            Self::NoSectionHeaders => Some("verify the HEX file, or the ELF file before it is stripped"),
            Self::StabsOnly => Some("compile and link with `-gdwarf-4`"),
            Self::Debug { .. } | Self::DebugLimit { .. } => None,
        }
    }
}

impl Region {
    fn hint(self) -> Option<&'static str> {
        match self {
            Self::Fuses => Some("to verify with these fuses give them in the property file: `fuses: (low: ..., ...)`"),
            Self::BeyondFlash => Some("check that the image was linked for this device"),
            Self::Data => Some("their initial values count as unknown, as on the device"),
            _ => None,
        }
    }
}
