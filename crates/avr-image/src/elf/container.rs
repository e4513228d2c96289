//! The ELF header, the program headers and the section headers, checked before use.

use goblin::container::{Container as Width, Ctx, Endian};
use goblin::elf::header::Header;
use goblin::elf::program_header::ProgramHeader;
use goblin::elf::section_header::{SHT_NOBITS, SHT_NULL, SectionHeader};

use crate::debug::DebugSections;
use crate::error::ImageErrorKind;
use crate::problem::ElfProblem;

/// Decoding parameters of every AVR ELF file.
pub(crate) const CONTEXT: Ctx = Ctx { container: Width::Little, le: Endian::Little };

const HEADER_BYTES: usize = 52;
const PROGRAM_HEADER_BYTES: u64 = 32;
const SECTION_HEADER_BYTES: u64 = 40;
const MAX_PROGRAM_HEADERS: u64 = 256;
const MAX_SECTIONS: u64 = 4096;
const MAX_SECTION_NAME_BYTES: usize = 256;
const EM_AVR: u16 = 83;
const ET_EXEC: u16 = 2;
const FLAG_COMPRESSED: u64 = 1 << 11;

/// An ELF file whose headers are sound: every table and every section's content lies inside the file.
pub(crate) struct Container<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) header: Header,
    pub(crate) segments: Vec<ProgramHeader>,
    /// In file order with the null section, so that an index is an ELF section index.
    pub(crate) sections: Vec<NamedSection>,
}

/// A section header with its name.
pub(crate) struct NamedSection {
    pub(crate) name: String,
    /// `sh_type`.
    pub(crate) kind: u32,
    /// `sh_flags`.
    pub(crate) flags: u64,
    /// `sh_addr`: the linker's address, with its offset for memories other than flash.
    pub(crate) address: u32,
    /// `sh_offset`.
    pub(crate) offset: u64,
    /// Bytes in memory, and in the file unless the section has no content.
    pub(crate) size: u32,
    /// `sh_link`.
    pub(crate) link: u32,
    /// `sh_entsize`.
    pub(crate) entry_size: u64,
}

/// An error at a file offset.
pub(crate) fn at(offset: u64, problem: ElfProblem) -> ImageErrorKind {
    ImageErrorKind::Elf { offset, problem }
}

/// Wraps what `goblin` still finds.
pub(crate) fn malformed(offset: u64) -> impl Fn(goblin::error::Error) -> ImageErrorKind {
    move |error| at(offset, ElfProblem::Malformed { message: error.to_string() })
}

impl<'a> Container<'a> {
    /// Reads and checks all headers.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, ImageErrorKind> {
        check_identity(bytes)?;
        let header = goblin::elf::Elf::parse_header(bytes).map_err(malformed(0))?;
        let segments = program_headers(bytes, &header)?;
        let sections = section_headers(bytes, &header)?;
        let names = section_names(bytes, &header, &sections)?;
        let sections = sections.iter().map(|section| named(section, names)).collect();
        let container = Self { bytes, header, segments, sections };
        container.check_sections()?;
        container.check_segments()?;
        Ok(container)
    }

    /// The content of a section that was checked; empty for one that takes no room in the file.
    pub(crate) fn content(&self, section: &NamedSection) -> &'a [u8] {
        if !section.has_content() {
            return &[];
        }
        let start = section.offset as usize;
        self.bytes.get(start..start + section.size as usize).unwrap_or(&[])
    }

    /// The first section of a name.
    pub(crate) fn section(&self, name: &str) -> Option<&NamedSection> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The sections with debug information; compressed ones are not read.
    pub(crate) fn debug_sections(&self) -> DebugSections<'a> {
        let sections = self.sections.iter().filter(|section| section.name.starts_with(".debug_"));
        let (packed, plain): (Vec<_>, Vec<_>) = sections.partition(|section| section.flags & FLAG_COMPRESSED != 0);
        DebugSections {
            sections: plain.iter().rev().map(|section| (section.name.clone(), self.content(section))).collect(),
            has_stabs: self.section(".stab").is_some_and(|section| section.size > 0),
            has_compressed: !packed.is_empty(),
        }
    }

    fn check_sections(&self) -> Result<(), ImageErrorKind> {
        let file = self.bytes.len() as u64;
        for (index, section) in self.sections.iter().enumerate() {
            let (start, end) = (section.offset, section.offset + u64::from(section.size));
            if section.has_content() && end > file {
                let offset = self.header.e_shoff + index as u64 * SECTION_HEADER_BYTES;
                let name = section.name.clone();
                return Err(at(offset, ElfProblem::SectionOutside { index, name, start, end, file }));
            }
        }
        Ok(())
    }

    fn check_segments(&self) -> Result<(), ImageErrorKind> {
        let file = self.bytes.len() as u64;
        for (index, segment) in self.segments.iter().enumerate() {
            let offset = self.header.e_phoff + index as u64 * PROGRAM_HEADER_BYTES;
            let (start, end) = (segment.p_offset, segment.p_offset + segment.p_filesz);
            if end > file && segment.p_filesz > 0 {
                return Err(at(offset, ElfProblem::SegmentOutside { index, start, end, file }));
            }
            let (start, end) = (segment.p_paddr, segment.p_paddr + segment.p_filesz);
            if end > u64::from(u32::MAX) {
                return Err(at(offset, ElfProblem::LoadAddress { index, start, end }));
            }
        }
        Ok(())
    }
}

