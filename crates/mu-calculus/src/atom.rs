//! Atoms of a formula as their text says them: comparisons of integer expressions over names.
//!
//! Nothing here knows what a name stands for. Equality and hashing of [`Expr`] and [`Comparison`] look at the
//! structure only, never at the position in the text.

use std::hash::{Hash, Hasher};
use std::ops::Range;

/// A range of bytes in the text of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to but without `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a range, to index the text.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A name as it was written: a register, a symbol, a definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The text, without quotes and with the escapes `\"` and `\\` resolved.
    pub text: String,
    /// True if it was quoted, as C++ names are. A quoted name is never a keyword and never a variable.
    pub quoted: bool,
}

impl Name {
    /// An unquoted name.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), quoted: false }
    }
}

/// The field behind the dot of `PORTB.3` or `SREG.Z`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// A number, as in `PORTB.3`.
    Number(u64),
    /// A name, as in `SREG.Z`; never quoted.
    Name(String),
}

/// An integer expression with its position in the text.
#[derive(Clone, Debug, Eq)]
pub struct Expr {
    /// The expression without its place.
    pub kind: ExprKind,
    /// The place in the text, without the parentheses around it.
    pub span: Span,
}

/// The forms of an integer expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExprKind {
    /// A literal: decimal, `0x…` or `0b…`, with `_` between digits allowed.
    Integer(u64),
    /// A bare name: `pc`, `counter`, `"Foo::bar(int)"`.
    Name(Name),
    /// A part of something named: `PORTB.3`, `SREG.Z`.
    Field(Name, Field),
    /// An element of something named: `mem[0x100]`, `mem16[x + 1]`.
    Index(Name, Box<Expr>),
    /// A part of a part of something named: `cfg.limits.low`, `points[2].x`.
    Member(Box<Expr>, Field),
    /// An element of a part of something named: `cfg.table[i]`, `grid[1][2]`.
    Element(Box<Expr>, Box<Expr>),
    /// A named call: `write(PORTB)`, `interrupt(TIMER0_OVF)`.
    Call(Name, Vec<Expr>),
    /// `signed(e)`: the operand as a two's complement number of its own width.
    Signed(Box<Expr>),
    /// A prefix operator.
    Unary(UnaryOperator, Box<Expr>),
    /// An infix operator.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
}

/// The prefix operators of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-e`.
    Negate,
    /// `~e`.
    Complement,
}

/// The infix operators of expressions, loosest first.
///
/// All are left-associative and bind tighter than comparisons (unlike C): `PORTB & 1 == 0` is `(PORTB & 1) == 0`.
/// Among themselves they bind as in C: `|` loosest, then `^`, `&`, shifts, and `+ -` tightest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `|`.
    Or,
    /// `^`.
    Xor,
    /// `&`.
    And,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
}

/// The comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComparisonOperator {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

/// An atomic proposition with its position in the text.
#[derive(Clone, Debug, Eq)]
pub struct Comparison {
    /// The comparison without its place.
    pub kind: ComparisonKind,
    /// The place in the text.
    pub span: Span,
}

/// The forms of an atomic proposition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ComparisonKind {
    /// Two expressions compared: `counter == 5`.
    Compare(ComparisonOperator, Expr, Expr),
    /// Set membership: `pc in main`.
    Member(Expr, Expr),
    /// A name, field, element or call that stands alone: `in_interrupt`, `SREG.Z`, `write(PORTB)`.
    Bare(Expr),
}

impl Comparison {
    /// The name, if the atom is nothing but an unquoted name (which may then stand for a definition).
    #[must_use]
    pub fn bare_name(&self) -> Option<&str> {
        match &self.kind {
            ComparisonKind::Bare(Expr { kind: ExprKind::Name(name), .. }) if !name.quoted => Some(&name.text),
            _ => None,
        }
    }
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl PartialEq for Comparison {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Hash for Comparison {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}
