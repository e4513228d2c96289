//! Cuts the text of a formula into tokens.

use crate::atom::{Name, Span};
use crate::formula::MAX_SIZE;
use crate::parse::error::{ParseError, ParseErrorKind};

/// A token and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Number(u64),
    /// A name or a keyword.
    Name(Name),
    /// An operator or bracket, one of [`SYMBOLS`].
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// Every symbol, longer ones before their beginnings.
const SYMBOLS: [&str; 28] = [
    "<->", "->", "<>", "<=", "<<", "<", ">=", ">>", ">", "==", "!=", "!", "&&", "&", "||", "|", "^", "~", "+", "-",
    "(", ")", "[", "]", "{", "}", ".", ",",
];

/// The tokens of `text`, the last of which is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    let mut lexer = Lexer { text, position: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.token()?;
        if tokens.len() >= MAX_SIZE {
            return Err(ParseError::new(ParseErrorKind::TooLong, token.span, text));
        }
        let ended = token.kind == TokenKind::End;
        tokens.push(token);
        if ended {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    /// In bytes, always between characters.
    position: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn token(&mut self) -> Result<Token, ParseError> {
        self.position = self.text.len() - self.rest().trim_start().len();
        let start = self.position;
        let kind = match self.rest().chars().next() {
            None => TokenKind::End,
            Some('"') => TokenKind::Name(self.quoted()?),
            Some(c) if c.is_ascii_digit() => TokenKind::Number(self.number()?),
            Some(c) if is_name_character(c) => TokenKind::Name(Name::plain(self.word())),
            Some(c) => self.symbol(c)?,
        };
        Ok(Token { kind, span: Span::new(start, self.position) })
    }

    /// The longest run of characters that names and numbers are made of.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !is_name_character(c)).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    fn number(&mut self) -> Result<u64, ParseError> {
        let start = self.position;
        let word = self.word();
        let lower = word.to_ascii_lowercase();
        let (digits, radix) = match (lower.strip_prefix("0x"), lower.strip_prefix("0b")) {
            (Some(digits), _) => (digits, 16),
            (_, Some(digits)) => (digits, 2),
            _ => (lower.as_str(), 10),
        };
        let decimal = lower.replace('_', "");
        if radix == 10 && decimal.len() > 1 && decimal.starts_with('0') && decimal.bytes().all(|c| c.is_ascii_digit()) {
            return Err(self.error(ParseErrorKind::LeadingZero(word.to_owned()), start));
        }
        u64::from_str_radix(&digits.replace('_', ""), radix)
            .map_err(|_| self.error(ParseErrorKind::BadNumber(word.to_owned()), start))
    }

    fn quoted(&mut self) -> Result<Name, ParseError> {
        let start = self.position;
        let mut text = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = characters.next() {
            match c {
                '"' => {
                    self.position += offset + 1;
                    return Ok(Name { text, quoted: true });
                }
                '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => text.push(c),
            }
        }
        self.position = self.text.len();
        Err(self.error(ParseErrorKind::OpenQuote, start))
    }

    fn symbol(&mut self, first: char) -> Result<TokenKind, ParseError> {
        let start = self.position;
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| self.rest().starts_with(symbol)) {
            self.position += symbol.len();
            return Ok(TokenKind::Symbol(symbol));
        }
        self.position += first.len_utf8();
        let kind = if first == '=' { ParseErrorKind::SingleEqual } else { ParseErrorKind::UnknownCharacter(first) };
        Err(self.error(kind, start))
    }

    fn error(&self, kind: ParseErrorKind, start: usize) -> ParseError {
        ParseError::new(kind, Span::new(start, self.position), self.text)
    }
}

/// True if names may contain the character: letters, digits, `_`, `$` (which linkers use).
pub(crate) fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}
