//! Errors in ELF files, in the words of the ELF specification.

use thiserror::Error;

/// An error in an ELF file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ElfProblem {
    /// The file ends inside a header or a table.
    #[error("{what} take {needed} bytes from here, the file has {available}")]
    CutShort {
        /// The header or table.
        what: &'static str,
        /// Its size in bytes.
        needed: u64,
        /// Bytes that the file has from there.
        available: u64,
    },
    /// The machine is not AVR.
    #[error("the machine is {found} ({}), expected 83 (AVR)", machine_name(*found))]
    Machine {
        /// The field `e_machine`.
        found: u16,
    },
    /// The class is not ELFCLASS32.
    #[error("the class is {found}, expected 1 (32-bit)")]
    Class {
        /// The byte `EI_CLASS`.
        found: u8,
    },
    /// The byte order is not little-endian.
    #[error("the byte order is {found}, expected 1 (little-endian)")]
    ByteOrder {
        /// The byte `EI_DATA`.
        found: u8,
    },
    /// The file is no executable.
    #[error("the file type is {found} ({}), expected 2 (executable)", type_name(*found))]
    FileType {
        /// The field `e_type`.
        found: u16,
    },
    /// A table has entries of a size that this format does not have.
    #[error("the entries of {what} have {found} bytes, expected {expected}")]
    EntrySize {
        /// The table.
        what: &'static str,
        /// The stated size in bytes.
        found: u64,
        /// The size in bytes that the format has.
        expected: u64,
    },
    /// A table is larger than any real firmware has.
    #[error("{found} {what} are more than the limit of {limit}")]
    TooMany {
        /// The entries of the table.
        what: &'static str,
        /// The number that it claims.
        found: u64,
        /// The largest number that is accepted.
        limit: u64,
    },
    /// The content of a section lies outside the file.
    #[error("section {index} ({name}) has its content at {start:#x}..{end:#x}, outside the file of {file:#x} bytes")]
    SectionOutside {
        /// The section's index.
        index: usize,
        /// The section's name.
        name: String,
        /// File offset of its content.
        start: u64,
        /// End of its content.
        end: u64,
        /// Size of the file in bytes.
        file: u64,
    },
    /// The content of a segment lies outside the file.
    #[error("segment {index} has its content at {start:#x}..{end:#x}, outside the file of {file:#x} bytes")]
    SegmentOutside {
        /// The segment's index.
        index: usize,
        /// File offset of its content.
        start: u64,
        /// End of its content.
        end: u64,
        /// Size of the file in bytes.
        file: u64,
    },
    /// The load addresses of a segment run over the end of the address space.
    #[error("segment {index} has load addresses {start:#x}..{end:#x}, which end beyond 32 bits")]
    LoadAddress {
        /// The segment's index.
        index: usize,
        /// Load address of its first byte.
        start: u64,
        /// Load address of its end.
        end: u64,
    },
    /// A section has content for flash that no segment loads.
    #[error("section {index} ({name}) has content for {address:#x} in flash, but no segment loads all of it")]
    NotLoaded {
        /// The section's index.
        index: usize,
        /// The section's name.
        name: String,
        /// Its address.
        address: u32,
    },
    /// A section refers to one that does not exist.
    #[error("section index {found} does not exist: there are {count} sections")]
    SectionIndex {
        /// The index.
        found: u64,
        /// The number of sections.
        count: usize,
    },
    /// A name lies outside its string table or has no end there.
    #[error("symbol {index} has its name at {name:#x}, outside the string table")]
    SymbolName {
        /// The symbol's index.
        index: usize,
        /// Offset in the string table.
        name: u64,
    },
    /// `goblin` refuses what passed the checks here.
    #[error("{message}")]
    Malformed {
        /// Its message.
        message: String,
    },
}

impl ElfProblem {
    pub(crate) fn hint(&self) -> String {
        let text = match self {
            Self::Machine { .. } | Self::Class { .. } | Self::ByteOrder { .. } => {
                "give the firmware, linked with avr-gcc, and not a program of the host"
            }
            Self::FileType { found: 1 } => "this is an object file; link it first: `avr-gcc -mmcu=... -o OUT.elf IN.o`",
            Self::FileType { .. } => "give the executable that the linker wrote",
            Self::TooMany { .. } => "the file is damaged, or it is no AVR firmware",
            Self::NotLoaded { .. } => {
                "programmers disagree about such a section; load it with the linker script, or verify the HEX file"
            }
            _ => "the file is damaged; link it again",
        };
        text.to_owned()
    }
}

/// The machines that a mixed-up build most likely hands in (System V ABI, `e_machine`).
fn machine_name(machine: u16) -> &'static str {
    match machine {
        3 => "Intel 80386",
        8 => "MIPS",
        40 => "ARM",
        62 => "x86-64",
        94 => "Xtensa",
        105 => "MSP430",
        183 => "AArch64",
        185 => "AVR32",
        243 => "RISC-V",
        _ => "another machine",
    }
}

fn type_name(file_type: u16) -> &'static str {
    match file_type {
        1 => "relocatable object",
        3 => "shared object",
        4 => "core dump",
        _ => "unknown",
    }
}
