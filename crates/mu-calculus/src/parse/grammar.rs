//! Builds the syntax tree from tokens by precedence climbing.

mod path;
mod prefix;

use crate::atom::{BinaryOperator, Comparison, ComparisonKind, ComparisonOperator, Expr, ExprKind, Name, Span};
use crate::formula::{Formula, MAX_DEPTH, PathQuantifier, Variable};
use crate::parse::error::{ParseError, ParseErrorKind};
use crate::parse::lexer::{Token, TokenKind, tokens};
use prefix::path_operator;

/// Parses a formula of CTL, CTL* and the mu-calculus.
///
/// # Errors
/// If the text is no formula, is nested too deeply, or has a variable under an odd number of negations.
pub fn parse_formula(text: &str) -> Result<Formula<Comparison>, ParseError> {
    parse(text, Speaks::States)
}

/// Parses a path formula of linear time; the result is the formula that all paths satisfy it.
///
/// # Errors
/// As [`parse_formula`].
pub fn parse_linear(text: &str) -> Result<Formula<Comparison>, ParseError> {
    Ok(Formula::quantified(PathQuantifier::All, parse_path(text)?))
}

/// Parses a path formula of linear time as it is; it may be used below [`Formula::quantified`] only.
///
/// # Errors
/// As [`parse_formula`].
pub fn parse_path(text: &str) -> Result<Formula<Comparison>, ParseError> {
    parse(text, Speaks::Paths)
}

/// Parses a predicate about one state: a formula without temporal operators and fixed points.
///
/// # Errors
/// As [`parse_formula`], and if there is a temporal operator.
pub fn parse_predicate(text: &str) -> Result<Formula<Comparison>, ParseError> {
    parse(text, Speaks::OneState)
}

/// The operators that a formula may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    /// Comparisons only.
    OneState,
    /// All but the operators of linear time, which need `A[…]` or `E[…]` around them.
    States,
    /// Operators of linear time as well.
    Paths,
}

fn parse(text: &str, speaks: Speaks) -> Result<Formula<Comparison>, ParseError> {
    let tokens = tokens(text)?;
    let only_paths = speaks == Speaks::Paths;
    let mut parser = Parser { text, tokens, next: 0, speaks, only_paths, scope: Vec::new(), nesting: 0 };
    let operand = parser.whole("a formula")?;
    let (formula, _) = parser.formula(operand)?;
    if parser.peek() != &TokenKind::End {
        return Err(parser.unexpected("an operator or the end of the formula"));
    }
    match formula.negated_variable() {
        Some(variable) => {
            Err(ParseError::new(ParseErrorKind::NegatedVariable(variable.name.clone()), variable.span, text))
        }
        None => Ok(formula),
    }
}

/// The binding strength of infix operators, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Iff,
    Implies,
    Or,
    And,
    Compare,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Prefix,
}

/// The node that an infix operator makes of its operands.
#[derive(Clone, Copy, Debug)]
enum Infix {
    Iff,
    Implies,
    Or,
    And,
    Compare(ComparisonOperator),
    Member,
    Arithmetic(BinaryOperator),
}

/// Every infix operator with its spelling.
const INFIX: [(&str, Level, Infix); 18] = [
    ("<->", Level::Iff, Infix::Iff),
    ("->", Level::Implies, Infix::Implies),
    ("||", Level::Or, Infix::Or),
    ("&&", Level::And, Infix::And),
    ("==", Level::Compare, Infix::Compare(ComparisonOperator::Equal)),
    ("!=", Level::Compare, Infix::Compare(ComparisonOperator::NotEqual)),
    ("<", Level::Compare, Infix::Compare(ComparisonOperator::Less)),
    ("<=", Level::Compare, Infix::Compare(ComparisonOperator::LessOrEqual)),
    (">", Level::Compare, Infix::Compare(ComparisonOperator::Greater)),
    (">=", Level::Compare, Infix::Compare(ComparisonOperator::GreaterOrEqual)),
    ("in", Level::Compare, Infix::Member),
    ("|", Level::BitOr, Infix::Arithmetic(BinaryOperator::Or)),
    ("^", Level::BitXor, Infix::Arithmetic(BinaryOperator::Xor)),
    ("&", Level::BitAnd, Infix::Arithmetic(BinaryOperator::And)),
    ("<<", Level::Shift, Infix::Arithmetic(BinaryOperator::ShiftLeft)),
    (">>", Level::Shift, Infix::Arithmetic(BinaryOperator::ShiftRight)),
    ("+", Level::Sum, Infix::Arithmetic(BinaryOperator::Add)),
    ("-", Level::Sum, Infix::Arithmetic(BinaryOperator::Subtract)),
];

