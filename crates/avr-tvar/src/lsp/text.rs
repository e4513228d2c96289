//! Positions of the protocol and bytes of a text.

use std::ops::Range;

use lsp_types::{InitializeParams, Position, PositionEncodingKind};

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of 16 bits, which every editor knows.
    Utf16,
}

impl Encoding {
    /// Bytes if the editor can count them.
    pub(super) fn chosen(parameters: &InitializeParams) -> Self {
        let known = parameters.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
        let has_bytes = known.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8));
        if has_bytes { Self::Utf8 } else { Self::Utf16 }
    }

    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
        }
    }
}

/// The byte of a position; the end of the line or the text where there is none.
pub(super) fn offset(text: &str, position: Position, encoding: Encoding) -> usize {
    let start: usize = text.split_inclusive('\n').take(position.line as usize).map(str::len).sum();
    let line = text[start..].split(['\n', '\r']).next().unwrap_or_default();
    let mut column = 0;
    for (at, character) in line.char_indices() {
        if column >= position.character as usize {
            return start + at;
        }
        column += encoding.width(character);
    }
    start + line.len()
}

/// The position of a byte.
pub(super) fn position(text: &str, offset: usize, encoding: Encoding) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() as u32;
    let column: usize = before.rsplit('\n').next().unwrap_or_default().chars().map(|c| encoding.width(c)).sum();
    Position { line, character: column as u32 }
}

/// The range of some bytes.
pub(super) fn range(text: &str, span: Range<usize>, encoding: Encoding) -> lsp_types::Range {
    lsp_types::Range { start: position(text, span.start, encoding), end: position(text, span.end, encoding) }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, offset, position};
    use lsp_types::Position;

    #[test]
    fn positions_and_bytes_correspond() {
        let text = "a\r\nö😀b\nc";
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at) && *at != 2) {
                assert_eq!(offset(text, position(text, at, encoding), encoding), at, "{at} {encoding:?}");
            }
        }
        let b = text.find('b').expect("it is there");
        assert_eq!(position(text, b, Encoding::Utf16), Position { line: 1, character: 3 });
        assert_eq!(position(text, b, Encoding::Utf8), Position { line: 1, character: 6 });
        assert_eq!(offset(text, Position { line: 9, character: 9 }, Encoding::Utf16), text.len());
        assert_eq!(offset(text, Position { line: 0, character: 9 }, Encoding::Utf16), 1);
    }
}