impl NamedSection {
    /// True if the section takes room in the file.
    pub(crate) fn has_content(&self) -> bool {
        self.kind != SHT_NULL && self.kind != SHT_NOBITS && self.size > 0
    }
}

/// Machine, class, byte order and file type, in the order in which a wrong file is best explained.
fn check_identity(bytes: &[u8]) -> Result<(), ImageErrorKind> {
    check_inside(bytes, "the fields of the ELF header", 0, HEADER_BYTES as u64)?;
    let (class, order) = (bytes[4], bytes[5]);
    let field = |offset: usize| match order {
        2 => u16::from_be_bytes([bytes[offset], bytes[offset + 1]]),
        _ => u16::from_le_bytes([bytes[offset], bytes[offset + 1]]),
    };
    let (file_type, machine) = (field(16), field(18));
    if machine != EM_AVR {
        return Err(at(18, ElfProblem::Machine { found: machine }));
    }
    if class != 1 {
        return Err(at(4, ElfProblem::Class { found: class }));
    }
    if order != 1 {
        return Err(at(5, ElfProblem::ByteOrder { found: order }));
    }
    if file_type != ET_EXEC {
        return Err(at(16, ElfProblem::FileType { found: file_type }));
    }
    Ok(())
}

/// That `size` bytes from `offset` lie in the file.
pub(crate) fn check_inside(bytes: &[u8], what: &'static str, offset: u64, size: u64) -> Result<(), ImageErrorKind> {
    let available = (bytes.len() as u64).saturating_sub(offset);
    if size > available {
        return Err(at(offset, ElfProblem::CutShort { what, needed: size, available }));
    }
    Ok(())
}

/// A table of headers: the size of its entries, their number and its place are plausible.
fn check_table(bytes: &[u8], what: &'static str, table: &Table) -> Result<(), ImageErrorKind> {
    if table.count > table.limit {
        let problem = ElfProblem::TooMany { what, found: table.count, limit: table.limit };
        return Err(at(table.count_field, problem));
    }
    if table.found_size != table.entry_size {
        let problem = ElfProblem::EntrySize { what, found: table.found_size, expected: table.entry_size };
        return Err(at(table.size_field, problem));
    }
    check_inside(bytes, what, table.offset, table.count * table.entry_size)
}

struct Table {
    offset: u64,
    count: u64,
    limit: u64,
    found_size: u64,
    entry_size: u64,
    /// The place of the header field with the size of an entry.
    size_field: u64,
    /// The place of the header field with the number of entries.
    count_field: u64,
}

fn program_headers(bytes: &[u8], header: &Header) -> Result<Vec<ProgramHeader>, ImageErrorKind> {
    let count = u64::from(header.e_phnum);
    if count == 0 {
        return Ok(Vec::new());
    }
    let table = Table {
        offset: header.e_phoff,
        count,
        limit: MAX_PROGRAM_HEADERS,
        found_size: u64::from(header.e_phentsize),
        entry_size: PROGRAM_HEADER_BYTES,
        size_field: 42,
        count_field: 44,
    };
    check_table(bytes, "program headers", &table)?;
    let offset = header.e_phoff;
    ProgramHeader::parse(bytes, offset as usize, count as usize, CONTEXT).map_err(malformed(offset))
}

fn section_headers(bytes: &[u8], header: &Header) -> Result<Vec<SectionHeader>, ImageErrorKind> {
    let (count, offset) = (u64::from(header.e_shnum), header.e_shoff);
    if count == 0 || offset == 0 {
        return Ok(Vec::new());
    }
    let table = Table {
        offset,
        count,
        limit: MAX_SECTIONS,
        found_size: u64::from(header.e_shentsize),
        entry_size: SECTION_HEADER_BYTES,
        size_field: 46,
        count_field: 48,
    };
    check_table(bytes, "section headers", &table)?;
    SectionHeader::parse(bytes, offset as usize, count as usize, CONTEXT).map_err(malformed(offset))
}

/// The content of the section that holds the section names.
fn section_names<'a>(bytes: &'a [u8], header: &Header, sections: &[SectionHeader]) -> Result<&'a [u8], ImageErrorKind> {
    let index = usize::from(header.e_shstrndx);
    if sections.is_empty() || index == 0 {
        return Ok(&[]);
    }
    let section = sections
        .get(index)
        .ok_or_else(|| at(50, ElfProblem::SectionIndex { found: index as u64, count: sections.len() }))?;
    check_inside(bytes, "the section names", section.sh_offset, section.sh_size)?;
    let start = section.sh_offset as usize;
    // An empty one may begin anywhere.
    Ok(bytes.get(start..start + section.sh_size as usize).unwrap_or(&[]))
}

fn named(section: &SectionHeader, names: &[u8]) -> NamedSection {
    // All fields of a 32-bit file fit the narrower types.
    NamedSection {
        name: section_name(names, section.sh_name),
        kind: section.sh_type,
        flags: section.sh_flags,
        address: section.sh_addr as u32,
        offset: section.sh_offset,
        size: section.sh_size as u32,
        link: section.sh_link,
        entry_size: section.sh_entsize,
    }
}

fn section_name(names: &[u8], offset: usize) -> String {
    let rest = names.get(offset..).unwrap_or(&[]);
    let name = rest.split(|&byte| byte == 0).next().unwrap_or(&[]);
    String::from_utf8_lossy(&name[..name.len().min(MAX_SECTION_NAME_BYTES)]).into_owned()
}
