//! Places of the code of an image, as property files name them: functions, labels and source lines.

use std::collections::BTreeSet;

use avr_image::{FlashByteAddress, FlashWordAddress, Image, Symbol};

/// The flash word addresses of a function, of a label up to the next one, or of a source line; empty where the image has none.
#[must_use]
pub fn code_at(image: &Image, name: &str) -> BTreeSet<FlashWordAddress> {
    let symbols: Vec<&Symbol> = image.symbols.matches(name).into_iter().filter(|symbol| symbol.is_code()).collect();
    let words = || image.program.words().map(|(word, _)| word);
    if symbols.is_empty() {
        return match has_line(image, name) {
            true => words().filter(|word| is_on_line(image, word.byte(), name)).collect(),
            false => BTreeSet::new(),
        };
    }
    let is_there = |word: &FlashWordAddress| {
        let pc = word.byte();
        let function = image.symbols.function_at(pc).and_then(|located| located.symbol.place.flash());
        let is_in = |symbol: &&Symbol| {
            let extent = image.symbols.extent(symbol);
            function == symbol.place.flash() || extent.is_some_and(|extent| extent.range.contains(&pc))
        };
        symbols.iter().any(is_in)
    };
    words().filter(is_there).collect()
}

/// True if an instruction is of a source line, given as `file:line` with any of the folders before the file.
pub(crate) fn is_on_line(image: &Image, pc: FlashByteAddress, wanted: &str) -> bool {
    let Some(found) = image.source_line(pc) else { return false };
    let found = format!("{}:{}", found.file, found.line);
    found == wanted || found.strip_suffix(wanted).is_some_and(|folders| folders.ends_with('/'))
}

/// True if some instruction is of a source line.
pub(crate) fn has_line(image: &Image, wanted: &str) -> bool {
    let is_line = wanted.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    is_line && image.program.words().any(|(word, _)| is_on_line(image, word.byte(), wanted))
}
