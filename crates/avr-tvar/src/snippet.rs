//! Errors with the line of the file that they are about, and carets under the place.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use avr_report::Escaped;

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();

/// A text with a part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The name of the file.
    pub file: Option<String>,
    /// The whole text.
    pub text: String,
    /// The bytes that are wrong.
    pub span: Range<usize>,
}

/// The lines of an error, with escape sequences for colours. Nothing in a name or a file can add one, begin a line or
/// repaint it.
pub(crate) fn error(title: &str, marked: Option<&Marked>) -> String {
    let title = Escaped(title).to_string();
    let Some(Marked { file, text, span }) = marked else { return format!("{ERROR}error:{ERROR:#} {title}\n") };
    let visible = Visible::of(text, span);
    let (line, column) = place(text, span.start);
    let (_, shown) = place(&visible.text, visible.span.start);
    let file = file.as_ref().map(|file| Escaped(file).to_string());
    let snippet = Snippet::source(visible.text).path(file);
    let snippet = snippet.annotation(AnnotationKind::Primary.span(visible.span));
    let report = [Level::ERROR.primary_title(title).element(snippet)];
    let text = Renderer::styled().error(ERROR).emphasis(Style::new()).render(&report);
    let text = with_column(text.trim_end(), &format!(":{line}:{shown}"), &format!(":{line}:{column}"));
    format!("{text}\n")
}

/// The line and the column of a byte, both from 1; columns count characters.
fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count());
    (1 + before.matches('\n').count(), 1 + column)
}

/// A rendered error with another place in its second line, which names the file: what is rendered has escapes, the file has not.
fn with_column(text: &str, shown: &str, told: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if let Some(second) = lines.get_mut(1)
        && let Some(at) = second.rfind(shown)
    {
        second.replace_range(at..at + shown.len(), told);
    }
    lines.join("\n")
}

/// The length in bytes of the name, number or string that a text begins with; else that of a character.
pub(crate) fn first_word(text: &str) -> usize {
    let first = text.chars().next();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        Some('\n') => 0,
        Some('"') => {
            let mut is_escaped = false;
            let end = text.char_indices().skip(1).take_while(|(_, c)| *c != '\n').find(|(_, c)| {
                let is_end = *c == '"' && !is_escaped;
                is_escaped = *c == '\\' && !is_escaped;
                is_end
            });
            end.map_or(1, |(at, _)| at + 1)
        }
        Some(c) if is_word(c) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        Some(c) => c.len_utf8(),
        None => 0,
    }
}

/// A text whose control characters are shown by escapes, with the span in it.
struct Visible {
    text: String,
    span: Range<usize>,
}

impl Visible {
    fn of(text: &str, span: &Range<usize>) -> Self {
        let shown = |part: &str| -> String {
            let lines = part.split('\n').map(|line| {
                let line = line.strip_suffix('\r').unwrap_or(line);
                line.split('\t').map(|part| Escaped(part).to_string()).collect::<Vec<_>>().join("\t")
            });
            lines.collect::<Vec<_>>().join("\n")
        };
        let part = |range: Range<usize>| text.get(range).unwrap_or_default();
        let (before, marked) = (shown(part(0..span.start)), shown(part(span.start..span.end)));
        let after = shown(part(span.end..text.len()));
        let span = before.len()..before.len() + marked.len();
        Self { text: format!("{before}{marked}{after}"), span }
    }
}

#[cfg(test)]
mod tests {
    use super::{Marked, error, first_word};
    use std::ops::Range;

    fn plain(title: &str, text: &str, span: Range<usize>) -> String {
        let marked = Marked { file: Some("a.ron".to_owned()), text: text.to_owned(), span };
        anstream::adapter::strip_str(&error(title, Some(&marked))).to_string()
    }

    #[test]
    fn the_line_is_shown_with_its_place() {
        let expected = "error: wrong\n --> a.ron:2:3\n  |\n2 |   bc d\n  |   ^^\n";
        assert_eq!(plain("wrong", "a\n  bc d\ne\n", 4..6), expected);
    }

    #[test]
    fn an_error_at_the_end_of_a_text_has_a_place() {
        assert!(plain("wrong", "a\nbc", 4..4).contains("a.ron:2:3\n"));
        assert!(plain("wrong", "", 0..0).contains("a.ron:1:1\n"));
    }

    #[test]
    fn a_mark_stays_under_its_place_behind_escapes() {
        let expected = "error: wrong\n --> a.ron:1:3\n  |\n1 | \\u{1b}\\u{7}bc d\n  |            ^^\n";
        assert_eq!(plain("wrong", "\x1b\x07bc d", 2..4), expected);
    }

    #[test]
    fn columns_count_the_characters_of_the_file() {
        for (text, span, told) in [
            ("a\n\t\u{202e}\u{e9} x", 6..8, " --> a.ron:2:3\n"),
            ("\x1b1\x1b", 2..3, " --> a.ron:1:3\n"),
            ("\r\r\nb", 3..4, " --> a.ron:2:1\n"),
        ] {
            let shown = plain("wrong --> a.ron:2:11", text, span);
            assert!(shown.contains(told) && shown.starts_with("error: wrong --> a.ron:2:11\n"), "{shown}");
        }
        assert!(!error("wrong", Some(&Marked { file: None, text: "\x1ba".to_owned(), span: 1..2 })).contains("-->"));
    }

    #[test]
    fn words_end_where_they_do() {
        for (text, word) in [("cycel: 3", "cycel"), ("0x1f)", "0x1f"), (r#""a\"b" x"#, r#""a\"b""#), ("\"a\n\"", "\"")]
        {
            assert_eq!(&text[..first_word(text)], word);
        }
        assert_eq!((first_word("(step: 3)"), first_word("\u{e9}\u{301}"), first_word("")), (1, 2, 0));
    }

    #[test]
    fn no_text_adds_colours_or_lines() {
        let told = error(
            "a\n::error::b",
            Some(&Marked { file: None, text: "x\r\n\ty\x1b[1m\u{202e}".to_owned(), span: 4..5 }),
        );
        let plain = anstream::adapter::strip_str(&told).to_string();
        assert!(plain.contains("a\\n::error::b") && plain.contains("y\\u{1b}[1m\\u{202e}"), "{plain}");
        assert!(!told.contains("\x1b[1mm") && !plain.contains('\r'), "{told:?}");
        assert!(plain.lines().all(|line| !line.trim_start().starts_with("::")), "{plain}");
    }
}
