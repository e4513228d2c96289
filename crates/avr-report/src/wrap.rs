//! Lines no wider than a terminal.

/// So many columns a line that goes on is set in, beyond what it begins with.
const HANGING: usize = 2;

/// The text with its lines broken at spaces so that none has more than `width` characters. What goes on is set in under its
/// beginning. A word that is too long is broken.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut all = String::with_capacity(text.len());
    for line in text.lines() {
        wrap(&mut all, line, width);
    }
    all
}

fn wrap(all: &mut String, line: &str, width: usize) {
    let inset = line.chars().take_while(|c| *c == ' ').count();
    let inset = if inset + HANGING < width / 2 { inset + HANGING } else { 0 };
    let mut rest = line;
    let mut room = width;
    while printed(rest) > room {
        let end = place_to_break(rest, room);
        let (first, more) = rest.split_at(end);
        all.push_str(first.trim_end());
        all.push('\n');
        all.extend(std::iter::repeat_n(' ', inset));
        rest = more.trim_start();
        room = width.saturating_sub(inset).max(1);
    }
    all.push_str(rest);
    all.push('\n');
}

/// The number of characters that are printed: escape sequences for colours are not.
fn printed(text: &str) -> usize {
    let mut count = 0;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' {
            characters.by_ref().find(|c| *c == 'm');
        } else {
            count += 1;
        }
    }
    count
}

/// The place of the last space after which what is before it has room, or of the first character that has none.
fn place_to_break(text: &str, room: usize) -> usize {
    let (mut count, mut space, mut inside) = (0, None, false);
    let mut begun = false;
    for (index, c) in text.char_indices() {
        match c {
            '\u{1b}' => inside = true,
            'm' if inside => inside = false,
            _ if inside => {}
            _ => {
                if count == room {
                    return space.unwrap_or(index);
                }
                begun |= c != ' ';
                count += 1;
                if c == ' ' && begun {
                    space = Some(index + 1);
                }
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[track_caller]
    fn check(text: &str, width: usize, expected: &str) {
        assert_eq!(wrapped(text, width), expected);
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        check("one two three\n", 8, "one two\n  three\n");
        check("  one two three\n\nfour\n", 12, "  one two\n    three\n\nfour\n");
        check("a-long-word b\n", 6, "a-long\n  -wor\n  d b\n");
        check("exact\n", 5, "exact\n");
    }

    #[test]
    fn colours_take_no_room() {
        check("\u{1b}[1mone\u{1b}[0m two\n", 7, "\u{1b}[1mone\u{1b}[0m two\n");
        check("\u{1b}[1mone\u{1b}[0m two\n", 6, "\u{1b}[1mone\u{1b}[0m\n  two\n");
    }
}
