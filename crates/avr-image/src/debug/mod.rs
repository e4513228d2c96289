//! Debug information: source lines, functions that the symbol table lacks, types and scopes of variables, and enumerators.
//!
//! It only serves reports, so nothing in it makes an image unusable: what is unreadable becomes a warning. Everything
//! is read once at load into plain tables, which keeps [`crate::Image`] free of lazily filled caches and bounds the
//! work on hostile files.

mod die;
mod lines;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gimli::{EndianSlice, LittleEndian, SectionId};

pub use lines::SourceLine;

use crate::types::Type;
use crate::warning::Warning;
use lines::{LineReader, LineTable};

pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;
pub(crate) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
pub(crate) type Unit<'a> = gimli::Unit<Slice<'a>>;

/// Each unit may make the reader scan the abbreviations and the head of a line table again.
const MAX_SCANNED_BYTES: usize = 1 << 28;

/// The sections of an ELF file that hold debug information.
pub(crate) struct DebugSections<'a> {
    pub(crate) sections: HashMap<String, &'a [u8]>,
    /// True if there is a section `.stab`, in the format that avr-gcc 5 writes for a plain `-g`.
    pub(crate) has_stabs: bool,
    /// True if there are compressed sections, which are not read.
    pub(crate) has_compressed: bool,
}

/// The content of debug information.
#[derive(Debug, Default)]
pub(crate) struct DebugInfo {
    pub(crate) lines: LineTable,
    pub(crate) functions: Vec<DebugFunction>,
    /// Types of variables by the linker's address.
    pub(crate) types: BTreeMap<u32, Type>,
    /// The entries that were read for types.
    pub(crate) type_entries: usize,
    /// Variables inside of functions, as `function::variable`, with the linker's address.
    pub(crate) locals: Vec<(String, u32)>,
    /// The values of enumerators, by name.
    pub(crate) enumerators: BTreeMap<String, BTreeSet<i64>>,
    pub(crate) warnings: Vec<Warning>,
}

/// A function that debug information names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DebugFunction {
    pub(crate) name: String,
    /// Byte address in flash.
    pub(crate) start: u32,
    /// Size in bytes, not 0.
    pub(crate) size: u32,
}

/// The reason why a part of the debug information was not read.
#[derive(Debug)]
pub(crate) enum Problem {
    Unreadable(gimli::Error),
    Limit(&'static str),
}

impl From<gimli::Error> for Problem {
    fn from(error: gimli::Error) -> Self {
        Self::Unreadable(error)
    }
}

impl From<Problem> for Warning {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Unreadable(error) => Self::Debug { problem: error.to_string() },
            Problem::Limit(limit) => Self::DebugLimit { limit },
        }
    }
}

/// Reads all debug information of a device with `flash_bytes` of flash.
///
/// With `zero_is_taken`, what claims to lie at address 0 is ignored: there lie the vectors, and older linkers move
/// the debug information of discarded functions there.
pub(crate) fn read(sections: &DebugSections<'_>, flash_bytes: u32, zero_is_taken: bool) -> DebugInfo {
    let mut reader = Reader { lines: LineReader::new(flash_bytes), info: DebugInfo::default(), zero_is_taken };
    let problem = reader.units(sections).err();
    let Reader { lines, mut info, .. } = reader;
    info.lines = lines.finish(zero_is_taken);
    if sections.has_compressed {
        info.warnings.push(Warning::Debug { problem: "compressed sections are not supported".to_owned() });
    }
    info.warnings.extend(problem.map(Warning::from));
    if sections.has_stabs && info.lines.is_empty() {
        info.warnings.push(Warning::StabsOnly);
    }
    info
}

struct Reader {
    lines: LineReader,
    info: DebugInfo,
    zero_is_taken: bool,
}

impl Reader {
    /// Reads every unit. A unit that is unreadable does not stop the others; the first problem is reported.
    fn units(&mut self, sections: &DebugSections<'_>) -> Result<(), Problem> {
        let section = |id: SectionId| sections.sections.get(id.name()).copied().unwrap_or(&[]);
        let load = |id| Ok::<_, gimli::Error>(EndianSlice::new(section(id), LittleEndian));
        let dwarf = Dwarf::load(load)?;
        let scanned = section(SectionId::DebugAbbrev).len() + section(SectionId::DebugLine).len();
        let mut first = Ok(());
        let mut headers = dwarf.units();
        let mut count = 0_usize;
        while let Some(header) = headers.next()? {
            count += 1;
            if count.saturating_mul(scanned) > MAX_SCANNED_BYTES {
                return Err(Problem::Limit("too many compilation units for tables of this size"));
            }
            let result = dwarf.unit(header).map_err(Problem::from).and_then(|unit| self.unit(&dwarf, &unit));
            first = first.and(result);
        }
        first
    }

    fn unit(&mut self, dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Result<(), Problem> {
        let lines = self.lines.unit(dwarf, unit);
        let entries = die::read(dwarf, unit, &mut self.info, self.zero_is_taken);
        lines.and(entries)
    }
}
