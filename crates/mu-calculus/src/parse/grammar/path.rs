//! Path formulas: `A[…]` and `E[…]`, the operators of linear time, and where they may stand.

use super::{Item, Level, Operand, Parsed, Parser, Speaks};
use crate::atom::{Comparison, Name, Span};
use crate::formula::{Formula, LinearOperator, LinearPairOperator, PathQuantifier};
use crate::parse::error::{ParseError, ParseErrorKind};
use crate::parse::lexer::TokenKind;

impl Parser<'_> {
    /// `A[psi]` or `E[psi]`.
    pub(super) fn quantified(&mut self, quantifier: PathQuantifier) -> Parsed<Operand> {
        let start = self.span();
        self.temporal(start)?;
        self.advance();
        self.advance();
        let outside = (self.speaks, self.only_paths);
        (self.speaks, self.only_paths) = (Speaks::Paths, false);
        let (psi, depth) = self.inside_brackets()?;
        (self.speaks, self.only_paths) = outside;
        let span = start.to(self.span());
        self.expect("]", "an operator or `]`")?;
        let formula = Formula::quantified(quantifier, psi);
        let depth = depth + usize::from(matches!(formula, Formula::Quantified(..)));
        self.checked(Operand { item: Item::Formula(formula), span, depth, parenthesised: false, open: None })
    }

    /// The path formula inside of `A[…]`. In `A[p U q]` of CTL, p and q may be of any form.
    pub(super) fn inside_brackets(&mut self) -> Parsed<(Formula<Comparison>, usize)> {
        let left = self.operand(Level::Iff, "a formula after `[`")?;
        let Some(operator) = self.pair_operator() else {
            let (psi, depth) = self.formula(left)?;
            if !psi.is_path_formula() {
                return Err(self.unexpected("an operator of linear time, such as `U`, `R` or `W`"));
            }
            return Ok((psi, depth));
        };
        self.advance();
        let right = self.operand(Level::Iff, &format!("a formula after `{operator}`"))?;
        self.refuse_ambiguous(operator, &left, &right)?;
        let ((left, left_depth), (right, right_depth)) = (self.formula(left)?, self.formula(right)?);
        let pair = Formula::LinearPair(operator, Box::new(left), Box::new(right));
        Ok((pair, 1 + left_depth.max(right_depth)))
    }

    /// A formula up to where it must end; in a path formula it may be `p U q` and the like.
    pub(super) fn whole(&mut self, expected: &str) -> Parsed<Operand> {
        let left = self.operand(Level::Iff, expected)?;
        let Some(operator) = self.pair_operator().filter(|_| self.speaks == Speaks::Paths) else {
            return Ok(left);
        };
        self.advance();
        let right = self.operand(Level::Iff, &format!("a formula after `{operator}`"))?;
        self.refuse_ambiguous(operator, &left, &right)?;
        let span = left.span.to(right.span);
        let ((left, left_depth), (right, right_depth)) = (self.formula(left)?, self.formula(right)?);
        let item = Item::Formula(Formula::LinearPair(operator, Box::new(left), Box::new(right)));
        let depth = 1 + left_depth.max(right_depth);
        self.checked(Operand { item, span, depth, parenthesised: false, open: None })
    }

    /// Refuses an operator beside operands that it could take as a whole or in part, such as `p -> q U r`, and `p U q U r`.
    fn refuse_ambiguous(&mut self, operator: LinearPairOperator, left: &Operand, right: &Operand) -> Parsed<()> {
        let infix = right.open.and_then(|open| open.first);
        let (span, readings) = if left.open.is_some() || infix.is_some() {
            let all = [self.grouped(left), operator.to_string(), self.grouped_last(right)].join(" ");
            let (start, end) = (left.last(), right.first());
            let outside = (&self.text[left.span.start..start], &self.text[end..right.span.end]);
            let span = if left.open.is_some() { left.span } else { right.span };
            (span, [all, format!("{}({}){}", outside.0, &self.text[start..end], outside.1)])
        } else {
            let Some(next) = self.pair_operator() else { return Ok(()) };
            let span = self.span();
            self.advance();
            let third = self.operand(Level::Iff, &format!("a formula after `{next}`"))?;
            let [p, q] = [left, right].map(|operand| self.grouped(operand));
            let [last, r] = [right, &third].map(|operand| self.grouped_last(operand));
            let readings = [format!("({p} {operator} {last}) {next} {r}"), format!("{p} {operator} ({q} {next} {r})")];
            return Err(self.ambiguous(operator, span, left.span.to(third.span), readings));
        };
        Err(self.ambiguous(operator, span, left.span.to(right.span), readings))
    }

    /// The text of an operand after an operator, in parentheses unless what it begins with takes all of it.
    fn grouped_last(&self, operand: &Operand) -> String {
        let takes_all = operand.open.is_some_and(|open| open.first.is_none());
        if takes_all { self.text[operand.span.range()].to_owned() } else { self.grouped(operand) }
    }

    /// The text of an operand before an operator, in parentheses unless it is closed.
    fn grouped(&self, operand: &Operand) -> String {
        let text = &self.text[operand.span.range()];
        if operand.open.is_some() { format!("({text})") } else { text.to_owned() }
    }

    /// The error that shows the whole text in two readings, in which these take the place of a part of it.
    fn ambiguous(&self, operator: LinearPairOperator, span: Span, part: Span, readings: [String; 2]) -> ParseError {
        let (before, after) = (&self.text[..part.start], &self.text[part.end..]);
        let readings = readings.map(|reading| format!("{before}{reading}{after}"));
        self.error(ParseErrorKind::Ambiguous { operator, readings }, span)
    }

    /// The operator of linear time with two operands that comes next.
    pub(super) fn pair_operator(&self) -> Option<LinearPairOperator> {
        match self.peek() {
            TokenKind::Name(Name { text, quoted: false }) => pair_operator(text),
            _ => None,
        }
    }

    /// Parses what may contain no operator of linear time.
    pub(super) fn about_states<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outside = (self.speaks, self.only_paths);
        if self.speaks == Speaks::Paths {
            (self.speaks, self.only_paths) = (Speaks::States, false);
        }
        let parsed = parse(self);
        (self.speaks, self.only_paths) = outside;
        parsed
    }

    /// True if the token can begin an operand of a formula, so that a name in front of it must be an operator.
    pub(super) fn is_operand(&self, position: usize) -> bool {
        match self.tokens.get(position).map(|token| &token.kind) {
            Some(TokenKind::Name(Name { text, quoted: false })) => text != "in" && pair_operator(text).is_none(),
            Some(TokenKind::Name(_) | TokenKind::Number(_)) => true,
            Some(TokenKind::Symbol(symbol)) => matches!(*symbol, "(" | "!"),
            _ => false,
        }
    }

    /// Refuses a modality in a predicate, and in a path formula, where other tools mean `G` and `F` by it.
    pub(super) fn modality(&self, span: Span) -> Parsed<()> {
        self.temporal(span)?;
        let symbol = self.text[span.range()].to_owned();
        if self.only_paths {
            return Err(self.error(ParseErrorKind::ModalityOnPath(symbol), span));
        }
        Ok(())
    }

    /// `[psi]` after an operator of linear time, as in `X[X[p]]`: the same as in parentheses.
    pub(super) fn bracketed(&mut self) -> Parsed<Operand> {
        let start = self.span();
        self.advance();
        let inner = self.whole("a formula after `[`")?;
        let end = self.span();
        self.expect("]", "an operator or `]`")?;
        Ok(Operand { span: start.to(end), parenthesised: true, open: None, ..inner })
    }
}

/// The operator of linear time with one operand that a name is.
pub(super) fn linear_operator(keyword: &str) -> Option<LinearOperator> {
    Some(match keyword {
        "X" => LinearOperator::Next,
        "F" => LinearOperator::Eventually,
        "G" => LinearOperator::Always,
        "Y" => LinearOperator::Yesterday,
        "O" => LinearOperator::Once,
        "H" => LinearOperator::Historically,
        _ => return None,
    })
}

/// The operator of linear time with two operands that a name is.
fn pair_operator(keyword: &str) -> Option<LinearPairOperator> {
    Some(match keyword {
        "U" => LinearPairOperator::Until,
        "R" => LinearPairOperator::Release,
        "W" => LinearPairOperator::WeakUntil,
        "S" => LinearPairOperator::Since,
        _ => return None,
    })
}
