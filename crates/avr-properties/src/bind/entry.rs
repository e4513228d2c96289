//! Entries of functions: the image's symbols tell which jumps to one come from another function.

use std::ops::Range;

use avr_image::{FlashByteAddress, FlashWordAddress, SymbolKind, Symbols};
use avr_isa::{ControlFlow, Instruction, decode};
use avr_machine::Program;

use super::Binder;
use crate::entry::{Entry, Source};

/// Labels of the start-up code of avr-libc, of which no jump is a call.
const START_UP: [&str; 13] = [
    "__vectors",
    "__vector_default",
    "__bad_interrupt",
    "__init",
    "__ctors_start",
    "__ctors_end",
    "__dtors_start",
    "__dtors_end",
    "__do_copy_data",
    "__do_clear_bss",
    "__do_global_ctors",
    "__do_global_dtors",
    "__trampolines_end",
];
/// The beginning of the names of local labels in that code.
const START_UP_LOCAL: &str = ".do_";
/// So many instructions are named in a note.
const MOST_NAMED: usize = 4;

/// The owner of the instructions in a piece of flash, as seen from an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The same function, the start-up code or the vector table.
    Same,
    /// Another function.
    Other,
    /// Nothing that the symbols tell.
    Untold,
}

/// The knowledge of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    /// It belongs to a function of a stated size.
    Function,
    /// It is a label without a size.
    Label,
    /// It is an address that nothing names.
    Address,
}

impl Binder<'_> {
    /// The entry at a flash byte address, with a note where the symbols do not tell functions.
    pub(super) fn entry(&mut self, address: u32) -> Entry {
        let own = self.own_ranges(address);
        let stated = !own.is_empty();
        let labelled = self.label_range(address).into_iter().chain(std::iter::once(address..address + 2));
        let own = if stated { own } else { labelled.collect() };
        let mut sources = self.sources(&own);
        let is_named = self.image.symbols.code().any(|symbol| symbol.place.flash() == Some(FlashByteAddress(address)));
        if !stated && !is_named {
            sources = self.jumps_of(sources);
        }
        let entry = Entry::new(address, sources);
        let about = match (stated, is_named) {
            (true, _) => About::Function,
            (false, true) => About::Label,
            (false, false) => About::Address,
        };
        self.note_untold(&entry, about);
        entry
    }

    /// The sources where they are certain, and the unconditional jumps of the others: what nothing names is hardly the beginning of a
    /// function that other code falls or branches into.
    fn jumps_of(&self, sources: Vec<Source>) -> Vec<Source> {
        let program = self.program();
        let jumps = program.instructions().filter(|(place, instruction)| jumps_away(&program, *place, *instruction));
        let jumps: Vec<u32> = jumps.map(|(place, _)| place.byte().0).collect();
        let mut all = Vec::new();
        for source in sources {
            if source.certain {
                all.push(source);
                continue;
            }
            let own = jumps.iter().filter(|place| source.range.contains(place));
            all.extend(own.map(|place| Source { range: *place..place + 2, certain: false }));
        }
        all
    }

    fn program(&self) -> Program {
        let word = |address: u32| self.image.program.word(FlashWordAddress(address));
        Program::decode(self.device.memory.flash_words(), self.device.core.features, word)
    }

    /// The functions of a stated size that begin at an address, or else those that contain it.
    fn own_ranges(&self, address: u32) -> Vec<Range<u32>> {
        let functions = stated(&self.image.symbols);
        let beginning: Vec<_> = functions.iter().filter(|range| range.start == address).cloned().collect();
        if !beginning.is_empty() {
            return beginning;
        }
        let around = functions.into_iter().filter(|range| range.contains(&address));
        around.min_by_key(|range| range.end - range.start).into_iter().collect()
    }

    /// From the last label to the next one.
    fn label_range(&self, address: u32) -> Option<Range<u32>> {
        let symbol = self.image.symbols.function_at(FlashByteAddress(address))?.symbol;
        let range = self.image.symbols.extent(symbol)?.range;
        Some(range.start.0..range.end.0)
    }

    /// The places from which a jump into the function with these ranges is a call, or may be one.
    fn sources(&self, own: &[Range<u32>]) -> Vec<Source> {
        let symbols = &self.image.symbols;
        let functions = stated(symbols);
        let table = self.vector_table(&functions);
        let stubs = trampolines(symbols);
        let code = symbols.code().filter_map(|symbol| symbols.extent(symbol));
        let labels = code.flat_map(|extent| [extent.range.start.0, extent.range.end.0]);
        let ranges = own.iter().chain([&table, &stubs]).flat_map(|range| [range.start, range.end]);
        let mut borders: Vec<u32> = labels.chain(ranges).chain([0, self.device.memory.flash_bytes]).collect();
        borders.sort_unstable();
        borders.dedup();
        let owner = |place: u32| {
            let is_in = |ranges: &[Range<u32>]| ranges.iter().any(|range| range.contains(&place));
            if stubs.contains(&place) {
                Owner::Other
            } else if is_in(own) {
                Owner::Same
            } else if is_in(&functions) {
                Owner::Other
            } else if table.contains(&place) || self.is_start_up(place) {
                Owner::Same
            } else {
                Owner::Untold
            }
        };
        let pieces = borders.windows(2).map(|pair| (pair[0]..pair[1], owner(pair[0])));
        let foreign = pieces.filter(|(_, owner)| *owner != Owner::Same);
        foreign.map(|(range, owner)| Source { range, certain: owner == Owner::Other }).collect()
    }

    /// The vectors at the beginning of the flash: as far as each begins with a jump or a return and no function is there.
    fn vector_table(&self, functions: &[Range<u32>]) -> Range<u32> {
        let words = u32::from(self.device.core.vector_words);
        let start = |slot: u32| FlashWordAddress(slot * words);
        let slots = self.device.interrupts.iter().map(|interrupt| u32::from(interrupt.vector) / words).max();
        let is_vector = |slot: &u32| {
            let first = start(*slot);
            let second = self.image.program.word(FlashWordAddress(first.0 + 1));
            let word = self.image.program.word(first);
            let instruction = word.and_then(|word| decode(word, second, self.device.core.features).ok());
            let jumps =
                matches!(instruction, Some(Instruction::Jmp { .. } | Instruction::Rjmp { .. } | Instruction::Reti));
            jumps && !functions.iter().any(|range| range.contains(&first.byte().0))
        };
        let count = (0..=slots.unwrap_or_default()).take_while(is_vector).count();
        0..start(count as u32).byte().0
    }

    fn is_start_up(&self, place: u32) -> bool {
        let located = self.image.symbols.function_at(FlashByteAddress(place));
        located.is_some_and(|located| {
            let name = located.symbol.name.as_str();
            START_UP.contains(&name) || name.starts_with(START_UP_LOCAL)
        })
    }

    /// Tells where a jump to an entry may be a call or not.
    fn note_untold(&mut self, entry: &Entry, about: About) {
        let jumps = self.untold_jumps(entry);
        let address = entry.address;
        if about == About::Address {
            self.notes.push(format!(
                "the image names nothing at {address:#x}: a jump instruction that leads there from code that belongs to no function of a stated \
                 size is a call or none, which is unknown; a branch and what falls through to it are none"
            ));
        } else if about == About::Label {
            self.notes.push(format!(
                "the image does not state the size of the function at {address:#x}: a jump to it from code that belongs to no function of a \
                 stated size is a call or none, which is unknown"
            ));
        }
        if !jumps.is_empty() {
            let named: Vec<String> = jumps.iter().take(MOST_NAMED).map(|place| format!("{place:#x}")).collect();
            let more = if jumps.len() > MOST_NAMED { " and others" } else { "" };
            self.notes.push(format!(
                "the image does not tell which function leads to {address:#x} at {}{more}: whether that is a call is unknown",
                named.join(", ")
            ));
        }
    }

    /// The instructions that lead to an entry, as flash byte addresses, where it is not told whether that is a call.
    fn untold_jumps(&self, entry: &Entry) -> Vec<u32> {
        let program = self.program();
        let leads = |&(place, instruction): &(FlashWordAddress, Instruction)| {
            leads_to(&program, place, instruction, FlashByteAddress(entry.address).word())
        };
        // The second words of instructions are no instructions.
        let mut next = FlashWordAddress(0);
        let is_first = |&(place, instruction): &(FlashWordAddress, Instruction)| {
            let is_first = place >= next;
            if is_first {
                next = place.wrapping_add(instruction.words().into());
            }
            is_first
        };
        let places = program.instructions().filter(is_first).filter(leads).map(|(place, _)| place.byte().0);
        places.filter(|place| entry.is_called_from(*place).is_unknown()).collect()
    }
}

