//! Errors that show the formula with the offending place marked.

use std::fmt;

use thiserror::Error;

use crate::atom::Span;
use crate::formula::{LinearPairOperator, MAX_DEPTH, MAX_SIZE};

/// A text that is no formula, with the place that shows it.
///
/// Its `Display` is the message, then the line of the formula, unless it is blank, and carets under the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ParseError {
    /// The kind of error.
    pub kind: ParseErrorKind,
    /// The bytes of the text that are wrong; empty at the end of the text.
    pub span: Span,
    /// The text that was parsed.
    pub text: String,
}

/// The kind of a [`ParseError`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// Something else must stand here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// The text that would have been right.
        expected: String,
        /// The text that stands there.
        found: String,
    },
    /// A character that starts no token.
    #[error("`{0}` has no meaning in a formula")]
    UnknownCharacter(char),
    /// `=`, the assignment of C.
    #[error("`=` has no meaning in a formula; write `==` to compare")]
    SingleEqual,
    /// A number that is none or exceeds 64 bits.
    #[error("`{0}` is no number below 2^64; write it as 42, 0x2a or 0b101010")]
    BadNumber(String),
    /// A decimal number with a leading zero, which is octal in C.
    #[error("`{0}` begins with 0, which C reads as octal; write it without, or in hexadecimal as in 0x0a")]
    LeadingZero(String),
    /// A quote without an end.
    #[error("the quoted name has no closing `\"`")]
    OpenQuote,
    /// An expression where a formula must stand.
    #[error("this is a number, not a formula; compare it, as in `… == 0`")]
    NotAFormula,
    /// A formula where an expression must stand.
    #[error("this is a formula, not a number; it cannot be an operand of `{0}`")]
    NotAnExpression(&'static str),
    /// A comparison of a comparison.
    #[error("comparisons cannot be chained; write `a < b && b < c`")]
    ChainedComparison,
    /// A temporal operator in a predicate about one state.
    #[error("`{0}` speaks of later states, which has no meaning here; only comparisons and `! && || -> <->` do")]
    Temporal(String),
    /// An operator of linear time in a formula about states.
    #[error(
        "`{0}` is an operator of linear time; write A[{0} …] or E[{0} …], or state the property with Ltl(check: …)"
    )]
    LinearTime(String),
    /// A modality in a formula of linear time, where other tools mean `G` and `F` by it.
    #[error(
        "`{0}` has no meaning on a path; write G or F for all or some later states, X for the next, AX or EX for all \
             or some successors"
    )]
    ModalityOnPath(String),
    /// A binary operator of linear time beside an operator that other tools bind otherwise.
    #[error("`{operator}` beside this can be read in two ways: write {} or {}", Quoted(&readings[0]), Quoted(&readings[1]))]
    Ambiguous {
        /// The operator.
        operator: LinearPairOperator,
        /// The whole text as it is read with the widest and with the narrowest operands.
        readings: [String; 2],
    },
    /// A variable under an odd number of negations.
    #[error(
        "the fixed-point variable `{0}` stands under an odd number of negations; negate it twice or not at all \
         (`p -> q` negates `p`, `p <-> q` both)"
    )]
    NegatedVariable(String),
    /// Two equations of a vectorial fixed point for one variable.
    #[error("the variable `{0}` has two equations")]
    RepeatedVariable(String),
    /// A condition of `if` that speaks of more than one state.
    #[error("the condition of `if` speaks of one state: only comparisons and `! && || -> <->` have a meaning here")]
    NotAState,
    /// Too much nesting.
    #[error("nested more than {MAX_DEPTH} levels deep; give parts of it a name under `define`")]
    TooDeep,
    /// Too long.
    #[error("longer than {MAX_SIZE} tokens; split it into several properties")]
    TooLong,
}

/// A formula to paste, on one line.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl ParseError {
    pub(crate) fn new(kind: ParseErrorKind, span: Span, text: &str) -> Self {
        Self { kind, span, text: text.to_owned() }
    }

    /// The line of the text with the place, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        1 + self.before().matches('\n').count()
    }

    /// The column of the place in its line, counted in characters from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        1 + self.before().rsplit('\n').next().map_or(0, |line| line.chars().count())
    }

    /// The text in front of the place.
    fn before(&self) -> &str {
        self.text.get(..self.span.start).unwrap_or(&self.text)
    }

    /// The offending line, and under it carets from the first to the last offending character of that line.
    fn snippet(&self) -> (String, String) {
        let line = self.text.lines().nth(self.line() - 1).unwrap_or_default();
        let start = self.column() - 1;
        let marked = self.text.get(self.span.range()).unwrap_or_default();
        let width = marked.lines().next().unwrap_or_default().chars().count().max(1);
        // Tabs stay tabs, so that the carets stand right under the place.
        let blank: String = line.chars().take(start).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        (line.to_owned(), format!("{blank}{}", "^".repeat(width)))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, carets) = self.snippet();
        write!(f, "column {}", self.column())?;
        if self.text.contains('\n') {
            write!(f, " of line {}", self.line())?;
        }
        write!(f, ": {}", self.kind)?;
        if line.trim().is_empty() { Ok(()) } else { write!(f, "\n  {line}\n  {carets}") }
    }
}
