//! Machine code as a listing, in the manner of `avr-objdump -d`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use avr_analysis::interrupt_enable::{InterruptEnable, InterruptEnables};
use avr_image::{FlashByteAddress, FlashWordAddress, Image, SourceLine, SymbolKind, SymbolPlace};
use avr_isa::{DecodeError, Disassembly, Instruction, decode};
use avr_machine::device::Device;
use avr_machine::{Machine, Options, Program};

use crate::escape::Escaped;
use crate::names::Names;

/// The listing of an image: byte addresses, machine words and assembler text, with symbols as labels, source lines
/// where debug information has them, and the names of I/O registers.
///
/// Erased flash is left out. Content that symbols or sections tell to be data is listed as words; without them (HEX)
/// data among the code look like instructions.
#[must_use]
pub fn listing(image: &Image, device: &Device) -> String {
    Listing::new(image, device).text
}

/// The same with a mark behind the addresses of the instructions before which an interrupt can come: `I` where the I flag of SREG is
/// always 1, `?` where it may be. `start` is the flash word address of the first instruction.
///
/// The marks are those of [`InterruptEnables`], with its assumptions.
#[must_use]
pub fn listing_with_interrupts(image: &Image, device: &'static Device, start: FlashWordAddress) -> String {
    let word = |address: u32| image.program.word(FlashWordAddress(address));
    let program = Program::decode(device.memory.flash_words(), device.core.features, word);
    let machine = Machine::new(device, program, Options::default());
    Listing::made(image, device, Some(InterruptEnables::new(&machine, start))).text
}

/// A listing in which addresses can be found.
pub(crate) struct Listing {
    /// The text of the listing.
    pub(crate) text: String,
    /// The line, counted from 1, of each flash byte address where an instruction or a word is listed.
    lines: BTreeMap<u32, usize>,
    /// The flash byte addresses where an instruction is listed.
    code: BTreeSet<u32>,
}

impl Listing {
    /// The listing of an image.
    pub(crate) fn new(image: &Image, device: &Device) -> Self {
        Self::made(image, device, None)
    }

    fn made(image: &Image, device: &Device, enables: Option<InterruptEnables>) -> Self {
        let (lines, code) = (BTreeMap::new(), BTreeSet::new());
        let mut lister = Lister { image, device, enables, text: String::new(), line: None, lines, code, ended: 0 };
        lister.head();
        for range in image.program.ranges() {
            lister.range(range.start.word(), FlashWordAddress(range.end.0.div_ceil(2)));
        }
        Self { text: lister.text, lines: lister.lines, code: lister.code }
    }

    /// Each line with the flash byte address of what it lists, where it does, and whether that is an instruction.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, Option<u32>, bool)> {
        let mut places = self.lines.iter().map(|(address, line)| (*address, *line)).peekable();
        self.text.lines().zip(1..).map(move |(text, number)| {
            let address = places.next_if(|(_, line)| *line == number).map(|(address, _)| address);
            (text, address, address.is_some_and(|address| self.code.contains(&address)))
        })
    }
}

struct Lister<'a> {
    image: &'a Image,
    device: &'a Device,
    /// The values of the I flag, where they are listed.
    enables: Option<InterruptEnables>,
    text: String,
    /// The source line that was listed last.
    line: Option<SourceLine<'a>>,
    /// The lines of the addresses that were listed.
    lines: BTreeMap<u32, usize>,
    /// The addresses of the instructions among them.
    code: BTreeSet<u32>,
    /// The number of lines that have ended.
    ended: usize,
}

impl<'a> Lister<'a> {
    fn head(&mut self) {
        let Image { name, format, program, .. } = self.image;
        let (used, size) = (program.used_bytes(), program.size_bytes());
        let head = format!("{}: {} for {}, {used} of {size} bytes used", name, format.name(), self.device.name);
        self.push(format_args!("{}\n", Escaped(&head)));
    }

    /// Lists what lies between two addresses, which the image gives without a gap.
    fn range(&mut self, start: FlashWordAddress, end: FlashWordAddress) {
        if start.0 > 0 {
            self.push(format_args!("\n        ...\n"));
        }
        self.line = None;
        let mut address = start;
        while address < end {
            self.label(address.byte(), address == start);
            self.source_line(address.byte());
            address.0 += self.word(address);
        }
    }

