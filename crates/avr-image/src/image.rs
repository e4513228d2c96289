//! The image: everything that a firmware file tells.

use std::io::Read;
use std::path::Path;

use avr_isa::{DataAddress, FlashByteAddress};
use sha2::{Digest, Sha256};

use crate::debug::{DebugFunction, DebugInfo, SourceLine};
use crate::elf::{self, ElfContent};
use crate::error::{ImageError, ImageErrorKind};
use crate::hex;
use crate::memory::{EepromContent, ProgramMemory};
use crate::placement::{DATA_OFFSET, Placement};
use crate::section::Section;
use crate::symbols::{Binding, Symbol, SymbolKind, SymbolPlace, Symbols};
use crate::types::{Scalar, Type};
use crate::warning::Warning;

/// Larger files are no AVR firmware: an ELF file with debug information has a few megabytes.
pub const MAX_FILE_BYTES: u64 = 1 << 26;

/// The facts about the device that the loader needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOptions {
    /// Size of the flash in bytes; at most 8 MiB, where the linker's data space begins.
    pub flash_bytes: u32,
    /// Size of the EEPROM in bytes; at most 64 KiB.
    pub eeprom_bytes: u32,
    /// The address where execution starts: the image must have code there.
    pub start: FlashByteAddress,
}

impl LoadOptions {
    /// Options for a device that starts at address 0.
    #[must_use]
    pub fn new(flash_bytes: u32, eeprom_bytes: u32) -> Self {
        Self { flash_bytes, eeprom_bytes, start: FlashByteAddress(0) }
    }
}

/// The format of a firmware file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Intel HEX.
    Hex,
    /// ELF.
    Elf,
}

impl Format {
    /// The name in reports: `hex` or `elf`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hex => "hex",
            Self::Elf => "elf",
        }
    }
}

/// A firmware image. It can be shared between threads.
#[derive(Debug)]
#[non_exhaustive]
pub struct Image {
    /// The path, or the name that the caller gave the bytes.
    pub name: String,
    /// SHA-256 of the file, 64 hexadecimal digits.
    pub sha256: String,
    /// The format of the file.
    pub format: Format,
    /// The flash.
    pub program: ProgramMemory,
    /// The EEPROM content that the file brings; `None` when it brings none.
    pub eeprom: Option<EepromContent>,
    /// The symbols; none for HEX.
    pub symbols: Symbols,
    /// The sections in the device's memories, in file order; none for HEX.
    pub sections: Vec<Section>,
    /// The device that the file names.
    pub device: Option<String>,
    /// The architecture number that the file names, 5 for avr:5.
    pub architecture: Option<u8>,
    /// The warnings of the loader.
    pub warnings: Vec<Warning>,
    debug: DebugInfo,
}

