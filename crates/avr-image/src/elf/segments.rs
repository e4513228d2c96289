//! From segments to memory.
//!
//! The load address of a byte is its segment's `p_paddr` plus its distance from `p_offset`. Only bytes that belong
//! to an allocated section are loaded: `avr-objcopy` and `avrdude` skip the padding between sections, so on the device
//! it is erased flash. Counting it as program would let execution run through it.

use goblin::elf::program_header::{PT_LOAD, ProgramHeader};
use goblin::elf::section_header::SHF_ALLOC;

use super::container::{Container, NamedSection, at};
use crate::error::{ImageErrorKind, Position};
use crate::placement::{DATA_OFFSET, Placement};
use crate::problem::ElfProblem;
use crate::warning::Warning;

/// More than any AVR addresses; sections that overlap in the file could ask for far more than the file's size.
const MAX_LOADED_BYTES: u64 = 1 << 24;

/// A part of the file and the load address of its first byte.
struct Piece {
    start: u64,
    end: u64,
    load_address: u64,
}

/// Puts everything that the file loads into `placement`.
///
/// # Errors
/// If two pieces contradict each other, or a section for flash is loaded by no segment.
pub(super) fn load(elf: &Container<'_>, placement: &mut Placement) -> Result<Vec<Warning>, ImageErrorKind> {
    let segments = || elf.segments.iter().filter(|segment| segment.p_type == PT_LOAD && segment.p_filesz > 0);
    if elf.sections.is_empty() {
        check_loaded(elf, segments().map(|segment| segment.p_filesz).sum())?;
        for segment in segments() {
            put(elf, placement, &whole(segment))?;
        }
        return Ok(vec![Warning::NoSectionHeaders]);
    }
    let mut loaded = 0;
    for (index, section) in elf.sections.iter().enumerate().filter(|(_, section)| is_loaded(section)) {
        let pieces: Vec<Piece> = segments().filter_map(|segment| common(segment, section)).collect();
        check_coverage(elf, index, section, &pieces)?;
        loaded += pieces.iter().map(|piece| piece.end - piece.start).sum::<u64>();
        check_loaded(elf, loaded)?;
        for piece in &pieces {
            put(elf, placement, piece)?;
        }
    }
    Ok(Vec::new())
}

/// True if a section has content for a memory of the device.
fn is_loaded(section: &NamedSection) -> bool {
    section.flags & u64::from(SHF_ALLOC) != 0 && section.has_content()
}

fn check_loaded(elf: &Container<'_>, found: u64) -> Result<(), ImageErrorKind> {
    let limit = MAX_LOADED_BYTES;
    if found > limit {
        return Err(at(elf.header.e_phoff, ElfProblem::TooMany { what: "loaded bytes", found, limit }));
    }
    Ok(())
}

fn whole(segment: &ProgramHeader) -> Piece {
    Piece { start: segment.p_offset, end: segment.p_offset + segment.p_filesz, load_address: segment.p_paddr }
}

/// The part of the file that a segment and a section share.
fn common(segment: &ProgramHeader, section: &NamedSection) -> Option<Piece> {
    let start = segment.p_offset.max(section.offset);
    let end = (segment.p_offset + segment.p_filesz).min(section.offset + u64::from(section.size));
    let load_address = segment.p_paddr + start.checked_sub(segment.p_offset)?;
    (start < end).then_some(Piece { start, end, load_address })
}

/// A section at a flash address that is not loaded in full is flashed by some tools and left out by others.
fn check_coverage(
    elf: &Container<'_>,
    index: usize,
    section: &NamedSection,
    pieces: &[Piece],
) -> Result<(), ImageErrorKind> {
    let loaded = pieces.iter().map(|piece| piece.end - piece.start).max().unwrap_or(0);
    if section.address >= DATA_OFFSET || loaded == u64::from(section.size) {
        return Ok(());
    }
    let problem = ElfProblem::NotLoaded { index, name: section.name.clone(), address: section.address };
    Err(at(elf.header.e_shoff, problem))
}

fn put(elf: &Container<'_>, placement: &mut Placement, piece: &Piece) -> Result<(), ImageErrorKind> {
    // Headers were checked: the piece lies in the file, load addresses and file offsets fit 32 bits.
    let content = &elf.bytes[piece.start as usize..piece.end as usize];
    for (index, &byte) in (0u32..).zip(content) {
        let position = Position::Offset(piece.start as u32 + index);
        placement.put(piece.load_address as u32 + index, byte, position)?;
    }
    Ok(())
}
