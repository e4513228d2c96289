//! String literals of RON: what they say, and where in the file each part of it stands.

use std::ops::Range;

/// A string literal in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// The bytes of the literal in the text, quotes included.
    pub range: Range<usize>,
    /// The string that it stands for.
    pub value: String,
    /// The offset in the text of every byte of the value, and of the end.
    offsets: Vec<usize>,
}

impl Literal {
    /// The bytes of the text that stand for some bytes of the value.
    #[must_use]
    pub fn part(&self, span: Range<usize>) -> Range<usize> {
        let at = |index: usize| self.offsets.get(index).or(self.offsets.last()).copied().unwrap_or(self.range.end);
        at(span.start)..at(span.end).max(at(span.start))
    }

    /// The byte of the value that an offset in the text stands for; none outside of the quotes.
    #[must_use]
    pub fn index_of(&self, offset: usize) -> Option<usize> {
        let (first, last) = (*self.offsets.first()?, *self.offsets.last()?);
        let index = self.offsets.iter().position(|at| *at >= offset)?;
        (first..=last).contains(&offset).then_some(index)
    }
}

/// The string literals of a text, in order. One without an end goes to the end of its line.
#[must_use]
pub fn literals(text: &str) -> Vec<Literal> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        at = if rest.starts_with("//") {
            at + rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            at + comment(rest)
        } else if let Some(literal) = literal(text, at) {
            let end = literal.range.end;
            all.push(literal);
            end
        } else if first == '_' || first.is_alphanumeric() {
            at + rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len())
        } else if first == '\'' {
            at + character(rest)
        } else {
            at + first.len_utf8()
        };
    }
    all
}

/// The length of a comment in `/*` and `*/`, which can be nested.
fn comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest.starts_with("*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a character in quotes, such as `'"'`.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => chars.nth(1),
        _ => chars.next(),
    }
    .filter(|(_, c)| *c == '\'')
    .map_or(1, |(at, _)| at + 1)
}

/// The literal that begins at `at`, if one does.
fn literal(text: &str, at: usize) -> Option<Literal> {
    let rest = &text[at..];
    if rest.starts_with('"') {
        return Some(escaped(text, at));
    }
    let hashes = rest.strip_prefix('r')?;
    let count = hashes.len() - hashes.trim_start_matches('#').len();
    let content = hashes[count..].strip_prefix('"')?;
    let start = at + 2 + count;
    let end = content.find(&format!("\"{}", "#".repeat(count)));
    let length = end.unwrap_or_else(|| content.find('\n').unwrap_or(content.len()));
    let closing = if end.is_some() { 1 + count } else { 0 };
    Some(Literal {
        range: at..start + length + closing,
        value: content[..length].to_owned(),
        offsets: (start..=start + length).collect(),
    })
}

/// The literal with escapes that begins at `at`.
fn escaped(text: &str, at: usize) -> Literal {
    let mut found = Literal { range: at..at, value: String::new(), offsets: Vec::new() };
    let mut position = at + 1;
    let is_open = loop {
        let rest = &text[position..];
        match rest.chars().next() {
            Some('"') => break false,
            None => break true,
            Some('\n') if !text[position..].contains('"') => break true,
            Some('\\') => {
                let (c, length) = escape(rest);
                found.push(c, position);
                position += length;
            }
            Some(c) => {
                found.push(c, position);
                position += c.len_utf8();
            }
        }
    };
    found.offsets.push(position);
    found.range.end = if is_open { position } else { position + 1 };
    found
}

impl Literal {
    fn push(&mut self, c: char, position: usize) {
        self.value.push(c);
        self.offsets.extend(std::iter::repeat_n(position, c.len_utf8()));
    }
}

/// The character that an escape stands for, and the length of the escape.
fn escape(text: &str) -> (char, usize) {
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
    match text.chars().nth(1) {
        Some('n') => ('\n', 2),
        Some('r') => ('\r', 2),
        Some('t') => ('\t', 2),
        Some('0') => ('\0', 2),
        Some('x') => text.get(2..4).map_or(('\u{fffd}', 2), |digits| (number(digits), 4)),
        Some('u') => match text.strip_prefix("\\u{").and_then(|rest| rest.split_once('}')) {
            Some((digits, _)) if !digits.contains(['"', '\n']) => (number(digits), digits.len() + 4),
            _ => ('\u{fffd}', 2),
        },
        Some(c) => (c, 1 + c.len_utf8()),
        None => ('\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use super::literals;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let values: Vec<String> = literals(text).into_iter().map(|literal| literal.value).collect();
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn literals_are_found_as_ron_reads_them() {
        check(r##"(a: "b", c: r#"d"e"#, d: r"f")"##, &["b", "d\"e", "f"]);
        check("// \"no\"\n\"a\" /* \"b\" /* \"c\" */ \"d\" */ \"e\"", &["a", "e"]);
        check("'\"' \"a\" '\\'' \"b\"", &["a", "b"]);
        check("over\"a\"", &["a"]);
        check("\"a", &["a"]);
        let all = "\"\\n\\t\\\\ \\\" \\x41\\u{e4}ö\"";
        check(all, &[&ron::from_str::<String>(all).expect("it is a string")]);
    }

    #[test]
    fn parts_of_a_value_are_found_in_the_text() {
        let text = r#"x: "a\"b\u{e4}c == d""#;
        let literal = literals(text).remove(0);
        let at = literal.value.find("c ==").expect("it is there");
        assert_eq!(&text[literal.part(at..at + 1)], "c");
        assert_eq!(&text[literal.part(1..2)], "\\\"");
        assert_eq!(literal.index_of(text.find("c ==").expect("it is there")), Some(at));
        assert_eq!((literal.index_of(0), literal.index_of(text.len() - 1)), (None, Some(literal.value.len())));
    }
}