/// The functions, and the labels in code, whose size the image states.
fn stated(symbols: &Symbols) -> Vec<Range<u32>> {
    let extents = symbols.code().filter_map(|symbol| symbols.extent(symbol)).filter(|extent| extent.stated);
    extents.map(|extent| extent.range.start.0..extent.range.end.0).collect()
}

/// The stubs through which pointers lead to functions far away: a jump out of one goes on with a call.
fn trampolines(symbols: &Symbols) -> Range<u32> {
    let place = |name: &str| {
        let symbol = symbols.find_where(name, |symbol| symbol.kind != SymbolKind::Object).ok()?;
        symbol.place.flash()
    };
    match (place("__trampolines_start"), place("__trampolines_end")) {
        (Some(start), Some(end)) if start < end => start.0..end.0,
        _ => 0..0,
    }
}

/// True for an instruction that leads elsewhere in any case, and is no call. A return to what no call pushed is such a jump.
fn jumps_away(program: &Program, place: FlashWordAddress, instruction: Instruction) -> bool {
    match instruction.control_flow(place, program) {
        ControlFlow::Jump { .. } | ControlFlow::IndirectJump | ControlFlow::Return | ControlFlow::InterruptReturn => {
            true
        }
        ControlFlow::Next { .. }
        | ControlFlow::Skip { .. }
        | ControlFlow::Branch { .. }
        | ControlFlow::Call { .. }
        | ControlFlow::IndirectCall { .. }
        | ControlFlow::Sleep { .. }
        | ControlFlow::Break { .. } => false,
    }
}

/// True for an instruction that may lead to another without a call or a return (flash word addresses), as far as its words tell.
fn leads_to(program: &Program, place: FlashWordAddress, instruction: Instruction, target: FlashWordAddress) -> bool {
    let flow = instruction.control_flow(place, program);
    match flow {
        // A function that is called comes back.
        ControlFlow::Call { next, .. } | ControlFlow::IndirectCall { next } => next == target,
        ControlFlow::Next { .. }
        | ControlFlow::Skip { .. }
        | ControlFlow::Branch { .. }
        | ControlFlow::Jump { .. }
        | ControlFlow::IndirectJump
        | ControlFlow::Return
        | ControlFlow::InterruptReturn
        | ControlFlow::Sleep { .. }
        | ControlFlow::Break { .. } => flow.destinations().is_some_and(|places| places.contains(&target)),
    }
}