impl Level {
    /// The next level that binds tighter: that of a right operand.
    fn tighter(self) -> Self {
        match self {
            Self::Iff => Self::Implies,
            Self::Implies => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::Compare,
            Self::Compare => Self::BitOr,
            Self::BitOr => Self::BitXor,
            Self::BitXor => Self::BitAnd,
            Self::BitAnd => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum | Self::Prefix => Self::Prefix,
        }
    }
}

/// Something parsed, of which it may still be open whether it is a number or a formula.
struct Operand {
    item: Item,
    /// With parentheses around it.
    span: Span,
    /// The depth of the tree.
    depth: usize,
    parenthesised: bool,
    /// The parts that an operator beside it could take alone; none if it is closed.
    open: Option<Open>,
}

/// The parts of an operand without parentheses that an operator beside it could take, as places in the text.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The beginning of the last part that an operator after the operand could take: all that prefix operators stand before, too.
    last: usize,
    /// The end of the first part that an operator before the operand could take; none behind a prefix operator, which takes what follows it.
    first: Option<usize>,
}

enum Item {
    Formula(Formula<Comparison>),
    Expr(Expr),
}

type Parsed<T> = Result<T, ParseError>;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    /// The operators that the formula may use.
    speaks: Speaks,
    /// True if no `A[…]` or other operator of CTL stands around.
    only_paths: bool,
    /// The variables bound here, innermost last.
    scope: Vec<String>,
    /// The number of operands that are being parsed inside each other.
    nesting: usize,
}

