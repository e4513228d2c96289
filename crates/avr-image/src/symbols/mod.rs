//! The symbols of an image: what lies where under which name.

mod extents;
mod names;

use std::fmt;
use std::ops::Range;

pub use names::SymbolError;

use crate::demangle::{Demangled, demangle};
use crate::placement::{DATA_OFFSET, EEPROM_OFFSET};
use crate::section::{EEPROM, Section};
use crate::types::{Scalar, Type};
use avr_isa::{DataAddress, EepromAddress, FlashByteAddress};
use extents::{Extents, Span};
use names::Names;

/// A named place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name in the symbol table.
    pub name: String,
    /// The memory and the address.
    pub place: SymbolPlace,
    /// Its size in bytes; 0 where the file does not say (labels of assembly code).
    pub size: u32,
    /// The kind of entity that it names.
    pub kind: SymbolKind,
    /// Who sees it.
    pub binding: Binding,
    /// The type of a scalar variable, where debug information tells.
    pub scalar: Option<Scalar>,
    /// The type of a variable, where debug information tells.
    pub of: Option<Type>,
    demangled: Option<Demangled>,
}

/// The memory and the address of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolPlace {
    /// In flash.
    Flash(FlashByteAddress),
    /// In the data space.
    Data(DataAddress),
    /// In the EEPROM.
    Eeprom(EepromAddress),
    /// In no section: a number that the linker or the assembler defines, such as `__stack`.
    Absolute(u32),
    /// In another memory (fuses, lock bits, signatures); the linker's address.
    Other(u32),
}

/// The kind of entity that a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A place in executable code without a type, as assembly code defines them.
    CodeLabel,
    /// A variable or constant.
    Object,
    /// Anything else: labels in data, linker symbols.
    Other,
}

/// Who sees a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    /// The whole program.
    Global,
    /// The whole program, unless a global symbol replaces it.
    Weak,
    /// Its own file.
    Local,
}

/// A place relative to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<'a> {
    /// The symbol that contains the place.
    pub symbol: &'a Symbol,
    /// Distance from its start in bytes.
    pub offset: u32,
}

/// The part of flash that a function takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Byte addresses.
    pub range: Range<FlashByteAddress>,
    /// True if the file states the size. Otherwise the range ends at the next symbol, which is a guess: a label
    /// inside of the function ends it as well.
    pub stated: bool,
}

/// All symbols of an image, in order of place and name. A HEX file has none.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    all: Vec<Symbol>,
    names: Names,
    code: Extents,
    data: Extents,
}

impl SymbolPlace {
    /// From the value in the symbol table; `absolute` for a symbol that belongs to no section.
    ///
    /// A number in the data space counts as an address there: `--defsym=__heap_start=0x800400` gives one.
    pub(crate) fn new(value: u32, absolute: bool) -> Self {
        match value {
            DATA_OFFSET..EEPROM_OFFSET => Self::Data(DataAddress((value - DATA_OFFSET) as u16)),
            _ if absolute => Self::Absolute(value),
            0..DATA_OFFSET => Self::Flash(FlashByteAddress(value)),
            _ if EEPROM.contains(&value) => Self::Eeprom(EepromAddress((value - EEPROM_OFFSET) as u16)),
            _ => Self::Other(value),
        }
    }

    /// The address, if it is one in flash.
    #[must_use]
    pub fn flash(self) -> Option<FlashByteAddress> {
        if let Self::Flash(address) = self { Some(address) } else { None }
    }

    /// The address, if it is one in the data space.
    #[must_use]
    pub fn data(self) -> Option<DataAddress> {
        if let Self::Data(address) = self { Some(address) } else { None }
    }
}

impl fmt::Display for SymbolPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flash(address) => write!(f, "flash {address}"),
            Self::Data(address) => write!(f, "data {address}"),
            Self::Eeprom(address) => write!(f, "EEPROM {address}"),
            Self::Absolute(value) => write!(f, "the number {value:#x}"),
            Self::Other(value) => write!(f, "linker address {value:#x}"),
        }
    }
}

