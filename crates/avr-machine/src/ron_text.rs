//! Messages of RON in the words of the files: none names a type of this program.

use ron::Error;
use ron::error::Position;

/// The message of an error of RON, without a capital and without the place.
#[must_use]
pub fn ron_message(error: &Error) -> String {
    match error {
        Error::Eof => "the file ends here, and a bracket or a quote is open".to_owned(),
        Error::TrailingCharacters => "nothing can follow here".to_owned(),
        Error::ExpectedNamedStructLike(_) | Error::ExpectedStructLike | Error::ExpectedStructName(_) => {
            "expected `(`".to_owned()
        }
        Error::ExpectedDifferentStructName { found, .. } => format!("expected `(` without the name '{found}'"),
        Error::ExpectedOption | Error::ExpectedRawValue | Error::ExpectedUnit => "expected a value".to_owned(),
        Error::ExpectedString => "expected a text in quotes".to_owned(),
        Error::ExpectedComma => "expected a comma".to_owned(),
        Error::ExpectedMapColon => "expected a colon".to_owned(),
        Error::ExpectedInteger => "expected a number".to_owned(),
        Error::ExpectedBoolean => "expected true or false".to_owned(),
        Error::ExpectedIdentifier => "expected a name".to_owned(),
        Error::InvalidIdentifier(found) | Error::SuggestRawIdentifier(found) => {
            format!("expected a name, found '{found}'")
        }
        Error::UnclosedLineComment => "the comment in the last line needs a line end".to_owned(),
        Error::ExceededRecursionLimit => "the brackets are nested too deeply".to_owned(),
        Error::IntegerOutOfBounds => "the number is out of range here".to_owned(),
        Error::NoSuchStructField { found, .. } => format!("there is no field '{found}' here"),
        Error::NoSuchEnumVariant { found, .. } => format!("there is no '{found}' here"),
        Error::MissingStructField { field, .. } => format!("the field '{field}' is missing"),
        Error::DuplicateStructField { field, .. } => format!("'{field}' is given twice"),
        Error::InvalidValueForType { expected, found } => format!("expected {}, found {found}", plain(expected)),
        Error::ExpectedDifferentLength { expected, found } => {
            format!("expected {}, found {found} elements", plain(expected))
        }
        other => lower_first(&other.to_string()),
    }
}

/// The byte at a position that RON tells: line and column in characters from 1.
#[must_use]
pub fn ron_offset(text: &str, position: Position) -> usize {
    let (line, column) = (position.line.max(1) - 1, position.col.max(1) - 1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = &text[start..];
    start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

/// An expectation without the names of types that `serde` puts into it.
fn plain(expected: &str) -> String {
    let shapes = [("struct variant ", true), ("struct ", false), ("tuple struct ", false), ("enum ", false)];
    for (shape, has_variant) in shapes {
        if let Some(name) = expected.strip_prefix(shape) {
            let variant = name.rsplit("::").next().filter(|_| has_variant);
            return variant.map_or_else(|| "`( … )`".to_owned(), |variant| format!("`{variant}( … )`"));
        }
    }
    match expected {
        "variant identifier" | "field identifier" => "a name".to_owned(),
        other => other.to_owned(),
    }
}

/// Messages of RON begin with a capital, ours do not.
fn lower_first(message: &str) -> String {
    let mut rest = message.chars();
    rest.next().map_or(String::new(), |first| first.to_lowercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::ron_message;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Outermost {
        inner: Option<Innermost>,
        number: Option<u8>,
        text: Option<String>,
        choice: Option<Choice>,
        list: Option<Vec<u8>>,
        pair: Option<(u8, u8)>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Innermost {
        number: u8,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only errors are looked at")]
    enum Choice {
        One { number: u8 },
        Two,
    }

    #[test]
    fn no_message_names_a_type() {
        let wrong = [
            "",
            "(",
            "5",
            "x",
            "()x",
            "Other()",
            "[]",
            "\"a",
            "(inner: 5)",
            "(inner: x)",
            "(inner: ())",
            "(inner: (",
            "(inner: [])",
            "(inner: (number: x))",
            "(inner: (number: 300))",
            "(inner: (number: 1, number: 2))",
            "(inner: (other: 1))",
            "(number: \"a\")",
            "(number: 1.5)",
            "(number: -1)",
            "(number: (",
            "(text: 5)",
            "(text: a)",
            "(text: 'a')",
            "(choice: 5)",
            "(choice: Three)",
            "(choice: One)",
            "(choice: One(5))",
            "(choice: One(number: x))",
            "(choice: Two(5))",
            "(choice: One())",
            "(choice: {})",
            "(list: 5)",
            "(list: (1, 2))",
            "(list: [1 2])",
            "(list: {1: 2})",
            "(pair: (1))",
            "(pair: (1, 2, 3))",
            "(pair: 5)",
            "(number 5)",
            "(number: 5",
            "(number: 5 text: \"a\")",
            "(\"number\": 5)",
            "(inner: Some(5))",
            "(text: \"\\q\")",
            "/*",
            "(number: 0b12)",
            "(r#number: 5)",
            "(number: 5) // end",
            "#![enable(nothing)]()",
            "{}",
        ];
        let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
        let mut messages = std::collections::BTreeSet::new();
        for text in wrong {
            let Err(error) = options.from_str::<Outermost>(text) else { continue };
            let message = ron_message(&error.code);
            let types =
                ["Outermost", "Innermost", "Choice", "ron::", "serde", "struct", "enum", "variant", "Option", "u8"];
            let named = types.iter().find(|name| message.contains(**name));
            assert_eq!(named, None, "{text}: {message}");
            assert!(message.starts_with(|c: char| !c.is_uppercase()), "{text}: {message}");
            messages.insert(message);
        }
        assert!(messages.len() > 15, "{messages:?}");
    }
}