impl Image {
    /// Reads a firmware file. The content decides the format, not the name.
    ///
    /// # Errors
    /// If the file cannot be read, and as for [`Image::parse`].
    pub fn load(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, ImageError> {
        let name = path.as_ref().display().to_string();
        let bytes = read_file(path.as_ref()).map_err(|kind| kind.of(&name))?;
        Self::parse(&name, &bytes, options)
    }

    /// The device that a firmware file names, whatever else is in it; `None` where it names none, such as in Intel HEX.
    /// `name` stands for the file in errors.
    ///
    /// # Errors
    /// An empty or too large file, or one that has neither format.
    pub fn named_device(name: &str, bytes: &[u8]) -> Result<Option<String>, ImageError> {
        let device = || {
            check_size(bytes.len() as u64)?;
            match detect(bytes)? {
                Detected::Elf => elf::named_device(bytes),
                Detected::Hex(_) => Ok(None),
            }
        };
        device().map_err(|kind: ImageErrorKind| kind.of(name))
    }

    /// Reads a firmware file from memory; `name` stands for it in errors.
    ///
    /// # Errors
    /// If the content is empty, damaged, contradictory, for another machine, or has no code at the start.
    pub fn parse(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Self, ImageError> {
        Self::parse_kind(name, bytes, options).map_err(|kind| kind.of(name))
    }

    fn parse_kind(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Self, ImageErrorKind> {
        check_size(bytes.len() as u64)?;
        check_start_option(options)?;
        let mut placement = Placement::new(options.flash_bytes, options.eeprom_bytes);
        let (format, content, suggestion) = match detect(bytes)? {
            Detected::Elf => {
                let content = elf::read(bytes, options.flash_bytes, &mut placement)?;
                let entry = content.entry;
                (Format::Elf, Some(content), Some(entry))
            }
            Detected::Hex(text) => (Format::Hex, None, hex::read(text, &mut placement)?.map(FlashByteAddress)),
        };
        let (program, eeprom, warnings) = placement.finish();
        check_start(&program, options.start, suggestion)?;
        let mut image = Self {
            name: name.to_owned(),
            sha256: sha256(bytes),
            format,
            program,
            eeprom,
            symbols: Symbols::default(),
            sections: Vec::new(),
            device: None,
            architecture: None,
            warnings,
            debug: DebugInfo::default(),
        };
        if let Some(content) = content {
            image.add(content);
        }
        Ok(image)
    }

    /// Adds what only an ELF file tells.
    fn add(&mut self, content: ElfContent) {
        let ElfContent { architecture, device, sections, symbols, debug, warnings, .. } = content;
        self.symbols = Symbols::new(complete(symbols, &debug), &aliases(&debug), &sections);
        self.sections = sections;
        self.device = device;
        self.architecture = architecture;
        self.warnings.extend(warnings);
        self.debug = debug;
    }

    /// The values of the enumerators of a name, ascending: more than one where enumerations differ.
    #[must_use]
    pub fn enumerators(&self, name: &str) -> Vec<i64> {
        self.debug.enumerators.get(name).map_or_else(Vec::new, |values| values.iter().copied().collect())
    }

    /// The names of all enumerators.
    pub fn enumerator_names(&self) -> impl Iterator<Item = &str> {
        self.debug.enumerators.keys().map(String::as_str)
    }

    /// The source line of the instruction at an address.
    #[must_use]
    pub fn source_line(&self, address: FlashByteAddress) -> Option<SourceLine<'_>> {
        self.debug.lines.at(address)
    }

    /// The first address of the data space behind everything with a fixed place in SRAM: the lowest one that the
    /// stack may use. `None` where nothing tells (HEX). Data up to the end of the data space give its last address.
    ///
    /// It is the largest end of `.data`, `.bss`, `.noinit` and other sections, or the linker's `_end` where that is
    /// larger. `__heap_start` counts only where neither exists, because a heap in external RAM lies above the stack.
    #[must_use]
    pub fn static_data_end(&self) -> Option<DataAddress> {
        let sections = self.sections.iter().filter_map(Section::data_range).map(|range| range.end);
        let ends = ["_end", "__noinit_end", "__bss_end", "__data_end"];
        let symbols = ends.into_iter().filter_map(|name| self.linker_address(name));
        let end = sections.chain(symbols).max().or_else(|| self.linker_address("__heap_start"))?;
        Some(DataAddress(u16::try_from(end).unwrap_or(u16::MAX)))
    }

    /// The address in the data space of a symbol that the linker defines once.
    fn linker_address(&self, name: &str) -> Option<u32> {
        let symbol = self.symbols.find_where(name, |symbol| symbol.binding != Binding::Local).ok()?;
        symbol.place.data().map(|address| u32::from(address.0))
    }

    /// Checks the device that the file names against the one asked for. A file that names none suits all.
    ///
    /// Letter case does not count, nor does what follows a hyphen: `atmega328p-gpio` is an `atmega328p` with a part
    /// of its peripherals.
    ///
    /// # Errors
    /// If the names differ.
    pub fn check_device(&self, requested: &str) -> Result<(), ImageError> {
        match &self.device {
            Some(image) if !same_part(image, requested) => {
                let requested = requested.to_owned();
                Err(ImageErrorKind::Device { image: image.clone(), requested }.of(&self.name))
            }
            _ => Ok(()),
        }
    }

    /// Checks the architecture that the file was linked for against the device's (5 for the ATmega328P). A file that
    /// names none suits all.
    ///
    /// # Errors
    /// If the numbers differ.
    pub fn check_architecture(&self, device: u8) -> Result<(), ImageError> {
        match self.architecture {
            Some(image) if image != device => Err(ImageErrorKind::Architecture { image, device }.of(&self.name)),
            _ => Ok(()),
        }
    }
}

/// True if two device names mean the same part.
fn same_part(a: &str, b: &str) -> bool {
    let part = |name: &str| name.split('-').next().unwrap_or_default().to_ascii_lowercase();
    part(a) == part(b)
}

fn read_file(path: &Path) -> Result<Vec<u8>, ImageErrorKind> {
    let file = std::fs::File::open(path).map_err(ImageErrorKind::Io)?;
    let mut bytes = Vec::new();
    // One byte more than the limit tells a file that is too large, also where its size is unknown (a pipe).
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(ImageErrorKind::Io)?;
    Ok(bytes)
}

fn check_size(bytes: u64) -> Result<(), ImageErrorKind> {
    if bytes > MAX_FILE_BYTES {
        return Err(ImageErrorKind::TooLarge { bytes, limit: MAX_FILE_BYTES });
    }
    Ok(())
}

enum Detected<'a> {
    Elf,
    /// The text without a byte order mark.
    Hex(&'a [u8]),
}

/// The format, by the first bytes.
fn detect(bytes: &[u8]) -> Result<Detected<'_>, ImageErrorKind> {
    if bytes.starts_with(b"\x7fELF") {
        return Ok(Detected::Elf);
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match text.trim_ascii_start().first() {
        None => Err(ImageErrorKind::Empty),
        Some(b':') => Ok(Detected::Hex(text)),
        Some(_) => Err(ImageErrorKind::UnknownFormat { first: bytes.iter().take(4).copied().collect() }),
    }
}

fn check_start_option(options: &LoadOptions) -> Result<(), ImageErrorKind> {
    let LoadOptions { start, flash_bytes, .. } = *options;
    if !start.is_word_aligned() || start.0 >= flash_bytes.min(DATA_OFFSET) {
        return Err(ImageErrorKind::BadStart { start, flash_bytes });
    }
    Ok(())
}

/// That the first instruction is there; otherwise the error names the start that the file suggests, or else the
/// lowest word that it has.
fn check_start(
    program: &ProgramMemory,
    start: FlashByteAddress,
    suggestion: Option<FlashByteAddress>,
) -> Result<(), ImageErrorKind> {
    let first = program.ranges().next().ok_or(ImageErrorKind::NoProgram)?.start;
    if program.word(start.word()).is_some() {
        return Ok(());
    }
    let usable = |address: &FlashByteAddress| address.is_word_aligned() && program.word(address.word()).is_some();
    let suggestion = suggestion.filter(usable).unwrap_or(first.word().byte());
    Err(ImageErrorKind::NoCodeAtStart { start, first, suggestion })
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds to the symbols what debug information knows: functions that no symbol names, and types of variables.
fn complete(mut symbols: Vec<Symbol>, debug: &DebugInfo) -> Vec<Symbol> {
    for symbol in &mut symbols {
        symbol.of = type_of(symbol, debug);
        symbol.scalar = scalar_of(symbol);
    }
    let named: std::collections::HashSet<u32> = symbols
        .iter()
        .filter(|symbol| symbol.is_code())
        .filter_map(|symbol| symbol.place.flash())
        .map(|a| a.0)
        .collect();
    let missing = debug.functions.iter().filter(|function| !named.contains(&function.start));
    symbols.extend(missing.map(from_debug));
    symbols
}

/// The names of variables inside of functions, with their places in the data space.
fn aliases(debug: &DebugInfo) -> Vec<(String, DataAddress)> {
    let place = |(name, address): &(String, u32)| match SymbolPlace::new(*address, false) {
        SymbolPlace::Data(address) => Some((name.clone(), address)),
        _ => None,
    };
    debug.locals.iter().filter_map(place).collect()
}

/// The type of a variable, if debug information has one for its address that is not larger than the symbol.
fn type_of(symbol: &Symbol, debug: &DebugInfo) -> Option<Type> {
    let address = match symbol.place {
        SymbolPlace::Data(address) => DATA_OFFSET + u32::from(address.0),
        SymbolPlace::Eeprom(address) => crate::placement::EEPROM_OFFSET + u32::from(address.0),
        _ => return None,
    };
    let fits = |of: &&Type| symbol.kind == SymbolKind::Object && of.least_bytes() <= symbol.size.into();
    debug.types.get(&address).filter(fits).cloned()
}

/// The type of a variable that is a number of the symbol's size.
fn scalar_of(symbol: &Symbol) -> Option<Scalar> {
    match symbol.of {
        Some(Type::Scalar(scalar)) => Some(scalar).filter(|scalar| symbol.size == u32::from(scalar.bytes)),
        _ => None,
    }
}

fn from_debug(function: &DebugFunction) -> Symbol {
    let place = SymbolPlace::Flash(FlashByteAddress(function.start));
    Symbol::new(function.name.clone(), place, function.size, SymbolKind::Function, Binding::Local)
}
