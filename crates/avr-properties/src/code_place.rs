//! Places of the code of an image, as property files name them: functions, labels and source lines.

use std::collections::BTreeSet;

use avr_image::{FlashByteAddress, FlashWordAddress, Image, SourceLine, Symbol};

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
    image.source_line(pc).is_some_and(|found| is_line(&found, wanted))
}

/// True if a source line is the one that is wanted: as it was recorded or as reports show it, with any of the folders before
/// the file.
fn is_line(found: &SourceLine<'_>, wanted: &str) -> bool {
    let is_wanted =
        |place: &str| place == wanted || place.strip_suffix(wanted).is_some_and(|folders| folders.ends_with('/'));
    is_wanted(&format!("{}:{}", found.file, found.line)) || is_wanted(&found.shown())
}

/// True if some instruction is of a source line.
pub(crate) fn has_line(image: &Image, wanted: &str) -> bool {
    let has_number = wanted.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    has_number && image.program.words().any(|(word, _)| is_on_line(image, word.byte(), wanted))
}

#[cfg(test)]
mod tests {
    use super::is_line;
    use avr_image::SourceLine;

    #[test]
    fn lines_are_named_as_recorded_and_as_shown() {
        let found = SourceLine { file: "lib/src/../inc/a.h", line: 3 };
        for wanted in ["a.h:3", "inc/a.h:3", "lib/inc/a.h:3", "lib/src/../inc/a.h:3", "src/../inc/a.h:3"] {
            assert!(is_line(&found, wanted), "{wanted}");
        }
        for wanted in ["a.h:33", "h:3", "src/a.h:3", "src/inc/a.h:3"] {
            assert!(!is_line(&found, wanted), "{wanted}");
        }
    }
}
