//! The meaning of the name under the cursor.

use std::ops::Range;

use avr_properties::{PropertyFile, entry_kinds};
use avr_report::meaning_of_kind;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

use super::completion::path_before;
use super::context::Context;
use super::names;
use super::project::Project;
use super::text::{self, Encoding};

/// The meaning of what stands at a byte of a text.
pub(super) fn hover(text: &str, offset: usize, project: &mut Project, encoding: Encoding) -> Option<Hover> {
    let (span, meaning) = match Context::at(text, offset).literal {
        Some((literal, index)) => {
            let end = word_end(&literal.value, index);
            let path = path_before(&literal.value[..end]);
            let file = PropertyFile::parse("this file", text).ok();
            let definition = file.as_ref().and_then(|file| file.definitions.iter().find(|(name, _)| *name == path));
            let meaning = match definition {
                Some((_, formula)) => format!("definition: {formula}"),
                None => names::meaning(&*project.target(file.as_ref()).ok()?, path)?,
            };
            (literal.part(end - path.len()..end), format!("{path}: {meaning}"))
        }
        None => {
            let span = word(text, offset);
            let kind = entry_kinds().iter().find(|kind| **kind == &text[span.clone()])?;
            (span, format!("{kind}: {}", meaning_of_kind(kind)))
        }
    };
    let value = MarkupContent { kind: MarkupKind::PlainText, value: meaning };
    Some(Hover { contents: HoverContents::Markup(value), range: Some(text::range(text, span, encoding)) })
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The end of the word at a byte.
fn word_end(text: &str, at: usize) -> usize {
    at + text[at..].find(|c| !is_word(c)).unwrap_or(text.len() - at)
}

/// The word at a byte.
fn word(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind(|c| !is_word(c));
    let start = start.map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
    start..word_end(text, at)
}