    /// The best known name of the place, if it has one; at the beginning of a range also without a name.
    fn label(&mut self, address: FlashByteAddress, beginning: bool) {
        match self.label_at(address) {
            Some(name) => self.push(format_args!("\n{:08x} <{}>:\n", address.0, Escaped(name))),
            None if beginning => self.push(format_args!("\n")),
            None => {}
        }
    }

    fn label_at(&self, address: FlashByteAddress) -> Option<&'a str> {
        let symbols = self.image.symbols.all();
        let place = SymbolPlace::Flash(address);
        let symbol = symbols.get(symbols.partition_point(|symbol| symbol.place < place))?;
        (symbol.place == place).then(|| symbol.display_name())
    }

    fn source_line(&mut self, address: FlashByteAddress) {
        let line = self.image.source_line(address);
        if let Some(line) = line.filter(|_| line != self.line) {
            self.push(format_args!("{}:{}\n", Escaped(line.file), line.line));
        }
        self.line = line;
    }

    /// Lists the instruction or word at an address and gives its length in words.
    fn word(&mut self, address: FlashWordAddress) -> u32 {
        let names = Names { image: self.image, device: self.device };
        let first = self.image.program.word(address).unwrap_or(0xffff);
        match self.instruction(address, first) {
            Some(Ok(instruction)) => {
                let second = self.second_word(address).filter(|_| instruction.words() == 2);
                let text = escaped(&names.disassembly(instruction, address.byte()));
                self.code.insert(address.byte().0);
                self.row(address, first, second, &text);
                u32::from(instruction.words())
            }
            other => {
                let comment = if other.is_some() { "\t; no instruction" } else { "" };
                self.row(address, first, None, &format!(".word\t{first:#06x}{comment}"));
                1
            }
        }
    }

    /// The instruction at an address; none where there are data.
    fn instruction(&self, address: FlashWordAddress, first: u16) -> Option<Result<Instruction, DecodeError>> {
        if self.is_data(address.byte()) {
            return None;
        }
        Some(decode(first, self.second_word(address), self.device.core.features))
    }

    /// The word after an address, unless a label shows that something else begins there.
    fn second_word(&self, address: FlashWordAddress) -> Option<u16> {
        let next = FlashWordAddress(address.0 + 1);
        self.image.program.word(next).filter(|_| self.label_at(next.byte()).is_none())
    }

    /// True if symbols or sections tell that there is no code.
    fn is_data(&self, address: FlashByteAddress) -> bool {
        let Image { sections, symbols, .. } = self.image;
        let mut in_flash = sections.iter().filter_map(|section| section.flash_range());
        let outside = !sections.is_empty() && !in_flash.any(|range| range.contains(&address.0));
        let objects = symbols.all().iter().filter(|symbol| symbol.kind == SymbolKind::Object);
        let mut extents = objects.filter_map(|symbol| Some((symbol.place.flash()?.0, symbol.size)));
        outside || extents.any(|(start, size)| (start..start.saturating_add(size)).contains(&address.0))
    }

    fn row(&mut self, address: FlashWordAddress, first: u16, second: Option<u16>, text: &str) {
        let words = second.map_or_else(|| format!("{first:04x}"), |second| format!("{first:04x} {second:04x}"));
        self.lines.insert(address.byte().0, self.ended + 1);
        let mark = self.mark(address);
        self.push(format_args!("{:8x}:{mark}\t{words:<9}\t{text}\n", address.byte().0));
    }

    /// The mark of an instruction before which an interrupt can come.
    fn mark(&self, address: FlashWordAddress) -> &'static str {
        let is_code = self.code.contains(&address.byte().0);
        match self.enables.as_ref().filter(|_| is_code).map(|enables| enables.before(address)) {
            Some(InterruptEnable { may_be_set: true, may_be_clear: false }) => " I",
            Some(InterruptEnable { may_be_set: true, may_be_clear: true }) => " ?",
            _ => "",
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        let start = self.text.len();
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
        self.ended += self.text[start..].matches('\n').count();
    }
}

/// Symbols are the only foreign part of a line of assembler text; they are in the comment.
fn escaped(disassembly: &Disassembly) -> String {
    let comment = disassembly.comment.as_ref().map(|comment| Escaped(comment).to_string());
    Disassembly { comment, ..disassembly.clone() }.to_string()
}
