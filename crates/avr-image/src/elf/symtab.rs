//! The symbol table.

use goblin::elf::section_header::{SHF_EXECINSTR, SHN_ABS, SHN_COMMON, SHN_UNDEF, SHT_SYMTAB};
use goblin::elf::sym::{STB_GLOBAL, STB_WEAK, STT_FILE, STT_FUNC, STT_OBJECT, STT_SECTION, Sym, Symtab};

use super::container::{CONTEXT, Container, NamedSection, at, malformed};
use crate::error::ImageErrorKind;
use crate::problem::ElfProblem;
use crate::symbols::{Binding, Symbol, SymbolKind, SymbolPlace};

const SYMBOL_BYTES: u64 = 16;
const MAX_SYMBOLS: u64 = 1 << 17;
/// All names together; each may overlap others in the string table.
const MAX_NAME_BYTES: usize = 1 << 24;

/// Reads the symbol table; a stripped file has none.
///
/// # Errors
/// If the table or a name in it lies outside its section, or there are too many.
pub(super) fn read(elf: &Container<'_>) -> Result<Vec<Symbol>, ImageErrorKind> {
    let Some(section) = elf.sections.iter().find(|section| section.kind == SHT_SYMTAB && section.size > 0) else {
        return Ok(Vec::new());
    };
    let count = check_table(section)?;
    let strings = strings(elf, section)?;
    let table = Symtab::parse(elf.bytes, section.offset as usize, count, CONTEXT).map_err(malformed(section.offset))?;
    let mut names_left = MAX_NAME_BYTES;
    let mut symbols = Vec::new();
    for (index, symbol) in table.iter().enumerate() {
        if let Some(kind) = kind(elf, &symbol) {
            let offset = section.offset + index as u64 * SYMBOL_BYTES;
            let name = name(strings, index, &symbol, &mut names_left).map_err(|problem| at(offset, problem))?;
            if !name.is_empty() {
                symbols.push(convert(&symbol, kind, name));
            }
        }
    }
    Ok(symbols)
}

fn check_table(section: &NamedSection) -> Result<usize, ImageErrorKind> {
    let (found, expected) = (section.entry_size, SYMBOL_BYTES);
    if found != expected {
        return Err(at(section.offset, ElfProblem::EntrySize { what: "symbols", found, expected }));
    }
    let count = u64::from(section.size) / SYMBOL_BYTES;
    if count > MAX_SYMBOLS {
        let problem = ElfProblem::TooMany { what: "symbols", found: count, limit: MAX_SYMBOLS };
        return Err(at(section.offset, problem));
    }
    Ok(count as usize)
}

/// The string table that the symbol table refers to.
fn strings<'a>(elf: &Container<'a>, section: &NamedSection) -> Result<&'a [u8], ImageErrorKind> {
    match elf.sections.get(section.link as usize) {
        Some(strings) => Ok(elf.content(strings)),
        None => {
            let (found, count) = (u64::from(section.link), elf.sections.len());
            Err(at(elf.header.e_shoff, ElfProblem::SectionIndex { found, count }))
        }
    }
}

/// The kind of a symbol; `None` for files, sections and symbols that the linker did not define.
fn kind(elf: &Container<'_>, symbol: &Sym) -> Option<SymbolKind> {
    if symbol.st_shndx == SHN_UNDEF as usize || symbol.st_shndx == SHN_COMMON as usize {
        return None;
    }
    let executable =
        elf.sections.get(symbol.st_shndx).is_some_and(|section| section.flags & u64::from(SHF_EXECINSTR) != 0);
    match symbol.st_type() {
        STT_FILE | STT_SECTION => None,
        STT_FUNC => Some(SymbolKind::Function),
        STT_OBJECT => Some(SymbolKind::Object),
        _ if executable => Some(SymbolKind::CodeLabel),
        _ => Some(SymbolKind::Other),
    }
}

fn name(strings: &[u8], index: usize, symbol: &Sym, left: &mut usize) -> Result<String, ElfProblem> {
    let outside = || ElfProblem::SymbolName { index, name: symbol.st_name as u64 };
    let rest = strings.get(symbol.st_name..).ok_or_else(outside)?;
    let rest = &rest[..rest.len().min(*left + 1)];
    let length = rest.iter().position(|&byte| byte == 0);
    let length = length.ok_or_else(|| if rest.len() > *left { too_long() } else { outside() })?;
    *left -= length;
    Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
}

fn too_long() -> ElfProblem {
    let limit = MAX_NAME_BYTES as u64;
    ElfProblem::TooMany { what: "bytes of symbol names", found: limit + 1, limit }
}

fn convert(symbol: &Sym, kind: SymbolKind, name: String) -> Symbol {
    let absolute = symbol.st_shndx == SHN_ABS as usize;
    let binding = match symbol.st_bind() {
        STB_GLOBAL => Binding::Global,
        STB_WEAK => Binding::Weak,
        _ => Binding::Local,
    };
    // Values and sizes of a 32-bit file fit 32 bits.
    let place = SymbolPlace::new(symbol.st_value as u32, absolute);
    Symbol::new(name, place, symbol.st_size as u32, kind, binding)
}
