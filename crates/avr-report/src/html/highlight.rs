//! Tokens of C and C++ for display. Nothing depends on them being right.

/// Words of the language.
const KEYWORDS: &[&str] = &[
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "namespace",
    "new",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "true",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
];

/// A kind of token, named as its class in the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Plain,
    Keyword,
    Type,
    Number,
    Text,
    Comment,
    Directive,
}

impl Token {
    /// The class in the page; none for plain text.
    pub(super) fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Keyword => Some("k"),
            Self::Type => Some("t"),
            Self::Number => Some("n"),
            Self::Text => Some("s"),
            Self::Comment => Some("c"),
            Self::Directive => Some("d"),
        }
    }
}

/// The lines of a text, each as pieces of one kind. Comments go on over lines.
pub(super) fn lines(text: &str) -> Vec<Vec<(Token, String)>> {
    let mut in_comment = false;
    text.lines().map(|line| pieces(&line.replace('\t', "    "), &mut in_comment)).collect()
}

fn pieces(line: &str, in_comment: &mut bool) -> Vec<(Token, String)> {
    let mut all: Vec<(Token, String)> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (token, length) = next(line, rest, in_comment);
        let (piece, more) = rest.split_at(length);
        match all.last_mut() {
            Some((last, text)) if *last == token => text.push_str(piece),
            _ => all.push((token, piece.to_owned())),
        }
        rest = more;
    }
    all
}

/// The kind and the length of the first token of what is left of a line.
fn next(line: &str, rest: &str, in_comment: &mut bool) -> (Token, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    let word = |more: fn(char) -> bool| rest.find(|c: char| !more(c)).unwrap_or(rest.len());
    if *in_comment {
        let end = rest.find("*/").map(|end| end + 2);
        *in_comment = end.is_none();
        return (Token::Comment, end.unwrap_or(rest.len()));
    }
    if rest.starts_with("//") {
        return (Token::Comment, rest.len());
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        let end = inside.find("*/").map(|end| end + 4);
        *in_comment = end.is_none();
        return (Token::Comment, end.unwrap_or(rest.len()));
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        '"' | '\'' => (Token::Text, quoted(rest, first)),
        '#' if line.trim_start() == rest => {
            (Token::Directive, 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1))
        }
        _ if first.is_ascii_digit() => (Token::Number, word(|c| c.is_ascii_alphanumeric() || c == '.')),
        _ if is_word(first) => {
            let length = word(|c| c.is_alphanumeric() || c == '_');
            let name = &rest[..length];
            let token = match () {
                () if KEYWORDS.contains(&name) => Token::Keyword,
                () if name.ends_with("_t") => Token::Type,
                () => Token::Plain,
            };
            (token, length)
        }
        _ => (Token::Plain, first.len_utf8()),
    }
}

/// The length of a text in quotes, or of what is left where it does not end.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = |line: &Vec<(super::Token, String)>| {
            line.iter().map(|(token, piece)| format!("{token:?}({piece})")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(lines(text).iter().map(shown).collect::<Vec<_>>().join("\n"), expected);
    }

    #[test]
    fn tokens_of_c_are_told_apart() {
        check("if (x == 0x1f)", "Keyword(if) Plain( (x == ) Number(0x1f) Plain())");
        check("uint8_t a; // b", "Type(uint8_t) Plain( a; ) Comment(// b)");
        check(r#"f("a\"b", 'c');"#, r#"Plain(f() Text("a\"b") Plain(, ) Text('c') Plain();)"#);
        check("#include <a.h>", "Directive(#include) Plain( <a.h>)");
        check("/* one\ntwo */ x", "Comment(/* one)\nComment(two */) Plain( x)");
        check("\"open", "Text(\"open)");
        check("größe = 1;\n\n", "Plain(größe = ) Number(1) Plain(;)\n");
        check("#", "Directive(#)");
    }
}
