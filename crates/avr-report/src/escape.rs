//! Text from files, made safe for terminals and for the formats of reports.

use std::fmt::{self, Write};

use serde::Serialize;

/// Displays a text with everything escaped that could move the cursor, change colours or reorder what is seen.
///
/// Symbol and property names come from files that others wrote; a name with an escape sequence in it must not be able
/// to repaint a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if is_harmful(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// Control characters, the invisible ones that change the direction of text (Unicode Bidirectional Algorithm, section 2) or
/// end a line, and what is no character for XML.
fn is_harmful(character: char) -> bool {
    let invisible = ['\u{200e}', '\u{200f}', '\u{61c}', '\u{2028}', '\u{2029}', '\u{feff}', '\u{fffe}', '\u{ffff}'];
    character.is_control()
        || invisible.contains(&character)
        || ('\u{202a}'..='\u{202e}').contains(&character)
        || ('\u{2066}'..='\u{2069}').contains(&character)
}

/// A value as JSON over several lines, with a line end. In its strings everything harmful is escaped, also what JSON would let
/// stand.
///
/// # Panics
/// If the value cannot be written as JSON: reports consist of strings, numbers and lists.
#[must_use]
pub fn json_text<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string_pretty(value).expect("strings, numbers and lists can be written");
    escaped_in_json(&text) + "\n"
}

/// JSON without harmful characters. They can only stand in strings, apart from line ends and tabs between values.
pub(crate) fn escaped_in_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => escaped.push('\n'),
            harmful if is_harmful(harmful) => {
                let mut units = [0; 2];
                harmful.encode_utf16(&mut units).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
            }
            harmless => escaped.push(harmless),
        }
    }
    escaped
}

/// A text in Markdown, in one line: every character that has a meaning there is escaped, HTML and links included.
pub(crate) fn markdown(text: &str) -> String {
    let mut escaped = String::new();
    for character in Escaped(text).to_string().chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            // Addresses become links by their colon and `www.` by its full stop.
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '{' | '}' | '|' | '~' | '!' | '$' | ':' | '.' => {
                escaped.extend(['\\', character]);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Lines of text as a block of code in Markdown.
pub(crate) fn markdown_block(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// A line of the message of a GitHub workflow command. Line ends, which would begin another command, are visible.
pub(crate) fn github_message(text: &str) -> String {
    Escaped(text).to_string().replace('%', "%25")
}

/// A property of a GitHub workflow command.
pub(crate) fn github_property(text: &str) -> String {
    github_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// A path as a relative or absolute URI reference (RFC 3986).
pub(crate) fn uri(path: &str) -> String {
    let mut escaped = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => escaped.push(byte.into()),
            b'\\' => escaped.push('/'),
            // Writing to a string cannot fail.
            _ => drop(write!(escaped, "%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{Escaped, github_message, github_property, markdown, markdown_block, uri};

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Escaped(text).to_string(), expected);
    }

    #[test]
    fn harmful_characters_are_visible() {
        check("gets back to idle", "gets back to idle");
        check("größer ∧ kleiner", "größer ∧ kleiner");
        check("\x1b[32mholds\x1b[0m", r"\u{1b}[32mholds\u{1b}[0m");
        check("two\r\nlines\tand a tab", r"two\r\nlines\tand a tab");
        check("\u{9b}31m", r"\u{9b}31m");
        check("\u{202e}sdloh", r"\u{202e}sdloh");
        check("\u{2066}\u{2069}", r"\u{2066}\u{2069}");
        check("\x7f", r"\u{7f}");
    }

    #[test]
    fn markdown_has_no_markup_from_names() {
        let check = |text: &str, expected: &str| assert_eq!(markdown(text), expected);
        check("AG PORTB == 0", "AG PORTB == 0");
        check("a|b\n# head", r"a\|b\\n&#35; head");
        check("<img src=x>", "&lt;img src=x&gt;");
        check("[x](http://y) @user", r"\[x\]\(http\://y\) &#64;user");
        check("`code` **b** __c__", r"\`code\` \*\*b\*\* \_\_c\_\_");
        check("\x1b[2J", r"\\u\{1b\}\[2J");
    }

    #[test]
    fn blocks_have_longer_fences_than_their_content() {
        assert_eq!(markdown_block("a\nb\n"), "```text\na\nb\n```\n");
        assert_eq!(markdown_block("a ```` b"), "`````text\na ```` b\n`````\n");
    }

    #[test]
    fn workflow_commands_cannot_be_forged() {
        assert_eq!(github_message("100 %\n::error::x\r"), r"100 %25\n::error::x\r");
        assert_eq!(github_property("a:b,c%"), "a%3Ab%2Cc%25");
    }

    #[test]
    fn paths_become_uris() {
        let check = |path: &str, expected: &str| assert_eq!(uri(path), expected);
        check("common/a b.h", "common/a%20b.h");
        check("/src/ü.c", "file:///src/%C3%BC.c");
        check("a\\b#c?d", "a/b%23c%3Fd");
        check("javascript:alert(1)", "javascript%3Aalert%281%29");
    }
}
