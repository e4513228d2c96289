//! Places in files, and the texts that errors show.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use mu_calculus::Span;

use crate::literals::literals;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text of the file.
    pub(crate) source: Source,
    /// The bytes of the text that are meant.
    pub(crate) span: Range<usize>,
}

/// The text of a file, which many places share.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Source(pub(crate) Arc<str>);

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({} bytes)", self.0.len())
    }
}

/// The text that an error is about, with the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The name of the file; none for a formula that stands in no file.
    pub file: Option<&'a str>,
    /// The text of the file, or the formula.
    pub text: &'a str,
    /// The bytes that are wrong.
    pub span: Range<usize>,
}

/// A text with a part of it marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedText {
    /// The text.
    pub text: String,
    /// The bytes that are marked.
    pub span: Span,
}

impl Place {
    /// The marked part of a formula in the file: in the entry at this place, or in a definition.
    pub(crate) fn part_of(&self, formula: &MarkedText) -> Option<Range<usize>> {
        if *self.source.0 == *formula.text {
            return Some(formula.span.range());
        }
        let all = literals(&self.source.0);
        let is_it = |inside: &dyn Fn(usize) -> bool| {
            all.iter().find(|literal| literal.value == formula.text && inside(literal.range.start))
        };
        let literal = is_it(&|at| self.span.contains(&at)).or_else(|| is_it(&|_| true))?;
        Some(literal.part(formula.span.range()))
    }

    /// The place itself, or the first word of an entry.
    pub(crate) fn beginning(&self) -> Range<usize> {
        let text = self.source.0.get(self.span.clone()).unwrap_or_default();
        let word = text.find(|c: char| c != '_' && !c.is_alphanumeric()).filter(|end| *end > 0);
        match word {
            Some(end) if text[end..].trim_start().starts_with('(') => self.span.start..self.span.start + end,
            _ => self.span.clone(),
        }
    }
}

/// The line and the column of a byte, in characters from 1.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    (1 + before.matches('\n').count(), 1 + column)
}

/// The line with the marked part, and carets under it.
pub(crate) fn mark(f: &mut fmt::Formatter<'_>, text: &str, span: Range<usize>) -> fmt::Result {
    let (number, column) = line_and_column(text, span.start);
    let line = text.lines().nth(number - 1).unwrap_or_default();
    if line.trim().is_empty() {
        return Ok(());
    }
    let marked = text.get(span).unwrap_or_default();
    let width = marked.lines().next().unwrap_or_default().chars().count().max(1);
    // Tabs stay tabs, so that the carets stand right under the place.
    let blank: String = line.chars().take(column - 1).map(|c| if c == '\t' { c } else { ' ' }).collect();
    write!(f, "\n  {line}\n  {blank}{}", "^".repeat(width))
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