impl Symbol {
    pub(crate) fn new(name: String, place: SymbolPlace, size: u32, kind: SymbolKind, binding: Binding) -> Self {
        let demangled = demangle(&name);
        Self { name, place, size, kind, binding, scalar: None, of: None, demangled }
    }

    /// The name as the programmer wrote it, with parameters: `sensor::Filter::step(int)`.
    #[must_use]
    pub fn display_name(&self) -> &str {
        self.demangled.as_ref().map_or(&self.name, |demangled| &demangled.full)
    }

    /// The name as the programmer wrote it, without parameters: `sensor::Filter::step`.
    #[must_use]
    pub fn base_name(&self) -> &str {
        self.demangled.as_ref().map_or(&self.name, |demangled| &demangled.base)
    }

    /// True if execution can be inside of it: a function, or a label in executable code.
    #[must_use]
    pub fn is_code(&self) -> bool {
        matches!(self.kind, SymbolKind::Function | SymbolKind::CodeLabel) && self.place.flash().is_some()
    }

    /// Among symbols of one place the smallest is the best known: functions before labels, the program's own names
    /// before those that the C standard reserves for the tools (`__ctors_end`), then the widest visible.
    fn rank(&self) -> (SymbolKind, bool, Binding, &str) {
        let reserved = self.demangled.is_none() && self.name.starts_with(['_', '.']);
        (self.kind, reserved, self.binding, &self.name)
    }
}

impl Symbols {
    /// Sorts the symbols and builds the indices. Aliases are further names of places in the data space.
    pub(crate) fn new(mut all: Vec<Symbol>, aliases: &[(String, DataAddress)], sections: &[Section]) -> Self {
        all.sort_by(|a, b| (a.place, a.rank(), a.size).cmp(&(b.place, b.rank(), b.size)));
        all.dedup();
        let mut names = Names::new(&all);
        for (alias, address) in aliases {
            let place = SymbolPlace::Data(*address);
            let index = all.partition_point(|symbol| symbol.place < place);
            if all.get(index).is_some_and(|symbol| symbol.place == place) {
                names.add(alias, index);
            }
        }
        let code = Extents::new(code_spans(&all, sections));
        let data = Extents::new(data_spans(&all));
        Self { all, names, code, data }
    }

    /// All symbols, in order of place and name.
    #[must_use]
    pub fn all(&self) -> &[Symbol] {
        &self.all
    }

    /// Functions, and labels in executable code.
    pub fn code(&self) -> impl Iterator<Item = &Symbol> {
        self.all.iter().filter(|symbol| symbol.is_code())
    }

    /// Everything in the data space: variables, labels of assembly data, linker symbols such as `__bss_end`.
    pub fn data(&self) -> impl Iterator<Item = &Symbol> {
        self.all.iter().filter(|symbol| symbol.place.data().is_some())
    }

    /// Everything in the EEPROM.
    pub fn eeprom(&self) -> impl Iterator<Item = &Symbol> {
        self.all.iter().filter(|symbol| matches!(symbol.place, SymbolPlace::Eeprom(_)))
    }

    /// Numbers that belong to no memory, such as `__stack`.
    pub fn absolute(&self) -> impl Iterator<Item = &Symbol> {
        self.all.iter().filter(|symbol| matches!(symbol.place, SymbolPlace::Absolute(_)))
    }

