//! Text from files, made safe for terminals.

use std::fmt::{self, Write};

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

/// Control characters, and the invisible ones that change the direction of text (Unicode Bidirectional Algorithm,
/// section 2) or end a line.
fn is_harmful(character: char) -> bool {
    let invisible = ['\u{200e}', '\u{200f}', '\u{61c}', '\u{2028}', '\u{2029}', '\u{feff}'];
    character.is_control()
        || invisible.contains(&character)
        || ('\u{202a}'..='\u{202e}').contains(&character)
        || ('\u{2066}'..='\u{2069}').contains(&character)
}

#[cfg(test)]
mod tests {
    use super::Escaped;

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
}
