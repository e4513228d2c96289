//! Source lines (DWARF 4 standard, section 6.2).

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use avr_isa::FlashByteAddress;
use gimli::{IncompleteLineProgram, LineProgramHeader};

use super::{Dwarf, Problem, Slice, Unit};
use crate::source_path::without_detours;

/// Line programs together; each unit may name its own.
const MAX_PROGRAM_BYTES: usize = 1 << 26;
/// Words that the sequences of all programs may cover together; every sequence may cover all flash.
const MAX_COVERED_WORDS: usize = 1 << 25;
const MAX_FILES: usize = 1 << 16;
const MAX_PATH_BYTES: usize = 1024;

/// A line of source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLine<'a> {
    /// The path as the compiler recorded it, relative to the directory where it ran unless absolute.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
}

impl SourceLine<'_> {
    /// The place as people read it: `file:line`, without the folders that the path leaves again.
    #[must_use]
    pub fn shown(&self) -> String {
        without_detours(&format!("{}:{}", self.file, self.line))
    }
}

/// The source line of every flash word.
#[derive(Debug, Default)]
pub(crate) struct LineTable {
    files: Vec<String>,
    words: Vec<Option<Entry>>,
}

/// Index of the file, and the line.
type Entry = (u32, NonZeroU32);

impl LineTable {
    pub(crate) fn at(&self, address: FlashByteAddress) -> Option<SourceLine<'_>> {
        let (file, line) = (*self.words.get(address.word().0 as usize)?)?;
        let file = self.files.get(file as usize)?;
        Some(SourceLine { file, line: line.get() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(Option::is_none)
    }
}

/// A stretch of rows with ascending addresses: each row reaches to the next one's address.
type Sequence = Vec<(u64, Option<Entry>)>;

/// Collects the rows of all units.
pub(super) struct LineReader {
    table: LineTable,
    file_numbers: HashMap<String, u32>,
    programs: HashSet<usize>,
    program_bytes: usize,
    covered_words: usize,
    /// Sequences that start at 0, which may belong to discarded functions.
    at_zero: Vec<Sequence>,
}

impl LineReader {
    pub(super) fn new(flash_bytes: u32) -> Self {
        let words = vec![None; FlashByteAddress(flash_bytes).word().0 as usize];
        Self {
            table: LineTable { files: Vec::new(), words },
            file_numbers: HashMap::new(),
            programs: HashSet::new(),
            program_bytes: 0,
            covered_words: 0,
            at_zero: Vec::new(),
        }
    }

    /// Reads the line program of one unit, unless another unit had the same.
    pub(super) fn unit(&mut self, dwarf: &Dwarf<'_>, unit: &Unit<'_>) -> Result<(), Problem> {
        let Some(program) = unit.line_program.clone() else { return Ok(()) };
        if !self.programs.insert(program.header().offset().0) {
            return Ok(());
        }
        self.program_bytes += program.header().raw_program_buf().len();
        if self.program_bytes > MAX_PROGRAM_BYTES {
            return Err(Problem::Limit("the line tables are too large"));
        }
        self.program(dwarf, unit, program)
    }

    fn program<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        program: IncompleteLineProgram<Slice<'a>>,
    ) -> Result<(), Problem> {
        let mut files: HashMap<u64, Option<u32>> = HashMap::new();
        let mut sequence = Sequence::new();
        let mut rows = program.rows();
        while let Some((header, row)) = rows.next_row()? {
            if row.end_sequence() {
                sequence.push((row.address(), None));
                self.sequence(std::mem::take(&mut sequence))?;
                continue;
            }
            let number = row.file_index();
            let file = match files.get(&number) {
                Some(&file) => file,
                None => *files.entry(number).or_insert(self.file(dwarf, unit, header, number)?),
            };
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok()).and_then(NonZeroU32::new);
            sequence.push((row.address(), file.zip(line)));
        }
        Ok(())
    }

    fn sequence(&mut self, sequence: Sequence) -> Result<(), Problem> {
        if sequence.first().is_some_and(|&(address, _)| address == 0) {
            self.at_zero.push(sequence);
            return Ok(());
        }
        self.cover(&sequence)
    }

    /// Gives each word of the sequence its line; what an earlier sequence covered stays.
    fn cover(&mut self, sequence: &Sequence) -> Result<(), Problem> {
        let limit = self.table.words.len();
        for pair in sequence.windows(2) {
            let ((from, entry), (to, _)) = (pair[0], pair[1]);
            let words = word(from, limit)..word(to, limit);
            self.covered_words += words.len();
            if self.covered_words > MAX_COVERED_WORDS {
                return Err(Problem::Limit("the line tables overlap too often"));
            }
            for slot in self.table.words.get_mut(words).unwrap_or(&mut []) {
                *slot = slot.or(entry);
            }
        }
        Ok(())
    }

    /// The number of a file in the finished table; `None` when it has no usable name.
    fn file<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        header: &LineProgramHeader<Slice<'a>>,
        number: u64,
    ) -> Result<Option<u32>, Problem> {
        let Some(path) = path(dwarf, unit, header, number) else { return Ok(None) };
        if let Some(&known) = self.file_numbers.get(&path) {
            return Ok(Some(known));
        }
        if self.table.files.len() >= MAX_FILES {
            return Err(Problem::Limit("the line tables name too many files"));
        }
        let next = self.table.files.len() as u32;
        self.table.files.push(path.clone());
        self.file_numbers.insert(path, next);
        Ok(Some(next))
    }

    /// The finished table. A sequence at address 0 counts only if it is the only one and nothing else lies there.
    pub(super) fn finish(mut self, zero_is_taken: bool) -> LineTable {
        if let ([sequence], false) = (&std::mem::take(&mut self.at_zero)[..], zero_is_taken) {
            // Over the limit the rest stays without lines, like all that comes after a limit.
            let _ = self.cover(sequence);
        }
        self.table
    }
}

/// The word of a byte address, cut at the end of flash.
fn word(address: u64, limit: usize) -> usize {
    u32::try_from(address).map_or(limit, |address| FlashByteAddress(address).word().0 as usize).min(limit)
}

/// The path of a file: its directory, unless that is the one where the compiler ran, and its name.
fn path<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, header: &LineProgramHeader<Slice<'a>>, number: u64) -> Option<String> {
    let file = header.file(number)?;
    let name = text(dwarf, unit, file.path_name())?;
    if file.directory_index() == 0 || name.starts_with('/') {
        return Some(name);
    }
    let directory = file.directory(header).and_then(|directory| text(dwarf, unit, directory));
    Some(directory.map_or(name.clone(), |directory| format!("{directory}/{name}")))
}

fn text<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, value: gimli::AttributeValue<Slice<'a>>) -> Option<String> {
    let text = dwarf.attr_string(unit, value).ok()?;
    let text = text.slice();
    (!text.is_empty() && text.len() <= MAX_PATH_BYTES).then(|| String::from_utf8_lossy(text).into_owned())
}