// Tokens.
impl Parser<'_> {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.next].span
    }

    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    /// Takes the symbol if it comes next.
    fn take(&mut self, symbol: &str) -> bool {
        let found = self.symbol_at(self.next) == Some(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn symbol_at(&self, position: usize) -> Option<&'static str> {
        match self.tokens.get(position)?.kind {
            TokenKind::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }

    fn expect(&mut self, symbol: &str, expected: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_word(&mut self, word: &str, expected: &str) -> Parsed<()> {
        match self.peek() {
            TokenKind::Name(Name { text, quoted: false }) if text == word => {
                self.advance();
                Ok(())
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn unexpected(&self, expected: &str) -> ParseError {
        let found = match self.peek() {
            TokenKind::End => "the end of the formula".to_owned(),
            _ => format!("`{}`", &self.text[self.span().range()]),
        };
        self.error(ParseErrorKind::Unexpected { expected: expected.to_owned(), found }, self.span())
    }

    fn error(&self, kind: ParseErrorKind, span: Span) -> ParseError {
        ParseError::new(kind, span, self.text)
    }
}

// Infix operators.
impl Parser<'_> {
    /// Parses an operand and all infix operators after it that bind at least as tightly as `loosest`.
    fn operand(&mut self, loosest: Level, expected: &str) -> Parsed<Operand> {
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            return Err(self.error(ParseErrorKind::TooDeep, self.span()));
        }
        let mut left = self.prefix(expected)?;
        while let Some((symbol, level, infix)) = self.infix().filter(|(_, level, _)| *level >= loosest) {
            self.advance();
            let right = match infix {
                Infix::Implies => self.operand(level, "a formula after `->`")?,
                _ => self.operand(level.tighter(), &format!("an operand after `{symbol}`"))?,
            };
            left = self.combine(symbol, infix, left, right)?;
        }
        self.nesting -= 1;
        Ok(left)
    }

    fn infix(&self) -> Option<(&'static str, Level, Infix)> {
        let spelling = match self.peek() {
            TokenKind::Symbol(symbol) => symbol,
            TokenKind::Name(Name { text, quoted: false }) => text.as_str(),
            _ => return None,
        };
        INFIX.into_iter().find(|(symbol, ..)| *symbol == spelling)
    }

    fn combine(&self, symbol: &'static str, infix: Infix, left: Operand, right: Operand) -> Parsed<Operand> {
        let span = left.span.to(right.span);
        let depth = 1 + left.depth.max(right.depth);
        let open = Open { last: right.last(), first: Some(left.first()) };
        let (item, depth) = match infix {
            Infix::Iff | Infix::Implies => {
                let (p, q) = (Box::new(self.formula(left)?.0), Box::new(self.formula(right)?.0));
                let formula = if matches!(infix, Infix::Iff) { Formula::Iff(p, q) } else { Formula::Implies(p, q) };
                (Item::Formula(formula), depth)
            }
            Infix::And | Infix::Or => self.join(matches!(infix, Infix::And), left, right)?,
            Infix::Compare(operator) => {
                let (a, b) = (self.compared(left, symbol)?, self.compared(right, symbol)?);
                (atom(ComparisonKind::Compare(operator, a, b), span), depth)
            }
            Infix::Member => {
                let (a, b) = (self.compared(left, symbol)?, self.compared(right, symbol)?);
                (atom(ComparisonKind::Member(a, b), span), depth)
            }
            Infix::Arithmetic(operator) => {
                let (a, b) = (Box::new(self.expr(left, symbol)?), Box::new(self.expr(right, symbol)?));
                (Item::Expr(Expr { kind: ExprKind::Binary(operator, a, b), span }), depth)
            }
        };
        let is_atom = matches!(item, Item::Formula(Formula::Atom(_)) | Item::Expr(_));
        let open = Some(open).filter(|_| !is_atom);
        self.checked(Operand { item, span, depth, parenthesised: false, open })
    }

    /// `p && q && r` is one conjunction of three, so that long ones do not nest.
    fn join(&self, conjunction: bool, left: Operand, right: Operand) -> Parsed<(Item, usize)> {
        let flat = !left.parenthesised;
        let (left, left_depth) = self.formula(left)?;
        let (right, right_depth) = self.formula(right)?;
        let (mut operands, depth) = match left {
            Formula::And(operands) if flat && conjunction => (operands, left_depth.max(right_depth + 1)),
            Formula::Or(operands) if flat && !conjunction => (operands, left_depth.max(right_depth + 1)),
            single => (vec![single], 1 + left_depth.max(right_depth)),
        };
        operands.push(right);
        Ok((Item::Formula(if conjunction { Formula::And(operands) } else { Formula::Or(operands) }), depth))
    }

    fn checked(&self, operand: Operand) -> Parsed<Operand> {
        if operand.depth > MAX_DEPTH {
            return Err(self.error(ParseErrorKind::TooDeep, operand.span));
        }
        Ok(operand)
    }

    /// The operand as a formula, with its depth: a variable, or an atom that stands alone.
    fn formula(&self, operand: Operand) -> Parsed<(Formula<Comparison>, usize)> {
        let expr = match operand.item {
            Item::Formula(formula) => return Ok((formula, operand.depth)),
            Item::Expr(expr) => expr,
        };
        let formula = match &expr.kind {
            ExprKind::Name(Name { text, quoted: false }) if self.scope.contains(text) => {
                Formula::Variable(Variable { name: text.clone(), span: expr.span })
            }
            ExprKind::Name(_)
            | ExprKind::Field(..)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::Element(..)
            | ExprKind::Call(..) => {
                let span = expr.span;
                Formula::Atom(Comparison { kind: ComparisonKind::Bare(expr), span })
            }
            _ => return Err(self.error(ParseErrorKind::NotAFormula, operand.span)),
        };
        Ok((formula, operand.depth))
    }

    fn expr(&self, operand: Operand, operator: &'static str) -> Parsed<Expr> {
        match operand.item {
            Item::Expr(expr) => Ok(expr),
            Item::Formula(_) => Err(self.error(ParseErrorKind::NotAnExpression(operator), operand.span)),
        }
    }

    /// An operand of a comparison; another comparison there is a chain.
    fn compared(&self, operand: Operand, operator: &'static str) -> Parsed<Expr> {
        match operand.item {
            Item::Formula(Formula::Atom(_)) if !operand.parenthesised => {
                Err(self.error(ParseErrorKind::ChainedComparison, operand.span))
            }
            _ => self.expr(operand, operator),
        }
    }
}

fn atom(kind: ComparisonKind, span: Span) -> Item {
    Item::Formula(Formula::Atom(Comparison { kind, span }))
}

// Prefix operators and what stands alone.
impl Operand {
    fn leaf(item: Item, span: Span) -> Self {
        Self { item, span, depth: 1, parenthesised: false, open: None }
    }

    /// The beginning of the last part that an operator after this could take.
    fn last(&self) -> usize {
        self.open.map_or(self.span.start, |open| open.last)
    }

    /// The end of the first part that an operator before this could take.
    fn first(&self) -> usize {
        self.open.and_then(|open| open.first).unwrap_or(self.span.end)
    }
}

/// True if a name means something else than itself wherever it stands.
pub(crate) fn is_keyword(name: &str) -> bool {
    matches!(name, "true" | "false" | "mu" | "nu" | "in" | "if") || path_operator(name).is_some()
}
