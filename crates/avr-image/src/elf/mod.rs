//! ELF files as avr-gcc, avr-binutils and rustc write them.
//!
//! `goblin` decodes headers and symbols one table at a time, after the sizes of that table were checked here: its
//! own whole-file parser trusts more of a file than a verifier should.

mod container;
mod note;
mod segments;
mod symtab;

use avr_isa::FlashByteAddress;
use goblin::elf::section_header::{SHF_ALLOC, SHT_NOBITS};

use crate::debug::{self, DebugInfo};
use crate::error::ImageErrorKind;
use crate::placement::Placement;
use crate::section::{Section, SectionPlace};
use crate::symbols::Symbol;
use crate::warning::Warning;
use container::Container;

/// The content of an ELF file beside that of the memories.
pub(crate) struct ElfContent {
    /// The architecture number of `-mmcu` (5 for avr:5); `None` where the header does not say.
    pub(crate) architecture: Option<u8>,
    pub(crate) device: Option<String>,
    pub(crate) entry: FlashByteAddress,
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) debug: DebugInfo,
    pub(crate) warnings: Vec<Warning>,
}

/// The low seven bits of `e_flags` are the architecture (binutils `include/elf/avr.h`, `EF_AVR_MACH`).
const ARCHITECTURE_MASK: u32 = 0x7f;

/// Reads an ELF file; the content of the memories goes to `placement`.
///
/// # Errors
/// For a file that is malformed, of another kind, or larger than the limits in [`ElfProblem::TooMany`].
pub(crate) fn read(bytes: &[u8], flash_bytes: u32, placement: &mut Placement) -> Result<ElfContent, ImageErrorKind> {
    let elf = Container::parse(bytes)?;
    let mut warnings = segments::load(&elf, placement)?;
    let symbols = symtab::read(&elf)?;
    let debug = debug::read(&elf.debug_sections(), flash_bytes, has_vector_table(&symbols));
    warnings.extend(debug.warnings.iter().cloned());
    let architecture = (elf.header.e_flags & ARCHITECTURE_MASK) as u8;
    Ok(ElfContent {
        architecture: (architecture != 0).then_some(architecture),
        device: note::device_name(&elf),
        entry: FlashByteAddress(elf.header.e_entry as u32),
        sections: allocated_sections(&elf),
        symbols,
        debug,
        warnings,
    })
}

/// The device that an ELF file names, whatever else is in it.
///
/// # Errors
/// For a file that is malformed or of another kind.
pub(crate) fn named_device(bytes: &[u8]) -> Result<Option<String>, ImageErrorKind> {
    Ok(note::device_name(&Container::parse(bytes)?))
}

/// True if avr-libc's start-up code lies at address 0, so that nothing else can.
fn has_vector_table(symbols: &[Symbol]) -> bool {
    let at_zero = |symbol: &&Symbol| symbol.place.flash() == Some(FlashByteAddress(0));
    symbols.iter().filter(at_zero).any(|symbol| symbol.name == "__vectors")
        && symbols.iter().any(|symbol| symbol.name == "__bad_interrupt")
}

/// The sections that take room in a memory of the device.
fn allocated_sections(elf: &Container<'_>) -> Vec<Section> {
    let allocated = |header: &&container::NamedSection| header.flags & u64::from(SHF_ALLOC) != 0 && header.size > 0;
    let sections = elf.sections.iter().filter(allocated);
    sections
        .map(|header| Section {
            name: header.name.clone(),
            place: SectionPlace::new(header.address),
            size: header.size,
            initialised: header.kind != SHT_NOBITS,
        })
        .collect()
}