    /// The function or code label that contains an address.
    ///
    /// Functions whose size the file states come first, then other symbols with a size, then the nearest label
    /// before the address. Of several names of one place functions win over labels. Next come names without a leading
    /// underscore or dot, then global over weak over local ones, then the first in alphabetical order.
    #[must_use]
    pub fn function_at(&self, address: FlashByteAddress) -> Option<Located<'_>> {
        let symbol = &self.all[self.code.at(address.0)?];
        let start = symbol.place.flash()?;
        Some(Located { symbol, offset: address.0 - start.0 })
    }

    /// The variable that contains an address of the data space.
    #[must_use]
    pub fn object_at(&self, address: DataAddress) -> Option<Located<'_>> {
        let symbol = &self.all[self.data.at(u32::from(address.0))?];
        let start = symbol.place.data()?;
        Some(Located { symbol, offset: u32::from(address.0 - start.0) })
    }

    /// The part of flash that a function or code label takes; `None` for other symbols.
    #[must_use]
    pub fn extent(&self, symbol: &Symbol) -> Option<Extent> {
        let start = symbol.place.flash().filter(|_| symbol.is_code())?;
        let end = if symbol.size > 0 { start.0.saturating_add(symbol.size) } else { self.code.guessed_end(start.0)? };
        Some(Extent { range: start..FlashByteAddress(end), stated: symbol.size > 0 })
    }

    /// Symbols of exactly this name: the raw name, or the demangled one with or without its parameter list. White
    /// space does not count.
    ///
    /// Several symbols at one place are one symbol under several names; the best known represents them.
    #[must_use]
    pub fn matches(&self, name: &str) -> Vec<&Symbol> {
        self.matches_where(name, |_| true)
    }

    fn matches_where(&self, name: &str, suits: impl Fn(&Symbol) -> bool) -> Vec<&Symbol> {
        let found = self.names.get(name).iter().map(|&index| &self.all[index]);
        let mut found: Vec<&Symbol> = found.filter(|symbol| suits(symbol)).collect();
        found.dedup_by_key(|symbol| symbol.place);
        found
    }

    /// The one symbol of this name.
    ///
    /// # Errors
    /// If there is none (with the nearest names) or several at different places (with all of them).
    pub fn find(&self, name: &str) -> Result<&Symbol, SymbolError> {
        self.find_where(name, |_| true)
    }

    /// The one symbol of this name that `suits`, for example functions only.
    ///
    /// # Errors
    /// As for [`Symbols::find`], among those that suit.
    pub fn find_where(&self, name: &str, suits: impl Fn(&Symbol) -> bool) -> Result<&Symbol, SymbolError> {
        let found = self.matches_where(name, &suits);
        match found[..] {
            [symbol] => Ok(symbol),
            [] => Err(SymbolError::unknown(name, names::nearest(&self.all, name, suits))),
            _ => Err(SymbolError::ambiguous(name, &found)),
        }
    }

    /// The names nearest to `name`, for error messages; the nearest first.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Vec<String> {
        names::nearest(&self.all, name, |_| true)
    }
}

/// The reach of each code symbol: as stated, or else to the next symbol or the end of its section.
fn code_spans(all: &[Symbol], sections: &[Section]) -> Vec<Span> {
    let starts: Vec<u32> = all.iter().filter_map(|symbol| symbol.place.flash()).map(|address| address.0).collect();
    let guess = |start: u32| {
        let next = starts[starts.partition_point(|&other| other <= start)..].first().copied();
        let section = sections.iter().filter_map(Section::flash_range).find(|range| range.contains(&start));
        next.into_iter().chain(section.map(|range| range.end)).min()
    };
    let code = all.iter().enumerate().filter(|(_, symbol)| symbol.is_code());
    let span = |(index, symbol): (usize, &Symbol)| {
        let start = symbol.place.flash()?.0;
        let stated = symbol.size > 0;
        let end = if stated { start.saturating_add(symbol.size) } else { guess(start)? };
        let class = if !stated { 2 } else { u8::from(symbol.kind != SymbolKind::Function) };
        Some(Span { start, end, class, index })
    };
    code.filter_map(span).collect()
}

/// The reach of each variable whose size is stated.
fn data_spans(all: &[Symbol]) -> Vec<Span> {
    let span = |(index, symbol): (usize, &Symbol)| {
        let start = u32::from(symbol.place.data()?.0);
        Some(Span { start, end: start.saturating_add(symbol.size), class: 0, index })
    };
    all.iter().enumerate().filter_map(span).collect()
}
